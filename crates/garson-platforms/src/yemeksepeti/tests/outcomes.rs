//! What the platform's answers mean.

use super::*;
use garson_core::explanation::Explanation;
use garson_core::platform::{RefusalCause, Success};
use std::time::Duration;

fn answer(status: u16, body: &str) -> HttpResponse {
    HttpResponse {
        status,
        body: body.as_bytes().to_vec(),
    }
}

fn outcome(call: CallKind, status: u16, body: &str) -> Outcome {
    Yemeksepeti.outcome(call, &link(&credentials(), None), &answer(status, body))
}

/// The kind of an outcome, in a word.
fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Ok(Success::Done) => "done",
        Ok(Success::Already) => "already",
        Err(CallError::Refused { .. }) => "refused",
        Err(CallError::RetryableRefusal { .. }) => "retryable",
        Err(CallError::NotYet { .. }) => "not yet",
        Err(CallError::Later { .. }) => "later",
        Err(CallError::HeldBack { .. }) => "held back",
        Err(CallError::Unclear { .. }) => "unclear",
        Err(CallError::SessionOver) => "session over",
    }
}

const PICK_UP: CallKind = CallKind::Tell(Status::OnTheWay);

#[test]
fn every_answer_has_its_meaning() {
    use CallKind::{Cancel, Ready, Verify};
    for (call, status, body, expected) in [
        (Verify, 200, r#"{"message":"ok"}"#, "done"),
        (Verify, 204, "", "done"),
        (Ready, 200, r#"{"code":"OK"}"#, "done"),
        (Verify, 400, r#"{"code":"INVALID_ORDER_STATUS"}"#, "refused"),
        (
            Verify,
            400,
            r#"{"code":"ORDER_NOT_FOUND","message":"x"}"#,
            "refused",
        ),
        (
            Verify,
            400,
            r#"{"code":"INVALID_REQUEST","message":"x"}"#,
            "refused",
        ),
        (
            Verify,
            400,
            r#"{"code":"INVALID_ORDER_STATUS","message":"Order is already accepted"}"#,
            "already",
        ),
        (
            Verify,
            400,
            r#"{"code":"INVALID_ORDER_STATUS","message":"Order is already cancelled"}"#,
            "refused",
        ),
        (
            Cancel,
            400,
            r#"{"code":"INVALID_ORDER_STATUS","message":"Order is already REJECTED"}"#,
            "already",
        ),
        (
            Verify,
            401,
            r#"{"code":"POS_ERROR","message":"x"}"#,
            "session over",
        ),
        (Ready, 401, r#"{"code":"VALIDATION_ERROR"}"#, "session over"),
        (Verify, 403, r#"{"code":"FORBIDDEN","message":"x"}"#, "retryable"),
        (Verify, 403, "", "session over"),
        (Ready, 404, r#"{"code":"NOT_FOUND"}"#, "retryable"),
        (
            Ready,
            409,
            r#"{"code":"INVALID_ORDER_STATUS","message":"cancelled"}"#,
            "retryable",
        ),
        (
            Ready,
            409,
            r#"{"code":"INVALID_ORDER_STATUS","message":"already prepared"}"#,
            "already",
        ),
        (Verify, 409, CONFLICT, "refused"),
        (Cancel, 409, CONFLICT, "already"),
        (Ready, 409, CONFLICT, "refused"),
        (PICK_UP, 409, CONFLICT, "refused"),
        (Verify, 409, CONFLICT_EARLY, "not yet"),
        (Cancel, 409, CONFLICT_EARLY, "not yet"),
        (
            Verify,
            409,
            r#"{"code":"INVALID_REQUEST","currentState":"ASSIGNED_TO_TRANSPORT"}"#,
            "not yet",
        ),
        (
            Verify,
            409,
            r#"{"code":"INVALID_REQUEST","currentState":"ACCEPTED"}"#,
            "already",
        ),
        (
            Verify,
            409,
            r#"{"code":"INVALID_REQUEST","currentState":"ORDER_PICKED_UP"}"#,
            "already",
        ),
        (
            Cancel,
            409,
            r#"{"code":"INVALID_REQUEST","currentState":"ACCEPTED"}"#,
            "refused",
        ),
        (
            PICK_UP,
            409,
            r#"{"code":"INVALID_REQUEST","currentState":"PICKED_UP"}"#,
            "already",
        ),
        (
            PICK_UP,
            409,
            r#"{"code":"INVALID_REQUEST","currentState":"ACCEPTED"}"#,
            "refused",
        ),
        (
            Verify,
            409,
            r#"{"code":"INVALID_REQUEST","currentState":"WAITING_FOR_ACCEPTANCE"}"#,
            "refused",
        ),
        (Verify, 409, "not JSON", "retryable"),
        (Cancel, 409, "", "retryable"),
        (Verify, 408, "", "unclear"),
        (Verify, 429, r#"{"code":"TOO_MANY"}"#, "later"),
        (
            Verify,
            500,
            r#"{"code":"INTERNAL_ERROR","message":"x"}"#,
            "unclear",
        ),
        (Verify, 502, "<html>", "unclear"),
        (Ready, 503, "", "unclear"),
    ] {
        assert_eq!(
            word(outcome(call, status, body)),
            expected,
            "{call:?} {status} {body}"
        );
    }
}

#[test]
fn an_order_that_is_still_on_its_way_asks_for_patience() {
    let expected = CallError::NotYet {
        message: Explanation::answered(
            409,
            Some("INVALID_REQUEST: The order is on its way to the plugin: WAITING_FOR_ACKNOWLEDGEMENT"),
        ),
        pause: Duration::from_secs(10),
        patience: Duration::from_secs(300),
    };
    assert_eq!(outcome(CallKind::Verify, 409, CONFLICT_EARLY), Err(expected));
}

#[test]
fn a_session_lasts_as_long_as_the_platform_says() {
    let session = |status, body: &str| {
        let session = Yemeksepeti.session(&answer(status, body));
        session.map(|session| (session.token.expose().clone(), session.lasts.as_secs()))
    };
    let token = "eyJhbGciOiJIUzUxMiJ9.e30.c2ln".to_owned();
    assert_eq!(session(200, LOGIN), Ok((token, 7_200)));
    let lasts = |body: &str| session(200, body).map(|(_, lasts)| lasts).ok();
    assert_eq!(lasts(r#"{"access_token":"a","expires_in":"1800"}"#), Some(1_800));
    assert_eq!(lasts(r#"{"access_token":"a"}"#), Some(1_800));
    assert_eq!(lasts(r#"{"access_token":"a","expires_in":999999}"#), Some(86_400));
    for wrong in [
        r#"{"access_token":""}"#,
        r#"{"access_token":"a\nb"}"#,
        "{}",
        "",
        "[]",
    ] {
        assert!(
            matches!(session(200, wrong), Err(CallError::Later { .. })),
            "{wrong}"
        );
    }
    let refused = session(401, r#"{"code":"POS_ERROR","message":"wrong password"}"#);
    let words = Explanation::answered(401, Some("POS_ERROR: wrong password"));
    assert_eq!(refused, Err(CallError::retryable(words, RefusalCause::Access)));
    assert!(matches!(session(502, ""), Err(CallError::Later { .. })));
}

#[test]
fn an_order_is_found_in_the_answer_to_a_look() {
    let credentials = credentials();
    let looked = |status, body: &str| Yemeksepeti.looked(&link(&credentials, None), &answer(status, body));
    let document = looked(200, DETAILS_ACCEPTED).unwrap();
    let whole: Value = serde_json::from_str(DETAILS_ACCEPTED).unwrap();
    assert_eq!(
        serde_json::from_slice::<Value>(&document).ok().as_ref(),
        whole.get("order")
    );
    for wrong in ["", "{}", "null", r#"{"orders":[]}"#] {
        assert!(
            matches!(looked(200, wrong), Err(CallError::Later { .. })),
            "{wrong}"
        );
    }
    assert_eq!(looked(401, ""), Err(CallError::SessionOver));
    assert!(matches!(looked(500, ""), Err(CallError::Later { .. })));
    let unknown = looked(400, r#"{"code":"ORDER_NOT_FOUND","message":"yok"}"#);
    assert_eq!(
        unknown,
        Err(CallError::refused(Explanation::answered(
            400,
            Some("ORDER_NOT_FOUND: yok")
        )))
    );
}
