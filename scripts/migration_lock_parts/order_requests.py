"""What is sent: an order as shops send it, and its acceptance."""

import json
import re

from connection import post

SHOP_KEY = "shop-secret"
ORDER_ID = re.compile(rb'"orderId":"([^"]+)"')
# Replaced by the order's number.
NUMBER = "NUMBER"
BODY = json.dumps(
    {
        "storeId": "shop-1",
        "providerOrderId": NUMBER,
        "shortCode": "417",
        "note": "Zil çalışmıyor, lütfen arayın.",
        "items": [
            {"name": "Karışık pide", "quantity": 2, "unitPrice": 27000},
            {"name": "Künefe", "quantity": 1, "unitPrice": 18000},
        ],
        "customer": {
            "name": "İpek Yıldırım",
            "phone": "+90 555 000 00 00",
            "address": {"text": "Caferağa Mah. Moda Cad. 12", "city": "İstanbul", "district": "Kadıköy"},
        },
        "amount": {"total": 72000},
        "payment": {"type": "card_on_delivery"},
    },
    ensure_ascii=False,
)


def order(number):
    return post("/hooks/direct/orders", BODY.replace(NUMBER, number).encode(), f"x-api-key: {SHOP_KEY}\r\n")


def acceptance(record, key):
    return post(f"/web-api/v1/orders/verify/{record}", headers=f"Authorization: Bearer {key}\r\n")


def record_of(answer):
    """The id that an order was given."""
    found = ORDER_ID.search(answer)
    if not found:
        raise ValueError(f"an answer without the order's id: {answer[:300]}")
    return found[1].decode()
