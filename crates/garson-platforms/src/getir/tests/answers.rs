//! What Getir's answers mean, and what ours say.

use super::*;
use garson_core::platform::{MenuStep, Success};
use serde_json::json;
use std::time::Duration;

fn outcome(call: CallKind, status: u16, body: &str) -> Outcome {
    with_link(|link| Getir.outcome(call, link, &answer(status, body)))
}

fn refusal(code: i64) -> String {
    json!({ "code": code, "error": "Name", "message": "Getir'in sözü", "details": [], "source": "x" })
        .to_string()
}

/// One word for what an outcome is.
fn word(outcome: &Outcome) -> &'static str {
    match outcome {
        Ok(Success::Done) => "done",
        Ok(Success::Already) => "already",
        Err(CallError::Refused { .. }) => "refused",
        Err(CallError::RetryableRefusal { .. }) => "retryable",
        Err(CallError::NotYet { .. }) => "not yet",
        Err(CallError::Later { .. }) => "later",
        Err(CallError::HeldBack { .. }) => "held back",
        Err(CallError::Unclear { .. }) => "unclear",
        Err(CallError::SessionOver) => "session",
    }
}

const ON_THE_WAY: CallKind = CallKind::Tell(Status::OnTheWay);
const DELIVERED: CallKind = CallKind::Tell(Status::Delivered);

#[test]
fn every_code_means_something() {
    use CallKind::{Cancel, Ready, Verify};
    for (call, code, expected) in [
        (Verify, 2, "already"),
        (Cancel, 13, "already"),
        (Verify, 13, "refused"),
        (Cancel, 2, "refused"),
        (Verify, 1, "retryable"),
        (Verify, 3, "refused"),
        (Cancel, 3, "refused"),
        (Ready, 3, "refused"),
        (ON_THE_WAY, 3, "refused"),
        (DELIVERED, 3, "refused"),
        (Verify, 4, "not yet"),
        (Cancel, 11, "refused"),
        (ON_THE_WAY, 14, "not yet"),
        (ON_THE_WAY, 15, "not yet"),
        (ON_THE_WAY, 61, "not yet"),
        (ON_THE_WAY, 71, "not yet"),
        (Ready, 61, "refused"),
        (Verify, 38, "refused"),
        (Cancel, 59, "refused"),
        (DELIVERED, 62, "not yet"),
        (Ready, 74, "not yet"),
        (ON_THE_WAY, 74, "not yet"),
        (Verify, 73, "refused"),
        (Verify, 79, "refused"),
        (Verify, 89, "refused"),
        (Verify, 99, "refused"),
        (Verify, -2, "refused"),
        (Verify, -1, "unclear"),
        (Verify, 22, "refused"),
    ] {
        for status in [400, 404, 409] {
            let outcome = outcome(call, status, &refusal(code));
            let expected = match (code, status) {
                // Not a code of orders: the status says what it is.
                (22 | 99, 404 | 409) => "retryable",
                _ => expected,
            };
            assert_eq!(word(&outcome), expected, "{call:?} {code}");
            if let Err(
                CallError::Refused { message }
                | CallError::NotYet { message, .. }
                | CallError::Unclear { message },
            ) = outcome
            {
                assert_eq!(message.to_string(), format!("answered {status}: Getir'in sözü"));
            }
        }
    }
    let early = outcome(Ready, 400, &refusal(74));
    let Err(CallError::NotYet { pause, patience, .. }) = early else {
        panic!("{early:?}")
    };
    assert_eq!(
        (pause, patience),
        (Duration::from_secs(15), Duration::from_secs(180))
    );
}

