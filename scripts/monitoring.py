"""The checks of scripts/monitoring.

usage: monitoring.py LOG GARSON API OPERATIONS PROMETHEUS

LOG is the output of the running demo, GARSON the program, the others are the addresses of the API, of /metrics and of Prometheus.
"""

import http.server
import json
import pathlib
import re
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
MONITORING = ROOT / "packaging" / "monitoring"
# What rules and dashboard name as the scrape job.
JOB = "garson"
# Scrapes that are needed, one in a second.
SAMPLES = 12
# Seconds until every query has data. Generous, because other programs may use the machine.
PATIENCE = 150
# With a scrape in a second; Grafana takes four intervals at least.
RATE_INTERVAL = "15s"

# Queries of the dashboard that may be empty while nothing is wrong. None so far.
EMPTY_QUERIES = set()
# The failing receiver causes these. No other alert may be pending or firing: the rest of the demo is healthy.
EXPECTED_ALERTS = {"GarsonEventsGivenUp"}
TOLERATED_ALERTS = {"GarsonEventsLateFast", "GarsonEventsLateSlow", "GarsonAttemptsFail"}
# How fast this machine is, is not tested here. Failed requests are checked on their own.
TOLERATED_ALERTS |= {"GarsonOrdersNotAcceptedFast", "GarsonOrdersNotAcceptedSlow", "GarsonStorageSlow"}
FAILED_REQUESTS = "garson:platform_requests_failed:ratio_increase5m"

SELECTOR = re.compile(r'(?<![\w:"])(garson[_:][\w:]*|up)\b\s*(\{(?:[^}"]|"[^"]*")*\})?')

# A proxy of the caller must not get the requests.
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
log_file, garson, api, operations, prometheus = sys.argv[1:]
problems = []


def fail(what):
    sys.exit(f"monitoring: {what}")


def check(condition, what):
    if not condition:
        problems.append(what)


