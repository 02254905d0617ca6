"""A stream server over plain sockets that does what a script wants, and records what the relay does.

Run as a program, `websocket.py PORT`, it sends an event to every connection each 100 ms: a server that a script can
stop with SIGSTOP.
"""

import base64
import hashlib
import json
import socket
import ssl
import struct
import sys
import threading
import time

GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # RFC 6455, section 1.3
TEXT, CLOSE, PING, PONG = 1, 8, 9, 10


def read_exactly(connection, count):
    data = b""
    while len(data) < count:
        chunk = connection.recv(count - len(data))
        if not chunk:
            raise ConnectionError("end of stream")
        data += chunk
    return data


def read_head(connection):
    """The head of an HTTP request: its first line, and its headers in small letters."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += read_exactly(connection, 1)
    first, *lines = data.decode("latin-1").split("\r\n")
    headers = dict(line.split(": ", 1) for line in lines if ": " in line)
    return first, {name.lower(): value for name, value in headers.items()}


def event(number, **fields):
    """An event as the Chirp API sends it."""
    usual = {"id": f"e{number}", "kind": "comment", "actorUsername": "ann", "postID": f"p{number}"}
    return json.dumps(usual | {"createdAt": "2030-01-02T03:04:05Z", "text": "hello"} | fields, ensure_ascii=False)


class Connection:
    """One connection of the relay."""

    def __init__(self, connection, request, headers):
        self.socket = connection
        self.request = request
        self.headers = headers
        self.opened = time.monotonic()
        self.frames = []
        self.is_over = False
        self.lock = threading.Lock()

    def accept(self):
        key = self.headers["sec-websocket-key"].encode()
        accept = base64.b64encode(hashlib.sha1(key + GUID).digest()).decode()
        self.socket.sendall(
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + f"Sec-WebSocket-Accept: {accept}\r\n\r\n".encode()
        )

    def send(self, opcode, payload):
        size = len(payload)
        length = bytes([size]) if size < 126 else b"\x7e" + struct.pack(">H", size)
        with self.lock:
            self.socket.sendall(bytes([0x80 | opcode]) + length + payload)

    def text(self, text):
        self.send(TEXT, text.encode())

    def close(self, code, reason=""):
        self.send(CLOSE, struct.pack(">H", code) + reason.encode())

    def read(self):
        """Records the frames of the relay until it ends; answers its pings and its close frame."""
        try:
            while True:
                first, second = read_exactly(self.socket, 2)
                size = second & 0x7F
                if size == 126:
                    size = struct.unpack(">H", read_exactly(self.socket, 2))[0]
                mask = read_exactly(self.socket, 4)
                data = bytes(byte ^ mask[i % 4] for i, byte in enumerate(read_exactly(self.socket, size)))
                opcode = first & 15
                self.frames.append((time.monotonic(), opcode, data))
                if opcode == PING:
                    self.send(PONG, data)
                elif opcode == CLOSE:
                    self.send(CLOSE, data[:2])
                    break
        except OSError:
            pass
        self.is_over = True
        self.socket.close()


class StreamServer:
    """Listens on 127.0.0.1.

    `answer` takes a connection and returns None for 101, or the bytes of another HTTP answer. `opened` takes one after
    its 101. `tls` names the files of a certificate and its key.
    """

    def __init__(self, answer=None, opened=None, tls=None, port=0):
        self.answer = answer or (lambda connection: None)
        self.opened = opened or (lambda connection: None)
        self.dials = []
        self.connections = []
        self.context = None
        if tls:
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.context.load_cert_chain(*tls)
        self.listener = socket.create_server(("127.0.0.1", port), backlog=64)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def url(self, host="127.0.0.1", path="/ws"):
        return f"{'wss' if self.context else 'ws'}://{host}:{self.port}{path}"

    def _accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, raw):
        try:
            raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            raw = self.context.wrap_socket(raw, server_side=True) if self.context else raw
            connection = Connection(raw, *read_head(raw))
            self.dials.append(connection)
            if answer := self.answer(connection):
                raw.sendall(answer)
                raw.close()
                return
            connection.accept()
            self.connections.append(connection)
            self.opened(connection)
            connection.read()
        except OSError:
            raw.close()

    def stop(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


def http_answer(status, body="", **headers):
    """An HTTP answer that ends the connection."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body.encode())}", "Connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n" + body).encode()


def send_for_ever(connection):
    threading.Thread(target=connection.read, daemon=True).start()
    number = 0
    while not connection.is_over:
        number += 1
        connection.text(event(f"{connection.opened}-{number}", createdAt=None))
        time.sleep(0.1)


if __name__ == "__main__":
    StreamServer(opened=send_for_ever, port=int(sys.argv[1]))
    threading.Event().wait()
