"""What is read from the databases beside Garson: how far the migration is, and which orders there are."""

import sqlite3
import time
from dataclasses import dataclass

from postgres import Postgres, Psql

# Those of tests/src/next_schema.rs.
EXPAND, CONTRACT, INDEX = 1001, 1002, "later_orders_by_total"
# Filled orders are not made findable by the words in them. That takes longer than all the rest, and would still go on while answers are
# measured.
SKIP_SEARCH = [
    "DELETE FROM search_progress",
    "INSERT INTO search_progress (account_id, reached) SELECT account_id, MAX(position) FROM orders GROUP BY account_id",
]
STEPS = f"""SELECT is_done, visited, passes, CASE WHEN place IS NULL THEN 1 ELSE 0 END
            FROM schema_steps WHERE number = {EXPAND} ORDER BY step"""


@dataclass
class Step:
    is_done: int
    visited: int
    passes: int
    # Is it between two passes?
    is_between: int


class Database:
    """`rows` returns the rows of a query as lists of texts. `hold_lock` does what a migration must not do."""

    def steps(self):
        """The index and the filling; nothing before the migration is applied."""
        return [Step(*map(int, row)) for row in self.rows(STEPS)]

    def is_contracted(self):
        return bool(self.rows(f"SELECT number FROM schema_migrations WHERE number = {CONTRACT}"))

    def numbers(self):
        return {number for (number,) in self.rows("SELECT provider_order_id FROM orders")}

    def wrong_columns(self):
        sql = "SELECT COUNT(*) FROM orders WHERE later_total IS NULL OR later_total <> total * 2"
        return int(self.rows(sql)[0][0])


class Sqlite(Database):
    url = None

    def __init__(self, nodes):
        self.path = nodes.data(nodes.machines[0]) / "garson.db"

    def rows(self, sql):
        # Opened for each query, so that it never delays a checkpoint.
        connection = sqlite3.connect(f"file:{self.path}?mode=ro", uri=True, timeout=10)
        try:
            return [list(map(str, row)) for row in connection.execute(sql)]
        finally:
            connection.close()

    def settle(self):
        """The state of a database that has been used for a long time; the service is stopped."""
        connection = sqlite3.connect(self.path)
        for statement in SKIP_SEARCH:
            connection.execute(statement)
        connection.commit()
        connection.close()

    def hold_lock(self, seconds):
        connection = sqlite3.connect(self.path, isolation_level=None, timeout=10)
        connection.execute("BEGIN IMMEDIATE")
        time.sleep(seconds)
        connection.execute("ROLLBACK")
        connection.close()

    def has_index(self):
        return self.rows(f"SELECT COUNT(*) FROM sqlite_schema WHERE name = '{INDEX}'") == [["1"]]

    def close(self):
        pass


class PostgresDatabase(Database):
    def __init__(self, folder, log):
        self.log = log
        self.server = Postgres(folder)
        try:
            self.url = self.server.url
            self.psql = Psql(self.url, log)
        except BaseException:
            self.server.stop()
            raise

    def rows(self, sql):
        return [line.split("|") for line in self.psql.rows(sql)]

    def settle(self):
        for statement in [*SKIP_SEARCH, "VACUUM ANALYZE", "CHECKPOINT"]:
            self.psql.rows(statement)

    def hold_lock(self, seconds):
        self.psql.rows(f"BEGIN; LOCK TABLE orders IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep({seconds}); ROLLBACK")

    def index(self):
        """Nothing, or whether the index is complete."""
        sql = f"""SELECT CASE WHEN i.indisvalid THEN 1 ELSE 0 END
                  FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE c.relname = '{INDEX}'"""
        return self.rows(sql)

    def has_index(self):
        return self.index() == [["1"]]

    def is_making_index(self):
        return self.index() == [["0"]]

    def close(self):
        self.psql.close()
        self.server.stop()
