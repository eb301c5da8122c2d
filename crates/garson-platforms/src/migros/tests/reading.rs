//! Every message, and what becomes of it.

use super::*;
use garson_core::order::{Actor, Change, ItemOption};
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
            "PREPARING",
            moved(Status::Preparing, Actor::Account, "PREPARING"),
            false,
        ),
        (
            "PREPARED",
            moved(Status::Preparing, Actor::Account, "PREPARED"),
            true,
        ),
        ("READY", moved(Status::Preparing, Actor::Account, "READY"), true),
        (
            "ON_THE_WAY",
            moved(Status::OnTheWay, Actor::Account, "ON_THE_WAY"),
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
    ] {
        let body = with(ORDER, pointer, value);
        let found = sighting(&body).map(drop).map_err(|unreadable| unreadable.path);
        assert_eq!(found, Err(path.to_owned()), "{pointer}");
    }
    for (pointer, value, path) in [
        ("/items/1/price", json!("çok"), "items[1].price"),
        ("/items/1/price", json!(1.5), "items[1].price"),
        ("/items/0/amount", json!(-1), "items[0].amount"),
        (
            "/items/1/options/0/quantity",
            json!([]),
            "items[1].options[0].quantity",
        ),
        ("/items/2/price", json!(99_999_999_999i64), "items[2].price"),
        ("/log/createdAsMs", json!("dün"), "log.createdAsMs"),
        (
            "/customer/deliveryAddress/city",
            json!(7),
            "customer.deliveryAddress.city",
        ),
    ] {
        let mut body = with(ORDER, pointer, Some(value));
        if pointer == "/items/2/price" {
            body = with(&body, "/items/2/amount", Some(json!(1_000)));
        }
        let notes = sighting(&body).unwrap().order.content.reading_notes;
        assert!(notes.iter().any(|note| note.path == path), "{pointer}: {notes:?}");
    }
    let nameless = sighting(&with(ORDER, "/items/0/name", None)).unwrap();
    let item = &nameless.order.content.items[0];
    assert_eq!(Some(&item.name), item.product_id.as_ref());
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
        let is_needed = needed.contains(&place.as_str());
        for value in [None, Some(Value::Null)] {
            let read = sighting(&with(ORDER, &place, value.clone()));
            assert_eq!(read.is_ok(), !is_needed, "{place} {value:?}");
        }
        let more = with(ORDER, &format!("{place}Extra"), Some(json!({ "new": [1] })));
        assert_eq!(sighting(&more), sighting(ORDER), "{place}");
    }
}