def ask(url, body=None, headers=()):
    """Status and body of an answer."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json", **dict(headers)})
    try:
        with opener.open(request, timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as refused:
        return refused.code, refused.read().decode()


def prometheus_api(path, **parameters):
    status, text = ask(f"{prometheus}/api/v1/{path}?{urllib.parse.urlencode(parameters)}")
    answer = json.loads(text)
    if status != 200 or answer["status"] != "success":
        raise ValueError(answer.get("error", text))
    return answer["data"]


def query(expression):
    return prometheus_api("query", query=expression)["result"]


def wait_for(condition, seconds, what):
    ends = time.monotonic() + seconds
    while not (found := condition()):
        if time.monotonic() > ends:
            fail(f"not within {seconds} s: {what}")
        time.sleep(0.2)
    return found


class FailingReceiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(500)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def cause_everything():
    """Makes every kind of metric have values: a failing receiver, polled orders, refused and accepted requests."""
    receiver = http.server.ThreadingHTTPServer(("127.0.0.1", 0), FailingReceiver)
    threading.Thread(target=receiver.serve_forever, daemon=True).start()
    found = wait_for(
        lambda: re.search(r"API key\s+(\S+)(?s:.*)Platforms\s+(http://[^/\s]+)/", pathlib.Path(log_file).read_text()),
        PATIENCE,
        "the demo prints its API key",
    )
    key, simulator = found.groups()
    bearer = {"Authorization": f"Bearer {key}"}
    endpoint = {"url": f"http://127.0.0.1:{receiver.server_port}/", "label": "fails"}
    status, text = ask(f"{api}/web-api/v1/webhook-endpoints", endpoint, bearer)
    if status not in (200, 201):
        fail(f"the failing receiver could not be registered: {status} {text}")
    for platform in ("getir", "yemeksepeti", "trendyol", "migros"):
        command = [garson, "sim", "--url", simulator, "order", "--platform", platform]
        for more in ([], ["--no-push"]):
            subprocess.run(command + more, check=True, capture_output=True, timeout=60)
    for headers in (bearer, {"Authorization": "Bearer wrong"}):
        ask(f"{api}/web-api/v1/orders", headers=headers)


def exported():
    """The names of all samples of /metrics."""
    status, text = ask(f"{operations}/metrics")
    if status != 200:
        fail(f"/metrics answers {status}")
    return {re.match(r"[\w:]+", line)[0] for line in text.splitlines() if line and line[0] != "#"}


def has_data(result):
    return any(sample["value"][1] != "NaN" for sample in result)


def unknown_names(expression, names):
    return sorted({name for name, _ in SELECTOR.findall(expression) if name not in names})


def dashboard_queries(dashboard):
    """Panel, query as it is stored, legend."""
    for panel in dashboard["panels"]:
        for target in panel.get("targets", []):
            yield panel, target["expr"], target["legendFormat"]


def filled(expression, node):
    """A query with the variables of the dashboard filled in, as Grafana does it."""
    return expression.replace("$__rate_interval", RATE_INTERVAL).replace("$node", node)


def check_form(dashboard):
    """What needs no data: ids, grid, variables."""
    panels = dashboard["panels"]
    seen, cells = set(), {}
    for panel in panels:
        title = f'panel "{panel["title"]}"'
        check(panel["id"] not in seen, f"{title}: its id {panel['id']} is used twice")
        seen.add(panel["id"])
        at = panel["gridPos"]
        inside = at["x"] >= 0 and at["y"] >= 0 and at["w"] > 0 and at["h"] > 0 and at["x"] + at["w"] <= 24
        check(inside, f"{title}: outside of the 24 columns")
        for x in range(at["x"], at["x"] + at["w"]):
            for y in range(at["y"], at["y"] + at["h"]):
                other = cells.setdefault((x, y), panel["title"])
                if other is not panel["title"]:
                    check(False, f'{title}: overlaps "{other}"')
        if panel["type"] == "row":
            continue
        check(panel["fieldConfig"]["defaults"].get("unit"), f"{title}: no unit")
        check(panel.get("targets"), f"{title}: no query")
        references = [target["refId"] for target in panel.get("targets", [])]
        check(len(references) == len(set(references)), f"{title}: a refId is used twice")
        for part in [panel, *panel.get("targets", [])]:
            check(part["datasource"]["uid"] == "${datasource}", f"{title}: another data source than the variable")
        for target in panel.get("targets", []):
            check(target["legendFormat"].strip(), f"{title}: no legend")
            left = re.search(r"\$\w+", filled(target["expr"], ""))
            check(not left, f"{title}: the variable {left and left[0]} is unknown")
    variables = {variable["name"]: variable for variable in dashboard["templating"]["list"]}
    check(set(variables) == {"datasource", "node"}, f"the variables are {sorted(variables)}")
    return variables


def check_rules(groups, names):
    """Every rule is valid, was evaluated without error and names series that exist."""
    tests = "".join((MONITORING / name).read_text() for name in ("rules_test.yml", "rules_days_test.yml"))
    page = (ROOT / "docs" / "monitoring.md").read_text()
    count = 0
    for rule in (rule for group in groups for rule in group["rules"]):
        count += 1
        name, expression = rule["name"], rule["query"]
        check(rule["health"] == "ok", f"rule {name}: {rule.get('lastError') or 'was not evaluated'}")
        try:
            result = query(expression)
        except ValueError as error:
            check(False, f"rule {name}: {error}")
            continue
        if rule["type"] == "recording":
            check(has_data(result), f"rule {name}: no data")
        unknown = unknown_names(expression, names)
        check(not unknown, f"rule {name}: {', '.join(unknown)} do not exist")
        # An alert has no data while nothing is wrong, so its parts have to.
        for metric, labels in SELECTOR.findall(expression):
            selector = metric + labels
            if metric in unknown:
                continue
            check(query(selector), f"rule {name}: there is no series {selector}")
        if rule["type"] == "alerting":
            check(rule["labels"].get("severity") in ("critical", "warning"), f"alert {name}: no severity")
            for annotation in ("summary", "description"):
                check(rule["annotations"].get(annotation), f"alert {name}: no {annotation}")
            check(f'alertname="{name}"' in tests, f"alert {name}: no test has a case in which it fires")
            check(f"`{name}`" in page, f"alert {name}: docs/monitoring.md does not describe it")
    return count


def empty_queries(dashboard, node):
    """Queries of the dashboard that are wrong or have no data now."""
    found = []
    for panel, expression, legend in dashboard_queries(dashboard):
        try:
            result = query(filled(expression, node))
        except ValueError as error:
            fail(f'panel "{panel["title"]}": {error}: {expression}')
        if not has_data(result) and expression not in EMPTY_QUERIES:
            found.append(f'panel "{panel["title"]}": no data for {expression}')
        for label in re.findall(r"\{\{(\w+)\}\}", legend):
            if any(label not in sample["metric"] for sample in result):
                found.append(f'panel "{panel["title"]}": the legend names {label}, which {expression} has not')
    return found


def main():
    cause_everything()
    dashboard = json.loads((MONITORING / "dashboard.json").read_text())
    variables = check_form(dashboard)

    instance = operations.removeprefix("http://")
    up = f'count_over_time(up{{job="{JOB}",instance="{instance}"}}[5m])'
    wait_for(lambda: any(int(s["value"][1]) >= SAMPLES for s in query(up)), PATIENCE, f"{SAMPLES} scrapes")

    groups = wait_for(
        lambda: (found := prometheus_api("rules")["groups"])
        and all(rule["health"] != "unknown" for group in found for rule in group["rules"])
        and found,
        PATIENCE,
        "every rule has been evaluated",
    )
    recorded = {rule["name"] for group in groups for rule in group["rules"] if rule["type"] == "recording"}
    names = exported() | recorded | {"up"}

    for panel, expression, _ in dashboard_queries(dashboard):
        unknown = unknown_names(expression, names)
        check(not unknown, f'panel "{panel["title"]}": {", ".join(unknown)} do not exist')
    values = re.fullmatch(r"label_values\((\w+), (\w+)\)", variables["node"]["definition"])
    check(values and values[1] in names, "the variable node asks for a metric that does not exist")
    check(values and values[2] == "instance", "the variable node is another label than the queries use")
    if problems:
        # They would not get data by waiting.
        fail("\n  ".join(["these do not hold:", *problems]))

    ends = time.monotonic() + PATIENCE
    while (empty := empty_queries(dashboard, ".*")) and time.monotonic() < ends:
        time.sleep(0.5)
    problems.extend(empty)
    problems.extend(f"{what}, for one node" for what in empty_queries(dashboard, instance) if not empty)
    rules = check_rules(groups, names)

    wait_for(
        lambda: {a["labels"]["alertname"] for a in prometheus_api("alerts")["alerts"] if a["state"] == "firing"}
        >= EXPECTED_ALERTS,
        PATIENCE,
        f"{', '.join(sorted(EXPECTED_ALERTS))} fire",
    )
    alerts = {alert["labels"]["alertname"] for alert in prometheus_api("alerts")["alerts"]}
    unexpected = sorted(alerts - EXPECTED_ALERTS - TOLERATED_ALERTS)
    check(not unexpected, f"alerts without a cause: {', '.join(unexpected)}")
    check(query(f"{FAILED_REQUESTS} == 0"), f"{FAILED_REQUESTS} is not 0, or missing")
    if problems:
        fail("\n  ".join(["these do not hold:", *problems]))
    queries = len(list(dashboard_queries(dashboard)))
    panels = sum(panel["type"] != "row" for panel in dashboard["panels"])
    print(f"monitoring: {rules} rules are valid and name existing series; {queries} queries of {panels} panels have data")
    print(f"monitoring: alerts of the demo with a failing receiver: {', '.join(sorted(alerts))}")


main()
