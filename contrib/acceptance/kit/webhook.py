"""A webhook server that answers as its path says, and gives back every secret that it was sent."""

import ssl
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    """`/500/...` answers with status 500, and so on; `/slow/`, `/drop/`, `/garbage/` and `/long/` do as they say."""

    def do_POST(self):
        self.server.requests.append((time.monotonic(), self.path, dict(self.headers)))
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        word = self.path.split("/")[1]
        echo = f"{self.path} http://127.0.0.1{self.path} {dict(self.headers)}"
        if word == "slow":
            time.sleep(30)
        elif word == "drop":
            self.close_connection = True
        elif word == "garbage":
            self.wfile.write(f"no HTTP but {echo}\r\n".encode())
            self.close_connection = True
        elif word == "long":
            # The secrets lie across the places where an answer is cut: 200 characters and 16 KiB.
            self._answer(500, "x" * 185 + echo + "y" * (16 * 1024 - 215 - len(echo)) + echo)
        else:
            self._answer(int(word), echo)

    do_PUT = do_POST

    def _answer(self, status, body):
        # The reason of the status line gives the path back too.
        self.send_response(status, f"reason {self.path}")
        if 300 <= status < 400:
            self.send_header("Location", f"http://127.0.0.1:1{self.path}?again={self.headers.get('X-Key')}")
        if status == 401:
            self.send_header("WWW-Authenticate", f'Basic realm="{self.path}"')
        self.send_header("Content-Length", str(len(body.encode())))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_):
        """Says nothing: what was asked is recorded in `requests`."""


class WebhookServer:
    """Listens on 127.0.0.1, with TLS if there is a certificate."""

    def __init__(self, tls=None):
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.requests = self.requests = []
        self.scheme = "https" if tls else "http"
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*tls)
            self.server.socket = context.wrap_socket(
                self.server.socket, server_side=True, do_handshake_on_connect=False
            )
        self.server.handle_error = lambda *_: None
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def url(self, path):
        return f"{self.scheme}://127.0.0.1:{self.server.server_address[1]}{path}"
