//! No input panics: random bytes, and fixtures with random values at random places.

use super::*;
use proptest::prelude::*;

const FIXTURES: [&str; 15] = [
    PLATFORM,
    OWN,
    PICKUP,
    LEAST,
    CANCELLED,
    NO_RESPONSE,
    PICKED_UP,
    MODIFIED,
    NOT_MODIFIED,
    WAITING,
    DETAILS_ACCEPTED,
    DETAILS_CANCELLED,
    LOGIN,
    CONFLICT,
    CONFLICT_EARLY,
];

/// Shows a body to everything that reads one, and makes every call for what was understood.
fn show(body: &[u8], status: u16) {
    let credentials = credentials();
    let token = session_token();
    let link = link(&credentials, Some(&token));
    let response = HttpResponse {
        status,
        body: body.to_vec(),
    };
    let calls = [
        CallKind::Verify,
        CallKind::Cancel,
        CallKind::Ready,
        CallKind::Tell(Status::OnTheWay),
    ];
    for call in calls {
        let _ = Yemeksepeti.outcome(call, &link, &response);
    }
    let _ = Yemeksepeti.session(&response);
    let _ = Yemeksepeti.read_reasons(&link, &response);
    let _ = Yemeksepeti.polled(&link, 0, &response);
    let _ = Yemeksepeti.menu(&link, std::slice::from_ref(&response));
    let looked = Yemeksepeti.looked(&link, &response).unwrap_or_default();
    for (kind, body) in [
        (ORDER, body),
        (STATUS, body),
        (FETCHED, body),
        (FETCHED, looked.as_slice()),
    ] {
        let mut request = request(kind, "");
        request.body = body.to_vec();
        let Some(verified) = Yemeksepeti.verify(&request, &credentials) else {
            continue;
        };
        match Yemeksepeti.read(&verified) {
            Ok(message) => calls_are_made(message, &link),
            Err(unreadable) => assert!(!unreadable.path.is_empty() && !unreadable.message.is_empty()),
        }
    }
}

fn calls_are_made(message: Message, link: &Link<'_>) {
    let News::Order(sighting) = message.news else {
        return;
    };
    let mut order = order_of(LEAST);
    order.identity = sighting.order.identity;
    order.provider_data = sighting.order.provider_data;
    order.scheduled_for = sighting.order.scheduled_for;
    for call in [
        CallKind::Verify,
        CallKind::Cancel,
        CallKind::Ready,
        CallKind::Tell(Status::OnTheWay),
    ] {
        let call_request = CallRequest {
            call,
            order: &order,
            reason: None,
            note: None,
            preparation_minutes: None,
            now: order.updated_at,
        };
        let written = Yemeksepeti.write(&call_request, link);
        assert!(
            written.is_err() || written.is_ok_and(|request| request.url.starts_with(&format!("{BASE}/")))
        );
    }
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
        "-?[0-9]{0,20}\\.?[0-9]{0,4}".prop_map(Value::from),
        "[A-Z_]{1,20}".prop_map(Value::from),
        Just(json!("2026-03-01T15:22:10Z")),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map("[a-z]{1,6}", inner, 0..4).prop_map(|map| json!(map)),
        ]
    })
}

/// Walks to a place that the steps choose, and drops or replaces what is there.
fn mutate(value: &mut Value, steps: &[usize], put: &Option<Value>) {
    let Some((step, rest)) = steps.split_first() else {
        if let Some(put) = put {
            *value = put.clone();
        }
        return;
    };
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            let name = fields
                .keys()
                .nth(step % fields.len())
                .cloned()
                .unwrap_or_default();
            match (rest.is_empty(), put) {
                (true, None) => drop(fields.remove(&name)),
                _ => fields
                    .get_mut(&name)
                    .into_iter()
                    .for_each(|inner| mutate(inner, rest, put)),
            }
        }
        Value::Array(list) if !list.is_empty() => {
            let index = step % list.len();
            match (rest.is_empty(), put) {
                (true, None) => drop(list.remove(index)),
                _ => mutate(&mut list[index], rest, put),
            }
        }
        other => {
            if let Some(put) = put {
                *other = put.clone();
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn no_bytes_panic(body in prop::collection::vec(any::<u8>(), 0..400), status in 100u16..600) {
        show(&body, status);
    }

    #[test]
    fn no_damaged_fixture_panics(
        which in 0..FIXTURES.len(),
        damage in prop::collection::vec(
            (prop::collection::vec(any::<usize>(), 1..6), prop::option::of(any_value())), 1..4),
        status in prop_oneof![Just(200u16), Just(400), Just(403), Just(409)],
    ) {
        let mut document: Value = serde_json::from_str(FIXTURES[which]).unwrap();
        for (steps, put) in &damage {
            mutate(&mut document, steps, put);
        }
        show(document.to_string().as_bytes(), status);
    }

    #[test]
    fn no_header_panics(authorization in "\\PC{0,80}", token in "[A-Za-z0-9_.=-]{0,120}") {
        for value in [authorization, format!("Bearer {token}")] {
            let mut request = request(ORDER, LEAST);
            request.headers = vec![("authorization".to_owned(), value)];
            prop_assert!(Yemeksepeti.verify(&request, &credentials()).is_none());
        }
    }

    #[test]
    fn no_claims_panic(header in "\\PC{0,40}", claims in any_value()) {
        let token = jwt(&header, &claims.to_string(), SECRET);
        prop_assert!(Yemeksepeti.verify(&with_token(ORDER, LEAST, &token), &credentials()).is_none());
    }
}
