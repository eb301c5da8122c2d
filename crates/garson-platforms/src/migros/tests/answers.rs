//! Every answer, plain and encrypted, and what it means.

use super::*;
use garson_core::explanation::Explanation;
use garson_core::platform::{RefusalCause, Success};

const DETAIL: &str = include_str!("../fixtures/order-detail.json");
const PENDING: &str = include_str!("../fixtures/pending-orders.json");
const ACTIVE: &str = include_str!("../fixtures/active-orders.json");
const REASONS: &str = include_str!("../fixtures/cancel-reasons.json");
const UPDATED: &str = include_str!("../fixtures/update-status.json");

fn outcome(status: u16, body: &str) -> Outcome {
    let credentials = credentials();
    Migros.outcome(CallKind::Verify, &link(&credentials), &response(status, body))
}

/// The answer in each of the ways in which its data may come.
pub fn spellings(answer: &str) -> Vec<String> {
    let plain: Value = serde_json::from_str(answer).unwrap();
    let sealed = STANDARD.encode(key().encrypt(plain["data"].to_string().as_bytes()));
    let whole = STANDARD.encode(key().encrypt(answer.as_bytes()));
    vec![
        answer.to_owned(),
        with(answer, "/data", Some(json!(sealed))),
        with(answer, "/data", Some(json!({ "value": sealed }))),
        json!({ "value": whole }).to_string(),
        with(answer, "/success", None),
    ]
}

