"""A PostgreSQL server on a machine of its own, with its data on the disk that can fail."""

import pathlib
import shutil
import signal
import subprocess

from machines import Failed, wait_until

PORT = 5432


def programs():
    found = pathlib.Path("/usr/lib/postgresql").glob("*/bin/initdb")
    return max(found, key=lambda path: int(path.parts[-3])).parent


class Database:
    def __init__(self, machine, work, folder):
        self.machine, self.folder = machine, folder
        self.template = work / "postgres-template"
        self.programs = programs()
        self.url = f"postgres://garson@{machine.address}:{PORT}/garson?sslmode=disable"
        self.superuser_url = self.url.replace("garson@", "postgres@")

    def make_template(self):
        """A server with the database, which is copied for each fault."""
        self.template.mkdir()
        shutil.chown(self.template, "postgres")
        initdb = [
            self.programs / "initdb", "--pgdata", self.template, "--username", "postgres", "--auth", "trust",
            "--encoding", "UTF8", "--locale", "C.UTF-8", "--data-checksums",
        ]  # fmt: skip
        ran = subprocess.run(self.machine.command(initdb, "postgres"), capture_output=True, text=True, check=False, cwd="/")
        if ran.returncode != 0:
            raise Failed(f"initdb: {ran.stderr}")
        with open(self.template / "postgresql.conf", "a") as settings:
            settings.write(
                f"listen_addresses = '{self.machine.address}'\nport = {PORT}\nunix_socket_directories = ''\n"
                "shared_buffers = 64MB\nmax_connections = 120\nmin_wal_size = 32MB\nmax_wal_size = 128MB\n"
            )
        with open(self.template / "pg_hba.conf", "a") as access:
            access.write("host all all 198.51.100.0/24 trust\n")
        self.start(self.template)
        self.sql("CREATE ROLE garson LOGIN", "postgres")
        self.sql("CREATE DATABASE garson OWNER garson ENCODING 'UTF8' TEMPLATE template0", "postgres")
        self.stop()

    def create(self):
        """The files of a new database, on the disk."""
        subprocess.run(["cp", "--archive", str(self.template), str(self.folder)], check=True)
        # Otherwise a power failure would take it.
        subprocess.run(["sync", "--file-system", str(self.folder)], check=True)

    def start(self, folder=None, variables=None):
        self.machine.start("postgres", [self.programs / "postgres", "-D", folder or self.folder], "postgres", variables)
        wait_until("PostgreSQL accepts connections", lambda: not self.has_ended() and self.is_ready(), 120, 0.1)

    def is_ready(self):
        return self.try_sql("SELECT 1", "postgres") == "1"

    def has_ended(self):
        if self.machine.started["postgres"].poll() is not None:
            raise Failed("PostgreSQL ended by itself")
        return False

    def stop(self, number=signal.SIGINT):
        """SIGINT ends it in order, SIGQUIT without writing what is in memory."""
        process = self.machine.started.pop("postgres")
        process.send_signal(number)
        process.wait(60)

    def kill(self):
        self.machine.kill_all()

    def try_sql(self, statement, database="garson"):
        """What psql prints, or None if it fails."""
        command = [
            self.programs / "psql", "--no-psqlrc", "-qtA", "-h", self.machine.address, "-p", PORT, "-U", "postgres",
            "-d", database, "-c", statement,
        ]  # fmt: skip
        ran = subprocess.run(
            list(map(str, command)), capture_output=True, text=True, check=False, timeout=30, env={"PGCONNECT_TIMEOUT": "3"}
        )
        return ran.stdout.strip() if ran.returncode == 0 else None

    def sql(self, statement, database="garson"):
        found = self.try_sql(statement, database)
        if found is None:
            raise Failed(f"PostgreSQL refuses: {statement}")
        return found
