"""Watches which sessions of PostgreSQL wait for a lock, for how long, and for whom."""

import re
import threading
import time

from postgres import Psql

INTERVAL = 0.02
# Waiting sessions of the service, and what those do that have the lock. The query of a session that is between two statements is its
# last one.
WAITING = """
    SELECT l.pid, l.locktype, l.mode, CAST(CAST(l.relation AS regclass) AS text) AS relation, a.application_name AS application,
           a.query, EXTRACT(EPOCH FROM l.waitstart) AS since, EXTRACT(EPOCH FROM clock_timestamp()) AS now,
           (SELECT json_agg(json_build_object('state', b.state, 'query', b.query, 'application', b.application_name,
                                              'type', b.backend_type))
              FROM pg_stat_activity b WHERE b.pid = ANY (pg_blocking_pids(l.pid))) AS holders
    FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
    WHERE NOT l.granted AND a.application_name LIKE 'garson%'"""
# The migration waits by itself, for a limited time or without blocking others. Those that it makes wait are counted.
MIGRATION = re.compile(r"\s*(BEGIN; SELECT pg_advisory|LOCK TABLE |ALTER |CREATE |DROP )", re.IGNORECASE)


class LockWatch:
    """A thread that looks every 20 ms. PostgreSQL knows since when a session waits; of what ends between two looks, the last part is
    not seen."""

    def __init__(self, url, log):
        self.psql = Psql(url, log)
        # (session, start) -> the wait as it was seen last.
        self.waits, self.looks, self.failure = {}, [], None
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        try:
            while not self.is_over.is_set():
                began = time.time()
                for wait in self.psql.objects(WAITING):
                    # It is missing at the very beginning.
                    since = wait["since"] or wait["now"]
                    wait["ms"] = (wait["now"] - since) * 1000
                    self.waits[wait["pid"], since] = wait
                self.looks.append(began)
                self.is_over.wait(max(began + INTERVAL - time.time(), 0))
        except Exception as failure:
            self.failure = failure
        finally:
            self.psql.close()

    def stop(self):
        self.is_over.set()
        self.thread.join()

    def between(self, began, ended):
        """The waits of clients and of the migration itself, the longest first, and the longest time between two looks in ms."""
        if self.failure:
            raise self.failure
        waits = [one for (_, since), one in list(self.waits.items()) if began <= since <= ended]
        waits.sort(key=lambda one: -one["ms"])
        own = [one for one in waits if is_migration(one)]
        looks = [began, *(one for one in list(self.looks) if began <= one <= ended), ended]
        blind = max(later - earlier for earlier, later in zip(looks, looks[1:])) * 1000
        return [one for one in waits if not is_migration(one)], own, blind


def is_migration(wait):
    return wait["application"] == "garson migration" or bool(MIGRATION.match(wait["query"]))


def described(wait):
    def short(text):
        return " ".join(text.split())[:120]

    holders = "; ".join(f"{one['application'] or one['type']}, {one['state']}: {short(one['query'])}" for one in wait["holders"] or [])
    place = f"{wait['locktype']} {wait['relation'] or ''}".strip()
    return f"{wait['ms']:.0f} ms, {wait['mode']} on {place}, `{short(wait['query'])}` behind `{holders or 'unknown'}`"
