"""The life of two orders: one is delivered and reported, one is cancelled. Prints what it has seen as JSON.

usage: order_life.py URL KEY_FILE
"""

import json
import sys
import uuid
from collections.abc import Callable
from pathlib import Path

from garson_client import GarsonError, answer_of, connect, connect_shop, event_pages
from garson_client.generated.api.integrations import put_integration
from garson_client.generated.api.orders import (
    cancel_order,
    change_order_status,
    get_order,
    list_orders,
    list_reasons,
    verify_order,
)
from garson_client.generated.api.reports import list_pending_reports, mark_reported
from garson_client.generated.api.restaurants import create_restaurant
from garson_client.generated.api.shops import place_order
from garson_client.generated.models import (
    CancelRequest,
    Credentials,
    IntegrationRequest,
    MarkRequest,
    ReasonView,
    RestaurantRequest,
    ShopAmount,
    ShopItem,
    ShopOrder,
    ShopPayment,
)

DELIVERED = 900

if len(sys.argv) != 3:
    sys.exit(__doc__)
url, key_file = sys.argv[1], Path(sys.argv[2])
garson = connect(url, key_file.read_text().strip())

# A restaurant, and the secret with which its own shop hands over orders.
restaurant = answer_of(create_restaurant.sync_detailed(client=garson, body=RestaurantRequest(name="Moda"))).data
inbound_key = str(uuid.uuid4())
integration = IntegrationRequest(
    is_active=True, remote_id="moda-python", credentials=Credentials(inbound_key=inbound_key)
)
answer_of(put_integration.sync_detailed(str(restaurant.id), "direct", client=garson, body=integration))

shop = connect_shop(url, inbound_key)


def place(provider_order_id: str) -> str:
    order = ShopOrder(
        store_id="moda-python",
        provider_order_id=provider_order_id,
        items=[ShopItem(name="Lahmacun", quantity=2, unit_price=7_500)],
        amount=ShopAmount(total=15_000),
        payment=ShopPayment(type_="cash"),
    )
    return str(answer_of(place_order.sync_detailed(client=shop, body=order)).data.order_id)


delivered = place("PY-1")
cancelled = place("PY-2")

orders = answer_of(list_orders.sync_detailed(client=garson, restaurant_id=str(restaurant.id), open_=True))
listed = [order.provider_order_id for order in orders.data]

# The first order, until it is delivered. A repeated request with the same key has no further effect.
verified = answer_of(verify_order.sync_detailed(delivered, client=garson, idempotency_key=str(uuid.uuid4()))).data
statuses = [verified.status]
while statuses[-1] != DELIVERED:
    moved = answer_of(change_order_status.sync_detailed(delivered, client=garson)).data
    statuses.append(moved.new_status)

# The second one is cancelled, with a reason that its platform accepts.
reasons = answer_of(list_reasons.sync_detailed(cancelled, client=garson)).data.reasons
request = CancelRequest(reason=reasons[0].id, note="No lahmacun left")
answer_of(cancel_order.sync_detailed(cancelled, client=garson, body=request))
cancellation = answer_of(get_order.sync_detailed(cancelled, client=garson)).data

# Everything that happened, in pages of two.
events = [
    f"{event.olay} {event.veri.provider_order_id or '-'} {event.veri.sequence or '-'}"
    for page in event_pages(garson, limit=2)
    for event in page.events
]


# Accounting: what waits to be reported, before and after the delivered order is.
def pending_reports() -> list[str]:
    pending = answer_of(list_pending_reports.sync_detailed(client=garson, status=str(DELIVERED)))
    return [order.provider_order_id for order in pending.data]


pending_before = pending_reports()
answer_of(mark_reported.sync_detailed(client=garson, body=MarkRequest(provider_order_id=delivered)))
pending_after = pending_reports()


# An error has a code for programs, which the type checker knows.
def error_of(call: Callable[[], object]) -> tuple[int, str | None, list[str]]:
    try:
        call()
    except GarsonError as error:
        return error.status, error.code, [detail.field for detail in error.details]
    raise AssertionError("a request that is wrong was accepted")


wrong_name = RestaurantRequest(name="")
errors = [
    error_of(lambda: answer_of(verify_order.sync_detailed("nothing", client=garson))),
    error_of(lambda: answer_of(create_restaurant.sync_detailed(client=garson, body=wrong_name))),
    error_of(lambda: answer_of(list_orders.sync_detailed(client=connect(url, "gsn_wrong")))),
]

ended = cancellation.cancellation
print(
    json.dumps(
        {
            "listed": listed,
            "statuses": statuses,
            "cancelled": {
                "status": cancellation.status,
                "by": ended.by if ended else None,
                "reason": ended.reason.id if ended and isinstance(ended.reason, ReasonView) else None,
            },
            "events": events,
            "pendingBefore": pending_before,
            "pendingAfter": pending_after,
            "errors": errors,
        }
    )
)
