//! The calls for each step and courier, compared to the letter.

use super::*;
use garson_core::platform::Trust;

const TOKEN: &str = "5a0d6d0e-7c1f-4f0a-9d55-0c6a3f1b2e01";
const PICK_UP: CallKind = CallKind::Tell(Status::OnTheWay);

pub fn written(call: CallKind, order: &Order) -> Result<HttpRequest, PlatformError> {
    let credentials = credentials();
    let token = session_token();
    let link = link(&credentials, Some(&token));
    let reason = Yemeksepeti.fixed_reasons(None).into_iter().nth(1);
    let call_request = CallRequest {
        call,
        order,
        reason: reason.as_ref(),
        note: Some("Fırın bozuldu 🔥"),
        preparation_minutes: Some(25),
        now: Timestamp::from_millis(1_772_378_535_000),
    };
    let wanted = Yemeksepeti.wants(call, order, &credentials);
    let written = Yemeksepeti.write(&call_request, &link);
    assert_eq!(wanted, written.is_ok(), "{call:?}");
    written
}

/// Method, address, headers and body.
type Shown = (&'static str, String, Vec<(String, String)>, Option<String>);

fn shown(request: HttpRequest) -> Shown {
    assert_eq!((request.trust, request.limit), (Trust::Operator, None));
    let headers = request.headers.iter();
    let headers = headers.map(|(name, value)| (name.clone(), value.expose().clone()));
    let body = request.body.map(|body| String::from_utf8(body).unwrap());
    (request.method, request.url, headers.collect(), body)
}

fn headers(with_body: bool) -> Vec<(String, String)> {
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let json = with_body.then(|| pair("Content-Type", "application/json"));
    json.into_iter()
        .chain([pair("Authorization", "Bearer session-1")])
        .collect()
}

#[test]
fn each_step_is_one_call() {
    let status = |token: &str| format!("{BASE}/v2/order/status/{token}");
    let own = "9b7e2f60-0b1c-4c52-8f0e-6a7d1c2b3a02";
    let pickup = "c1d2e3f4-0a9b-4d8c-b7e6-5f4a3b2c1d03";
    let accepted = |at: &str| {
        format!(r#"{{"status":"order_accepted","acceptanceTime":"{at}","remoteOrderId":"{OUR_ID}"}}"#)
    };
    let rejected = r#"{"status":"order_rejected","reason":"TOO_BUSY","message":"Fırın bozuldu 🔥"}"#;
    let picked_up = r#"{"status":"order_picked_up"}"#;
    let soon = "2026-03-01T15:47:15.000Z";
    let prepared = format!("{BASE}/v2/orders/{TOKEN}/preparation-completed");
    for (body, call, url, expected) in [
        (PLATFORM, CallKind::Verify, status(TOKEN), Some(accepted(soon))),
        // The restaurant's own courier, and who collects, keep to what the customer was promised.
        (
            OWN,
            CallKind::Verify,
            status(own),
            Some(accepted("2026-03-01T16:00:00.000Z")),
        ),
        (
            PICKUP,
            CallKind::Verify,
            status(pickup),
            Some(accepted("2026-03-01T18:00:00.000Z")),
        ),
        (
            PLATFORM,
            CallKind::Cancel,
            status(TOKEN),
            Some(rejected.to_owned()),
        ),
        (OWN, CallKind::Cancel, status(own), Some(rejected.to_owned())),
        (
            PICKUP,
            CallKind::Cancel,
            status(pickup),
            Some(rejected.to_owned()),
        ),
        (PLATFORM, CallKind::Ready, prepared, None),
        (OWN, PICK_UP, status(own), Some(picked_up.to_owned())),
        (PICKUP, PICK_UP, status(pickup), Some(picked_up.to_owned())),
    ] {
        let request = written(call, &order_of(body)).map(shown);
        let headers = headers(expected.is_some());
        assert_eq!(request, Ok(("POST", url, headers, expected)), "{call:?}");
    }
}

#[test]
fn steps_that_do_not_apply_are_unsupported() {
    let delivered = CallKind::Tell(Status::Delivered);
    let preparing = CallKind::Tell(Status::Preparing);
    for (body, calls) in [
        (PLATFORM, &[PICK_UP, delivered, preparing][..]),
        (OWN, &[CallKind::Ready, delivered, preparing]),
        (PICKUP, &[CallKind::Ready, delivered, preparing]),
    ] {
        for call in calls {
            let request = written(*call, &order_of(body)).map(shown);
            assert!(
                matches!(request, Err(PlatformError::Unsupported { .. })),
                "{call:?}"
            );
        }
    }
}

#[test]
fn a_move_without_an_address_does_not_apply() {
    let no_prepared = with(PLATFORM, "/callbackUrls/orderPreparedUrl", None);
    assert!(written(CallKind::Ready, &order_of(&no_prepared)).is_err());
    let no_picked_up = with(OWN, "/callbackUrls/orderPickedUpUrl", Some(json!("")));
    assert!(written(PICK_UP, &order_of(&no_picked_up)).is_err());
    // Asking is never left out: whoever answers from a tablet hears the platform's own refusal.
    let none = with(PLATFORM, "/callbackUrls", Some(json!({})));
    assert!(written(CallKind::Verify, &order_of(&none)).is_ok());
    assert!(written(CallKind::Cancel, &order_of(&none)).is_ok());
    // Without the whole list every move of the courier's applies.
    let unsaid = with(PLATFORM, "/callbackUrls", None);
    assert!(written(CallKind::Ready, &order_of(&unsaid)).is_ok());
    // Nothing is known of an order that was kept without its data.
    let mut bare = order_of(PLATFORM);
    bare.provider_data = None;
    assert!(written(CallKind::Ready, &bare).is_err());
    assert!(written(PICK_UP, &bare).is_err());
    assert!(written(CallKind::Verify, &bare).is_ok());
}

/// Any time other than the promised one is sent to the customer.
#[test]
fn the_promised_time_is_kept_where_it_can_be() {
    let time = |body: &str| {
        let request = written(CallKind::Verify, &order_of(body)).unwrap();
        let body: Value = serde_json::from_slice(&request.body.unwrap()).unwrap();
        body["acceptanceTime"].as_str().unwrap().to_owned()
    };
    let kitchen = "2026-03-01T15:47:15.000Z";
    let expected = |at: &str| with(OWN, "/delivery/expectedDeliveryTime", Some(json!(at)));
    assert_eq!(
        time(&expected("2026-03-01T16:38:00Z")),
        "2026-03-01T16:38:00.000Z"
    );
    // The promised time has passed, or there is none.
    assert_eq!(time(&expected("2026-03-01T15:20:00Z")), kitchen);
    assert_eq!(time(&expected("")), kitchen);
    let collected = with(PICKUP, "/preOrder", Some(json!(false)));
    let collected = with(
        &collected,
        "/pickup/pickupTime",
        Some(json!("2026-03-01T16:34:00Z")),
    );
    assert_eq!(time(&collected), "2026-03-01T16:34:00.000Z");
    // The platform's rider is the platform's matter: it asks when the food is ready.
    assert_eq!(time(PLATFORM), kitchen);
}

#[test]
fn an_order_without_an_address_to_accept_it_is_accepted_without_a_call() {
    let implied = |body: &str, call| Yemeksepeti.is_implied(call, &order_of(body));
    assert!(!implied(PLATFORM, CallKind::Verify));
    let none = with(PLATFORM, "/callbackUrls/orderAcceptedUrl", None);
    assert!(implied(&none, CallKind::Verify));
    assert!(!implied(&none, CallKind::Cancel));
    // Without the whole list every move applies.
    assert!(!implied(&with(PLATFORM, "/callbackUrls", None), CallKind::Verify));
}

#[test]
fn reasons_are_those_of_the_orders_phase_first() {
    let ids = |status| {
        let order = Order {
            status,
            ..order_of(PLATFORM)
        };
        let reasons = Yemeksepeti.fixed_reasons(Some(&order));
        reasons.into_iter().map(|reason| reason.id).collect::<Vec<_>>()
    };
    let (before, after) = (ids(Status::New), ids(Status::Preparing));
    assert_eq!((before.len(), after.len()), (15, 24));
    assert_eq!(before[0], "ITEM_UNAVAILABLE");
    assert!(after.iter().take(9).all(|id| !before.contains(id)), "{after:?}");
    assert!(after.iter().skip(9).all(|id| before.contains(id)), "{after:?}");
}

#[test]
fn addresses_on_hosts_that_the_operator_allows_are_called_and_others_are_refused() {
    let credentials = credentials();
    let token = session_token();
    let hosts = ["calls.example".to_owned(), "other.example:8443".to_owned()];
    let built = format!("{BASE}/v2/order/status/{TOKEN}");
    let call = |url: &str, base: &str, hosts: &[String]| {
        let body = with(PLATFORM, "/callbackUrls/orderAcceptedUrl", Some(json!(url)));
        let order = order_of(&body);
        let link = Link {
            base,
            callback_hosts: hosts,
            ..link(&credentials, Some(&token))
        };
        let call_request = CallRequest {
            call: CallKind::Verify,
            order: &order,
            reason: None,
            note: None,
            preparation_minutes: None,
            now: Timestamp::default(),
        };
        let refused = Yemeksepeti.refused_address(&call_request, &link);
        (Yemeksepeti.write(&call_request, &link).unwrap().url, refused)
    };
    for url in [
        "https://calls.example/v2/order/status/1?a=b",
        "https://CALLS.example/x",
        "https://other.example:8443/v2/x",
    ] {
        assert_eq!(call(url, BASE, &hosts), (url.to_owned(), None));
        assert_eq!(call(url, BASE, &[]), (built.clone(), Some(url.to_owned())));
    }
    for url in [
        "http://calls.example/v2",
        "https://calls.example",
        "https://calls.example:444/v2",
        "https://other.example/v2",
        "https://calls.example.evil/v2",
        "https://evil/calls.example/v2",
        "https://u@calls.example/v2",
        "https://calls.example@evil/v2",
        "https://calls.example\\@evil/v2",
        "https://calls.example?@evil/v2",
        "https://calls.example/../v2",
        "https://calls.example/a/%2e%2E/v2",
        "https://calls.example/a b",
        "ftp://calls.example/v2",
    ] {
        assert_eq!(call(url, BASE, &hosts), (built.clone(), Some(url.to_owned())));
    }
    // Where the operator's own address has no TLS, as on a test's machine, others need none.
    let url = "http://calls.example/v2";
    assert_eq!(call(url, "http://localhost:1", &hosts), (url.to_owned(), None));
    // What the order names no address for is not refused.
    let none = with(PLATFORM, "/callbackUrls", None);
    let (order, link) = (order_of(&none), link(&credentials, Some(&token)));
    let call_request = CallRequest {
        call: CallKind::Cancel,
        order: &order,
        reason: None,
        note: None,
        preparation_minutes: None,
        now: Timestamp::default(),
    };
    assert_eq!(Yemeksepeti.refused_address(&call_request, &link), None);
}

#[test]
fn addresses_from_messages_are_used_only_below_the_operators() {
    for (url, home) in [
        ("https://middleware.example/base/v2/order/status/1", true),
        ("https://middleware.example/base/v2/x?a=..", true),
        ("https://middleware.example/base", false),
        ("https://middleware.example/basement/v2", false),
        ("https://middleware.example/v2/order/status/1", false),
        ("https://middleware.example/base/../v2", false),
        ("https://middleware.example/base/%2E%2e/v2", false),
        ("https://middleware.example/base/a%2f..%2F../v2", false),
        ("https://middleware.example/base\\v2", false),
        ("https://middleware.example/base/v2\\..\\x", false),
        ("https://middleware.example/base/a b", false),
        ("https://middleware.example/base/ş", false),
        ("https://middleware.example/base/v2#x", false),
        ("https://middleware.example.evil/base/v2", false),
        ("https://middleware.example@evil/base/v2", false),
        ("http://middleware.example/base/v2", false),
        ("//middleware.example/base/v2", false),
        ("string", false),
        ("", false),
    ] {
        let body = with(PLATFORM, "/callbackUrls/orderAcceptedUrl", Some(json!(url)));
        let used = written(CallKind::Verify, &order_of(&body)).map(|request| request.url);
        let built = format!("{BASE}/v2/order/status/{TOKEN}");
        assert_eq!(used, Ok(if home { url.to_owned() } else { built }), "{url}");
    }
}

#[test]
fn a_token_cannot_leave_its_place() {
    let body = with(PLATFORM, "/token", Some(json!("../../a?b#ç/d")));
    let order = order_of(&with(&body, "/callbackUrls", None));
    let url = |call| written(call, &order).map(|request| request.url);
    let token = "..%2F..%2Fa%3Fb%23%C3%A7%2Fd";
    assert_eq!(
        url(CallKind::Verify),
        Ok(format!("{BASE}/v2/order/status/{token}"))
    );
    let prepared = format!("{BASE}/v2/orders/{token}/preparation-completed");
    assert_eq!(url(CallKind::Ready), Ok(prepared));
}

#[test]
fn food_is_promised_for_a_moment_that_the_platform_takes() {
    let promised = |minutes, scheduled_for: Option<&str>| {
        let credentials = credentials();
        let token = session_token();
        let mut order = order_of(PLATFORM);
        order.scheduled_for = scheduled_for.map(|at| at.parse().unwrap());
        let call_request = CallRequest {
            call: CallKind::Verify,
            order: &order,
            reason: None,
            note: None,
            preparation_minutes: minutes,
            now: "2026-03-01T12:00:00Z".parse().unwrap(),
        };
        let link = link(&credentials, Some(&token));
        let body = Yemeksepeti.write(&call_request, &link).unwrap().body.unwrap();
        let body: Value = serde_json::from_slice(&body).unwrap();
        body["acceptanceTime"].as_str().map(str::to_owned)
    };
    for (minutes, scheduled_for, expected) in [
        (None, None, "2026-03-01T12:20:00.000Z"),
        (Some(45), None, "2026-03-01T12:45:00.000Z"),
        (Some(0), None, "2026-03-01T12:03:00.000Z"),
        (Some(2), None, "2026-03-01T12:03:00.000Z"),
        (Some(45), Some("2026-03-01T18:00:00Z"), "2026-03-01T18:00:00.000Z"),
        (None, Some("2026-03-01T11:00:00Z"), "2026-03-01T12:03:00.000Z"),
    ] {
        assert_eq!(promised(minutes, scheduled_for).as_deref(), Some(expected));
    }
    assert!(promised(Some(u32::MAX), None).is_some());
}

#[test]
fn a_rejection_always_has_a_reason_and_words() {
    let credentials = credentials();
    let token = session_token();
    let link = link(&credentials, Some(&token));
    let order = order_of(OWN);
    let call_request = CallRequest {
        call: CallKind::Cancel,
        order: &order,
        reason: None,
        note: Some("  "),
        preparation_minutes: None,
        now: Timestamp::default(),
    };
    let body = Yemeksepeti
        .write(&call_request, &link)
        .map(|request| shown(request).3);
    let expected =
        r#"{"status":"order_rejected","reason":"ITEM_UNAVAILABLE","message":"An item is not available"}"#;
    assert_eq!(body, Ok(Some(expected.to_owned())));
}

#[test]
fn logging_in_and_looking() {
    let given = credentials();
    let token = session_token();
    let form = "username=moda%20user&password=pass%26word%3D1&grant_type=client_credentials";
    let form_header = (
        "Content-Type".to_owned(),
        "application/x-www-form-urlencoded".to_owned(),
    );
    let login = Yemeksepeti.login(&link(&given, None)).unwrap().map(shown);
    let expected = (
        "POST",
        format!("{BASE}/v2/login"),
        vec![form_header],
        Some(form.to_owned()),
    );
    assert_eq!(login, Some(expected));
    let order = order_of(OWN);
    let look = Yemeksepeti.look(&order, &link(&given, Some(&token))).map(shown);
    let url = format!("{BASE}/v2/chains/moda%2Fzincir/orders/9b7e2f60-0b1c-4c52-8f0e-6a7d1c2b3a02");
    assert_eq!(look, Ok(("GET", url, headers(false), None)));
    for name in [USERNAME, PASSWORD] {
        let mut lacking = credentials();
        lacking.remove(name);
        let error = Yemeksepeti.login(&link(&lacking, None)).map(drop);
        assert_eq!(error, Err(PlatformError::MissingCredential { name }));
    }
    let mut lacking = credentials();
    lacking.remove(CHAIN_CODE);
    let error = Yemeksepeti.look(&order, &link(&lacking, Some(&token))).map(drop);
    assert_eq!(error, Err(PlatformError::MissingCredential { name: CHAIN_CODE }));
    let error = Yemeksepeti.look(&order, &link(&given, None)).map(drop);
    assert_eq!(error, Err(PlatformError::MissingCredential { name: "token" }));
}
