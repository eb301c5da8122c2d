"""What platforms do: the simulator with all its faults, while Garson is killed too.

Three ledgers are compared at the end: what the kitchen was answered, what Garson says, and what the platforms say.
"""

import http.client
import json
import threading
import time

from fault import BOTH, fault
from http_client import Client
from kitchen import Kitchen
from machines import Failed, wait_until
from nodes import GARSON

SIM = 8090
STORES = {
    "getir": (
        "5f0000000000000000000001",
        {"appSecretKey": "app", "restaurantSecretKey": "restaurant", "inboundKey": "getir-key"},
    ),
    "yemeksepeti": ("moda-1", {"username": "user", "password": "pass", "chainCode": "chain", "pluginSecret": "plugin-secret"}),
    "trendyol": (
        "2738:15",
        {
            "supplierId": "2738",
            "apiKey": "key",
            "apiSecret": "secret",
            "integratorName": "Garson",
            "executorUser": "kasa@example.com",
            "inboundHeaders": {"x-api-key": "trendyol-key"},
        },
    ),
    "migros": (
        "4711",
        {
            "apiKey": "key",
            "secretKey": "0123456789abcdef0123456789abcdef",
            "keyDerivation": "raw",
            "inboundUser": "migros",
            "inboundPassword": "migros-key",
        },
    ),
}
# Each is injected into calls (`*`), those that can happen there also into pushes.
FAULTS_OF_CALLS = [
    {"kind": "latency", "ms": 3000},
    {"kind": "status", "status": 503},
    {"kind": "status", "status": 500, "body": "<html>"},
    {"kind": "status", "status": 400},
    {"kind": "status", "status": 401},
    {"kind": "status", "status": 403},
    {"kind": "status", "status": 404},
    {"kind": "timeout_after_work"},
    {"kind": "drop_after_work"},
    {"kind": "drop"},
    {"kind": "malformed"},
    {"kind": "expired_token"},
    {"kind": "rate_limited"},
]
FAULTS_OF_PUSHES = [
    {"kind": "latency", "ms": 3000},
    {"kind": "drop"},
    {"kind": "malformed"},
    {"kind": "duplicate"},
    {"kind": "reorder"},
]
DELIVERED = {"getir": {"900"}, "migros": {"COMPLETED"}, "trendyol": {"Delivered"}, "yemeksepeti": {"DELIVERED", "PICKED_UP"}}
CANCELLED = {
    "getir": {"1500", "1600"},
    "migros": {"REJECTED", "CANCELLED"},
    "trendyol": {"Cancelled", "UnSupplied"},
    "yemeksepeti": {"REJECTED", "CANCELLED"},
}


@fault(BOTH)
def platforms(world):
    """Four platforms with every fault of the simulator, while Garson is killed 10 times; a kitchen moves every order to its end."""
    place = world.platforms.address
    world.platforms.start("sim", [world.nodes.program, "sim", "--listen", f"{place}:{SIM}", "--getir-gap", "0"])
    wait_until("the simulator answers", lambda: control(world, "GET", "/health") is not None, 30)
    world.nodes.more["GARSON_SIMULATOR"] = f"http://{place}:{SIM}"
    for platform in STORES:
        prefix = f"GARSON_PLATFORMS__{platform.upper()}__"
        world.nodes.more |= {
            f"{prefix}BASE_URL": f"http://{place}:{SIM}/{platform}",
            f"{prefix}POLL_SECONDS": "5",
            f"{prefix}SECONDS_BETWEEN_MOVES": "0",
        }
    world.node.stop("garson")
    world.start_node()
    open_stores(world)

    kitchen = Kitchen(world.node.address, GARSON, world.nodes.key)
    over = threading.Event()
    worker = threading.Thread(target=kitchen.run, args=(over,))
    worker.start()
    try:
        cause_trouble(world)
        control(world, "DELETE", "/faults")
        world.heal()
        try:
            wait_until("the three ledgers agree", lambda: not differences(world, kitchen), 240, 2)
        except Failed:
            raise Failed("the three ledgers differ:\n  " + "\n  ".join(differences(world, kitchen)[:20])) from None
    finally:
        over.set()
        worker.join()
    world.notes.append(
        f"{len(placed(world))} orders of four platforms, {kitchen.accepted} moves answered with success, {kitchen.refused} with errors"
    )
    world.platforms.kill("sim")


def control(world, method, path, body=None):
    client = Client(world.platforms.address, SIM)
    try:
        status, answer = client.ask(method, f"/control{path}", body)
    except (OSError, http.client.HTTPException):
        return None
    finally:
        client.close()
    if status != 200:
        raise Failed(f"{method} {path}: {status} {answer[:300]}")
    return json.loads(answer or b"null")


def open_stores(world):
    restaurant = world.nodes.ask("POST", "/web-api/v1/restaurants", {"name": "Platforms"})["data"]["id"]
    for platform, (remote, credentials) in STORES.items():
        store = {"platform": platform, "remoteId": remote, "credentials": credentials}
        control(world, "PUT", "/stores", {**store, "hookUrl": f"http://{world.node.address}:{GARSON}"})
        integration = {"isActive": True, "remoteId": remote, "credentials": credentials}
        world.nodes.ask("PUT", f"/web-api/v1/restaurants/{restaurant}/integrations/{platform}", integration)


def cause_trouble(world):
    """Orders, faults and kills, in turn."""
    chances = [(one, "*") for one in FAULTS_OF_CALLS] + [(one, "push") for one in FAULTS_OF_PUSHES]
    chances *= world.times(4, 1)
    world.random.shuffle(chances)
    kills = world.random.sample(range(len(chances)), 10)
    for number, (one, on) in enumerate(chances):
        for platform in STORES:
            # What Yemeksepeti does not send, nobody can know.
            if (platform, on, one["kind"]) != ("yemeksepeti", "push", "drop"):
                times = world.random.randrange(1, 4)
                control(world, "POST", "/faults", {"platform": platform, "on": on, "fault": one, "times": times})
            # Some orders are only found by polling, which Yemeksepeti does not offer.
            is_pushed = platform == "yemeksepeti" or world.random.random() < 0.8
            order = {"platform": platform, "count": 2, "courier": "restaurant", "push": is_pushed}
            control(world, "POST", "/orders", order)
        if number in kills:
            world.node.kill("garson")
            world.start_node()
        time.sleep(world.random.uniform(0.5, 1.5))


def placed(world):
    return control(world, "GET", "/orders")["orders"]


def differences(world, kitchen):
    """Between what the platforms say, what Garson says and what the kitchen was answered."""
    ours = {}
    for order in kitchen.all_orders():
        ours.setdefault((order["provider"], order["providerOrderId"]), []).append(order)
    found = []
    for order in placed(world):
        platform, number = order["platform"], order["providerOrderId"]
        records = ours.get((platform, number)) or ours.get((platform, order.get("token"))) or []
        if len(records) != 1:
            found.append(f"{platform} {number}: {len(records)} records; {order['state']} there, pushed {order['pushes']}")
            continue
        record = records[0]
        state, status = str(order["state"]), record["status"]
        name = f"{platform} {number}: {status} here, {state} there"
        if status < 900 or (status == 900) != (state in DELIVERED[platform]) or (status > 900) != (state in CANCELLED[platform]):
            found.append(name)
        answered = kitchen.answered.get(record["id"], 0)
        if answered > status and status < 900:
            found.append(f"{name}, but the kitchen was told {answered}")
        if record["providerSync"]["state"] in ("pending", "failed"):
            found.append(f"{name}, {record['providerSync']}")
    return found
