//! Every message, and what becomes of it.

use super::super::kept::Kept;
use super::*;
use garson_core::order::{Actor, Change, FundedBy, ItemOption};
use garson_core::payment::PaymentType;
use garson_core::platform::Which;

#[test]
fn an_order_is_read_in_full() {
    let message = read(ORDER_CREATED, ORDER).unwrap();
    assert_eq!(message.branch.as_deref(), Some(BRANCH));
    let Sighting {
        order,
        change,
        is_ready,
    } = sighting(ORDER).unwrap();
    assert_eq!((change, is_ready), (None, false));
    assert_eq!(order.identity, "900412377");
    assert_eq!(order.provider_order_id, "900412377");
    assert_eq!(order.short_code.as_deref(), Some("M-4821"));
    assert_eq!(order.status, Status::New);
    assert_eq!(order.provider_status.as_deref(), Some("NEW_PENDING"));
    assert_eq!(order.placed_at, Some(Timestamp::from_millis(1_767_284_400_000)));
    assert_eq!((order.accept_by, order.scheduled_for), (None, None));
    assert_eq!(
        order.provider_data.as_deref(),
        Some(r#"{"storeId":"20417","userId":"5512034","courier":"platform"}"#)
    );
    let content = order.content;
    assert_eq!(content.note.as_deref(), Some("Zile basmayın, bebek uyuyor 👶"));
    assert_eq!(content.fulfilment.courier, Courier::Platform);
    let flags = content.fulfilment.flags;
    assert!(flags.do_not_ring && flags.drop_at_door && flags.no_cutlery);
    let customer = content.customer;
    assert_eq!(customer.name.as_deref(), Some("Ayşe Çağlar"));
    assert_eq!(customer.phone.as_deref(), Some("5550001122"));
    let address = customer.address.unwrap();
    assert_eq!(address.city.as_deref(), Some("İstanbul"));
    assert_eq!(address.district.as_deref(), Some("Kadıköy"));
    assert_eq!(address.neighbourhood.as_deref(), Some("Caferağa"));
    assert_eq!(address.directions.as_deref(), Some("Fırının karşısı, yeşil kapı"));
    assert_eq!((address.lat, address.lon), (Some(40.987654), Some(29.025431)));
    assert_eq!(content.payment.kind, PaymentType::OnlineCard);
    assert_eq!(content.payment.name.as_deref(), Some("Online Kredi/Banka Kartı"));
    assert_eq!(content.payment.provider_code.as_deref(), Some("ONLINE_PAYMENT"));
    assert_eq!((content.payment.is_paid, content.payment.collect.0), (true, 0));
}

#[test]
fn lines_and_sums_add_up() {
    let content = sighting(ORDER).unwrap().order.content;
    let lines: Vec<_> = content
        .items
        .iter()
        .map(|item| (item.name.as_str(), item.quantity, item.unit_price.0, item.total.0))
        .collect();
    assert_eq!(
        lines,
        [
            ("Adana Dürüm 🌯", 2, 18_000, 39_000),
            ("Karışık Pizza", 1, 24_000, 30_500),
            ("Künefe", 1, 9_500, 9_500)
        ]
    );
    assert_eq!(content.items[0].product_id.as_deref(), Some("7001"));
    assert_eq!(content.items[0].note.as_deref(), Some("Bol közlenmiş biber"));
    assert_eq!(content.items[1].note, None);
    let onion = &content.items[0].options[1];
    assert_eq!((onion.name.as_str(), onion.removed), ("Soğan", true));
    let size = &content.items[1].options[0];
    assert_eq!((size.group.as_deref(), size.price.0), (Some("Boy"), 4_000));
    assert_eq!(size.options[0].options[0].name, "Kaşar");
    let amount = content.amount;
    assert_eq!(
        (amount.subtotal.0, amount.discount.0, amount.total.0),
        (79_000, 8_000, 71_000)
    );
    let discounts: Vec<_> = amount
        .discounts
        .iter()
        .map(|d| (d.amount.0, d.funded_by))
        .collect();
    assert_eq!(
        discounts,
        [(5_000, FundedBy::Restaurant), (3_000, FundedBy::Platform)]
    );
}

#[test]
fn cash_for_the_restaurants_courier_is_to_be_collected() {
    let order = sighting(RESTAURANT).unwrap().order;
    assert_eq!(order.content.fulfilment.courier, Courier::Restaurant);
    assert_eq!(order.content.payment.kind, PaymentType::Cash);
    assert_eq!(
        (order.content.payment.is_paid, order.content.payment.collect.0),
        (false, 25_000)
    );
    assert!(order.content.amount.discounts.is_empty());
    assert_eq!(order.content.note, None);
    let kept: Kept = serde_json::from_str(&order.provider_data.unwrap()).unwrap();
    assert_eq!(kept.courier, Some(Courier::Restaurant));
}

/// What the customer pays, and who pays for the discounts, by the four prices.
#[test]
fn the_four_prices_are_read_whichever_way_they_add_up() {
    let read = |prices: Value| {
        let amount = sighting(&with(ORDER, "/prices", Some(prices))).map(|s| s.order.content.amount);
        amount.map_err(|e| e.path).map(|amount| {
            let discounts = amount
                .discounts
                .iter()
                .map(|d| (d.amount.0, d.funded_by))
                .collect::<Vec<_>>();
            (amount.total.0, amount.discount.0, discounts)
        })
    };
    let price = |minor: i64| json!({ "amountAsPenny": minor, "text": "" });
    let four = |total, discounted, restaurant, migros| {
        json!({ "total": price(total), "discounted": price(discounted),
            "restaurantDiscounted": price(restaurant), "migrosDiscounted": price(migros) })
    };
    use FundedBy::{Platform, Restaurant, Unknown};
    for (prices, expected) in [
        (
            four(100, 70, 90, 80),
            (70, 30, vec![(10, Restaurant), (20, Platform)]),
        ),
        (
            four(100, 70, 10, 20),
            (70, 30, vec![(10, Restaurant), (20, Platform)]),
        ),
        (four(100, 70, 70, 100), (70, 30, vec![(30, Restaurant)])),
        (four(100, 70, 1, 1), (70, 30, vec![(30, Unknown)])),
        (four(100, 0, 0, 0), (100, 0, vec![])),
        (four(100, 0, 60, 40), (0, 100, vec![(100, Unknown)])),
        (four(100, 120, 0, 0), (120, 0, vec![])),
        (json!({ "total": 100 }), (100, 0, vec![])),
        (
            json!({ "total": price(100), "discounted": null }),
            (100, 0, vec![]),
        ),
        (
            json!({ "total": price(100), "discounted": { "amountAsPenny": null } }),
            (100, 0, vec![]),
        ),
        (
            json!({ "total": { "amountAsPenny": "100" }, "discounted": price(90) }),
            (90, 10, vec![(10, Unknown)]),
        ),
    ] {
        assert_eq!(read(prices.clone()), Ok(expected), "{prices}");
    }
    for (prices, path) in [
        (json!({}), "prices.total"),
        (json!({ "total": {} }), "prices.total.amountAsPenny"),
        (
            json!({ "total": { "amountAsPenny": "x" } }),
            "prices.total.amountAsPenny",
        ),
        (json!({ "total": 1.5 }), "prices.total"),
        (json!({ "total": -1 }), "prices.total"),
        (json!({ "total": 1, "discounted": -1 }), "prices.discounted"),
        (json!({ "total": u64::MAX }), "prices.total"),
    ] {
        assert_eq!(read(prices.clone()), Err(path.to_owned()), "{prices}");
    }
}

#[test]
fn an_items_price_is_read_the_way_that_adds_up() {
    let option = json!([{ "headerName": "x", "itemNames": "y", "primaryPrice": 100 }]);
    for (total, expected) in [
        (2_200, (1_000, 2_200)),
        (2_000, (1_000, 2_000)),
        (1_000, (500, 1_000)),
        (7, (1_000, 2_200)),
    ] {
        let items = json!([{ "name": "a", "price": 1_000, "amount": 2, "options": option }]);
        let body = with(ORDER, "/items", Some(items));
        let body = with(&body, "/prices", Some(json!({ "total": total })));
        let item = sighting(&body).unwrap().order.content.items.remove(0);
        assert_eq!((item.unit_price.0, item.total.0), expected, "{total}");
    }
}

#[test]
fn payments_are_told_apart() {
    use PaymentType::{CardOnDelivery, Cash, MealCardOnDelivery, MealCardOnline, OnlineCard, Other};
    for (name, online, kind, is_paid) in [
        ("CASH_ON_DELIVERY", Some(false), Cash, false),
        ("CREDIT_CARD_ON_DELIVERY", Some(false), CardOnDelivery, false),
        ("CREDIT_CARD", Some(true), OnlineCard, true),
        ("CREDIT_CARD", Some(false), CardOnDelivery, false),
        ("ONLINE_PAYMENT", None, OnlineCard, true),
        ("MEAL_CARD", Some(true), MealCardOnline, true),
        ("MEAL_CARD", Some(false), MealCardOnDelivery, false),
        ("MEAL_CARD_ON_DELIVERY", None, MealCardOnDelivery, false),
        ("PUAN", Some(true), Other, true),
        ("PUAN", None, Other, false),
    ] {
        let body = with(
            ORDER,
            "/payment/type",
            Some(json!({ "name": name, "isOnlinePayment": online })),
        );
        let payment = sighting(&body).unwrap().order.content.payment;
        let collect = if is_paid { 0 } else { 71_000 };
        assert_eq!(
            (payment.kind, payment.is_paid, payment.collect.0),
            (kind, is_paid, collect),
            "{name} {online:?}"
        );
        assert_eq!(payment.provider_code.as_deref(), Some(name));
    }
}

#[test]
fn where_an_order_stands_is_told_by_its_word() {
    let moved = |to, by, word: &str| {
        Some(Change::Moved {
            to,
            by,
            provider_status: Some(word.to_owned()),
        })
    };
    let cancelled = |by, word: &str| {
        let provider_status = Some(word.to_owned());
        Some(Change::Cancelled {
            by,
            reason: None,
            note: None,
            provider_status,
        })
    };
    for (word, change, is_ready) in [
        ("NEW_PENDING", None, false),
        (
            "APPROVED",
            moved(Status::Preparing, Actor::Account, "APPROVED"),
            false,
        ),
        (
            "Approved",
            moved(Status::Preparing, Actor::Account, "Approved"),
            false,
        ),
        (
            "PREPARED",
            moved(Status::Preparing, Actor::Account, "PREPARED"),
            true,
        ),
        (
            "DELIVERY",
            moved(Status::OnTheWay, Actor::Account, "DELIVERY"),
            true,
        ),
        (
            "IN_DELIVERY",
            moved(Status::OnTheWay, Actor::Account, "IN_DELIVERY"),
            true,
        ),
        (
            "COMPLETED",
            moved(Status::Delivered, Actor::Account, "COMPLETED"),
            true,
        ),
        ("REJECTED", cancelled(Actor::Account, "REJECTED"), false),
        ("CANCELLED", cancelled(Actor::Platform, "CANCELLED"), false),
        (
            "CANCELED_BY_CUSTOMER",
            cancelled(Actor::Customer, "CANCELED_BY_CUSTOMER"),
            false,
        ),
        (
            "CANCELLED_BY_RESTAURANT",
            cancelled(Actor::Account, "CANCELLED_BY_RESTAURANT"),
            false,
        ),
        ("SOMETHING_NEW", None, false),
    ] {
        let body = with(RESTAURANT, "/status", Some(json!(word)));
        let fetched = Migros.read(&Verified::ours(&request(FETCHED, &body))).unwrap();
        let News::Order(seen) = fetched.news else {
            unreachable!("an order was fetched");
        };
        assert_eq!((seen.change, seen.is_ready), (change, is_ready), "{word}");
        assert_eq!(seen.order.status, Status::New);
        assert_eq!(seen.order.provider_status.as_deref(), Some(word));
    }
    let carried = with(ORDER, "/status", Some(json!("COMPLETED")));
    let by_platform = moved(Status::Delivered, Actor::Platform, "COMPLETED");
    assert_eq!(sighting(&carried).unwrap().change, by_platform);
}

#[test]
fn short_messages_name_the_order_and_what_happened() {
    let changed = |kind, body: &str| {
        let message = read(kind, body).unwrap();
        assert_eq!(message.branch.as_deref(), Some(BRANCH));
        match message.news {
            News::Changed {
                order: Which::Identity(id),
                change,
            } => {
                assert_eq!(id, "900412377");
                Some(change)
            }
            News::Nothing => None,
            other => unreachable!("{other:?}"),
        }
    };
    let cancelled = |word: Option<&str>| {
        let provider_status = word.map(str::to_owned);
        Some(Change::Cancelled {
            by: Actor::Platform,
            reason: None,
            note: None,
            provider_status,
        })
    };
    assert_eq!(changed(ORDER_CANCELLED, CANCELLED), cancelled(None));
    assert_eq!(
        changed(ORDER_CANCELLED, r#"{"orderId":"900412377","storeId":"20417"}"#),
        cancelled(None)
    );
    let delivery = |status: Value, courier: Value, is_cancelled: Value| {
        let body = with(DELIVERY, "/status", Some(status));
        let body = with(&body, "/deliveryStatus", Some(courier));
        changed(DELIVERY_STATUS, &with(&body, "/isCancelled", Some(is_cancelled)))
    };
    let moved = |to, by, word: &str| {
        Some(Change::Moved {
            to,
            by,
            provider_status: Some(word.to_owned()),
        })
    };
    use Actor::{Account, Platform};
    for (status, courier, is_cancelled, change) in [
        (
            "PREPARED",
            "IN_DELIVERY",
            false,
            moved(Status::OnTheWay, Platform, "IN_DELIVERY"),
        ),
        (
            "PREPARED",
            "DELIVERED",
            false,
            moved(Status::Delivered, Platform, "DELIVERED"),
        ),
        (
            "COMPLETED",
            "IN_DELIVERY",
            false,
            moved(Status::Delivered, Platform, "COMPLETED"),
        ),
        (
            "APPROVED",
            "ASSIGNED_FOR_DELIVERY",
            false,
            moved(Status::Preparing, Account, "APPROVED"),
        ),
        ("x", "ASSIGNED_FOR_DELIVERY", false, None),
        ("NEW_PENDING", "COURIER_APPROACHED", false, None),
        ("", "COURIER_ARRIVED", false, None),
        ("PREPARED", "IN_DELIVERY", true, cancelled(Some("PREPARED"))),
        ("CANCELLED", "x", false, cancelled(Some("CANCELLED"))),
    ] {
        let found = delivery(json!(status), json!(courier), json!(is_cancelled));
        assert_eq!(found, change, "{status} {courier} {is_cancelled}");
    }
    assert_eq!(delivery(json!(null), json!(null), json!(null)), None);
    let nameless = read(ORDER_CANCELLED, r#"{"OrderId":1}"#).unwrap();
    assert_eq!(nameless.branch, None);
}

#[test]
fn options_nest_five_deep_and_none_is_lost() {
    let deep = (1..=7).rev().fold(
        json!([]),
        |below, level| json!([{ "itemNames": format!("seviye {level}"), "subOptions": below }]),
    );
    let body = with(ORDER, "/items/0/options", Some(deep));
    let mut level = sighting(&body).unwrap().order.content.items.remove(0).options;
    for depth in 1..=4 {
        assert_eq!(level[0].name, format!("seviye {depth}"));
        level = level.remove(0).options;
    }
    let names: Vec<_> = level
        .iter()
        .map(|option: &ItemOption| option.name.as_str())
        .collect();
    assert_eq!(names, ["seviye 5", "seviye 6", "seviye 7"]);
    let bottomless = format!(
        "{}{}",
        r#"{"items":[{"options":["#,
        r#"{"subOptions":["#.repeat(5_000)
    );
    assert!(read(ORDER_CREATED, &bottomless).is_err());
}

#[test]
fn what_is_wrong_is_named_where_it_stands() {
    let long = "9".repeat(700);
    for (pointer, value, path) in [
        ("/id", None, "id"),
        ("/id", Some(json!(null)), "id"),
        ("/id", Some(json!(" ")), "id"),
        ("/id", Some(json!(long)), "id"),
        ("/store", None, "store"),
        ("/store/id", None, "store.id"),
        ("/store/id", Some(json!("")), "store.id"),
        ("/prices", None, "prices"),
        ("/items", None, "items"),
        ("/items", Some(json!([])), "items"),
        ("/items/0/name", None, "items[0].name"),
        ("/items/1/price", Some(json!("çok")), "items[1].price"),
        ("/items/1/price", Some(json!(1.5)), "items[1].price"),
        ("/items/0/amount", Some(json!(-1)), "items[0].amount"),
        (
            "/items/1/options/0/quantity",
            Some(json!([])),
            "items[1].options[0].quantity",
        ),
        ("/items/2/price", Some(json!(99_999_999_999i64)), "items[2].price"),
        ("/log/createdAsMs", Some(json!("dün")), "log.createdAsMs"),
        (
            "/customer/deliveryAddress/city",
            Some(json!(7)),
            "customer.deliveryAddress.city",
        ),
    ] {
        let mut body = with(ORDER, pointer, value);
        if pointer == "/items/2/price" {
            body = with(&body, "/items/2/amount", Some(json!(1_000)));
        }
        let found = sighting(&body).map(drop).map_err(|unreadable| unreadable.path);
        assert_eq!(found, Err(path.to_owned()), "{pointer}");
    }
    for (kind, path) in [(ORDER_CANCELLED, "OrderId"), (DELIVERY_STATUS, "orderId")] {
        assert_eq!(read(kind, "{}").map_err(|e| e.path), Err(path.to_owned()));
        let empty = format!(r#"{{"{path}":""}}"#);
        assert_eq!(read(kind, &empty).map_err(|e| e.path), Err(path.to_owned()));
    }
    assert_eq!(read("other", ORDER).map_err(|e| e.path), Err("$".to_owned()));
}

/// The places of every value that is in an object.
pub fn places(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let at = format!("{at}/{name}");
                places(value, &at, found);
                found.push(at);
            }
        }
        Value::Array(values) => {
            for (index, value) in values.iter().enumerate() {
                places(value, &format!("{at}/{index}"), found);
            }
        }
        _ => {}
    }
}

#[test]
fn whatever_may_be_missing_is_not_missed() {
    let needed = [
        "/id",
        "/store",
        "/store/id",
        "/prices",
        "/prices/total",
        "/prices/total/amountAsPenny",
        "/items",
    ];
    let mut found = Vec::new();
    places(&serde_json::from_str(ORDER).unwrap(), "", &mut found);
    assert!(found.len() > 100);
    for place in found {
        let is_needed =
            needed.contains(&place.as_str()) || (place.starts_with("/items/") && place.ends_with("/name"));
        for value in [None, Some(Value::Null)] {
            let read = sighting(&with(ORDER, &place, value.clone()));
            assert_eq!(read.is_ok(), !is_needed, "{place} {value:?}");
        }
        let more = with(ORDER, &format!("{place}Extra"), Some(json!({ "new": [1] })));
        assert_eq!(sighting(&more), sighting(ORDER), "{place}");
    }
}
