//! The platforms whose requests are recorded, and every request to each.

use super::recorded_control::ControlledStore;
use super::recorded_side::{CANCEL, READY, Side, VERIFY};
use garson_core::item::ItemRef;
use garson_core::order::{CallKind, Status};

/// Where the platform is in the test, and where an order's addresses may be besides.
pub const HERE: &str = "127.0.0.1";
pub const ELSEWHERE: &str = "127.0.0.2";
macro_rules! fixture {
    ($path:literal) => {
        include_str!(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../crates/garson-platforms/src/",
            $path
        ))
    };
}

const ON_THE_WAY: CallKind = CallKind::Tell(Status::OnTheWay);
const DELIVERED: CallKind = CallKind::Tell(Status::Delivered);

pub fn getir(base: &str) -> Side {
    let mut side = Side::new(
        "getir",
        base,
        "65f1c0de8a4b2f0012abffff",
        &[
            ("appSecretKey", "app-key-1"),
            ("restaurantSecretKey", "restaurant-key-1"),
            ("optionCalls", "products"),
            ("chainMenuId", "chain-menu-1"),
        ],
    );
    const NEW: &str = fixture!("getir/fixtures/new-order.json");
    const SCHEDULED: &str = fixture!("getir/fixtures/scheduled-order.json");
    let carried = |by: u32| {
        let mut order: serde_json::Value = serde_json::from_str(NEW).unwrap();
        order["deliveryType"] = by.into();
        order.to_string()
    };
    let theirs = side.order("new-order", &carried(1), Status::New);
    let ours = side.order("new-order", &carried(2), Status::Preparing);
    let scheduled = side.order("new-order", SCHEDULED, Status::Scheduled);
    const NAMES_A_GROUP: &str =
        r#"{"productCategories":[{"id":"c","products":[{"id":"p","optionCategories":["size"]}]}]}"#;
    side.questions(2, &[NAMES_A_GROUP, "[]"]);
    side.look(&theirs);
    side.call("verify", VERIFY, &theirs, None);
    side.call("verify-scheduled", VERIFY, &scheduled, None);
    side.call("prepare", READY, &theirs, None);
    side.call("handover", ON_THE_WAY, &theirs, None);
    side.call("prepare-own-courier", ON_THE_WAY, &ours, None);
    side.call("deliver", DELIVERED, &ours, None);
    side.call("cancel", CANCEL, &theirs, Some("5c5b49a768f6a45d427f0a8e"));
    side.samples = vec![
        ("new-order", carried(1)),
        ("new-order", carried(2)),
        ("new-order", SCHEDULED.to_owned()),
    ];
    const CHAIN_MENU: &str = r#"{"productCategories":[{"id":"c","products":[{"id":"p","chainProduct":"chain-p",
        "optionCategories":[{"id":"size","options":[{"id":"o","chainOption":"chain-o"}]}]}]}]}"#;
    side.control(&ControlledStore {
        answers: &[
            ("GET /restaurants/menu", CHAIN_MENU),
            (
                "GET /restaurants/working-hours",
                fixture!("getir/fixtures/working-hours.json"),
            ),
            ("GET /restaurants", fixture!("getir/fixtures/restaurant.json")),
            ("GET /products", fixture!("getir/fixtures/item-status.json")),
            ("", r#"{"result":true}"#),
        ],
        product: ItemRef::product("p"),
        option: ItemRef::option("o", "size", "p"),
    });
    side
}

