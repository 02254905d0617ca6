/* libnotify as Swift sees it. */
#pragma once
#include <libnotify/notify.h>

/* The fields of GLib's structs belong to the module CGLib, which is not imported beside this one. */
static inline const char *relay_notify_error_message(const GError *error) {
    return error->message;
}
