"""A throw-away PostgreSQL server, and connections to it through psql."""

import json
import pathlib
import subprocess

from machines import Failed

SCRIPTS = pathlib.Path(__file__).parent.parent
END = "--end--"


class Postgres:
    def __init__(self, folder):
        self.folder = folder
        started = subprocess.run([SCRIPTS / "postgres", "start", folder], stdout=subprocess.PIPE, text=True, check=False)
        if started.returncode != 0:
            raise Failed("PostgreSQL could not be started")
        self.url = started.stdout.strip()

    def stop(self):
        subprocess.run([SCRIPTS / "postgres", "stop", self.folder], check=True)


class Psql:
    """A session. It answers in a fraction of a millisecond, unlike a psql that is started for each statement."""

    def __init__(self, url, log):
        with open(log, "ab") as errors:
            self.process = subprocess.Popen(
                ["psql", "--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set", "ON_ERROR_STOP=1", url],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True,
            )  # fmt: skip
        # So that it is not among the sessions that are watched.
        self.rows("SET application_name TO 'measurement'")

    def rows(self, sql):
        """The lines of the answer; columns are separated by `|`."""
        self.process.stdin.write(f"{sql};\n\\echo {END}\n")
        self.process.stdin.flush()
        lines = []
        for line in self.process.stdout:
            if line == f"{END}\n":
                return lines
            lines.append(line.rstrip("\n"))
        raise Failed(f"psql ended at: {sql}")

    def objects(self, sql):
        """The rows as objects."""
        return [json.loads(line) for line in self.rows(f"SELECT row_to_json(found) FROM ({sql}) found")]

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()
