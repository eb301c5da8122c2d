//! Messages and packages become orders and changes.

use super::*;
use garson_core::order::{Actor, Change, ContentVersion, FulfilmentType, Item, ItemOption, Status};
use garson_core::platform::Which;

#[test]
fn a_package_is_read_whole() {
    let message = read_body(CREATED, GO);
    assert_eq!(message.as_ref().map(|m| m.branch.as_deref()), Ok(Some(BRANCH)));
    let Ok(order) = read_order(GO) else {
        unreachable!("the fixture is fine");
    };
    assert_eq!(order.provider_order_id, GO_ID);
    assert_eq!(order.identity, GO_ID);
    assert_eq!(order.short_code.as_deref(), Some("K4B"));
    assert_eq!(order.status, Status::New);
    assert_eq!(order.provider_status.as_deref(), Some("Created"));
    assert_eq!(
        order.placed_at.map(|at| at.to_string()).as_deref(),
        Some("2026-01-01T17:00:00.000Z")
    );
    assert_eq!((order.accept_by, order.scheduled_for), (None, None));
    assert_eq!(
        order.provider_data.as_deref(),
        Some(
            "{\"courier\":\"platform\",\"preparationTime\":25,\"items\":[\
             \"b7e6d0c4-0000-4000-8000-000000000001\",\"b7e6d0c4-0000-4000-8000-000000000002\",\
             \"b7e6d0c4-0000-4000-8000-000000000003\",\"b7e6d0c4-0000-4000-8000-000000000004\"]}"
        )
    );
    let content = order.content;
    assert_eq!(content.note.as_deref(), Some("Zile basmayın, bebek uyuyor 🙏"));
    assert_eq!(content.fulfilment.kind, FulfilmentType::Delivery);
    let lines: Vec<_> = content
        .items
        .iter()
        .map(|item| (item.name.as_str(), item.quantity, item.unit_price.0, item.total.0))
        .collect();
    assert_eq!(
        lines,
        [
            ("İskender (1,5 porsiyon)", 2, 25_750, 51_500),
            ("Künefe menü", 1, 9_000, 9_000),
            // One of its two pieces is cancelled.
            ("Şalgam 🌶️", 1, 2_250, 2_250),
        ]
    );
    assert_eq!(
        content
            .items
            .first()
            .map(|item| (item.id.as_deref(), item.product_id.as_deref())),
        Some((Some("b7e6d0c4-0000-4000-8000-000000000001"), Some("61001")))
    );
}

/// Options as a tree of names, with `-` before what is left out.
fn tree(options: &[ItemOption]) -> String {
    let one = |option: &ItemOption| {
        let sign = if option.removed { "-" } else { "" };
        let within = tree(&option.options);
        let within = if within.is_empty() {
            within
        } else {
            format!("({within})")
        };
        format!("{sign}{}:{}{within}", option.name, option.price.0)
    };
    options.iter().map(one).collect::<Vec<_>>().join(" ")
}

fn trees(items: &[Item]) -> Vec<String> {
    items.iter().map(|item| tree(&item.options)).collect()
}

#[test]
fn options_hold_what_was_chosen_added_and_left_out() {
    let found = read_order(GO).map(|order| trees(&order.content.items));
    let expected = [
        "Bol tereyağı:1250 -Közlenmiş biber:0",
        "Tatlı seçimi: künefe:0(Dondurmalı:1000(Antep fıstığı:0)) Kaymak:0",
        "",
    ];
    assert_eq!(found, Ok(expected.map(str::to_owned).to_vec()));
}

#[test]
fn options_deeper_than_five_are_listed_at_the_fifth() {
    let deep = (1..=8).rev().fold(
        json!([]),
        |inner, level| json!([{ "name": level.to_string(), "price": 1, "modifierProducts": inner }]),
    );
    let body = with(GO, "/lines/2/modifierProducts", Some(deep));
    let found = read_order(&body).map(|order| trees(&order.content.items).pop().unwrap_or_default());
    let expected = "1:100(2:100(3:100(4:100(5:100 6:100 7:100 8:100))))";
    assert_eq!(found.as_deref(), Ok(expected));
    let too_deep = (0..200).fold(
        json!([]),
        |inner, _| json!([{ "name": "x", "modifierProducts": inner }]),
    );
    assert!(read_order(&with(GO, "/lines/2/modifierProducts", Some(too_deep))).is_err());
}

