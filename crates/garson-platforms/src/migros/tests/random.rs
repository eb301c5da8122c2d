//! No input panics: random bytes, and fixtures in which random values were dropped or replaced.

use super::*;
use proptest::prelude::*;

const SAMPLES: [&str; 8] = [
    ORDER,
    RESTAURANT,
    CANCELLED,
    DELIVERY,
    include_str!("../fixtures/order-detail.json"),
    include_str!("../fixtures/pending-orders.json"),
    include_str!("../fixtures/cancel-reasons.json"),
    include_str!("../fixtures/menu.json"),
];

/// Puts a document through everything that reads one.
fn digest(body: &[u8], status: u16) {
    let credentials = credentials();
    let link = link(&credentials);
    for kind in [ORDER_CREATED, ORDER_CANCELLED, DELIVERY_STATUS, FETCHED] {
        let request = HookRequest {
            body: body.to_vec(),
            ..request(kind, "")
        };
        match Migros.read(&Verified::ours(&request)) {
            Ok(_) => {}
            Err(unreadable) => assert!(!unreadable.path.is_empty() && !unreadable.message.is_empty()),
        }
    }
    let sealed = json!({ "success": true, "data": STANDARD.encode(key().encrypt(body)) });
    for body in [body.to_vec(), sealed.to_string().into_bytes()] {
        let response = HttpResponse { status, body };
        let _ = Migros.outcome(CallKind::Cancel, &link, &response);
        let _ = Migros.polled(&link, 1, &response);
        let _ = Migros.read_reasons(&link, &response);
        let _ = Migros.session(&response);
        let _ = Migros.menu(&link, std::slice::from_ref(&response));
        let _ = Migros.menu(&link, &[response.clone(), response.clone()]);
        if let Ok(document) = Migros.looked(&link, &response) {
            let request = HookRequest {
                body: document,
                ..request(FETCHED, "")
            };
            let _ = Migros.read(&Verified::ours(&request));
        }
    }
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
        Just(json!("\0")),
        Just(json!("1e999999999")),
        Just(json!(99_999_999_999i64)),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map("[a-zA-Z]{1,8}", inner, 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn no_bytes_panic(body in prop::collection::vec(any::<u8>(), 0..300), status in 100u16..600) {
        digest(&body, status);
    }

    #[test]
    fn no_header_panics(value in "\\PC{0,40}", basic in any::<bool>()) {
        let value = if basic { format!("Basic {value}") } else { value };
        let mut request = request(ORDER_CREATED, ORDER);
        request.headers = vec![("authorization".to_owned(), value)];
        let _ = Migros.claim(&request);
        prop_assert!(Migros.verify(&request, &credentials()).is_none());
    }

    #[test]
    fn no_damaged_document_panics(
        sample in prop::sample::select(SAMPLES.to_vec()),
        damages in prop::collection::vec((any::<prop::sample::Index>(), prop::option::of(any_value())), 1..4),
        status in prop::sample::select(vec![200u16, 400, 409, 500]),
    ) {
        let mut document = sample.to_owned();
        for (place, value) in damages {
            let mut places = Vec::new();
            super::reading::places(&serde_json::from_str(&document).unwrap(), "", &mut places);
            if !places.is_empty() {
                document = with(&document, &places[place.index(places.len())], value);
            }
        }
        digest(document.as_bytes(), status);
    }

    #[test]
    fn what_is_sealed_can_be_opened(plain in prop::collection::vec(any::<u8>(), 0..200), secret in any::<[u8; 32]>()) {
        let key = Key::from_bytes(secret);
        prop_assert_eq!(key.decrypt(key.encrypt(&plain)), Some(plain));
    }

    #[test]
    fn nothing_else_can_be_opened_by_panic(data in prop::collection::vec(any::<u8>(), 0..100)) {
        let _ = key().decrypt(data);
    }
}
