"""Receives Garson's events and stores each of them once, in a SQLite database. Needs Python 3.9 or newer.

KEY_FILE=key python3 receiver.py

KEY_FILE (or KEY): the account's primary API key. PORT: 3000. DATA: the folder of events.db, by default the current one.
"""

import hmac
import http.server
import json
import os
import pathlib
import signal
import socket
import sqlite3
import sys
import threading

MAX_BODY = 1024 * 1024
# Garson waits 10 seconds for an answer. A request that takes longer is useless, and holds a thread.
REQUEST_SECONDS = 10


def read_key():
    file = os.environ.get("KEY_FILE")
    key = pathlib.Path(file).read_text().strip() if file else os.environ.get("KEY", "")
    return key or sys.exit("set KEY_FILE to a file with the API key, or KEY to the key")


def parse(body):
    """The text and the event of a body. Raises ValueError if it is not an event."""

    def refuse(name):
        raise ValueError(f"{name} is not JSON")  # Python's parser takes NaN and Infinity.

    text = body.decode("utf-8")
    try:
        event = json.loads(text, parse_constant=refuse)
        if isinstance(event["veri"]["id"], str):
            return text, event
    except (KeyError, TypeError, RecursionError):
        pass
    raise ValueError("not an event")


class Store:
    def __init__(self, path):
        self.lock = threading.Lock()
        self.db = sqlite3.connect(path, check_same_thread=False)
        self.db.execute("PRAGMA journal_mode = WAL")
        # A commit returns when it is on disk.
        self.db.execute("PRAGMA synchronous = FULL")
        self.db.execute(
            "CREATE TABLE IF NOT EXISTS events (position INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, body TEXT NOT NULL)"
        )
        self.db.execute("CREATE TABLE IF NOT EXISTS orders (id TEXT PRIMARY KEY, sequence INTEGER NOT NULL, body TEXT NOT NULL)")

    def add(self, text, event):
        """Stores an event and the state of its order, both or neither. Returns what it was: new, known or late."""
        veri = event["veri"]
        with self.lock, self.db:
            insert = "INSERT INTO events (id, body) VALUES (?, ?) ON CONFLICT (id) DO NOTHING"
            if self.db.execute(insert, (veri["id"], text)).rowcount == 0:
                return "known"
            order, sequence = veri.get("orderId"), veri.get("sequence")
            if not isinstance(order, str) or not isinstance(sequence, int):
                return "new"  # It is not about an order.
            # A later event may have come first: it stays the state of the order.
            update = (
                "INSERT INTO orders (id, sequence, body) VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE"
                " SET sequence = excluded.sequence, body = excluded.body WHERE excluded.sequence > sequence"
            )
            return "new" if self.db.execute(update, (order, sequence, text)).rowcount else "late"


class Receiver(http.server.BaseHTTPRequestHandler):
    def setup(self):
        super().setup()
        # A timeout of the socket would begin again with each byte.
        self.timer = threading.Timer(REQUEST_SECONDS, self.stop_reading)
        self.timer.start()

    def finish(self):
        self.timer.cancel()
        super().finish()

    def stop_reading(self):
        try:
            self.connection.shutdown(socket.SHUT_RD)
        except OSError:
            pass  # It is closed already.

    def do_POST(self):
        given = self.headers.get("Authorization", "")
        if not hmac.compare_digest(given.encode(), self.server.authorization):
            return self.refuse(401)
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal():
            return self.refuse(411)
        if int(length) > MAX_BODY:
            return self.refuse(413)
        body = self.rfile.read(int(length))
        if len(body) < int(length):
            return self.answer(408)
        try:
            text, event = parse(body)
        except ValueError:
            return self.answer(400)
        try:
            outcome = self.server.store.add(text, event)
        except Exception as error:  # Whatever it was: the event is not stored, and Garson must send it again.
            print("not stored:", error, file=sys.stderr, flush=True)
            return self.answer(500)
        self.answer(200)
        print(outcome, event.get("olay"), event["veri"]["id"], flush=True)

    def do_GET(self):
        self.refuse(405)

    do_HEAD = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_GET

    def answer(self, status):
        self.send_response(status)
        if status == 405:
            self.send_header("Allow", "POST")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def refuse(self, status):
        """Answers before the body was read. It is discarded, because closing the connection with unread bytes would reset it."""
        self.answer(status)
        self.connection.shutdown(socket.SHUT_WR)
        while self.rfile.read1(65536):
            pass

    def log_request(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = False  # At the end, running requests are finished.


def stop(*_):
    sys.exit(0)


def main():
    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    # This machine only: put a proxy with TLS in front of it.
    with Server(("127.0.0.1", int(os.environ.get("PORT", "3000"))), Receiver) as server:
        server.authorization = f"Bearer {read_key()}".encode()
        server.store = Store(pathlib.Path(os.environ.get("DATA", "."), "events.db"))
        print(f"listening on http://127.0.0.1:{server.server_port}/", flush=True)
        server.serve_forever()


main()
