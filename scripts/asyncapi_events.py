"""Compares what the server sends with asyncapi.json: every webhook request and every block of the event stream has the headers and
the payload of its message.

usage: asyncapi_events.py URL KEY_FILE ASYNCAPI_JSON
"""

import json
import queue
import sys
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from jsonschema import Draft7Validator, FormatChecker

SHOP_KEY = "the-key-of-the-shop"
# The events that this script causes, in their order, and those that only webhooks get.
STREAMED = [
    "entegrasyon.durum_degisti",
    "siparis.olusturuldu",
    "siparis.durum_degisti",
    "siparis.iptal_edildi",
    "entegrasyon.durum_degisti",
]
SECONDS = 20

opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Receiver(BaseHTTPRequestHandler):
    """Keeps the headers and the body of every request."""

    received: "queue.Queue[tuple[dict, dict]]" = queue.Queue()

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        self.received.put(({name.lower(): value for name, value in self.headers.items()}, json.loads(body)))
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


class Api:
    def __init__(self, url, key):
        self.url, self.key = url, key

    def open(self, method, path, body, headers):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"content-type": "application/json", **headers}, method=method)
        return opener.open(request, timeout=SECONDS)

    def call(self, method, path, body=None):
        with self.open(method, f"/web-api/v1{path}", body, {"authorization": f"Bearer {self.key}"}) as answer:
            return json.load(answer).get("data")

    def place_order(self, number):
        order = {
            "storeId": "events",
            "providerOrderId": number,
            "items": [{"name": "Simit", "unitPrice": 1500}],
            "amount": {"total": 1500},
            "payment": {"type": "cash"},
        }
        self.open("POST", "/hooks/direct/orders", order, {"x-api-key": SHOP_KEY}).close()

    def stream(self):
        return self.open(
            "GET", "/web-api/v1/events", None, {"authorization": f"Bearer {self.key}", "accept": "text/event-stream"}
        )


def blocks(stream):
    """The blocks of server-sent events, each as its fields."""
    fields = {}
    for line in stream:
        text = line.decode().rstrip("\n")
        name, _, value = text.partition(":")
        if not text:
            yield fields
            fields = {}
        # Without a name it is a comment.
        elif name:
            fields[name] = value.removeprefix(" ")


class Document:
    def __init__(self, text):
        self.document = json.loads(text)

    def check(self, channel, headers, payload):
        """Checks a message with the schemas that its channel has for it."""
        references = [it["$ref"] for it in self.document["channels"][channel]["messages"].values()]
        messages = [self.document["components"]["messages"][reference.rsplit("/", 1)[1]] for reference in references]
        message = next(it for it in messages if it["name"] == payload["olay"])
        for part, value in (("headers", headers), ("payload", payload)):
            # References of the schema lead to the components beside it.
            schema = {"allOf": [message[part]], "components": self.document["components"]}
            validator = Draft7Validator(schema, format_checker=FormatChecker())
            for error in validator.iter_errors(value):
                raise SystemExit(f"{channel} {payload['olay']}: {part}{error.json_path[1:]}: {error.message}")


def main():
    url, key_file, document_file = sys.argv[1:]
    api = Api(url, Path(key_file).read_text().strip())
    document = Document(Path(document_file).read_text())
    receiver = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=receiver.serve_forever, daemon=True).start()
    target = f"http://127.0.0.1:{receiver.server_port}/events"
    endpoint = api.call("POST", "/webhook-endpoints", {"url": target, "signed": True, "body": "withOrder"})

    stream = api.stream()
    blocks_of_stream = blocks(stream)
    # The first one only has the position.
    first = next(blocks_of_stream)
    assert set(first) == {"retry", "id"}, first

    restaurant = api.call("POST", "/restaurants", {"name": "Moda"})["id"]
    integration = f"/restaurants/{restaurant}/integrations/direct"
    connection = {"isActive": True, "remoteId": "events", "credentials": {"inboundKey": SHOP_KEY}}
    api.call("PUT", integration, connection)
    api.place_order("E-1")
    api.call("POST", "/orders/verify/E-1")
    api.call("POST", "/orders/cancel/E-1", {"reason": "out_of_stock"})
    api.call("PUT", integration, {"isActive": False})
    api.call("POST", f"/webhook-endpoints/{endpoint['id']}/test")

    requests = [Receiver.received.get(timeout=SECONDS) for _ in range(len(STREAMED) + 1)]
    # Only the events of an order have an order among them.
    sent = sorted(payload["olay"] for _, payload in requests)
    if sent != sorted([*STREAMED, "test"]):
        raise SystemExit(f"the webhook got {sent}")
    for headers, payload in requests:
        document.check("webhook", headers, payload)
        is_order = payload["olay"].startswith("siparis.")
        if is_order != ("order" in payload["veri"]) or "webhook-signature" not in headers:
            raise SystemExit(f"{payload['olay']}: {headers} {payload}")

    streamed = []
    while len(streamed) < len(STREAMED):
        block = next(blocks_of_stream)
        if "data" in block:
            payload = json.loads(block["data"])
            document.check("stream", {name: block[name] for name in ("id", "event")}, payload)
            streamed.append(payload["olay"])
    if streamed != STREAMED:
        raise SystemExit(f"the stream had {streamed}")
    stream.close()
    receiver.shutdown()
    print("ok: webhooks and the stream are what asyncapi.json describes")


main()
