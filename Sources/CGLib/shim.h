/* GLib, GObject and GIO as Swift sees them, plus what Swift cannot call: macros, variadics, and casts of GTypes. */
#pragma once
#include <fcntl.h>
#include <gio/gio.h>
#include <gio/gunixfdlist.h>
#include <glib-unix.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <unistd.h>

/* Declared by the C library for GNU programs only, which this file cannot ask for: it is not included first. */
extern ssize_t pwritev2(int, const struct iovec *, int, off_t, int);

/* Writes what the descriptor takes without waiting (RWF_NOWAIT), or returns -1: it would block, it cannot be asked
   for that, or writing fails. */
static inline ssize_t relay_write_at_once(int descriptor, const void *bytes, size_t count) {
    struct iovec part = {(void *)bytes, count};
    return pwritev2(descriptor, &part, 1, -1, 0x8);
}

/* How many bytes a pipe holds (F_GETPIPE_SZ, F_SETPIPE_SZ), or -1: Swift does not see these constants. */
static inline int relay_pipe_size(int descriptor) {
    return fcntl(descriptor, 1032);
}

static inline int relay_set_pipe_size(int descriptor, int size) {
    return fcntl(descriptor, 1031, size);
}

/* Makes what the launcher starts the leader of a session, and so of a process group. Runs between fork and exec, where
   no Swift may. */
static inline void relay_lead_session(gpointer unused) {
    (void)unused;
    setsid();
}

static inline void relay_launcher_lead_session(GSubprocessLauncher *launcher) {
    g_subprocess_launcher_set_child_setup(launcher, relay_lead_session, NULL, NULL);
}

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

/* Sources whose callbacks are not GSourceFuncs: Swift has no cast between C function types. */
static inline void relay_source_set_fd_callback(GSource *source, GUnixFDSourceFunc callback, gpointer data,
                                                GDestroyNotify release) {
    g_source_set_callback(source, G_SOURCE_FUNC(callback), data, release);
}

static inline void relay_source_set_pollable_callback(GSource *source, GPollableSourceFunc callback, gpointer data,
                                                      GDestroyNotify release) {
    g_source_set_callback(source, G_SOURCE_FUNC(callback), data, release);
}

static inline void relay_source_set_socket_callback(GSource *source, GSocketSourceFunc callback, gpointer data,
                                                    GDestroyNotify release) {
    g_source_set_callback(source, G_SOURCE_FUNC(callback), data, release);
}

/* The two halves of a stream as pollable streams: the casts are macros. */
static inline GPollableInputStream *relay_pollable_input(GIOStream *stream) {
    return G_POLLABLE_INPUT_STREAM(g_io_stream_get_input_stream(stream));
}

static inline GPollableOutputStream *relay_pollable_output(GIOStream *stream) {
    return G_POLLABLE_OUTPUT_STREAM(g_io_stream_get_output_stream(stream));
}

/* Offers HTTP/1.1 by ALPN: a NULL-terminated array of strings that outlives the call is awkward in Swift. */
static inline void relay_tls_offer_http1(GTlsConnection *connection) {
    static const gchar *protocols[] = {"http/1.1", NULL};
    g_tls_connection_set_advertised_protocols(connection, protocols);
}

/* Signals: g_signal_connect_data takes an untyped GCallback, so each signal has a function of its own. */
typedef void (*RelayClientEvent)(GSocketClient *, GSocketClientEvent, GSocketConnectable *, GIOStream *, gpointer);
static inline gulong relay_on_client_event(GSocketClient *client, RelayClientEvent handler, gpointer data,
                                           GClosureNotify release) {
    return g_signal_connect_data(client, "event", G_CALLBACK(handler), data, release, (GConnectFlags)0);
}

typedef void (*RelayFileChanged)(GFileMonitor *, GFile *, GFile *, GFileMonitorEvent, gpointer);
static inline gulong relay_on_file_changed(GFileMonitor *monitor, RelayFileChanged handler, gpointer data,
                                           GClosureNotify release) {
    return g_signal_connect_data(monitor, "changed", G_CALLBACK(handler), data, release, (GConnectFlags)0);
}

typedef void (*RelayNetworkChanged)(GNetworkMonitor *, gboolean, gpointer);
static inline gulong relay_on_network_changed(GNetworkMonitor *monitor, RelayNetworkChanged handler, gpointer data,
                                              GClosureNotify release) {
    return g_signal_connect_data(monitor, "network-changed", G_CALLBACK(handler), data, release, (GConnectFlags)0);
}

typedef void (*RelayBusClosed)(GDBusConnection *, gboolean, GError *, gpointer);
static inline gulong relay_on_bus_closed(GDBusConnection *connection, RelayBusClosed handler, gpointer data,
                                         GClosureNotify release) {
    return g_signal_connect_data(connection, "closed", G_CALLBACK(handler), data, release, (GConnectFlags)0);
}

/* The constructor of a GInitable is variadic. */
static inline gpointer relay_initable_new(GType type, GError **error) {
    return g_initable_new(type, NULL, error, NULL);
}