#[test]
fn numbers_of_customers_are_the_call_centres_with_a_code() {
    let phone = |body: &str| {
        read_order(body).map(|order| {
            let customer = order.content.customer;
            (
                customer.phone.unwrap_or_default(),
                customer.phone_code.unwrap_or_default(),
            )
        })
    };
    let pair = |number: &str, code: &str| Ok((number.to_owned(), code.to_owned()));
    assert_eq!(phone(GO), pair("02125550101", "742118903"));
    assert_eq!(phone(UBER), pair("08505550199", "48213377"));
    let centre = with(GO, "/address/phone", None);
    assert_eq!(phone(&centre), pair("02125550101", "742118903"));
    assert_eq!(
        phone(&with(GO, "/orderId", None)),
        pair("02125550101", "10358821774")
    );
    assert_eq!(phone(&with(&centre, "/callCenterPhone", None)), pair("", ""));
}

#[test]
fn hidden_parts_of_an_address_are_not_shown() {
    let address = |body: &str| {
        let customer = read_order(body)
            .map(|order| order.content.customer)
            .unwrap_or_default();
        (customer.name, customer.address.unwrap_or_default())
    };
    let (name, hidden) = address(GO);
    assert_eq!(name.as_deref(), Some("Gülşah Ö."));
    assert_eq!(
        (
            hidden.text,
            hidden.apartment,
            hidden.floor,
            hidden.door,
            hidden.directions
        ),
        (None, None, None, None, None)
    );
    assert_eq!(hidden.district.as_deref(), Some("Kadıköy"));
    assert_eq!((hidden.lat, hidden.lon), (Some(40.987_31), Some(29.025_71)));
    let (_, shown) = address(STORE);
    assert_eq!(shown.text.as_deref(), Some("Moda Cad. No: 12 Sarı bina"));
    assert_eq!(shown.floor.as_deref(), Some("3"));
    let (_, uber) = address(UBER);
    assert_eq!((uber.apartment, uber.floor), (None, None));
    assert!(uber.text.is_some_and(|text| text.starts_with("Caferağa")));
    for odd in [json!("yok"), json!("91"), json!("NaN"), json!(""), json!(null)] {
        let (_, found) = address(&with(GO, "/address/latitude", Some(odd.clone())));
        assert_eq!(found.lat, None, "{odd}");
    }
}

#[test]
fn a_package_says_how_far_it_is() {
    let stand = |status: &str| {
        let seen = sighting(&with(STORE, "/packageStatus", Some(json!(status))));
        seen.map(|seen| {
            let to = match seen.change {
                Some(Change::Moved { to, .. }) => Some(to),
                Some(Change::Cancelled { by, .. }) => Some(by.cancelled_status()),
                None => None,
            };
            (to, seen.is_ready, seen.order.provider_status)
        })
    };
    for (status, to, is_ready) in [
        ("Created", None, false),
        ("Picking", Some(Status::Preparing), false),
        ("Invoiced", Some(Status::Preparing), true),
        ("INVOICED", Some(Status::Preparing), true),
        ("Shipped", Some(Status::OnTheWay), true),
        ("Delivered", Some(Status::Delivered), true),
        ("Returned", Some(Status::Delivered), true),
        ("Cancelled", Some(Status::CancelledByPlatform), false),
        ("UnSupplied", Some(Status::Cancelled), false),
        ("SomethingNew", None, false),
    ] {
        assert_eq!(
            stand(status),
            Ok((to, is_ready, Some(status.to_owned()))),
            "{status}"
        );
    }
}

