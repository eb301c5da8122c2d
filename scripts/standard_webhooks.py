"""The receiver and the checks of scripts/standard-webhooks."""

import json
import queue
import subprocess
import sys
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from standardwebhooks.webhooks import Webhook, WebhookVerificationError

NODE = """
const { Webhook } = require("standardwebhooks");
const { secret, headers, body } = JSON.parse(require("fs").readFileSync(0, "utf8"));
try { new Webhook(secret).verify(body, headers); console.log("valid"); }
catch (error) { console.log("refused"); }
"""

received = queue.Queue()


class Receiver(BaseHTTPRequestHandler):
    """Keeps the headers and the exact body of every request."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"])).decode()
        received.put(({name.lower(): value for name, value in self.headers.items()}, body))
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def call(base, key, method, path, body=None):
    request = urllib.request.Request(
        f"{base}/web-api/v1{path}",
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={"authorization": f"Bearer {key}", "content-type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=20) as response:
        return json.load(response)["data"]


def accepts_in_python(secret, headers, body):
    try:
        Webhook(secret).verify(body, headers)
        return True
    except WebhookVerificationError:
        return False


def accepts_in_node(secret, headers, body):
    given = json.dumps({"secret": secret, "headers": headers, "body": body})
    done = subprocess.run(
        ["node", "-e", NODE], input=given, capture_output=True, text=True, check=True, timeout=30
    )
    return {"valid": True, "refused": False}[done.stdout.strip()]


def check(name, secret, request, wanted):
    headers, body = request
    for library, accepts in (("python", accepts_in_python), ("node", accepts_in_node)):
        if accepts(secret, headers, body) != wanted:
            raise SystemExit(f"{name}: the {library} library does not answer {wanted}: {headers}")
    print(f"ok: {name}")


def main():
    account, base = sys.argv[1:3]
    with open(account, encoding="utf-8") as file:
        key = json.load(file)["apiKey"]
    receiver = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=receiver.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{receiver.server_port}/events"

    created = call(base, key, "POST", "/webhook-endpoints", {"url": url, "signed": True, "authorization": "none"})
    path, first = f"/webhook-endpoints/{created['id']}", created["signingSecret"]

    def test_event():
        call(base, key, "POST", f"{path}/test")
        return received.get(timeout=20)

    request = test_event()
    if request[0]["webhook-id"] != json.loads(request[1])["veri"]["id"]:
        raise SystemExit("webhook-id is not the id of the event")
    if "authorization" in request[0]:
        raise SystemExit("an endpoint without authorization got one")
    check("the secret verifies", first, request, True)
    check("a changed body is refused", first, (request[0], request[1] + " "), False)
    old = dict(request[0], **{"webhook-timestamp": str(int(request[0]["webhook-timestamp"]) - 3600)})
    check("another time is refused", first, (old, request[1]), False)

    second = call(base, key, "POST", f"{path}/secret/rotate", {"overlapHours": 1})["signingSecret"]
    request = test_event()
    check("the new secret verifies during the rotation", second, request, True)
    check("the old secret verifies during the rotation", first, request, True)

    third = call(base, key, "POST", f"{path}/secret/rotate", {"overlapHours": 0})["signingSecret"]
    request = test_event()
    check("the new secret verifies after the rotation", third, request, True)
    check("the old secret is refused after the rotation", second, request, False)

    shown = json.dumps(call(base, key, "GET", path))
    if any(secret in shown for secret in (first, second, third)):
        raise SystemExit("a secret is shown again")
    print("ok: secrets are not shown again")
    receiver.shutdown()


main()
