"""The programs of the set-up and their configuration. docs/scaling.md explains the settings."""

import json
import pathlib
import secrets
import subprocess

from http_client import ask_once
from machines import Failed, wait_until
from nodes import GARSON, Nodes

# As small as Patroni permits: ttl >= 20, and loop_wait + 2 * retry_timeout <= ttl.
TTL, LOOP_WAIT, RETRY_TIMEOUT = 20, 5, 5
ETCD, ETCD_PEERS, POSTGRES, PATRONI = 2379, 2380, 5432, 8008


def postgres_programs():
    found = pathlib.Path("/usr/lib/postgresql").glob("*/bin/initdb")
    return max(found, key=lambda path: int(path.parts[-3])).parent


class Services:
    def __init__(self, machines, work, garson, through_proxy, synchronous):
        self.machines, self.work = machines, work
        self.databases = [machines[f"db{number}"] for number in (1, 2, 3)]
        # Patroni's synchronous_mode: one standby that is chosen, or any of both.
        self.synchronous = "quorum" if synchronous == "quorum" else True
        self.proxy = machines["proxy"]
        self.programs = postgres_programs()
        self.passwords = {name: secrets.token_hex(16) for name in ("postgres", "replicator", "garson")}
        hosts = f"{self.proxy.address}:{POSTGRES}"
        if not through_proxy:
            hosts = ",".join(f"{one.address}:{POSTGRES}" for one in self.databases)
        # No TLS, since these addresses exist in the test only.
        url = f"postgres://garson:{self.passwords['garson']}@{hosts}/garson?sslmode=disable"
        self.nodes = Nodes(
            garson, [machines[f"garson{number}"] for number in (1, 2, 3)], machines["client"], work,
            [(self.proxy.address, GARSON)], url, {"GARSON_SERVER__TRUSTED_PROXIES": self.proxy.address},
        )  # fmt: skip
        # Seconds from the fault to a new primary, if there is one.
        self.new_primary_after = None

    # etcd

    def start_etcd(self, machine, state="new"):
        members = ",".join(f"{one.name}=http://{one.address}:{ETCD_PEERS}" for one in self.databases)
        clients, peers = f"http://{machine.address}:{ETCD}", f"http://{machine.address}:{ETCD_PEERS}"
        machine.start("etcd", [
            "etcd", "--name", machine.name, "--data-dir", self.work / f"etcd-{machine.name}",
            "--listen-client-urls", clients, "--advertise-client-urls", clients,
            "--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers,
            "--initial-cluster", members, "--initial-cluster-state", state, "--initial-cluster-token", "garson",
            # The defaults are 100 and 1000, which is too little beside other work on two cores.
            "--heartbeat-interval", "200", "--election-timeout", "2000",
        ])  # fmt: skip

    def etcd_is_healthy(self, machine):
        status, body = ask_once(machine.address, ETCD, "/health")
        return status == 200 and json.loads(body)["health"] == "true"

    def etcd_leader(self):
        for machine in self.databases:
            status, body = ask_once(machine.address, ETCD, "/v3/maintenance/status", "POST", {})
            if status == 200:
                answer = json.loads(body)
                if answer.get("leader") == answer["header"]["member_id"]:
                    return machine
        return None

    # Patroni and PostgreSQL

    def write_patroni(self, machine):
        home = self.work / machine.name / "postgres"
        settings = {
            "scope": "garson",
            "name": machine.name,
            "restapi": {"listen": f"{machine.address}:{PATRONI}", "connect_address": f"{machine.address}:{PATRONI}"},
            "etcd3": {"hosts": [f"{one.address}:{ETCD}" for one in self.databases]},
            "bootstrap": {
                "dcs": {
                    "ttl": TTL,
                    "loop_wait": LOOP_WAIT,
                    "retry_timeout": RETRY_TIMEOUT,
                    "synchronous_mode": self.synchronous,
                    "synchronous_mode_strict": False,
                    "failsafe_mode": True,
                    "maximum_lag_on_failover": 1048576,
                    "postgresql": {
                        "use_pg_rewind": True,
                        "use_slots": True,
                        "parameters": {
                            "max_connections": 100,
                            "wal_log_hints": "on",
                            "max_wal_size": "512MB",
                            "wal_retrieve_retry_interval": "1s",
                            "wal_sender_timeout": "5s",
                        },
                    },
                },
                "initdb": [{"encoding": "UTF8"}, {"locale": "C.UTF-8"}, "data-checksums"],
            },
            "postgresql": {
                "listen": f"{machine.address},127.0.0.1:{POSTGRES}",
                "connect_address": f"{machine.address}:{POSTGRES}",
                "data_dir": str(home / "data"),
                "bin_dir": str(self.programs),
                "pgpass": str(home / "pgpass"),
                "authentication": {
                    "superuser": {"username": "postgres", "password": self.passwords["postgres"]},
                    "replication": {"username": "replicator", "password": self.passwords["replicator"]},
                },
                "basebackup": [{"checkpoint": "fast"}],
                "parameters": {"unix_socket_directories": str(home), "shared_buffers": "128MB"},
                "pg_hba": [
                    "local all all peer",
                    "host all all 127.0.0.1/32 scram-sha-256",
                    "host all all 198.51.100.0/24 scram-sha-256",
                    "host replication replicator 127.0.0.1/32 scram-sha-256",
                    "host replication replicator 198.51.100.0/24 scram-sha-256",
                ],
            },
        }
        # JSON is also YAML.
        path = self.work / f"patroni-{machine.name}.yml"
        path.write_text(json.dumps(settings, indent=1))
        path.chmod(0o644)
        return path

    def start_patroni(self, machine):
        variables = {"PYTHONPATH": str(self.work / "python")}
        machine.start("patroni", ["/usr/bin/python3", "-m", "patroni", self.write_patroni(machine)], "postgres", variables)

    def start_database(self, machine):
        """The whole machine, as after a boot."""
        self.start_etcd(machine)
        self.start_patroni(machine)

    def primary(self, others_than=None):
        for machine in self.databases:
            if machine is not others_than and ask_once(machine.address, PATRONI, "/primary")[0] == 200:
                return machine
        return None

    def synchronous_standby(self):
        path = "/quorum" if self.synchronous == "quorum" else "/synchronous"
        for machine in self.databases:
            if ask_once(machine.address, PATRONI, path)[0] == 200:
                return machine
        return None

    def databases_are_complete(self):
        """A primary, a synchronous standby, and a third server that follows, all on one timeline, and three members of etcd."""
        primary = self.primary()
        if not primary or not self.synchronous_standby() or not all(map(self.etcd_is_healthy, self.databases)):
            return False
        standbys = [one for one in self.databases if one is not primary]
        if any(ask_once(one.address, PATRONI, "/replica")[0] != 200 for one in standbys):
            return False
        return self.sql(primary, "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'") == "2"

    def sql(self, machine, statement, database="postgres"):
        """A statement as superuser; returns what psql prints, or None if it fails."""
        found = subprocess.run(
            machine.command([self.programs / "psql", "--no-psqlrc", "-qtA", "-c", statement]),
            capture_output=True, text=True, check=False, timeout=30,
            env={
                "PGHOST": "127.0.0.1", "PGPORT": str(POSTGRES), "PGUSER": "postgres", "PGDATABASE": database,
                "PGPASSWORD": self.passwords["postgres"], "PGCONNECT_TIMEOUT": "3",
            },
        )  # fmt: skip
        return found.stdout.strip() if found.returncode == 0 else None

    # HAProxy

    def write_haproxy(self):
        databases = "\n".join(f"    server {one.name} {one.address}:{POSTGRES} check port {PATRONI}" for one in self.databases)
        nodes = "\n".join(f"    server {one.name} {one.address}:{GARSON} check" for one in self.nodes.machines)
        path = self.work / "haproxy.cfg"
        path.write_text(f"""
global
    maxconn 2000

defaults
    timeout connect 2s
    timeout check 2s

listen database
    bind {self.proxy.address}:{POSTGRES}
    mode tcp
    timeout client 1h
    timeout server 1h
    option httpchk OPTIONS /primary
    http-check expect status 200
    default-server inter 1s fall 2 rise 1 on-marked-down shutdown-sessions
{databases}

listen orders
    bind {self.proxy.address}:{GARSON}
    mode http
    timeout client 75s
    timeout server 75s
    timeout http-request 15s
    option forwardfor
    option redispatch
    retries 2
    option httpchk GET /readyz
    http-check expect status 200
    default-server inter 1s fall 2 rise 1
{nodes}
""")
        return path

    def start_haproxy(self):
        self.proxy.start("haproxy", ["haproxy", "-db", "-f", self.write_haproxy()])

    def check_running(self):
        """No program may have ended by itself."""
        for machine in self.machines.values():
            for role, process in machine.started.items():
                if process.poll() is not None:
                    raise Failed(f"{role} on {machine.name} ended by itself with {process.returncode}")

    # Everything

    def start(self):
        for machine in self.databases:
            self.start_etcd(machine)
        wait_until("etcd is healthy", lambda: all(map(self.etcd_is_healthy, self.databases)))
        for machine in self.databases:
            self.start_patroni(machine)
        primary = wait_until("there is a primary", self.primary, 120)
        for statement in (
            f"CREATE ROLE garson LOGIN PASSWORD '{self.passwords['garson']}'",
            "CREATE DATABASE garson OWNER garson ENCODING 'UTF8' TEMPLATE template0",
        ):
            if self.sql(primary, statement) is None:
                raise Failed(f"refused: {statement.split(' PASSWORD')[0]}")
        wait_until("both standbys follow", self.databases_are_complete, 120)
        self.start_haproxy()
        self.nodes.start_all()

    def is_complete(self):
        return self.databases_are_complete() and self.nodes.all_ready()
