"""The checks of scripts/proxies.

usage: proxies.py nodes FOLDER PORT PORT PROXY...
       proxies.py serving|away|back FOLDER PROXY...

FOLDER has the certificate of the authority and the account. A PROXY is its name and its ports for HTTP and HTTPS: nginx,80,443.
Clients connect from 127.0.0.2, so that their address differs from that of the proxies.
"""

import html
import http.client
import json
import pathlib
import re
import socket
import ssl
import subprocess
import sys
import threading
import time
import urllib.parse
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

NAME = "garson.test"
CLIENT = "127.0.0.2"
API = "/web-api/v1"
# The limit of Garson.
MAX_BODY = 1024 * 1024
# Seconds between two messages of a stream without events, for which a client may ask to wait for one, and after which Garson closes a
# connection without requests.
HEARTBEAT = 15
LONGEST_WAIT = 60
IDLE = 15

folder = pathlib.Path(sys.argv[2])


def fail(what):
    sys.exit(f"proxies: {what}")


def check(condition, what):
    if not condition:
        fail(what)


class Answer:
    def __init__(self, answer):
        self.status = answer.status
        self.headers = answer.headers
        self.body = answer.read()

    def __str__(self):
        return f"{self.status} {dict(self.headers)} {self.body[:300]}"

    def json(self):
        return json.loads(self.body)


class Proxy:
    """A client of one proxy."""

    def __init__(self, argument):
        self.name, http_port, https_port = argument.split(",")
        self.http_port, self.https_port = int(http_port), int(https_port)
        self.trust = ssl.create_default_context(cafile=folder / "ca.pem")

    def connect(self, source=CLIENT, trust=None):
        plain = socket.create_connection(("127.0.0.1", self.https_port), timeout=20, source_address=(source, 0))
        return (trust or self.trust).wrap_socket(plain, server_hostname=NAME)

    def ask(self, method, path, body=None, headers=(), source=CLIENT, host=None, chunked=False):
        """A request over TLS; `headers` are pairs, so that a header can be sent twice."""
        connection = http.client.HTTPConnection(NAME, timeout=20)
        connection.sock = self.connect(source)
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        connection.putheader("Host", host or f"{NAME}:{self.https_port}")
        for name, value in headers:
            connection.putheader(name, value)
        if chunked:
            connection.putheader("Transfer-Encoding", "chunked")
        elif body is not None:
            connection.putheader("Content-Length", str(len(body)))
        try:
            connection.endheaders(body, encode_chunked=chunked)
        except (BrokenPipeError, ConnectionResetError):
            # It has answered without reading all of the body.
            pass
        try:
            return Answer(connection.getresponse())
        finally:
            connection.close()

    def call(self, key, method, path, body=None, **more):
        """A request to the API that has to succeed."""
        headers = [("Authorization", f"Bearer {key}"), ("Content-Type", "application/json"), *more.pop("headers", ())]
        answer = self.ask(method, API + path, None if body is None else json.dumps(body).encode(), headers, **more)
        check(answer.status == 200, f"{self.name}: {method} {path}: {answer}")
        return answer.json().get("data")

    def send(self, data, seconds):
        """Sends bytes as they are; returns what comes back and after how many seconds it ended."""
        began = time.monotonic()
        with self.connect() as connection:
            connection.settimeout(seconds)
            received = b""
            try:
                connection.sendall(data)
                while more := connection.recv(65536):
                    received += more
            except TimeoutError:
                return received, None
            except OSError:
                pass
        return received, time.monotonic() - began

    def ok(self, what):
        print(f"ok: {self.name}: {what}", flush=True)


