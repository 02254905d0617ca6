"""An HTTP server on whose connections anything may happen."""

from http.server import ThreadingHTTPServer


class QuietServer(ThreadingHTTPServer):
    """Says nothing of clients that are killed in the middle of a request."""

    daemon_threads = True

    def handle_error(self, request, client_address):
        pass
