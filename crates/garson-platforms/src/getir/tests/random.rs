//! Nothing that can be sent makes the dialect panic.

use super::*;
use proptest::prelude::*;
use serde_json::json;

fn everything(body: &[u8], status: u16) {
    for kind in [NEW_ORDER, CANCEL_ORDER, FETCHED] {
        let message = HookRequest {
            body: body.to_vec(),
            ..request(kind, "")
        };
        if let Some(genuine) = Getir.verify(&message, &credentials())
            && let Ok(Message {
                news: News::Order(seen),
                ..
            }) = Getir.read(&genuine)
        {
            let order = record(&seen.order, Status::New);
            let _ = super::calls::write(CallKind::Verify, &order, None, None);
        }
    }
    let response = HttpResponse {
        status,
        body: body.to_vec(),
    };
    let _ = Getir.session(&response);
    with_link(|link| {
        let _ = Getir.outcome(CallKind::Ready, link, &response);
        let _ = Getir.outcome(CallKind::Cancel, link, &response);
        let _ = Getir.looked(link, &response);
        let _ = Getir.polled(link, 0, &response);
        let _ = Getir.read_reasons(link, &response);
        let _ = Getir.menu(link, std::slice::from_ref(&response));
    });
}

fn anything() -> impl Strategy<Value = Option<Value>> {
    let number = prop_oneof![
        any::<f64>().prop_map(|n| json!(n)),
        any::<i64>().prop_map(|n| json!(n))
    ];
    prop_oneof![
        Just(None),
        Just(Some(Value::Null)),
        any::<bool>().prop_map(|b| Some(json!(b))),
        number.prop_map(Some),
        ".{0,12}".prop_map(|text| Some(json!(text))),
        Just(Some(json!([]))),
        Just(Some(json!({}))),
        Just(Some(json!([null, 1, "x", { "tr": "x" }, []]))),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_bytes_panic(body in prop::collection::vec(any::<u8>(), 0..300), status in 100u16..600) {
        everything(&body, status);
    }

    #[test]
    fn no_header_panics(value in ".{0,40}") {
        let mut message = request(NEW_ORDER, NEW);
        message.headers = vec![("x-api-key".to_owned(), value)];
        let _ = Getir.claim(&message);
        prop_assert!(Getir.verify(&message, &credentials()).is_none());
    }

    #[test]
    fn no_document_panics(
        which in 0usize..9,
        changes in prop::collection::vec((any::<prop::sample::Index>(), anything()), 1..6),
        status in prop_oneof![Just(200u16), 200u16..600],
    ) {
        let all = [NEW, WRAPPED, SCHEDULED, CANCELLED, ORDER, OPTIONS, LOGIN, ERROR, MENU];
        let mut document = json_of(all[which]);
        for (index, value) in changes {
            let mut places = Vec::new();
            super::edges::places(&document, "", &mut places);
            if places.is_empty() {
                break;
            }
            let place = index.get(&places);
            let (parent, name) = place.rsplit_once('/').unwrap();
            if let Some(Value::Object(fields)) = document.pointer_mut(parent) {
                match value {
                    Some(value) => drop(fields.insert(name.to_owned(), value)),
                    None => drop(fields.remove(name)),
                }
            }
        }
        everything(document.to_string().as_bytes(), status);
    }
}
