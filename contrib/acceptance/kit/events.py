"""A stream of events with a memory: what a relay missed can be fetched page by page over HTTP."""

import json
import threading
from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qs, urlparse

from .http import QuietServer
from .websocket import StreamServer, event

PAGE = 50


class Handler(BaseHTTPRequestHandler):
    """`GET /events?after=ID`: the events after that one, oldest first; `next` leads to the next page."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        source = self.server.source
        after = parse_qs(urlparse(self.path).query)["after"][0]
        if self.headers.get("Authorization") != "Bearer t":
            return self.send_error(401)
        with source.lock:
            start = source.places.get(after)
            if start is None:
                return self.send_error(410)
            page = source.sent[start + 1 : start + 1 + PAGE]
        source.fetches += 1
        if source.on_page:
            source.on_page()
        following = f"/events?after={page[-1]['id']}" if len(page) == PAGE else None
        body = json.dumps({"events": page, "next": following}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Says nothing."""


class EventSource:
    """Sends events to whoever is connected, and keeps all of them.

    `on_page` is called before a page is answered.
    """

    def __init__(self):
        self.lock = threading.Lock()
        self.sent = []
        self.places = {}
        self.fetches = 0
        self.on_page = None
        self.stream = StreamServer()
        self.http = QuietServer(("127.0.0.1", 0), Handler)
        self.http.source = self
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def configuration(self, **more):
        """The entry of `streams` in the rules file; the token is in $TOKEN."""
        pages = f"http://127.0.0.1:{self.http.server_address[1]}/events?after={{cursor}}"
        catch_up = {"url": pages, "events": "/events", "order": "oldest", "next": "/next"}
        return {"url": self.stream.url(), "token": {"env": "TOKEN"}, "redial": {"base": "100ms"}, "catchUp": catch_up} | more

    def send(self, **fields):
        """Makes the next event, and sends it if somebody is connected."""
        with self.lock:
            text = event(len(self.sent), **fields)
            made = json.loads(text)
            self.places[made["id"]] = len(self.sent)
            self.sent.append(made)
            for connection in self.stream.connections[-1:]:
                if not connection.is_over:
                    try:
                        connection.text(text)
                    except OSError:
                        # It is gone: the event will be fetched.
                        connection.is_over = True
