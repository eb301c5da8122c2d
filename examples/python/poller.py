"""Fetches Garson's events, for a shop without a public address, and stores each of them once. Needs Python 3.9 or newer.

KEY_FILE=key URL=https://orders.example.com python3 poller.py

KEY_FILE (or KEY): an API key. URL: where Garson is. DATA: the folder of events.db, by default the current one.
"""

import http.client
import json
import os
import pathlib
import random
import socket
import sqlite3
import sys
import threading
import time
import urllib.parse

WAIT_SECONDS = 30
# The whole request, with the time that Garson waits for an event.
REQUEST_SECONDS = WAIT_SECONDS + 15
MAX_PAUSE = 60
MAX_RETRY_AFTER = 600


def read_key():
    file = os.environ.get("KEY_FILE")
    key = pathlib.Path(file).read_text().strip() if file else os.environ.get("KEY", "")
    return key or sys.exit("set KEY_FILE to a file with the API key, or KEY to the key")


class Failed(Exception):
    """An answer that is not a page of events."""

    def __init__(self, status, retry_after):
        super().__init__(f"Garson answered {status}")
        # It may also be a date, which a proxy sends.
        self.retry_after = min(int(retry_after), MAX_RETRY_AFTER) if retry_after.isdecimal() else 0


class Store:
    def __init__(self, path):
        self.db = sqlite3.connect(path)
        self.db.execute("PRAGMA journal_mode = WAL")
        # A commit returns when it is on disk.
        self.db.execute("PRAGMA synchronous = FULL")
        self.db.execute(
            "CREATE TABLE IF NOT EXISTS events (position INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, body TEXT NOT NULL)"
        )
        self.db.execute("CREATE TABLE IF NOT EXISTS cursor (one INTEGER PRIMARY KEY CHECK (one = 1), value TEXT NOT NULL)")

    def cursor(self):
        row = self.db.execute("SELECT value FROM cursor").fetchone()
        return row and row[0]

    def add(self, events, cursor):
        """Stores a page and where to continue, in one transaction: a crash loses neither or both."""
        with self.db:
            rows = [(event["veri"]["id"], json.dumps(event, ensure_ascii=False)) for event in events]
            self.db.executemany("INSERT INTO events (id, body) VALUES (?, ?) ON CONFLICT (id) DO NOTHING", rows)
            self.db.execute("INSERT INTO cursor VALUES (1, ?) ON CONFLICT (one) DO UPDATE SET value = excluded.value", (cursor,))


def stop(connection):
    try:
        connection.sock.shutdown(socket.SHUT_RDWR)
    except (AttributeError, OSError):
        pass  # It is not connected.


def fetch(url, key, cursor):
    """The events after the cursor, oldest first, and the next cursor. Waits until there are some, up to WAIT_SECONDS."""
    query = {"dir": "prev", "limit": 100, "wait": WAIT_SECONDS}
    if cursor:
        query["cursor"] = cursor
    secure = url.scheme == "https"
    # http.client follows no redirect, which would take the key to another host.
    connection = (http.client.HTTPSConnection if secure else http.client.HTTPConnection)(url.netloc, timeout=REQUEST_SECONDS)
    # The timeout of the connection begins again with each byte.
    timer = threading.Timer(REQUEST_SECONDS, stop, [connection])
    timer.daemon = True
    timer.start()
    try:
        path = f"{url.path.rstrip('/')}/web-api/v1/events?{urllib.parse.urlencode(query)}"
        connection.request("GET", path, headers={"Authorization": f"Bearer {key}"})
        response = connection.getresponse()
        body = response.read()
    finally:
        timer.cancel()
        connection.close()
    if response.status == 401:
        sys.exit("Garson refuses the key")
    if response.status == 422:
        sys.exit("The events after the cursor are not kept any more: read the orders, empty the table cursor, start again")
    if response.status != 200:
        raise Failed(response.status, response.headers.get("Retry-After", ""))
    page = json.loads(body)
    return page["data"][::-1], page["paging"]["prev"]


def main():
    url, key = urllib.parse.urlsplit(os.environ.get("URL", "http://127.0.0.1:8080")), read_key()
    store = Store(pathlib.Path(os.environ.get("DATA", "."), "events.db"))
    failures = 0
    # It may be killed at any time: what is stored is complete, and the rest is fetched again.
    while True:
        began = time.monotonic()
        try:
            events, cursor = fetch(url, key, store.cursor())
            store.add(events, cursor)
        except (OSError, http.client.HTTPException, sqlite3.Error, ValueError, KeyError, TypeError, Failed) as error:
            # Random, so that many shops do not return at the same moment after an outage.
            pause = max(min(2**failures, MAX_PAUSE) * random.uniform(0.5, 1), getattr(error, "retry_after", 0))
            failures = min(failures + 1, 10)
            print(f"{type(error).__name__}: {error}; again in {pause:.1f} s", file=sys.stderr, flush=True)
            time.sleep(pause)
            continue
        failures = 0
        if events:
            print(len(events), "events, up to", cursor, flush=True)
        elif time.monotonic() - began < 1:
            time.sleep(1)  # A server that is about to stop does not wait.


main()
