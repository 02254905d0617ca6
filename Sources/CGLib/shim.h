/* GLib, GObject and GIO as Swift sees them, plus what Swift cannot call: macros, variadics, and casts of GTypes. */
#pragma once
#include <gio/gio.h>
#include <gio/gunixfdlist.h>
#include <glib-unix.h>

/* A GSource that runs its callback when g_source_set_ready_time() says so. Swift cannot fill a GSourceFuncs whose
   members are macros' function types, nor subclass GSource. */
static inline gboolean relay_wake_dispatch(GSource *source, GSourceFunc callback, gpointer data) {
    g_source_set_ready_time(source, -1);
    return callback ? callback(data) : G_SOURCE_CONTINUE;
}

static inline GSource *relay_wake_source_new(GMainContext *context, GSourceFunc callback, gpointer data) {
    static GSourceFuncs functions = {NULL, NULL, relay_wake_dispatch, NULL, NULL, NULL};
    GSource *source = g_source_new(&functions, sizeof(GSource));
    g_source_set_callback(source, callback, data, NULL);
    g_source_set_ready_time(source, -1);
    g_source_attach(source, context);
    return source;
}
