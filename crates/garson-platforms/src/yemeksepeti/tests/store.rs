//! The requests that open and close a restaurant, and those about its items.

use super::*;
use garson_core::item::{Availability, ItemChange, ItemRef, ItemResult, UnavailableEnd};
use garson_core::platform::Step;
use garson_core::store_status::{
    ClosingEnd, ReasonCode, Reopening, StoreActor, StoreChange, StoreChanged, StoreState, StoreTarget,
};
use std::time::Duration;

const AVAILABILITY: &str = include_str!("../fixtures/availability.json");

fn answer(status: u16, body: &str) -> HttpResponse {
    HttpResponse {
        status,
        body: body.as_bytes().to_vec(),
    }
}

fn with_link<T>(credentials: &Credentials, use_it: impl FnOnce(&Link<'_>) -> T) -> T {
    let token = Secret::new("token".to_owned());
    use_it(&Link {
        base: BASE,
        branch: BRANCH,
        credentials,
        token: Some(&token),
        callback_hosts: &[],
    })
}

fn now() -> Timestamp {
    "2026-11-18T17:00:00Z".parse().unwrap()
}

fn change(to: StoreTarget) -> StoreChange {
    StoreChange {
        to,
        from: StoreState::Unknown,
        busy_is_set: false,
        now: now(),
    }
}

fn close(end: ClosingEnd, reason: Option<ReasonCode>) -> StoreChange {
    change(StoreTarget::Closed { end, reason })
}

fn in_minutes(minutes: u64) -> ClosingEnd {
    ClosingEnd::At(now().plus(Duration::from_secs(minutes * 60)))
}

/// The state with another value at a place of its first entry.
fn state(changes: &[(&str, Value)]) -> String {
    let mut document: Value = serde_json::from_str(AVAILABILITY).unwrap();
    for (name, value) in changes {
        document[0][*name] = value.clone();
    }
    document.to_string()
}

/// The update that follows from a state.
fn update(change: &StoreChange, shown: &str) -> Result<(Value, StoreChanged), PlatformError> {
    let credentials = credentials();
    with_link(&credentials, |link| {
        let first = Yemeksepeti.change_store(change, link, &[])?;
        assert!(matches!(first, Step::Ask(request) if request.method == "GET"));
        let shown = answer(200, shown);
        let request = match Yemeksepeti.change_store(change, link, std::slice::from_ref(&shown))? {
            Step::Ask(request) => request,
            Step::Done(result) => return Ok((Value::Null, result)),
        };
        assert_eq!(request.method, "PUT");
        assert!(
            request
                .url
                .ends_with("/v2/chains/moda%2Fzincir/remoteVendors/moda-1/availability")
        );
        let body = serde_json::from_slice(&request.body.unwrap()).unwrap();
        let done = Yemeksepeti.change_store(change, link, &[shown, answer(200, "")])?;
        let Step::Done(result) = done else {
            panic!("another request");
        };
        Ok((body, result))
    })
}

#[test]
fn restaurant_is_opened_on_the_platform_that_it_is_closed_on() {
    let (body, _) = update(&change(StoreTarget::Open), AVAILABILITY).unwrap();
    assert_eq!(
        body,
        json!({"availabilityState": "OPEN", "platformKey": "YS_TR", "platformRestaurantId": "kg6y"})
    );
    let open = state(&[("availabilityState", json!("OPEN"))]);
    let (nothing, _) = update(&change(StoreTarget::Open), &open).unwrap();
    assert_eq!(nothing, Value::Null, "it is open already");
}

#[test]
fn closing_takes_one_of_the_offered_lengths_or_the_time_itself() {
    let busy = Some(ReasonCode::KitchenBusy);
    let (body, result) = update(&close(in_minutes(60), busy), AVAILABILITY).unwrap();
    assert_eq!(body["availabilityState"], "CLOSED_UNTIL");
    assert_eq!(body["closedReason"], "TOO_BUSY_KITCHEN");
    assert_eq!(
        (&body["closingMinutes"], &body["closedUntil"]),
        (&json!(60), &Value::Null)
    );
    assert_eq!(result.reopening, Reopening::Platform);
    let (body, result) = update(&close(in_minutes(45), busy), AVAILABILITY).unwrap();
    assert_eq!(body["closedUntil"], "2026-11-18T17:45:00.000Z");
    assert_eq!(body["closingMinutes"], Value::Null);
    assert_eq!(
        result.platform_until,
        Some("2026-11-18T17:45:00Z".parse().unwrap())
    );
}

#[test]
fn only_what_is_offered_is_sent() {
    let never = close(ClosingEnd::Never, None);
    let (body, result) = update(&never, AVAILABILITY).unwrap();
    assert_eq!(body["availabilityState"], "CLOSED_TODAY");
    assert_eq!(result, StoreChanged::LASTING);
    // Only timed closings: the longest, after which it has to be closed again.
    let timed = state(&[("availabilityStates", json!(["CLOSED_UNTIL", "OPEN"]))]);
    let (body, result) = update(&never, &timed).unwrap();
    assert_eq!(body["closingMinutes"], 120);
    assert_eq!(
        result.platform_until,
        Some("2026-11-18T19:00:00Z".parse().unwrap())
    );
    // Reasons are replaced by one that is offered.
    let (body, _) = update(
        &close(ClosingEnd::Never, Some(ReasonCode::NoCouriers)),
        AVAILABILITY,
    )
    .unwrap();
    assert_eq!(body["closedReason"], "OTHER");
    let one = state(&[("closingReasons", json!(["CLOSED"]))]);
    assert_eq!(update(&never, &one).unwrap().0["closedReason"], "CLOSED");
    let none = state(&[("closingReasons", json!([]))]);
    assert_eq!(update(&never, &none).unwrap().0["closedReason"], Value::Null);
    let nothing = state(&[("availabilityStates", json!(["OPEN"]))]);
    assert!(matches!(
        update(&never, &nothing),
        Err(PlatformError::Answered(CallError::Refused { .. }))
    ));
}

#[test]
fn what_may_not_be_changed_is_refused_with_the_reason() {
    for (changes, word) in [
        (
            vec![
                ("changeable", json!(false)),
                ("closedReason", json!("FOOD_HYGIENE")),
            ],
            "FOOD_HYGIENE",
        ),
        (
            vec![
                ("checkinAt", json!("2026-11-18T10:00:00Z")),
                ("closedReason", Value::Null),
            ],
            "check_in_required",
        ),
        (
            vec![
                ("changeable", json!("maybe")),
                ("closedReason", json!("NEW_WORD")),
            ],
            "NEW_WORD",
        ),
    ] {
        let refused = update(&change(StoreTarget::Open), &state(&changes));
        let Err(PlatformError::Answered(CallError::Refused { message })) = refused else {
            panic!("{refused:?}");
        };
        assert!(message.to_string().contains(word), "{message}");
    }
}

#[test]
fn branch_on_several_platforms_is_closed_on_each_and_reads_closed_if_one_is() {
    let mut document: Value = serde_json::from_str(AVAILABILITY).unwrap();
    let mut other = document[0].clone();
    other["availabilityState"] = json!("OPEN");
    other["platformKey"] = json!("FP_TR");
    document.as_array_mut().unwrap().insert(0, other);
    let shown = answer(200, &document.to_string());
    let mut credentials = credentials();
    let never = close(ClosingEnd::Never, None);
    let key = |step: Step<StoreChanged>| match step {
        Step::Ask(request) => {
            let body: Value = serde_json::from_slice(&request.body.unwrap()).unwrap();
            body["platformKey"].as_str().unwrap().to_owned()
        }
        Step::Done(_) => "done".to_owned(),
    };
    let answers = [shown.clone(), answer(200, ""), answer(200, "")];
    let sent: Vec<String> = (1..=3)
        .map(|count| {
            with_link(&credentials, |link| {
                Yemeksepeti.change_store(&never, link, &answers[..count])
            })
        })
        .map(|step| key(step.unwrap()))
        .collect();
    assert_eq!(sent, ["FP_TR", "YS_TR", "done"]);
    let read = |credentials: &Credentials| {
        let step = with_link(credentials, |link| {
            Yemeksepeti.read_store(link, std::slice::from_ref(&shown))
        });
        match step.unwrap() {
            Step::Done(reading) => reading,
            Step::Ask(_) => panic!("another request"),
        }
    };
    assert_eq!(read(&credentials).state, StoreState::Closed);
    credentials.insert("platformKey".to_owned(), Secret::new("FP_TR".to_owned()));
    assert_eq!(read(&credentials).state, StoreState::Open);
}

#[test]
fn all_words_for_a_reason_are_known() {
    for word in [
        "CHECK_IN_REQUIRED",
        "CHECK_IN_FAILED",
        "ORDER_FAILURE",
        "TOO_MANY_REJECTED_ORDERS",
        "UNREACHABLE",
        "COURIER_DELAYED_AT_PICKUP",
        "RESTRICTED_VISIBILITY",
        "BAD_WEATHER",
        "HOLIDAY_SPECIAL_DAY",
        "ONBOARDING",
        "OFFBOARDING",
        "RETENTION",
        "COMPLIANCE_ISSUES",
        "OWNERSHIP_CHANGE",
        "REFURBISHMENT",
        "FOOD_HYGIENE",
        "FRAUD",
        "RELIGIOUS_OBSERVANCE",
        "AREA_DISRUPTION",
    ] {
        let shown = answer(200, &state(&[("closedReason", json!(word))]));
        let credentials = credentials();
        let step = with_link(&credentials, |link| Yemeksepeti.read_store(link, &[shown]));
        let Ok(Step::Done(reading)) = step else {
            panic!("{word}");
        };
        assert_ne!(reading.reason.unwrap().code, ReasonCode::Unknown, "{word}");
        assert_eq!(reading.by, Some(StoreActor::Platform), "{word}");
    }
}

#[test]
fn items_are_switched_until_a_time_in_one_request() {
    let credentials = credentials();
    let at = now().plus(Duration::from_secs(3_600));
    let body = |to| {
        let change = ItemChange {
            items: vec![ItemRef::product("a"), ItemRef::product("b")],
            to,
            now: now(),
        };
        let step = with_link(&credentials, |link| Yemeksepeti.change_items(&change, link, &[]));
        let Ok(Step::Ask(request)) = step else {
            panic!("no request");
        };
        serde_json::from_slice::<Value>(&request.body.unwrap()).unwrap()
    };
    assert_eq!(
        body(Availability::Unavailable {
            end: UnavailableEnd::At(at)
        }),
        json!({"items": ["a", "b"], "type": "ITEM", "isAvailable": false,
               "willBeAvailable": "AT_TIMESTAMP", "atTimeStamp": "2026-11-18T18:00:00.000Z"})
    );
    assert_eq!(
        body(Availability::Available),
        json!({"items": ["a", "b"], "type": "ITEM", "isAvailable": true})
    );
}

#[test]
fn items_that_the_platform_cannot_switch_are_unsupported() {
    let credentials = credentials();
    let change = ItemChange {
        items: vec![ItemRef::product("a"), ItemRef::product("b")],
        to: Availability::Available,
        now: now(),
    };
    let results = |status, body: &str| {
        let given = answer(status, body);
        let step = with_link(&credentials, |link| {
            Yemeksepeti.change_items(&change, link, &[given])
        });
        match step.unwrap() {
            Step::Done(changed) => changed.results,
            Step::Ask(_) => panic!("another request"),
        }
    };
    assert_eq!(results(204, ""), vec![ItemResult::Done; 2]);
    assert_eq!(
        results(200, r#"{"status":"Success","details":[]}"#),
        vec![ItemResult::Done; 2]
    );
    let body = r#"{"status":"Failed","details":[{"status":"Not Supported"}]}"#;
    assert!(
        results(200, body)
            .iter()
            .all(|it| matches!(it, ItemResult::Unsupported { .. }))
    );
    let body = r#"{"status":"Partial Success","details":[{"status":"Success"},{"status":"Failed"}]}"#;
    assert!(
        results(200, body)
            .iter()
            .all(|it| matches!(it, ItemResult::Refused { .. }))
    );
}
