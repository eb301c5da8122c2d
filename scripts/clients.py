"""The checks of scripts/clients.

usage: clients.py order-life PREFIX OUTPUT                   what an example has printed is what happens to its two orders
       clients.py pick-requests COLLECTION URL KEY_FILE      prints a collection of some requests, in an order in which they succeed
       clients.py requests NEWMAN_OUTPUT                     all of them were sent, and succeeded
"""

import json
import sys
from pathlib import Path

# Requests of the collection, each of which needs what those before it have made.
PICKED = [
    "create_business",
    "create_restaurant",
    "put_integration",
    "place_order",
    "list_orders",
    "verify_order",
    "change_order_status",
    "get_order",
    "list_events",
    "mark_reported",
    "put_hours",
    "create_key",
    "put_webhook",
    "get_restaurant",
    "delete_restaurant",
]
SUCCESS = ["pm.test('success', () => pm.expect(pm.response.json().success && pm.response.code).to.equal(200));"]


def order_life(prefix, output):
    delivered, cancelled = f"{prefix}-1", f"{prefix}-2"
    expected = {
        "listed": [cancelled, delivered],
        "statuses": [500, 600, 900],
        "cancelled": {"status": 1600, "by": "account", "reason": "out_of_stock"},
        "events": [
            "entegrasyon.durum_degisti - -",
            f"siparis.olusturuldu {delivered} 1",
            f"siparis.olusturuldu {cancelled} 1",
            f"siparis.durum_degisti {delivered} 2",
            f"siparis.durum_degisti {delivered} 3",
            f"siparis.durum_degisti {delivered} 4",
            f"siparis.iptal_edildi {cancelled} 2",
        ],
        "pendingBefore": [delivered],
        "pendingAfter": [],
        "errors": [[404, "order_not_found", []], [422, "invalid_field", ["name"]], [401, "unauthorized", []]],
    }
    seen = json.loads(Path(output).read_text())
    wrong = [name for name in expected.keys() | seen.keys() if expected.get(name) != seen.get(name)]
    for name in sorted(wrong):
        print(f"{name}: expected {expected.get(name)}, the example has seen {seen.get(name)}", file=sys.stderr)
    if wrong:
        raise SystemExit(1)


def pick_requests(collection, url, key_file):
    whole = json.loads(Path(collection).read_text())
    items = {item["id"]: item for folder in whole["item"] for item in folder["item"]}
    values = {"baseUrl": url, "apiKey": Path(key_file).read_text().strip()}
    for variable in whole["variable"]:
        variable["value"] = values.get(variable["key"], variable["value"])
    test = {"listen": "test", "script": {"type": "text/javascript", "exec": SUCCESS}}
    print(json.dumps(whole | {"item": [items[name] for name in PICKED], "event": [test]}))


def requests(output):
    run = json.loads(Path(output).read_text())["run"]
    sent = {execution["item"]["id"]: execution["response"]["code"] for execution in run["executions"]}
    tests = run["stats"]["assertions"]
    if sent != dict.fromkeys(PICKED, 200) or tests != {"total": len(PICKED), "pending": 0, "failed": 0}:
        raise SystemExit(f"newman: {sent}, {tests}")


def main():
    command, *arguments = sys.argv[1:]
    {"order-life": order_life, "pick-requests": pick_requests, "requests": requests}[command](*arguments)


if __name__ == "__main__":
    main()
