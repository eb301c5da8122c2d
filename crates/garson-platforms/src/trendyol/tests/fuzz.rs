//! No input panics: random bytes, and fixtures with random damage.

use super::*;
use garson_core::order::Status;
use proptest::prelude::*;

const KINDS: [&str; 11] = [
    CREATED,
    FETCHED,
    PICKUP_ETA,
    COURIER_NEARBY,
    SHIPPED,
    DELIVERED,
    CANCELLED,
    UNSUPPLIED,
    STORE_CHANGED,
    SELLER_CHANGED,
    "unheard",
];

/// Puts a body through everything that reads one.
fn read_all(body: &[u8], status: u16) {
    let credentials = credentials();
    let link = link(&credentials);
    for kind in KINDS {
        let request = HookRequest {
            body: body.to_vec(),
            ..request(kind, "")
        };
        if let Some(message) = Trendyol.verify(&request, &credentials) {
            match Trendyol.read(&message) {
                Ok(message) => settle(message, &link),
                Err(found) => assert!(!found.path.is_empty() && !found.message.is_empty()),
            }
        }
    }
    let response = HttpResponse {
        status,
        body: body.to_vec(),
    };
    let _ = Trendyol.looked(&link, &response);
    let _ = Trendyol.polled(&link, u32::from(status), &response);
    let _ = Trendyol.session(&response);
    let _ = Trendyol.read_reasons(&link, &response);
    let _ = Trendyol.menu(&link, std::slice::from_ref(&response));
    for call in [
        CallKind::Verify,
        CallKind::Ready,
        CallKind::Tell(Status::OnTheWay),
    ] {
        let _ = Trendyol.outcome(call, &link, &response);
    }
}

/// What was read must add up, and must lead to calls.
fn settle(message: Message, link: &Link<'_>) {
    let News::Order(seen) = message.news else {
        return;
    };
    let amount = &seen.order.content.amount;
    assert!(amount.total.0 >= 0 && amount.discount.0 >= 0 && !seen.order.content.items.is_empty());
    let order = Order {
        provider_data: seen.order.provider_data.clone(),
        provider_order_id: seen.order.provider_order_id.clone(),
        ..an_order("1")
    };
    for call in [CallKind::Verify, CallKind::Cancel] {
        let call_request = CallRequest {
            call,
            order: &order,
            reason: None,
            note: None,
            preparation_minutes: None,
            now: Timestamp::default(),
        };
        let _ = Trendyol.write(&call_request, link);
    }
}

/// Any JSON, with the numbers and texts that hurt among it.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        prop_oneof![Just(0i64), Just(-1), Just(100_000_000_000), Just(999_999_999)].prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
        "[0-9.eE+-]{0,24}".prop_map(Value::from),
        Just(json!("\u{0}")),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z]{1,6}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// Replaces or removes the value at a random place.
fn damage(value: &mut Value, place: &mut usize, with: &Option<Value>) -> bool {
    if *place == 0 {
        *value = with.clone().unwrap_or_default();
        return true;
    }
    *place -= 1;
    match value {
        Value::Array(list) => {
            for index in 0..list.len() {
                if *place == 0 && with.is_none() {
                    list.remove(index);
                    return true;
                }
                if damage(&mut list[index], place, with) {
                    return true;
                }
            }
        }
        Value::Object(map) => {
            let names: Vec<String> = map.keys().cloned().collect();
            for name in names {
                if *place == 0 && with.is_none() {
                    map.remove(&name);
                    return true;
                }
                if map.get_mut(&name).is_some_and(|value| damage(value, place, with)) {
                    return true;
                }
            }
        }
        _ => {}
    }
    false
}

fn fixtures() -> Vec<&'static str> {
    let events = EVENTS.map(|(_, body)| body);
    [GO, STORE, PICKUP, UBER, ENDED, PAGE, MENU]
        .into_iter()
        .chain(events)
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_bytes_panic(body in prop::collection::vec(any::<u8>(), 0..300), status in 100u16..600) {
        read_all(&body, status);
    }

    #[test]
    fn no_json_panics(body in any_json(), status in 100u16..600) {
        read_all(body.to_string().as_bytes(), status);
    }

    #[test]
    fn no_damage_panics(
        which in 0usize..15,
        places in prop::collection::vec((0usize..200, prop::option::of(any_json())), 1..5),
    ) {
        let fixtures = fixtures();
        let mut document: Value =
            serde_json::from_str(fixtures.get(which).copied().unwrap_or(GO)).unwrap_or_default();
        for (place, with) in places {
            damage(&mut document, &mut { place }, &with);
        }
        read_all(document.to_string().as_bytes(), 200);
    }

    #[test]
    fn no_headers_panic(
        registered in "\\PC{0,60}",
        headers in prop::collection::vec(("[a-z-]{0,8}", "\\PC{0,12}"), 0..60),
    ) {
        let credentials = secrets(&[(INBOUND_HEADERS, &registered)]);
        let request = HookRequest { headers, ..HookRequest::default() };
        prop_assert!(Trendyol.verify(&request, &credentials).is_none());
        let _ = Trendyol.claim(&request);
        let _ = Trendyol.inbound_secret(&credentials);
    }
}
