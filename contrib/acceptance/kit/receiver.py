"""A webhook receiver that fails in every way, and remembers what it took and what it only saw."""

import json
import random
import threading
import time
from http.server import BaseHTTPRequestHandler

from .http import QuietServer

WAYS = ["ok", "429", "500", "hang", "reset", "after"]


class Handler(BaseHTTPRequestHandler):
    """Takes a notice, or fails in the way that the receiver chose."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        receiver = self.server.receiver
        body = self.rfile.read(int(self.headers["Content-Length"]))
        way = receiver.way()
        receiver.note(self.headers["webhook-id"], body, way)
        if way == "429":
            return self._answer(429, {"Retry-After": "0"})
        if way == "500":
            return self._answer(500)
        if way == "hang":
            time.sleep(0.6)
        if way in ("hang", "reset", "after"):
            self.close_connection = True
            return
        self._answer(200)

    def _answer(self, status, headers={}):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        """Says nothing."""


class Receiver:
    """`bodies` has the bodies seen by key; `taken` the keys of those that were taken, in order.

    With `after` a notice counts as taken although the relay gets no answer, as when a server dies too late.
    """

    def __init__(self, ways=("ok",), seed=0):
        self.ways = list(ways)
        self.random = random.Random(seed)
        self.lock = threading.Lock()
        self.bodies = {}
        self.taken = []
        self.attempts = 0
        self.http = QuietServer(("127.0.0.1", 0), Handler)
        self.http.receiver = self
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}/hook"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def way(self):
        return self.random.choice(self.ways)

    def note(self, key, body, way):
        with self.lock:
            self.attempts += 1
            self.bodies.setdefault(key, set()).add(body)
            if way in ("ok", "after"):
                self.taken.append(key)

    def notices(self):
        """What was taken, each key once."""
        with self.lock:
            return [json.loads(next(iter(self.bodies[key]))) for key in dict.fromkeys(self.taken)]
