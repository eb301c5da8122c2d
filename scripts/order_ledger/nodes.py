"""The nodes of Garson under test, and the account that the senders use."""

import http.client
import json
import pathlib
import secrets
import subprocess
import time

from http_client import Client, ask_once
from machines import Failed, wait_until

PARTS = pathlib.Path(__file__).parent
GARSON, LEDGER = 8080, 9000
START_SECONDS = 90


class Nodes:
    """Nodes on one database: `url`, or SQLite in the data folder if it is None. Requests go to one of `entrances`."""

    def __init__(self, program, machines, client, work, entrances, url=None, variables=None):
        self.program, self.machines, self.client, self.work = program, machines, client, work
        self.entrances, self.url, self.more = entrances, url, variables or {}
        self.master_key = secrets.token_hex(32)
        self.account = work / "account.json"
        self.key = None

    def data(self, machine):
        return self.work / f"data-{machine.name}"

    def variables(self, machine):
        found = {
            "GARSON_LISTEN": f"{machine.address}:{GARSON}",
            "GARSON_DATA": str(self.data(machine)),
            "GARSON_MASTER_KEY": self.master_key,
            "GARSON_ALLOW_TARGETS": f"{self.client.address}:{LEDGER}",
            **self.more,
        }
        if self.url:
            found["GARSON_DATABASE_URL"] = self.url
        return found

    def start(self, machine, wrapper=(), variables=None):
        """`wrapper` is a command that starts the program, such as prlimit."""
        self.data(machine).mkdir(exist_ok=True)
        machine.start("garson", [*wrapper, self.program, "serve"], variables={**self.variables(machine), **(variables or {})})

    def start_all(self):
        for machine in self.machines:
            self.start(machine)
        for machine in self.machines:
            self.await_ready(machine)

    def is_ready(self, machine):
        return ask_once(machine.address, GARSON, "/readyz")[0] == 200

    def all_ready(self):
        return all(map(self.is_ready, self.machines))

    def await_ready(self, machine):
        wait_until(f"Garson on {machine.name} is ready", lambda: self.is_ready(machine), START_SECONDS, 0.05)

    def run(self, machine, *arguments, check=True, variables=None):
        """Runs a command of the program, and returns what it has printed."""
        environment = {"PATH": "/usr/bin:/bin", **self.variables(machine), **(variables or {})}
        ran = subprocess.run(
            machine.command([self.program, *arguments]), capture_output=True, text=True, check=False, env=environment, cwd="/"
        )
        if check and ran.returncode != 0:
            raise Failed(f"garson {' '.join(map(str, arguments))}: {ran.stderr}")
        return ran

    def ask(self, method, path, body=None, key=None):
        """A request to the API. What can be repeated is repeated for a while."""
        status, answer = 0, b""
        for attempt in range(10):
            client = Client(*self.entrances[attempt % len(self.entrances)])
            try:
                status, answer = client.ask(method, path, body, {"Authorization": f"Bearer {key or self.key}"})
            except (OSError, http.client.HTTPException) as error:
                status, answer = 0, repr(error).encode()
            finally:
                client.close()
            if status in (200, 201):
                return json.loads(answer)
            time.sleep(1)
        raise Failed(f"{method} {path}: {status} {answer[:300]}")

    def start_ledger(self, file):
        self.client.start("ledger", ["python3", PARTS / "ledger.py", self.client.address, LEDGER, file])

    def start_senders(self, label, rate, requests):
        entrances = ",".join(f"{address}:{port}" for address, port in self.entrances)
        return self.client.start("senders", [
            "python3", PARTS / "senders.py", entrances, self.client.address, LEDGER, self.account, label, rate, requests,
        ])  # fmt: skip

    def create_account(self):
        """The account of the senders: a restaurant, its shop, and the ledger as its webhook."""
        self.account.write_text(self.new_account("senders@example.com"))
        self.key = json.loads(self.account.read_text())["apiKey"]
        self.open_shop(self.key, "shop-1", f"http://{self.client.address}:{LEDGER}/events")

    def new_account(self, email):
        return self.run(self.machines[0], "account", "create", "--name", "Faults", "--email", email, "--json").stdout

    def open_shop(self, key, shop, webhook=None):
        restaurant = self.ask("POST", "/web-api/v1/restaurants", {"name": "Moda"}, key)["data"]["id"]
        integration = {"isActive": True, "remoteId": shop, "credentials": {"inboundKey": "shop-secret"}}
        self.ask("PUT", f"/web-api/v1/restaurants/{restaurant}/integrations/direct", integration, key)
        if webhook:
            self.ask("PUT", "/web-api/v1/webhook", {"authorization": "bearer", "url": webhook}, key)
        return restaurant
