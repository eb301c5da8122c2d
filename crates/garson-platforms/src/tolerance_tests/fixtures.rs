//! The fixtures: those that are messages, with what their connectors cannot do without, and those that are answers.

use garson_core::platform::FETCHED;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// A file of messages: its name, their kind, and where in it they are.
type File = (&'static str, &'static str, &'static str);

pub struct Connector {
    pub key: &'static str,
    /// What must be readable: whose order it is, what is to be cooked, what is to be paid.
    pub essentials: &'static [&'static str],
    files: &'static [File],
    /// Messages, by their kind.
    pub messages: Vec<(&'static str, Value)>,
}

impl Connector {
    fn new(key: &'static str, essentials: &'static [&'static str], files: &'static [File]) -> Self {
        let messages = |&(name, kind, pointer): &File| {
            let document = fixture(key, name);
            let found = document.pointer(pointer).unwrap();
            let list = found.as_array().cloned().unwrap_or_else(|| vec![found.clone()]);
            assert!(!list.is_empty());
            list.into_iter().map(move |message| (kind, message))
        };
        Self {
            key,
            essentials,
            files,
            messages: files.iter().flat_map(messages).collect(),
        }
    }

    pub fn has(&self, file: &str) -> bool {
        self.files.iter().any(|(name, _, _)| *name == file)
    }
}

pub fn folder(key: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("src")
        .join(key)
        .join("fixtures")
}

pub fn fixture(key: &str, name: &str) -> Value {
    let text = std::fs::read_to_string(folder(key).join(name)).unwrap();
    serde_json::from_str(&text).unwrap()
}

pub fn getir() -> Connector {
    Connector::new(
        "getir",
        &[
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
        &[
            ("new-order.json", "new-order", ""),
            ("new-order-wrapped.json", "new-order", ""),
            ("scheduled-order.json", "new-order", ""),
            ("order.json", FETCHED, ""),
            ("cancel-order.json", "cancel-order", ""),
            ("active.json", FETCHED, ""),
            ("cancelled.json", FETCHED, ""),
        ],
    )
}

pub fn yemeksepeti() -> Connector {
    Connector::new(
        "yemeksepeti",
        &[
            "token",
            "products",
            "products[]",
            "price",
            "price.grandTotal",
            // The order after a modification.
            "updatedOrder",
        ],
        &[
            ("order-platform-rider.json", "order", ""),
            ("order-own-courier.json", "order", ""),
            ("order-pickup-later.json", "order", ""),
            ("order-least.json", "order", ""),
            ("status-cancelled.json", "status", ""),
            ("status-no-response.json", "status", ""),
            ("status-picked-up.json", "status", ""),
            ("status-modified.json", "status", ""),
            ("status-modification-failed.json", "status", ""),
            ("status-rider-waiting.json", "status", ""),
            ("details-accepted.json", FETCHED, "/order"),
            ("details-cancelled.json", FETCHED, "/order"),
        ],
    )
}

pub fn trendyol() -> Connector {
    Connector::new(
        "trendyol",
        &["id", "supplierId", "storeId", "totalPrice", "lines", "lines[]"],
        &[
            ("created_platform_courier.json", "created", ""),
            ("created_own_courier.json", "created", ""),
            ("created_pickup.json", "created", ""),
            ("package_uber.json", FETCHED, ""),
            ("package_unsupplied.json", FETCHED, ""),
            ("shipped.json", "shipped", ""),
            ("delivered.json", "delivered", ""),
            ("cancelled.json", "cancelled", ""),
            ("unsupplied.json", "unsupplied", ""),
            ("storeChanged.json", "storeChanged", ""),
            ("sellerChanged.json", "sellerChanged", ""),
            ("courierNearby.json", "courierNearby", ""),
            ("pickupEtaCalculated.json", "pickupEtaCalculated", ""),
            ("page.json", FETCHED, "/content"),
        ],
    )
}

pub fn migros() -> Connector {
    Connector::new(
        "migros",
        &[
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
        &[
            ("order-created.json", "order-created", ""),
            ("order-created-restaurant.json", "order-created", ""),
            ("order-cancelled.json", "order-cancelled", ""),
            ("delivery-status.json", "delivery-status", ""),
            ("order-detail.json", FETCHED, "/data"),
            ("pending-orders.json", FETCHED, "/data"),
            ("active-orders.json", FETCHED, "/data"),
        ],
    )
}

/// Direct orders, in our own format: odd values are errors that the shop has to fix.
pub fn direct() -> Connector {
    Connector::new("direct", &[], &[("order.json", "order", "")])
}

/// The connectors that take an order although a part of it is odd.
pub fn connectors() -> [Connector; 4] {
    [getir(), yemeksepeti(), trendyol(), migros()]
}

/// What an answer is an answer to.
#[derive(Clone, Copy)]
pub enum Question {
    /// A call, which it refuses, with each of these statuses.
    Refused(&'static [u16]),
    /// A call, which it agrees to.
    Done,
    Session,
    Reasons,
    /// The menu, after the answers in these files.
    Menu(&'static [&'static str]),
    Poll,
    Look,
    /// The state of the store, after the answers in these files.
    Store(&'static [&'static str]),
    Hours,
    Item,
    /// What came of items that were switched.
    Items,
    Batch,
    /// A report, not an answer: what came of a catalog.
    CatalogImport,
}

pub struct Answer {
    pub key: &'static str,
    pub file: &'static str,
    pub question: Question,
    /// The places without which it says nothing. An odd value in any other place costs nothing.
    pub essentials: &'static [&'static str],
}

/// Every place of it.
pub const ALL: &[&str] = &["*"];

pub const ANSWERS: &[Answer] = &[
    answer("getir", "error.json", Question::Refused(&[200, 400, 409]), ALL),
    answer("getir", "login.json", Question::Session, &["token"]),
    answer(
        "getir",
        "cancel-options.json",
        Question::Reasons,
        &["[]", "[].id"],
    ),
    answer("getir", "menu.json", Question::Menu(&[]), ALL),
    answer("getir", "active.json", Question::Poll, &["[]"]),
    answer("getir", "cancelled.json", Question::Poll, &["[]"]),
    answer("getir", "order.json", Question::Look, &["id"]),
    answer("getir", "restaurant.json", Question::Store(&[]), &["status"]),
    answer("getir", "working-hours.json", Question::Hours, ALL),
    answer("getir", "item-status.json", Question::Item, &["status"]),
    answer("trendyol", "stores.json", Question::Store(&[]), TRENDYOL_STORES),
    answer("trendyol", "batch.json", Question::Batch, ALL),
    answer(
        "migros",
        "view-status.json",
        Question::Store(&["store-detail.json"]),
        &["success", "data", "data.status"],
    ),
    answer("migros", "time-slots.json", Question::Hours, ALL),
    answer(
        "yemeksepeti",
        "availability.json",
        Question::Store(&[]),
        &["[]", "[].availabilityState"],
    ),
    answer("yemeksepeti", "item-availability.json", Question::Items, ALL),
    answer(
        "yemeksepeti",
        "catalog-import.json",
        Question::CatalogImport,
        &["catalogImportId"],
    ),
    answer(
        "yemeksepeti",
        "conflict.json",
        Question::Refused(&[400, 403, 409]),
        ALL,
    ),
    answer(
        "yemeksepeti",
        "conflict-early.json",
        Question::Refused(&[400, 403, 409]),
        ALL,
    ),
    answer("yemeksepeti", "login.json", Question::Session, &["access_token"]),
    answer("yemeksepeti", "details-accepted.json", Question::Look, &["order"]),
    answer(
        "yemeksepeti",
        "details-cancelled.json",
        Question::Look,
        &["order"],
    ),
    answer("trendyol", "menu.json", Question::Menu(&[]), ALL),
    answer("trendyol", "page.json", Question::Poll, &["content", "content[]"]),
    answer("trendyol", "package_uber.json", Question::Look, &["id"]),
    answer("trendyol", "package_unsupplied.json", Question::Look, &["id"]),
    answer("migros", "refusal.json", Question::Refused(&[200, 400, 422]), ALL),
    answer("migros", "update-status.json", Question::Done, &["success"]),
    answer("migros", "cancel-reasons.json", Question::Reasons, MIGROS_REASONS),
    answer("migros", "store-detail.json", Question::Menu(&[]), ALL),
    answer("migros", "menu.json", Question::Menu(&["store-detail.json"]), ALL),
    answer("migros", "pending-orders.json", Question::Poll, MIGROS_LIST),
    answer("migros", "active-orders.json", Question::Poll, MIGROS_LIST),
    answer("migros", "order-detail.json", Question::Look, MIGROS_LIST),
];

const TRENDYOL_STORES: &[&str] = &[
    "restaurants",
    "restaurants[]",
    "restaurants[].id",
    "restaurants[].workingStatus",
];
const MIGROS_LIST: &[&str] = &["success", "data", "data[]"];
const MIGROS_REASONS: &[&str] = &["success", "data", "data[]", "data[].reasonId"];

const fn answer(
    key: &'static str,
    file: &'static str,
    question: Question,
    essentials: &'static [&'static str],
) -> Answer {
    Answer {
        key,
        file,
        question,
        essentials,
    }
}
