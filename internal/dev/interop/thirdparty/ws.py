"""Blocking WebSocket (RFC 6455) client and server for text messages, with the standard library only."""

import base64
import hashlib
import os
import socket
import struct
import threading
from urllib.parse import urlsplit

GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


class Closed(Exception):
    """The connection is closed."""


class Socket:
    """A connection. recv may be called by one thread, send by any."""

    def __init__(self, sock, masks):
        self.sock = sock
        self.masks = masks
        self.lock = threading.Lock()
        self.rest = b""

    def send(self, text):
        self._frame(1, text.encode("utf-8"))

    def recv(self, timeout=None):
        """Returns the next text message. Raises TimeoutError if none starts in time, Closed at the end."""
        self.sock.settimeout(timeout)
        whole = b""
        while True:
            fin, op, data = self._read_frame()
            if op == 8:
                try:
                    self._frame(8, data[:2])
                except OSError:
                    pass
                raise Closed(struct.unpack("!H", data[:2])[0] if len(data) >= 2 else 1005)
            if op == 9:
                self._frame(10, data)
            elif op in (0, 1):
                whole += data
                if fin:
                    return whole.decode("utf-8")

    def close(self):
        try:
            self._frame(8, struct.pack("!H", 1000))
        except OSError:
            pass
        self.drop()

    def drop(self):
        """Closes the connection without a close frame."""
        try:
            self.sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.sock.close()

    def _frame(self, op, data):
        bit = 0x80 if self.masks else 0
        n = len(data)
        if n < 126:
            head = struct.pack("!BB", 0x80 | op, bit | n)
        elif n < 1 << 16:
            head = struct.pack("!BBH", 0x80 | op, bit | 126, n)
        else:
            head = struct.pack("!BBQ", 0x80 | op, bit | 127, n)
        if self.masks:
            key = os.urandom(4)
            head += key
            data = bytes(b ^ key[i % 4] for i, b in enumerate(data))
        with self.lock:
            self.sock.sendall(head + data)

    def _read_frame(self):
        # A timeout keeps the received part of a frame for the next call.
        head = self._peek(2)
        fin, op, masked, n = head[0] & 0x80, head[0] & 15, head[1] & 0x80, head[1] & 127
        at = 2
        if n == 126:
            n, at = struct.unpack("!H", self._peek(4)[2:])[0], 4
        elif n == 127:
            n, at = struct.unpack("!Q", self._peek(10)[2:])[0], 10
        if masked:
            at += 4
        whole = self._peek(at + n)
        self.rest = self.rest[at + n :]
        data = whole[at:]
        if masked:
            key = whole[at - 4 : at]
            data = bytes(b ^ key[i % 4] for i, b in enumerate(data))
        return fin, op, data

    def _peek(self, n):
        while len(self.rest) < n:
            try:
                got = self.sock.recv(65536)
            except TimeoutError:
                raise
            except OSError as e:
                raise Closed(str(e)) from e
            if not got:
                raise Closed("end of stream")
            self.rest += got
        return self.rest[:n]


def _head(sock):
    data = b""
    while b"\r\n\r\n" not in data:
        got = sock.recv(4096)
        if not got:
            raise Closed("no handshake")
        data += got
    head, rest = data.split(b"\r\n\r\n", 1)
    lines = head.decode("latin-1").split("\r\n")
    fields = {k.strip().lower(): v.strip() for k, v in (line.split(":", 1) for line in lines[1:])}
    return lines[0], fields, rest


def _accept(key):
    return base64.b64encode(hashlib.sha1((key + GUID).encode()).digest()).decode()


def connect(url):
    u = urlsplit(url)
    sock = socket.create_connection((u.hostname, u.port))
    key = base64.b64encode(os.urandom(16)).decode()
    path = (u.path or "/") + ("?" + u.query if u.query else "")
    sock.sendall(
        f"GET {path} HTTP/1.1\r\nHost: {u.netloc}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
    )
    status, fields, rest = _head(sock)
    if " 101 " not in status or fields.get("sec-websocket-accept") != _accept(key):
        raise Closed(status)
    s = Socket(sock, True)
    s.rest = rest
    return s


def serve(port, handle, ready):
    """Serves connections without end, each on a thread. Calls ready with the port."""
    listener = socket.create_server(("127.0.0.1", port))
    ready(listener.getsockname()[1])

    def one(sock):
        try:
            status, fields, rest = _head(sock)
            sock.sendall(
                "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                f"Sec-WebSocket-Accept: {_accept(fields['sec-websocket-key'])}\r\n\r\n".encode()
            )
            s = Socket(sock, False)
            s.rest = rest
            handle(s, status.split(" ")[1])
        except (Closed, OSError):
            pass
        finally:
            sock.close()

    while True:
        sock, _ = listener.accept()
        threading.Thread(target=one, args=(sock,), daemon=True).start()
