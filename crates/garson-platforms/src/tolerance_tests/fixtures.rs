//! Every fixture that is a message, with what its connector cannot do without.

use garson_core::platform::FETCHED;
use serde_json::Value;

pub struct Connector {
    pub key: &'static str,
    /// What must be readable: whose order it is, what is to be cooked, what is to be paid.
    pub essentials: &'static [&'static str],
    /// Messages, by their kind.
    pub messages: Vec<(&'static str, Value)>,
}

fn one(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// The list at a place of an answer, as messages that were fetched.
fn fetched(text: &str, pointer: &str) -> Vec<(&'static str, Value)> {
    let document = one(text);
    let found = document.pointer(pointer).unwrap();
    let list = found.as_array().cloned().unwrap_or_else(|| vec![found.clone()]);
    assert!(!list.is_empty());
    list.into_iter().map(|order| (FETCHED, order)).collect()
}

macro_rules! fixture {
    ($path:literal) => {
        include_str!(concat!("../", $path, ".json"))
    };
}

pub fn getir() -> Connector {
    let mut messages = vec![
        ("new-order", one(fixture!("getir/fixtures/new-order"))),
        ("new-order", one(fixture!("getir/fixtures/new-order-wrapped"))),
        ("new-order", one(fixture!("getir/fixtures/scheduled-order"))),
        (FETCHED, one(fixture!("getir/fixtures/order"))),
        ("cancel-order", one(fixture!("getir/fixtures/cancel-order"))),
    ];
    messages.extend(fetched(fixture!("getir/fixtures/active"), ""));
    messages.extend(fetched(fixture!("getir/fixtures/cancelled"), ""));
    Connector {
        key: "getir",
        essentials: &[
            "id",
            "restaurant",
            "restaurant.id",
            "products",
            "products[]",
            "totalDiscountedPrice",
            // Why an order is fetched.
            "status",
            // The envelope is the order.
            "foodOrder",
        ],
        messages,
    }
}

pub fn yemeksepeti() -> Connector {
    let mut messages = vec![
        (
            "order",
            one(fixture!("yemeksepeti/fixtures/order-platform-rider")),
        ),
        ("order", one(fixture!("yemeksepeti/fixtures/order-own-courier"))),
        ("order", one(fixture!("yemeksepeti/fixtures/order-pickup-later"))),
        ("order", one(fixture!("yemeksepeti/fixtures/order-least"))),
        ("status", one(fixture!("yemeksepeti/fixtures/status-cancelled"))),
        ("status", one(fixture!("yemeksepeti/fixtures/status-no-response"))),
        ("status", one(fixture!("yemeksepeti/fixtures/status-picked-up"))),
        ("status", one(fixture!("yemeksepeti/fixtures/status-modified"))),
        (
            "status",
            one(fixture!("yemeksepeti/fixtures/status-modification-failed")),
        ),
        (
            "status",
            one(fixture!("yemeksepeti/fixtures/status-rider-waiting")),
        ),
    ];
    messages.extend(fetched(
        fixture!("yemeksepeti/fixtures/details-accepted"),
        "/order",
    ));
    messages.extend(fetched(
        fixture!("yemeksepeti/fixtures/details-cancelled"),
        "/order",
    ));
    Connector {
        key: "yemeksepeti",
        essentials: &[
            "token",
            "products",
            "products[]",
            "price",
            "price.grandTotal",
            // The order after a modification.
            "updatedOrder",
        ],
        messages,
    }
}

pub fn trendyol() -> Connector {
    let mut messages = vec![
        (
            "created",
            one(fixture!("trendyol/fixtures/created_platform_courier")),
        ),
        ("created", one(fixture!("trendyol/fixtures/created_own_courier"))),
        ("created", one(fixture!("trendyol/fixtures/created_pickup"))),
        (FETCHED, one(fixture!("trendyol/fixtures/package_uber"))),
        (FETCHED, one(fixture!("trendyol/fixtures/package_unsupplied"))),
        ("shipped", one(fixture!("trendyol/fixtures/shipped"))),
        ("delivered", one(fixture!("trendyol/fixtures/delivered"))),
        ("cancelled", one(fixture!("trendyol/fixtures/cancelled"))),
        ("unsupplied", one(fixture!("trendyol/fixtures/unsupplied"))),
        ("storeChanged", one(fixture!("trendyol/fixtures/storeChanged"))),
        ("sellerChanged", one(fixture!("trendyol/fixtures/sellerChanged"))),
        ("courierNearby", one(fixture!("trendyol/fixtures/courierNearby"))),
        (
            "pickupEtaCalculated",
            one(fixture!("trendyol/fixtures/pickupEtaCalculated")),
        ),
    ];
    messages.extend(fetched(fixture!("trendyol/fixtures/page"), "/content"));
    Connector {
        key: "trendyol",
        essentials: &["id", "supplierId", "storeId", "totalPrice", "lines", "lines[]"],
        messages,
    }
}

pub fn migros() -> Connector {
    let mut messages = vec![
        ("order-created", one(fixture!("migros/fixtures/order-created"))),
        (
            "order-created",
            one(fixture!("migros/fixtures/order-created-restaurant")),
        ),
        (
            "order-cancelled",
            one(fixture!("migros/fixtures/order-cancelled")),
        ),
        (
            "delivery-status",
            one(fixture!("migros/fixtures/delivery-status")),
        ),
    ];
    messages.extend(fetched(fixture!("migros/fixtures/order-detail"), "/data"));
    messages.extend(fetched(fixture!("migros/fixtures/pending-orders"), "/data"));
    messages.extend(fetched(fixture!("migros/fixtures/active-orders"), "/data"));
    Connector {
        key: "migros",
        essentials: &[
            "id",
            "store",
            "store.id",
            "prices",
            "prices.total",
            "prices.total.amountAsPenny",
            "prices.discounted",
            "prices.discounted.amountAsPenny",
            "items",
            "items[]",
            "OrderId",
            "orderId",
        ],
        messages,
    }
}

pub fn connectors() -> [Connector; 4] {
    [getir(), yemeksepeti(), trendyol(), migros()]
}