#[test]
fn agreement_is_told_from_refusal() {
    for answer in spellings(UPDATED) {
        assert_eq!(outcome(200, &answer), Ok(Success::Done), "{answer}");
    }
    assert_eq!(outcome(200, ""), Ok(Success::Done));
    // Nothing was asked for, so it does not matter what came.
    assert_eq!(
        outcome(200, r#"{"success":true,"data":"Güncellendi"}"#),
        Ok(Success::Done)
    );
    assert_eq!(outcome(204, " \n"), Ok(Success::Done));
    let words = "Geçersiz işlem: Sipariş bu duruma alınamaz. (ORDER_STATUS_NOT_VALID)";
    for status in [200, 400, 422] {
        let refused = CallError::refused(Explanation::answered(status, Some(words)));
        assert_eq!(outcome(status, REFUSAL), Err(refused));
    }
    for (status, cause) in [
        (401, RefusalCause::Access),
        (403, RefusalCause::Access),
        (404, RefusalCause::Other),
    ] {
        let retryable = CallError::retryable(Explanation::answered(status, Some(words)), cause);
        assert_eq!(outcome(status, REFUSAL), Err(retryable));
    }
    assert_eq!(
        outcome(429, REFUSAL),
        Err(CallError::later(Explanation::answered(429, Some(words))))
    );
    for status in [408, 425, 500, 502, 503, 504] {
        let unclear = CallError::unclear(Explanation::answered(status, Some(words)));
        assert_eq!(outcome(status, REFUSAL), Err(unclear));
    }
}

#[test]
fn what_is_so_already_is_a_success() {
    assert_eq!(outcome(409, REFUSAL), Ok(Success::Already));
    assert_eq!(outcome(409, "<html>"), Ok(Success::Already));
    for code in [json!(409), json!("409")] {
        let answer = with(REFUSAL, "/errorMessage/errorCode", Some(code));
        assert_eq!(outcome(200, &answer), Ok(Success::Already));
    }
}

#[test]
fn somebody_elses_page_is_no_agreement() {
    for body in [
        "<html>Giriş</html>",
        "[true]",
        "\"ok\"",
        "{\"success\":",
        r#"{"value":"?"}"#,
    ] {
        assert!(
            matches!(outcome(200, body), Err(CallError::Unclear { .. })),
            "{body}"
        );
    }
    let refused = outcome(200, r#"{"success":false,"errorMessage":"Kapalı"}"#);
    assert_eq!(
        refused,
        Err(CallError::refused(Explanation::answered(200, Some("Kapalı"))))
    );
    let coded = outcome(200, r#"{"success":false,"errorMessage":{"errorCode":7}}"#);
    assert_eq!(
        coded,
        Err(CallError::refused(Explanation::answered(200, Some("7"))))
    );
    // Whatever a refusal carries besides.
    let odd = outcome(200, r#"{"success":false,"data":"?","errorMessage":null}"#);
    assert!(matches!(odd, Err(CallError::Refused { .. })));
}

#[test]
fn an_order_is_read_back() {
    let credentials = credentials();
    for answer in spellings(DETAIL) {
        let document = Migros
            .looked(&link(&credentials), &response(200, &answer))
            .unwrap();
        let fetched = HookRequest {
            body: document,
            ..request(FETCHED, "")
        };
        let message = Migros.read(&Verified::ours(&fetched)).unwrap();
        let News::Order(seen) = message.news else {
            unreachable!("an order was fetched");
        };
        let mut expected = sighting(ORDER).unwrap().order;
        expected.provider_status = Some("APPROVED".to_owned());
        assert_eq!(seen.order, expected);
        assert!(seen.change.is_some());
    }
    let looked = |status, body: &str| Migros.looked(&link(&credentials), &response(status, body));
    assert!(matches!(
        looked(404, REFUSAL),
        Err(CallError::RetryableRefusal { .. })
    ));
    for (code, expected) in [
        (json!(400), "refused"),
        (json!("409"), "refused"),
        (json!("401"), "retryable"),
        (json!(404), "retryable"),
        (json!("ORDER_NOT_FOUND"), "retryable"),
        (json!("OrderNotFound"), "retryable"),
        (json!(429), "later"),
        (json!(500), "later"),
        (json!("503"), "later"),
        (json!(7), "later"),
        (json!("ORDER_STATUS_NOT_VALID"), "later"),
        (Value::Null, "later"),
    ] {
        let answer = with(REFUSAL, "/errorMessage/errorCode", Some(code.clone()));
        let found = match looked(200, &answer) {
            Err(CallError::Refused { .. }) => "refused",
            Err(CallError::RetryableRefusal { .. }) => "retryable",
            Err(CallError::Later { .. }) => "later",
            other => panic!("{other:?}"),
        };
        assert_eq!(found, expected, "{code}");
    }
    assert!(matches!(
        looked(200, r#"{"success":false}"#),
        Err(CallError::Later { .. })
    ));
    assert!(matches!(
        looked(200, r#"{"success":true,"data":null}"#),
        Err(CallError::Refused { .. })
    ));
    assert!(matches!(
        looked(200, r#"{"success":true,"data":[]}"#),
        Err(CallError::Later { .. })
    ));
    assert!(matches!(
        looked(200, r#"{"success":true,"data":"x"}"#),
        Err(CallError::Later { .. })
    ));
    assert!(matches!(looked(200, "<html>"), Err(CallError::Later { .. })));
    assert!(matches!(looked(429, ""), Err(CallError::Later { .. })));
    assert!(matches!(looked(503, ""), Err(CallError::Later { .. })));
}

#[test]
fn the_wrong_key_is_said_to_be_wrong() {
    let mut other = credentials();
    other.insert(SECRET_KEY.to_owned(), Secret::new("x".repeat(32)));
    let answer = &spellings(DETAIL)[1];
    let found = Migros.looked(&link(&other), &response(200, answer)).map(drop);
    assert!(found.is_err_and(|trouble| trouble.to_string().contains("secretKey")));
}

#[test]
fn open_orders_are_listed() {
    let credentials = credentials();
    let polled = |page, body: &str| Migros.polled(&link(&credentials), page, &response(200, body));
    for (page, list, more, id) in [(0, PENDING, true, "900412377"), (1, ACTIVE, false, "900412378")] {
        let orders = serde_json::from_str::<Value>(list).unwrap()["data"].clone();
        let by_store = json!([{ "storeId": 20417, "orders": orders }, { "storeId": 1, "orders": [] }]);
        let mut answers = spellings(list);
        answers.push(with(list, "/data", Some(json!({ "orders": orders }))));
        answers.push(with(list, "/data", Some(by_store)));
        for answer in answers {
            let found = polled(page, &answer).unwrap();
            assert_eq!(found.more, more);
            let read = |document: &Vec<u8>| {
                let request = HookRequest {
                    body: document.clone(),
                    ..request(FETCHED, "")
                };
                Migros.read(&Verified::ours(&request)).unwrap()
            };
            let ids: Vec<_> = found
                .orders
                .iter()
                .map(|document| match read(document).news {
                    News::Order(seen) => seen.order.identity,
                    _ => unreachable!("an order was listed"),
                })
                .collect();
            assert_eq!(ids, [id]);
        }
    }
    let empty = polled(1, r#"{"success":true,"data":[]}"#);
    assert_eq!(empty, Ok(Page::default()));
    assert_eq!(polled(1, r#"{"success":true}"#), Ok(Page::default()));
    let full = json!({ "success": true, "data": vec![json!({}); 100] }).to_string();
    assert_eq!(
        polled(1, &full).map(|page| (page.orders.len(), page.more)),
        Ok((100, true))
    );
    assert_eq!(polled(3, &full).map(|page| page.more), Ok(true));
    assert!(matches!(polled(0, REFUSAL), Err(CallError::Refused { .. })));
    let failed = with(REFUSAL, "/errorMessage/errorCode", Some(json!(500)));
    assert!(matches!(polled(0, &failed), Err(CallError::Later { .. })));
    assert!(matches!(
        polled(0, r#"{"success":true,"data":7}"#),
        Err(CallError::Later { .. })
    ));
    assert!(matches!(
        polled(0, r#"{"success":true,"data":{}}"#),
        Err(CallError::Later { .. })
    ));
}

#[test]
fn reasons_are_the_platforms() {
    let credentials = credentials();
    let reasons = |body: &str| Migros.read_reasons(&link(&credentials), &response(200, body));
    for answer in spellings(REASONS) {
        let found = reasons(&answer).unwrap();
        let found: Vec<_> = found.iter().map(|r| (r.id.as_str(), r.name.as_str())).collect();
        assert_eq!(found[0], ("11", "Ürün kalmadı"));
        assert_eq!(found.len(), 3);
    }
    let nameless = reasons(r#"{"success":true,"data":[{"reasonId":"5"},{"reasonId":" "}]}"#).unwrap();
    assert_eq!(
        nameless,
        [Reason {
            id: "5".to_owned(),
            name: "5".to_owned()
        }]
    );
    // One without an id cannot be chosen; the others can.
    let found = reasons(r#"{"success":true,"data":[{"reasonId":1},{}]}"#).unwrap();
    assert_eq!(found.len(), 1);
    assert!(Migros.fixed_reasons(None).is_empty());
}

#[test]
fn we_answer_in_the_platforms_envelope() {
    let order_id = an_order("1").id;
    let unreadable = Unreadable {
        path: "items[0].price".to_owned(),
        message: "is odd".to_owned(),
    };
    for (reception, status, words) in [
        (IntakeOutcome::Taken { order_id }, 200, ""),
        (IntakeOutcome::Noted, 200, ""),
        (IntakeOutcome::Conflict { order_id }, 409, "other content"),
        (
            IntakeOutcome::UnknownBranch {
                branch: "b".to_owned(),
            },
            500,
            "store b",
        ),
        (
            IntakeOutcome::UnknownOrder {
                identity: "o".to_owned(),
            },
            500,
            "order o",
        ),
        (
            IntakeOutcome::Unreadable(unreadable),
            500,
            "items[0].price is odd",
        ),
        (IntakeOutcome::NotGenuine, 401, "password"),
    ] {
        let reply = Migros.reply(&reception, "r-1");
        assert_eq!(reply.status, status, "{reception:?}");
        assert_eq!(reply.body["success"], json!(status == 200));
        let detail = reply.body["errorMessage"]["errorDetail"]
            .as_str()
            .unwrap_or_default();
        assert!(detail.contains(words), "{detail}");
    }
}