#[test]
fn a_cancelled_package_shows_what_it_was() {
    let Ok(seen) = sighting(ENDED) else {
        unreachable!("the fixture is fine");
    };
    assert_eq!(
        seen.order.content.items.first().map(|item| item.quantity),
        Some(5)
    );
    assert_eq!(
        seen.change,
        Some(Change::Cancelled {
            by: Actor::Account,
            reason: Some(Reason {
                id: "622".to_owned(),
                name: "Restoran kapalı".to_owned(),
            }),
            note: None,
            provider_status: Some("UnSupplied".to_owned()),
        })
    );
}

#[test]
fn events_are_changes_or_a_reason_to_look() {
    let news = |kind| {
        let body = EVENTS
            .iter()
            .find(|(name, _)| *name == kind)
            .map_or("", |(_, body)| body);
        read_body(kind, body).map(|message| (message.branch, message.news))
    };
    let which = || Which::Identity(GO_ID.to_owned());
    let moved = |to, words: &str| {
        let change = Change::Moved {
            to,
            by: Actor::Platform,
            provider_status: Some(words.to_owned()),
        };
        Ok((
            None,
            News::Changed {
                order: which(),
                change,
            },
        ))
    };
    let cancelled = |by, words: &str, id: &str, name: &str| {
        let change = Change::Cancelled {
            by,
            reason: Some(Reason {
                id: id.to_owned(),
                name: name.to_owned(),
            }),
            note: None,
            provider_status: Some(words.to_owned()),
        };
        Ok((
            None,
            News::Changed {
                order: which(),
                change,
            },
        ))
    };
    assert_eq!(news(SHIPPED), moved(Status::OnTheWay, "Shipped"));
    assert_eq!(news(DELIVERED), moved(Status::Delivered, "Delivered"));
    assert_eq!(
        news(CANCELLED),
        cancelled(Actor::Customer, "Cancelled", "604", "Müşteri iptal etti")
    );
    assert_eq!(
        news(UNSUPPLIED),
        cancelled(
            Actor::Account,
            "UnSupplied",
            "623",
            "The store cannot prepare the order"
        )
    );
    for kind in [STORE_CHANGED, SELLER_CHANGED, PICKUP_ETA] {
        assert_eq!(news(kind), Ok((None, News::Look { order: which() })));
        assert_eq!(
            read_body(kind, r#"{"storeId":1}"#).map(|message| message.news),
            Ok(News::Nothing)
        );
    }
    assert_eq!(news(COURIER_NEARBY), Ok((None, News::Nothing)));
}

#[test]
fn the_times_of_the_courier_and_of_the_customer_are_read() {
    let with = |text: &str, fields: Value| {
        let mut package: Value = serde_json::from_str(text).unwrap();
        for (name, value) in fields.as_object().unwrap() {
            package[name] = value.clone();
        }
        let content = read_order(&package.to_string()).unwrap().content;
        let text = |at: Option<Timestamp>| at.map(|at| at.to_string()[11..16].to_owned());
        let fulfilment = content.fulfilment;
        let paths: Vec<_> = content.reading_notes.into_iter().map(|note| note.path).collect();
        (
            text(fulfilment.courier_pickup_at),
            text(fulfilment.promised_at),
            paths.join(" "),
        )
    };
    let said = |courier: &str, promised: &str, notes: &str| {
        let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        (given(courier), given(promised), notes.to_owned())
    };
    let (min, max) = (1_767_288_300_000i64, 1_767_288_600_000i64);
    let calculated = json!({ "estimatedPickupTimeMin": min, "estimatedPickupTimeMax": max });
    // Ordered at 17:00, with the estimate 30-40 dk.
    assert_eq!(with(GO, json!({})), said("", "17:40", ""));
    assert_eq!(with(GO, calculated.clone()), said("17:25", "17:40", ""));
    assert_eq!(
        with(
            GO,
            json!({ "estimatedPickupTimeMin": 0, "estimatedPickupTimeMax": max })
        ),
        said("17:30", "17:40", "")
    );
    assert_eq!(
        with(
            GO,
            json!({ "estimatedPickupTimeMin": 0, "estimatedPickupTimeMax": 0, "eta": "" })
        ),
        said("", "", "")
    );
    assert_eq!(
        with(
            GO,
            json!({ "pickupEtaState": "FAILED", "estimatedPickupTimeMin": min })
        ),
        said("", "17:40", "")
    );
    // Nobody comes for what the restaurant carries.
    assert_eq!(with(STORE, calculated), said("", "17:40", ""));
    // What is left of the estimate later is not what was promised.
    assert_eq!(
        with(GO, json!({ "packageStatus": "Picking", "eta": "5-10 dk" })),
        said("", "", "")
    );
    // Odd values are left out, with a note.
    assert_eq!(
        with(GO, json!({ "estimatedPickupTimeMin": "soon", "eta": "soon" })),
        said("", "", "estimatedPickupTimeMin eta")
    );
}

#[test]
fn who_cancelled_follows_from_the_code_and_the_status() {
    let by = |kind, code: Value| {
        let body = json!({ "id": "p", "cancelInfo": { "reasonCode": code } }).to_string();
        match read_body(kind, &body).map(|message| message.news) {
            Ok(News::Changed {
                change: Change::Cancelled { by, .. },
                ..
            }) => Some(by),
            _ => None,
        }
    };
    for code in [601, 602, 603, 605, 607, 69, 999] {
        assert_eq!(by(CANCELLED, json!(code)), Some(Actor::Platform), "{code}");
        assert_eq!(by(UNSUPPLIED, json!(code)), Some(Actor::Account), "{code}");
    }
    for code in 621..=627 {
        assert_eq!(by(CANCELLED, json!(code)), Some(Actor::Account), "{code}");
    }
    assert_eq!(by(CANCELLED, json!("604")), Some(Actor::Customer));
    assert_eq!(by(CANCELLED, json!(null)), Some(Actor::Platform));
    // The package goes on: only some of it was cancelled, and what is left must be asked for.
    let part = r#"{"id":"p","status":"Picking","cancelInfo":{"reasonCode":621}}"#;
    assert!(matches!(
        read_body(UNSUPPLIED, part).map(|message| message.news),
        Ok(News::Look { .. })
    ));
}

#[test]
fn the_last_change_numbers_the_versions_of_a_package() {
    let version = |body: &str| read_order(body).unwrap().version;
    let dated = with(
        STORE,
        "/packageModificationDate",
        Some(json!(1_772_000_000_000_i64)),
    );
    let dated = with(&dated, "/lastModifiedDate", Some(json!("1772000000005")));
    assert_eq!(version(&dated), ContentVersion::Numbered(1_772_000_000_005));
    let undated = with(&dated, "/packageModificationDate", None);
    let undated = with(&undated, "/lastModifiedDate", Some(json!("yesterday")));
    assert_eq!(version(&undated), ContentVersion::Unnumbered);
    // What cannot be read of the lines is good enough for a new order only.
    let odd = with(&dated, "/lines/0/items", Some(json!("two")));
    assert_eq!(version(&odd), ContentVersion::Unchanging);
}

#[test]
fn a_cancelled_piece_is_neither_cooked_nor_paid_nor_cancelled_again() {
    let mut package: Value = serde_json::from_str(STORE).unwrap();
    let pieces = json!([
        { "packageItemId": "gone", "isCancelled": true },
        { "packageItemId": "left", "isCancelled": false },
    ]);
    package["lines"] = json!([{ "productId": 1, "name": "Pide", "unitSellingPrice": 100, "items": pieces }]);
    package["totalPrice"] = json!(100);
    package["totalDeliveryPrice"] = json!(0);
    package["promotions"] = json!([]);
    let order = read_order(&package.to_string()).unwrap();
    assert_eq!(
        (order.content.items[0].quantity, order.content.items[0].total.0),
        (1, 10_000)
    );
    assert_eq!(
        (order.content.amount.total.0, order.content.amount.adjustment),
        (10_000, None)
    );
    let kept = order.provider_data.unwrap();
    assert!(kept.contains("left") && !kept.contains("gone"), "{kept}");
    // When nothing is left the package shows what it once was, which is no version.
    package["lines"][0]["items"][1]["isCancelled"] = json!(true);
    let order = read_order(&package.to_string()).unwrap();
    assert_eq!(
        (order.version, order.content.items[0].quantity),
        (ContentVersion::Unchanging, 2)
    );
}