pub fn migros(base: &str) -> Side {
    const KEY: (&str, &str) = ("apiKey", "restaurant-key-1");
    const SECRET: (&str, &str) = ("secretKey", "0123456789abcdef0123456789ABCDEF");
    let mut side = Side::new("migros", base, "20417", &[KEY, SECRET]);
    const OWN: &str = fixture!("migros/fixtures/order-created-restaurant.json");
    let new = side.order("order-created", OWN, Status::New);
    let accepted = side.order("order-created", OWN, Status::Preparing);
    side.questions(
        2,
        &[
            fixture!("migros/fixtures/store-detail.json"),
            fixture!("migros/fixtures/menu.json"),
        ],
    );
    side.look(&new);
    side.call("approved", VERIFY, &new, None);
    side.call("rejected", CANCEL, &new, Some("101"));
    side.call("prepared", READY, &accepted, None);
    side.call("delivery", ON_THE_WAY, &accepted, None);
    side.call("completed", DELIVERED, &accepted, None);
    side.call("cancel-order", CANCEL, &accepted, Some("101"));
    // The other way from the secret to the key.
    let derivation = ("keyDerivation", "sha256");
    let mut hashed = Side::new("migros", base, "20417", &[KEY, SECRET, derivation]);
    hashed.call("approved-sha256", VERIFY, &new, None);
    side.requests.append(&mut hashed.requests);
    const THEIRS: &str = fixture!("migros/fixtures/order-created.json");
    side.samples = [OWN, THEIRS]
        .map(|body| ("order-created", body.to_owned()))
        .to_vec();
    const DONE: (&str, &str) = ("", r#"{"success":true,"data":null,"errorMessage":null}"#);
    const DETAIL: &str = fixture!("migros/fixtures/store-detail.json");
    let (product, option) = (ItemRef::product("7001"), ItemRef::option("8001", "81", "7001"));
    side.control(&ControlledStore {
        answers: &[
            ("GetStoreDetail", DETAIL),
            ("GetStoreViewStatus", fixture!("migros/fixtures/view-status.json")),
            ("GetStoreTimeSlot", fixture!("migros/fixtures/time-slots.json")),
            ("GetMenuDetails", fixture!("migros/fixtures/menu.json")),
            DONE,
        ],
        product: product.clone(),
        option: option.clone(),
    });
    let inactive = DETAIL.replace(r#""active": true"#, r#""active": false"#);
    side.open_inactive(&ControlledStore {
        answers: &[("GetStoreDetail", &inactive), DONE],
        product,
        option,
    });
    side
}

pub fn trendyol(base: &str) -> Side {
    let mut side = Side::new(
        "trendyol",
        base,
        "107703:3311",
        &[
            ("apiKey", "key-1"),
            ("apiSecret", "secret-1"),
            ("integratorName", "Garson"),
            ("executorUser", "kasa@example.com"),
        ],
    );
    const OWN: &str = fixture!("trendyol/fixtures/created_own_courier.json");
    let order = side.order("created", OWN, Status::New);
    side.questions(1, &[fixture!("trendyol/fixtures/menu.json")]);
    side.look(&order);
    side.call("picked", VERIFY, &order, None);
    side.call("invoiced", READY, &order, None);
    side.call("manual-shipped", ON_THE_WAY, &order, None);
    side.call("manual-delivered", DELIVERED, &order, None);
    side.call("unsupplied", CANCEL, &order, Some("621"));
    side.samples = [
        OWN,
        fixture!("trendyol/fixtures/created_platform_courier.json"),
        fixture!("trendyol/fixtures/created_pickup.json"),
        fixture!("trendyol/fixtures/package_uber.json"),
    ]
    .map(|body| ("created", body.to_owned()))
    .to_vec();
    side.control(&ControlledStore {
        answers: &[
            ("/stores?page", fixture!("trendyol/fixtures/stores.json")),
            ("/batch-requests/", fixture!("trendyol/fixtures/batch.json")),
            ("", r#"{"batchRequestId":"batch-1"}"#),
        ],
        product: ItemRef::product("81001"),
        option: ItemRef::option("81002", "91", "81001"),
    });
    side
}

pub fn yemeksepeti(base: &str) -> Side {
    let mut side = Side::new(
        "yemeksepeti",
        base,
        "moda-1",
        &[
            ("username", "moda user"),
            ("password", "pass&word=1"),
            ("chainCode", "moda/zincir"),
            ("pluginSecret", "plugin-secret-1"),
            ("globalEntityId", "YS_TR"),
            ("callbackUrl", "https://garson.example/hooks/products"),
            ("catalogPush", "on"),
        ],
    );
    const OWN: &str = fixture!("yemeksepeti/fixtures/order-own-courier.json");
    const RIDER: &str = fixture!("yemeksepeti/fixtures/order-platform-rider.json");
    let own = side.order("order", OWN, Status::New);
    let rider = side.order("order", RIDER, Status::Preparing);
    side.questions(1, &[]);
    side.look(&own);
    side.call("accepted", VERIFY, &own, None);
    side.call("rejected", CANCEL, &own, Some("ITEM_UNAVAILABLE"));
    side.call("picked-up", ON_THE_WAY, &own, None);
    side.call("preparation-completed", READY, &rider, None);
    side.samples = [
        OWN,
        RIDER,
        fixture!("yemeksepeti/fixtures/order-pickup-later.json"),
        fixture!("yemeksepeti/fixtures/order-least.json"),
    ]
    .map(|body| ("order", body.to_owned()))
    .to_vec();
    // An order that names addresses on another host, which the operator allows.
    let elsewhere = base.replace(HERE, ELSEWHERE);
    let order = OWN.replace("https://middleware.example/base", &elsewhere);
    let order = side.order("order", &order, Status::New);
    side.callback_hosts = vec![elsewhere.replace("http://", "")];
    let request = side.write(VERIFY, &order, None).unwrap();
    assert!(request.url.starts_with(&elsewhere), "{}", request.url);
    side.add("accepted-on-allowed-host", request);
    side.control(&ControlledStore {
        answers: &[
            ("GET /v2", fixture!("yemeksepeti/fixtures/availability.json")),
            ("/catalog", r#"{"catalogImportId":"import-1","status":"Success"}"#),
            ("", ""),
        ],
        product: ItemRef::product("p-1"),
        option: ItemRef::option("o-1", "g-1", "p-1"),
    });
    side
}

pub fn direct(base: &str) -> Side {
    let url = format!("{base}/status?shop=1");
    let mut side = Side::new(
        "direct",
        base,
        "shop-1",
        &[("inboundKey", "shop-key-1"), ("callbackUrl", &url)],
    );
    const ORDER: &str = fixture!("direct/fixtures/order.json");
    side.samples = vec![("order", ORDER.to_owned())];
    let order = side.order("order", ORDER, Status::New);
    side.questions(0, &[]);
    for status in Status::ALL {
        let name = format!("callback-{}", status.name());
        side.call(&name, CallKind::Tell(status), &order, None);
    }
    side
}