class Stream(threading.Thread):
    """Follows a stream with curl, and notes when each line came."""

    def __init__(self, proxy, path, headers, version, event):
        super().__init__(daemon=True)
        self.event = event
        self.what = f"{proxy.name}: {path.partition('?')[0]} over {version}"
        self.lines = []
        # Not on the command line, which others can see.
        head = folder / f"stream-{id(self)}.txt"
        head.write_text("".join(f"{name}: {value}\n" for name, value in headers))
        self.curl = subprocess.Popen(
            ["curl", "--silent", "--no-buffer", f"--{version}", "--noproxy", "*", "--max-time", "50"]
            + ["--cacert", folder / "ca.pem", "--resolve", f"{NAME}:{proxy.https_port}:127.0.0.1"]
            + ["--interface", CLIENT, "--header", f"@{head}", f"https://{NAME}:{proxy.https_port}{path}"],
            stdout=subprocess.PIPE,
            text=True,
        )
        self.start()

    def run(self):
        for line in self.curl.stdout:
            self.lines.append((time.monotonic(), line.rstrip("\n")))

    def await_line(self, accepted, seconds):
        """The time of the first line that is accepted."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            for at, line in list(self.lines):
                if accepted(at, line):
                    return at
            check(self.curl.poll() is None, f"{self.what}: the stream has ended: {self.lines}")
            time.sleep(0.02)
        return fail(f"{self.what}: nothing came within {seconds} seconds: {self.lines[-5:]}")

    def end(self):
        self.curl.terminate()
        self.curl.wait(10)


def primary_key():
    return json.loads((folder / "account.json").read_text())["apiKey"]


# serving: one node, which works.


def check_tls(proxy):
    proxy.call(primary_key(), "GET", "/keys")
    try:
        proxy.connect(trust=ssl.create_default_context())
    except ssl.SSLCertVerificationError:
        pass
    else:
        fail(f"{proxy.name}: a client that does not know the authority accepts the certificate")
    for method in ("GET", "POST"):
        plain = http.client.HTTPConnection("127.0.0.1", proxy.http_port, timeout=20)
        plain.request(method, "/orders?page=2", headers={"Host": NAME})
        answer = Answer(plain.getresponse())
        wanted = f"https://{NAME}/orders?page=2"
        check(answer.status == 308 and answer.headers["Location"] == wanted, f"{proxy.name}: {method} by HTTP: {answer}")
    if proxy.name == "nginx":
        plain = http.client.HTTPConnection("127.0.0.1", proxy.http_port, timeout=20)
        plain.request("GET", "/.well-known/acme-challenge/token", headers={"Host": NAME})
        answer = Answer(plain.getresponse())
        check((answer.status, answer.body) == (200, b"proof"), f"nginx: a renewal of the certificate: {answer}")
    proxy.ok("the API over TLS, and HTTP leads there")

    stranger = proxy.ask("GET", "/", host="stranger.example")
    check(stranger.headers["X-Request-Id"] is None, f"{proxy.name}: another name reaches Garson: {stranger}")
    metrics = proxy.ask("GET", "/metrics")
    check(metrics.status == 404, f"{proxy.name}: /metrics: {metrics}")
    proxy.ok("neither other names nor metrics lead to Garson")

    sent = proxy.ask("GET", "/healthz", headers=[("X-Request-Id", "my-own.id_1")])
    check(sent.headers.get_all("X-Request-Id") == ["my-own.id_1"], f"{proxy.name}: the id of a request: {sent}")
    made = [proxy.ask("GET", "/healthz", headers=given) for given in ([], [("X-Request-Id", "two words")])]
    ids = {answer.headers["X-Request-Id"] for answer in made} - {None, "two words"}
    check(len(ids) == 2, f"{proxy.name}: ids of requests without a good one: {ids}")
    proxy.ok("a request has one id")


def check_addresses(proxy):
    """A key that may be used from one address only tells which address counts."""
    key = proxy.call(primary_key(), "POST", "/keys", {"label": proxy.name, "networks": [f"{CLIENT}/32"]})["apiKey"]
    others = ["203.0.113.7", "127.0.0.1"]
    for name in ("X-Forwarded-For", "X-Real-IP"):
        for other in others:
            proxy.call(key, "GET", "/providers", headers=[(name, other), (name, other)])
    proxy.call(key, "GET", "/providers", headers=[("Forwarded", "for=203.0.113.7;proto=http"), ("X-Forwarded-Proto", "http")])
    forged = [("X-Forwarded-For", CLIENT), ("X-Real-IP", CLIENT), ("Forwarded", f"for={CLIENT}")]
    headers = [("Authorization", f"Bearer {key}"), *forged]
    refused = proxy.ask("GET", f"{API}/providers", headers=headers, source="127.0.0.1")
    check(refused.status == 403 and b"address_not_allowed" in refused.body, f"{proxy.name}: a forged address: {refused}")
    # The use of a key is recorded beside the request.
    for _ in range(50):
        used = [one["lastUsedFrom"] for one in proxy.call(primary_key(), "GET", "/keys") if one["label"] == proxy.name]
        if used != [None]:
            break
        time.sleep(0.1)
    check(used == [CLIENT], f"{proxy.name}: the key was last used from {used}")
    proxy.ok("the address of a client is its own, and cannot be forged")


def check_bodies(proxy):
    key = [("Authorization", f"Bearer {primary_key()}"), ("Content-Type", "application/json"), ("X-Request-Id", "large")]
    large = b" " * 1_200_000
    for path, headers in ((f"{API}/restaurants", key), ("/hooks/direct/orders", key[2:]), ("/sign-in", [])):
        refused = proxy.ask("POST", path, large, headers)
        check(refused.status == 413, f"{proxy.name}: POST {path} with 1.2 MB: {refused}")
        error = refused.json()
        has_id = error["requestId"] == "large" if headers else len(error["requestId"]) > 30
        check(error["error"]["code"] == "body_too_large" and has_id, f"{proxy.name}: {error}")
    refused = proxy.ask("POST", f"{API}/restaurants", [large[:65536]] * 19, key, chunked=True)
    check(refused.status == 413, f"{proxy.name}: 1.2 MB of unknown length: {refused}")
    fitting = b'{"name":""' + b" " * (MAX_BODY - 11) + b"}"
    taken = proxy.ask("POST", f"{API}/restaurants", fitting, key)
    check(taken.status == 422, f"{proxy.name}: a body of {len(fitting)} bytes: {taken}")
    proxy.ok("bodies up to 1 MiB, and 413 above")

    # Garson refuses these before it has read them.
    statuses = {proxy.ask("POST", "/sign-in", large[:900_000]).status for _ in range(12)}
    check(statuses == {413}, f"{proxy.name}: forms of 900 kB: {statuses}")
    working = proxy.ask("GET", "/healthz")
    check(working.status == 200, f"{proxy.name}: after a dozen of large forms: {working}")
    proxy.ok("refused bodies do not stop the service")


def check_heads(proxy):
    led = proxy.ask("GET", "/orders?q=" + "/" * 15_000)
    check(led.status == 303 and led.headers["Location"] == "/sign-in", f"{proxy.name}: a long address: {led}")
    # A shorter one is repeated, each slash with three letters.
    led = proxy.ask("GET", "/orders?q=" + "/" * 900)
    check(led.status == 303 and len(led.headers["Location"]) > 2_700, f"{proxy.name}: an address of 900: {led}")
    refused = proxy.ask("GET", "/healthz", headers=[("X-Large", "x" * 100_000)])
    check(refused.status in (400, 431), f"{proxy.name}: a head of 100 kB: {refused}")
    proxy.ok("long addresses are answered, large heads are refused")


def sign_in(proxy):
    """Signs in to the panel; returns the cookies."""
    given = {}

    def take(answer):
        for cookie in answer.headers.get_all("Set-Cookie") or []:
            check("; Secure" in cookie, f"{proxy.name}: a cookie without Secure: {cookie}")
            name, _, value = cookie.partition(";")[0].partition("=")
            given[name] = value
        return [("Cookie", "; ".join(f"{name}={value}" for name, value in given.items()))]

    page = proxy.ask("GET", "/sign-in")
    check("max-age=" in page.headers.get("Strict-Transport-Security", ""), f"{proxy.name}: no HSTS: {page}")
    check(len(page.headers.get_all("Strict-Transport-Security")) == 1, f"{proxy.name}: HSTS twice: {page}")
    cookies = take(page)
    csrf = html.unescape(re.search(rb'name="csrf" value="([^"]+)"', page.body)[1].decode())
    panel = json.loads((folder / "account.json").read_text())["panel"]
    form = {"csrf": csrf, "email": panel["email"], "password": panel["password"], "next": "/"}
    # A browser without Sec-Fetch-Site: the origin must be that of the Host that Garson gets.
    origin = ("Origin", f"https://{NAME}:{proxy.https_port}")
    content = ("Content-Type", "application/x-www-form-urlencoded")
    entered = proxy.ask("POST", "/sign-in", urllib.parse.urlencode(form).encode(), [*cookies, origin, content])
    check(entered.status == 303, f"{proxy.name}: signing in: {entered}")
    cookies = take(entered)
    check("garson_session" in given, f"{proxy.name}: no session: {entered}")
    sessions = proxy.ask("GET", "/sessions", headers=cookies)
    check(CLIENT.encode() in sessions.body, f"{proxy.name}: the page of sessions does not show {CLIENT}: {sessions}")
    proxy.ok("signing in, with Secure cookies and HSTS")
    return cookies


def open_streams(proxy, headers):
    board = proxy.ask("GET", "/", headers=headers)
    path = html.unescape(re.search(rb'data-stream="([^"]+)"', board.body)[1].decode())
    events = [("Authorization", f"Bearer {primary_key()}"), ("Accept", "text/event-stream")]
    streams = [
        Stream(proxy, f"{API}/events", events, "http1.1", "data: {"),
        Stream(proxy, f"{API}/events", events, "http2", "data: {"),
        Stream(proxy, path, headers, "http2", "event: card"),
    ]
    for stream in streams:
        stream.await_line(lambda _, line: line.startswith("id:"), 10)
    return streams


def check_timeouts():
    """Waiting for these would take minutes, so this reads what is configured."""
    text = pathlib.Path("packaging/nginx.conf").read_text()
    seconds = [int(one) for one in re.findall(r"^\s*proxy_read_timeout (\d+)s;", text, re.MULTILINE)]
    events = re.search(r"location = /web-api/v1/events \{[^}]*proxy_read_timeout (\d+)s;", text)
    check(min(seconds) >= 3 * HEARTBEAT and int(events[1]) > LONGEST_WAIT, f"nginx.conf: read timeouts {seconds}")
    kept = int(re.search(r"^\s*keepalive_timeout (\d+)s;", text, re.MULTILINE)[1])
    check(kept < IDLE, f"nginx.conf: connections to Garson are kept for {kept} seconds")
    text = pathlib.Path("packaging/Caddyfile").read_text()
    head = int(re.search(r"^\s*response_header_timeout (\d+)s$", text, re.MULTILINE)[1])
    check(head > LONGEST_WAIT, f"Caddyfile: response_header_timeout {head}")
    kept = int(re.search(r"^\s*keepalive (\d+)s$", text, re.MULTILINE)[1])
    check(kept < IDLE, f"Caddyfile: connections to Garson are kept for {kept} seconds")
    # These would end a stream, however much is sent on it.
    check(not re.search(r"^\s*(write|write_timeout|read_timeout)\s", text, re.MULTILINE), "Caddyfile: a timeout of streams")


def order(number):
    return {
        "storeId": "moda-1",
        "providerOrderId": str(number),
        "items": [{"name": "Simit", "unitPrice": 1500}],
        "amount": {"total": 1500},
        "payment": {"type": "cash"},
    }


def check_events(proxies, streams):
    """An order that comes through any proxy is on all streams at once."""
    key = primary_key()
    restaurant = proxies[0].call(key, "POST", "/restaurants", {"name": "Moda"})["id"]
    settings = {"isActive": True, "remoteId": "moda-1", "credentials": {"inboundKey": "shop-secret"}}
    proxies[0].call(key, "PUT", f"/restaurants/{restaurant}/integrations/direct", settings)
    headers = [("x-api-key", "shop-secret"), ("Content-Type", "application/json")]
    for number, proxy in enumerate(proxies, 1):
        began = time.monotonic()
        sent = proxy.ask("POST", "/hooks/direct/orders", json.dumps(order(number)).encode(), headers)
        placed = time.monotonic()
        check(sent.status == 200, f"{proxy.name}: an order: {sent}")
        seen = max(stream.await_line(lambda at, line: at > began and line.startswith(stream.event), 5) for stream in streams)
        check(seen - placed < 1, f"an order took {seen - placed:.2f} seconds to the last of the streams")
        proxy.ok(f"an order is on {len(streams)} streams of all proxies within {max(seen - placed, 0):.2f} seconds")


def check_open(streams, since):
    """Streams stay open while there are no events, for as long as Garson keeps them so."""
    for stream in streams:
        stream.await_line(lambda at, line: at > since and line == ":", HEARTBEAT + 5)
        check(stream.curl.poll() is None, f"{stream.what}: it did not stay open")
    print(f"ok: {len(streams)} streams stay open without events until Garson writes again", flush=True)


def check_slow_head(proxy):
    received, seconds = proxy.send(f"GET /healthz HTTP/1.1\r\nHost: {NAME}\r\nX-Slow:".encode(), 25)
    check(seconds is not None and seconds < 20, f"{proxy.name}: a request without an end: {received} after {seconds}")
    proxy.ok(f"a request without an end is given up after {seconds:.0f} seconds")


def serving(proxies):
    check_timeouts()
    challenges = folder / "www/.well-known/acme-challenge"
    challenges.mkdir(parents=True)
    (challenges / "token").write_text("proof")
    streams = []
    with ThreadPoolExecutor() as pool:
        try:
            slow = [pool.submit(check_slow_head, proxy) for proxy in proxies]
            for proxy in proxies:
                streams += open_streams(proxy, sign_in(proxy))
            check_events(proxies, streams)
            quiet = time.monotonic()
            # None of this is an event.
            for proxy in proxies:
                for one in (check_tls, check_addresses, check_bodies, check_heads):
                    one(proxy)
            check_open(streams, quiet)
            for one in slow:
                one.result()
        finally:
            for stream in streams:
                stream.end()


# away, back: the node is stopped, and started again.


def away(proxies):
    def one(proxy):
        for method in ("GET", "POST"):
            answer = proxy.ask(method, "/", b"" if method == "POST" else None)
            check(answer.status in (502, 503), f"{proxy.name}: {method} without Garson: {answer}")
            check(b'http-equiv="refresh"' in answer.body, f"{proxy.name}: a page that does not reload: {answer}")
        proxy.ok(f"{answer.status} while Garson is away, on a page that reloads itself")

    # Caddy tries for five seconds.
    with ThreadPoolExecutor() as pool:
        list(pool.map(one, proxies))


def back(proxies):
    for proxy in proxies:
        began = time.monotonic()
        while (answer := proxy.ask("GET", "/readyz")).status != 200:
            check(time.monotonic() - began < 10, f"{proxy.name}: Garson is back, but: {answer}")
            time.sleep(0.1)
        proxy.call(primary_key(), "GET", "/orders")
        proxy.ok(f"works {time.monotonic() - began:.1f} seconds after Garson is back")


# nodes: two nodes that this script plays.


class Node:
    """Counts requests, and answers them or breaks the connection. It always says that it is ready."""

    def __init__(self, port):
        self.port, self.breaks, self.count, self.connections = port, False, 0, 0
        self.open()

    def open(self):
        node = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self):
                node.connections += 1
                super().setup()

            def do_GET(self):
                self.rfile.read(int(self.headers["Content-Length"] or 0))
                if self.path != "/readyz":
                    node.count += 1
                    if node.breaks:
                        self.close_connection = True
                        return
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            do_POST = do_GET

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, args=[0.05], daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def check_nodes(proxy, one, other):
    def statuses(method, count):
        one.count = other.count = 0
        return [proxy.ask(method, "/orders", b"{}" if method == "POST" else None).status for _ in range(count)]

    deadline = time.monotonic() + 15
    while statuses("GET", 4) != [200] * 4 or not one.count or not other.count:
        check(time.monotonic() < deadline, f"{proxy.name}: it does not reach both nodes")
        time.sleep(0.1)
    before = one.connections + other.connections
    check(statuses("POST", 20) == [200] * 20 and one.count and other.count, f"{proxy.name}: {one.count} and {other.count} of 20")
    # A worker of nginx has its own, and health checks of Caddy come in between.
    used = one.connections + other.connections - before
    check(used < 10, f"{proxy.name}: 20 requests took {used} connections to the nodes")
    proxy.ok("connections to nodes are kept")

    one.breaks = True
    answered = statuses("GET", 2)
    check(answered == [200, 200] and one.count and other.count == 2, f"{proxy.name}: reads while one node works: {answered}")
    answered = statuses("POST", 8)
    check(one.count + other.count == 8 and one.count, f"{proxy.name}: 8 POSTs reached nodes {one.count} + {other.count} times")
    check(answered.count(200) == other.count, f"{proxy.name}: {answered}")
    proxy.ok("a POST that breaks off is not repeated, a GET is")

    other.breaks = True
    check(set(statuses("POST", 12)) == {502}, f"{proxy.name}: both nodes break off")
    one.breaks = other.breaks = False
    check(statuses("GET", 4) == [200] * 4, f"{proxy.name}: failed requests have stopped all nodes")
    proxy.ok("failed requests do not stop all nodes")

    other.close()
    try:
        check(statuses("POST", 6) == [200] * 6, f"{proxy.name}: a node that is away costs requests")
    finally:
        other.open()
    proxy.ok("requests for a node that is away go to another one")


def nodes(ports, proxies):
    one, other = (Node(int(port)) for port in ports)
    for proxy in proxies:
        check_nodes(proxy, one, other)


def main():
    stage, rest = sys.argv[1], sys.argv[3:]
    if stage == "nodes":
        nodes(rest[:2], [Proxy(one) for one in rest[2:]])
    else:
        {"serving": serving, "away": away, "back": back}[stage]([Proxy(one) for one in rest])


main()