#[test]
fn the_status_decides_where_no_code_does() {
    use CallKind::Verify;
    for (status, body, expected) in [
        (200, r#"{"result":true}"#, "done"),
        (200, r#"{"result":true,"code":7}"#, "done"),
        (200, "", "done"),
        (201, "ok", "done"),
        (200, r#"{"result":false}"#, "refused"),
        (200, ERROR, "refused"),
        (200, r#"{"code":98}"#, "refused"),
        (200, r#"{"code":0}"#, "done"),
        (200, r#"{"code":2}"#, "already"),
        (401, "", "session"),
        (401, r#"{"code":2}"#, "session"),
        (403, r#"{"code":5}"#, "session"),
        (403, r#"{"code":79}"#, "refused"),
        (404, "", "retryable"),
        (409, "", "retryable"),
        (408, "", "unclear"),
        (422, "", "refused"),
        (429, r#"{"code":97}"#, "later"),
        (500, r#"{"code":97}"#, "unclear"),
        (500, r#"{"code":2}"#, "already"),
        (502, "<html>", "unclear"),
        (504, "", "unclear"),
        (302, "", "retryable"),
    ] {
        assert_eq!(word(&outcome(Verify, status, body)), expected, "{status} {body}");
    }
    let busy = outcome(Verify, 429, "");
    assert!(matches!(busy, Err(CallError::Later { pause: Some(pause), .. }) if pause.as_secs() == 20));
}

#[test]
fn a_log_in_gives_a_token_for_less_than_its_hour() {
    let session = Getir.session(&answer(200, LOGIN)).unwrap();
    assert_eq!(session.token.expose(), "token-of-an-hour");
    assert_eq!(session.lasts, Duration::from_secs(3_300));
    assert!(Getir.session(&answer(201, LOGIN)).is_ok());
    let trouble = |status, body: &str| word(&Getir.session(&answer(status, body)).map(|_| Success::Done));
    assert_eq!(trouble(401, ERROR), "refused");
    assert_eq!(trouble(403, ""), "refused");
    assert_eq!(trouble(400, ERROR), "refused");
    assert_eq!(trouble(200, ERROR), "refused");
    assert_eq!(trouble(200, &refusal(-1)), "later");
    assert_eq!(trouble(200, "{}"), "later");
    assert_eq!(trouble(200, "<html>"), "later");
    assert_eq!(trouble(429, ""), "later");
    assert_eq!(trouble(503, ""), "later");
}

#[test]
fn one_order_is_read_back() {
    with_link(|link| {
        let looked = |status, body: &str| Getir.looked(link, &answer(status, body));
        let sighting = seen(FETCHED, &String::from_utf8(looked(200, ORDER).unwrap()).unwrap());
        assert_eq!(sighting.order.provider_order_id, ID);
        assert!(sighting.is_ready);
        let wrapped = json!({ "foodOrder": json_of(ORDER) }).to_string();
        assert_eq!(
            seen(
                FETCHED,
                &String::from_utf8(looked(200, &wrapped).unwrap()).unwrap()
            ),
            sighting
        );
        assert!(
            matches!(looked(404, &refusal(1)), Err(CallError::RetryableRefusal { message, .. }) if message.to_string().contains("söz"))
        );
        for (code, expected) in [
            (1, "retryable"),
            (-1, "later"),
            (4, "later"),
            (98, "later"),
            (11, "refused"),
        ] {
            let found = looked(200, &refusal(code)).map(|_| Success::Done);
            assert_eq!(word(&found), expected, "{code}");
        }
        for (body, expected) in [(r#"{"result":false}"#, "later"), ("{}", "refused")] {
            assert_eq!(
                word(&looked(200, body).map(|_| Success::Done)),
                expected,
                "{body}"
            );
        }
        assert!(matches!(looked(403, ""), Err(CallError::SessionOver)));
        assert!(matches!(looked(500, ""), Err(CallError::Later { .. })));
        assert!(matches!(looked(400, &refusal(-1)), Err(CallError::Later { .. })));
        assert!(matches!(looked(200, "nonsense"), Err(CallError::Later { .. })));
    });
}

#[test]
fn open_orders_come_before_cancelled_ones() {
    with_link(|link| {
        let page = Getir.polled(link, 0, &answer(200, ACTIVE)).unwrap();
        assert!(page.more);
        let ids: Vec<_> = page
            .orders
            .iter()
            .map(|order| seen(FETCHED, std::str::from_utf8(order).unwrap()).order.identity)
            .collect();
        assert_eq!(ids, [ID, "65f1c0de8a4b2f0012ab34ce", "65f1c0de8a4b2f0012ab34cf"]);
        let page = Getir.polled(link, 1, &answer(200, CANCELLED_LIST)).unwrap();
        assert_eq!((page.orders.len(), page.more), (1, false));
        assert!(
            seen(FETCHED, std::str::from_utf8(&page.orders[0]).unwrap())
                .change
                .is_some()
        );
        assert_eq!(
            Getir.polled(link, 1, &answer(200, "[]")).map(|p| p.orders.len()),
            Ok(0)
        );
        assert!(matches!(
            Getir.polled(link, 0, &answer(401, "")),
            Err(CallError::SessionOver)
        ));
        for body in ["{}", &refusal(-1)] {
            let polled = Getir.polled(link, 0, &answer(200, body));
            assert!(matches!(polled, Err(CallError::Later { .. })), "{polled:?}");
        }
    });
}

#[test]
fn reasons_are_those_of_the_order() {
    with_link(|link| {
        let reasons = Getir.read_reasons(link, &answer(200, OPTIONS)).unwrap();
        assert_eq!(reasons.len(), 2);
        assert_eq!(reasons[0].name, "Ürün mevcut değil");
        let odd = r#"[{"id":"a","message":{"tr":"Bir"}},{"id":"b"},{"message":"x"},{"id":" "}]"#;
        let reasons = Getir.read_reasons(link, &answer(200, odd)).unwrap();
        let names: Vec<_> = reasons.iter().map(|r| r.name.as_str()).collect();
        assert_eq!(names, ["Bir", "b"]);
        let busy = Getir.read_reasons(link, &answer(429, ""));
        assert!(matches!(busy, Err(CallError::Later { pause: Some(pause), .. }) if pause.as_secs() == 60));
    });
    assert!(Getir.fixed_reasons(None).is_empty());
}

#[test]
fn the_menu_is_read_in_one_shape() {
    let menu = with_link(|link| Getir.menu(link, &[answer(200, MENU)]));
    let Ok(MenuStep::Menu(menu)) = menu else {
        panic!("{menu:?}")
    };
    let categories: Vec<_> = menu
        .categories
        .iter()
        .map(|c| (c.name.as_str(), c.position, c.is_available))
        .collect();
    assert_eq!(categories, [("Dürümler", 0, true), ("Tatlılar", 1, false)]);
    let wrap = &menu.categories[0].products[0];
    assert_eq!(
        (wrap.name.as_str(), wrap.price.0, wrap.is_available),
        ("Adana Dürüm 🌯", 18_050, true)
    );
    assert_eq!(wrap.description.as_deref(), Some("Acılı"));
    assert!(!menu.categories[1].products[0].is_available, "it is not approved");
    let drinks = &wrap.option_groups[0];
    assert_eq!((drinks.min, drinks.max), (0, 1));
    let options: Vec<_> = drinks
        .options
        .iter()
        .map(|o| (o.name.as_str(), o.price.0, o.is_available))
        .collect();
    assert_eq!(options, [("Ayran", 2_490, true), ("Şalgam", 3_000, false)]);
    // The group that is only named by its id.
    assert_eq!(drinks.options[0].option_groups[0].name, "Boy");
    let trouble = with_link(|link| Getir.menu(link, &[answer(429, "")]).map(drop));
    assert!(
        matches!(trouble, Err(PlatformError::Answered(CallError::Later { pause: Some(p), .. })) if p.as_secs() == 30)
    );
}

#[test]
fn groups_that_the_menu_only_names_are_found_with_the_option_products() {
    let step = |answers: &[HttpResponse]| with_link(|link| Getir.menu(link, answers));
    let named = json!({ "id": "o1", "name": { "tr": "Menü" }, "optionCategories": ["size"] });
    let groups = json!([{ "id": "kind", "name": { "tr": "Tür" }, "options": [named] }]);
    let menu = json!({ "productCategories": [
        { "id": "c", "products": [{ "id": "p", "name": { "tr": "Dürüm" }, "optionCategories": groups }] }
    ] });
    let menu = answer(200, &menu.to_string());
    let Ok(MenuStep::Ask(question)) = step(std::slice::from_ref(&menu)) else {
        panic!("it does not ask");
    };
    let asked = "GET /restaurants/option-products token=the-token  option-products";
    assert_eq!(super::calls::shown(&question), asked);
    let deeper = json!({ "id": "extra", "name": { "tr": "Ek" }, "options": [{ "id": "o3", "name": { "tr": "Acı" } }] });
    let sizes = json!({ "id": "o2", "name": { "tr": "Büyük" }, "price": 10, "optionCategories": [deeper] });
    let products = json!([
        { "id": "op1", "optionCategories": [{ "id": "size", "name": { "tr": "Boy" }, "options": [sizes] }] }
    ]);
    let read = |second: HttpResponse| match step(&[menu.clone(), second]) {
        Ok(MenuStep::Menu(menu)) => menu.categories[0].products[0].option_groups[0].options[0].clone(),
        other => panic!("{other:?}"),
    };
    let option = read(answer(200, &products.to_string()));
    let size = &option.option_groups[0];
    assert_eq!(
        (size.name.as_str(), size.options[0].name.as_str()),
        ("Boy", "Büyük")
    );
    assert_eq!(size.options[0].option_groups[0].options[0].name, "Acı");
    // Without them the rest of the menu is still there.
    assert!(read(answer(404, "{}")).option_groups.is_empty());
    let later = step(&[menu.clone(), answer(503, "")]);
    assert!(
        matches!(later, Err(PlatformError::Answered(CallError::Later { .. }))),
        "{later:?}"
    );
}

#[test]
fn groups_that_name_each_other_come_to_an_end() {
    let ids: Vec<_> = (0..40).map(|i| format!("g{i}")).collect();
    let groups: Vec<_> = ids
        .iter()
        .map(|id| json!({ "id": id, "options": [{ "id": "o", "optionCategories": ids }] }))
        .collect();
    let body = json!({ "productCategories": [{ "id": "c", "products": [{ "id": "p", "optionCategories": groups }] }] });
    let menu = with_link(|link| Getir.menu(link, &[answer(200, &body.to_string())]));
    assert!(matches!(menu, Ok(MenuStep::Menu(_))));
}

#[test]
fn we_answer_so_that_what_failed_comes_again() {
    let [order, _] = super::calls::orders(Status::New);
    let order_id = order.id;
    let unreadable = Unreadable {
        path: "id".to_owned(),
        message: "is required".to_owned(),
    };
    for (reception, status) in [
        (IntakeOutcome::Taken { order_id }, 200),
        (IntakeOutcome::Noted, 200),
        (IntakeOutcome::Conflict { order_id }, 200),
        (
            IntakeOutcome::UnknownBranch {
                branch: "1".to_owned(),
            },
            500,
        ),
        (
            IntakeOutcome::UnknownOrder {
                identity: "1".to_owned(),
            },
            500,
        ),
        (IntakeOutcome::Unreadable(unreadable), 500),
        (IntakeOutcome::NotGenuine, 401),
    ] {
        let reply = Getir.reply(&reception, "r-1");
        assert_eq!(
            (reply.status, &reply.body["result"]),
            (status, &json!(status == 200))
        );
    }
}
