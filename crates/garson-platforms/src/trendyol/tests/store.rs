//! The list of stores, changes of a store, and batches of prices.

use super::*;
use garson_core::platform::Step;
use garson_core::price_change::{BatchReading, PriceFailure};
use garson_core::store_status::{ClosingEnd, StoreChange, StoreState, StoreTarget};

const STORES: &str = include_str!("../fixtures/stores.json");
const BATCH_DONE: &str = include_str!("../fixtures/batch.json");

fn answer(status: u16, body: impl Into<Vec<u8>>) -> HttpResponse {
    HttpResponse {
        status,
        body: body.into(),
    }
}

fn with_link<T>(use_it: impl FnOnce(&Link<'_>) -> T) -> T {
    let credentials = credentials();
    use_it(&Link {
        base: BASE,
        branch: BRANCH,
        credentials: &credentials,
        token: None,
        callback_hosts: &[],
    })
}

fn page(ids: &[u32], pages: u32) -> HttpResponse {
    let stores: Vec<Value> = ids
        .iter()
        .map(|id| json!({"id": id, "workingStatus": "OPEN"}))
        .collect();
    answer(
        200,
        json!({"restaurants": stores, "totalPages": pages}).to_string(),
    )
}

#[test]
fn pages_are_read_until_the_store_is_found() {
    let mut answers = Vec::new();
    let step = with_link(|link| Trendyol.read_store(link, &answers)).unwrap();
    let Step::Ask(request) = step else { panic!("done") };
    assert_eq!(
        request.url,
        format!("{BASE}/integrator/store/meal/suppliers/107703/stores?page=0&size=100")
    );
    answers.push(page(&[1, 2], 3));
    let step = with_link(|link| Trendyol.read_store(link, &answers)).unwrap();
    assert!(matches!(step, Step::Ask(request) if request.url.ends_with("?page=1&size=100")));
    answers.push(page(&[3, 3_311], 3));
    let step = with_link(|link| Trendyol.read_store(link, &answers)).unwrap();
    assert!(matches!(step, Step::Done(reading) if reading.state == StoreState::Open));
    answers.pop();
    answers.push(page(&[3], 2));
    let missing = with_link(|link| Trendyol.read_store(link, &answers));
    assert!(matches!(
        missing,
        Err(PlatformError::Answered(CallError::Refused { .. }))
    ));
}

#[test]
fn state_and_hours_of_the_right_store_are_read() {
    let answers = [answer(200, STORES)];
    let step = with_link(|link| Trendyol.read_store(link, &answers)).unwrap();
    assert!(matches!(step, Step::Done(reading) if reading.state == StoreState::Closed && reading.can_change));
    let step = with_link(|link| Trendyol.read_hours(link, &answers)).unwrap();
    let Step::Done(week) = step else { panic!("ask") };
    let monday: Vec<String> = week
        .day(garson_core::opening_hours::Weekday::Monday)
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(monday, ["08:00-14:00", "18:00-02:00"]);
}

#[test]
fn conflict_with_another_change_is_tried_again() {
    let change = StoreChange {
        to: StoreTarget::Closed {
            end: ClosingEnd::Never,
            reason: None,
        },
        from: StoreState::Open,
        busy_is_set: false,
        now: Timestamp::default(),
    };
    let outcome = |status| with_link(|link| Trendyol.change_store(&change, link, &[answer(status, "")]));
    assert!(matches!(
        outcome(409),
        Err(PlatformError::Answered(CallError::NotYet { .. }))
    ));
    assert!(matches!(
        outcome(429),
        Err(PlatformError::Answered(CallError::Later { pause: Some(_), .. }))
    ));
    assert!(matches!(
        outcome(503),
        Err(PlatformError::Answered(CallError::Unclear { .. }))
    ));
    assert!(matches!(outcome(200), Ok(Step::Done(_))));
}

#[test]
fn batch_tells_which_prices_failed() {
    let read = |body: &str| match with_link(|link| Trendyol.read_prices("b/1", link, &[answer(200, body)]))
        .unwrap()
    {
        Step::Done(reading) => reading,
        Step::Ask(_) => panic!("another request"),
    };
    let BatchReading::Done { failed } = read(BATCH_DONE) else {
        panic!("not done");
    };
    let [PriceFailure { id, message }] = failed.as_slice() else {
        panic!("{failed:?}");
    };
    assert_eq!(id.as_deref(), Some("81002"));
    assert!(message.to_string().contains("Ürün bulunamadı"));
    assert!(matches!(
        read(r#"{"status":"PROCESSING"}"#),
        BatchReading::InProgress { word: Some(word) } if word == "PROCESSING"
    ));
    let failed = read(r#"{"status":"COMPLETED","failedItemCount":3}"#);
    assert!(matches!(failed, BatchReading::Done { failed } if failed.len() == 1));
    let asked = with_link(|link| Trendyol.read_prices("b/1", link, &[])).unwrap();
    assert!(matches!(asked, Step::Ask(request) if request.url.ends_with("/batch-requests/b%2F1")));
}

#[test]
fn storefront_is_told_where_it_is_another_brand() {
    for (app, storefront) in [
        ("TrendyolGo", None),
        ("Galaxy", Some("GetirYemek")),
        ("galaxy", Some("GetirYemek")),
        ("UberEats", Some("Uber Eats")),
        ("Yeni", Some("Yeni")),
    ] {
        let mut package: Value = serde_json::from_str(GO).unwrap();
        package["userInformation"]["appName"] = json!(app);
        let request = HookRequest {
            kind: FETCHED,
            body: package.to_string().into_bytes(),
            ..HookRequest::default()
        };
        let message = Trendyol.read(&Verified::ours(&request)).unwrap();
        let News::Order(sighting) = message.news else {
            panic!("no order");
        };
        assert_eq!(sighting.order.content.storefront.as_deref(), storefront, "{app}");
    }
}
