"""What receivers of other accounts do."""

import json
import pathlib
import time

from fault import BOTH, fault
from hostile_receivers import KINDS
from http_client import Client
from machines import Failed
from nodes import GARSON

PARTS = pathlib.Path(__file__).parent
FIRST_PORT = 9100
ORDERS = 30


@fault(BOTH, quick=True)
def hostile_receivers(world):
    """Each of 21 other accounts has a receiver that does what none should, and 30 orders for it; see hostile_receivers.py."""
    world.client.start("hostile", ["python3", PARTS / "hostile_receivers.py", world.client.address, FIRST_PORT])
    ports = range(FIRST_PORT, FIRST_PORT + len(KINDS))
    allowed = ",".join(f"{world.client.address}:{port}" for port in ports)
    world.nodes.more["GARSON_ALLOW_TARGETS"] = f"{world.nodes.variables(world.node)['GARSON_ALLOW_TARGETS']},{allowed}"
    world.node.stop("garson")
    world.start_node()
    for port in ports:
        key = json.loads(world.nodes.new_account(f"hostile{port}@example.com"))["apiKey"]
        world.nodes.open_shop(key, f"shop-{port}", f"http://{world.client.address}:{port}/")
    calm = world.delays()
    began = time.time()
    garson = Client(world.node.address, GARSON)
    for number in range(ORDERS):
        for port in ports:
            order = {"storeId": f"shop-{port}", "providerOrderId": f"h-{port}-{number}", "amount": {"total": 1500}}
            order |= {"items": [{"name": "Simit", "unitPrice": 1500}], "payment": {"type": "cash"}}
            status, answer = garson.ask("POST", "/hooks/direct/orders", order, {"x-api-key": "shop-secret"})
            if status != 200:
                raise Failed(f"an order beside hostile receivers: {status} {answer[:300]}")
    world.wait(60, 15)
    beside = world.delays(began)
    world.notes.append(
        f"from a request to the arrival of its event, in ms: median {calm[0]}, p99 {calm[1]} before; median {beside[0]}, p99 {beside[1]} beside them"
    )
    world.heal()
    world.client.kill("hostile")
