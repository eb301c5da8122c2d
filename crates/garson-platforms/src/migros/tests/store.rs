//! The requests that open and close a store, and those about its prices.

use super::*;
use garson_core::money::Minor;
use garson_core::platform::Step;
use garson_core::price_change::{NewPrice, PriceChange, PriceScope};
use garson_core::store_status::{ClosingEnd, Reopening, StoreChange, StoreChanged, StoreState, StoreTarget};
use std::time::Duration;

const DETAIL: &str = include_str!("../fixtures/store-detail.json");
const MENU: &str = include_str!("../fixtures/menu.json");
const DONE: &str = r#"{"success":true,"data":null,"errorMessage":null}"#;

fn answer(body: &str) -> HttpResponse {
    HttpResponse {
        status: 200,
        body: body.as_bytes().to_vec(),
    }
}

fn change(to: StoreTarget) -> StoreChange {
    StoreChange {
        to,
        from: StoreState::Unknown,
        busy_is_set: false,
        now: Timestamp::from_millis(1_767_225_600_000),
    }
}

/// The paths and bodies of all requests, and the result; every request is answered with success.
fn run<T>(
    first: &[&str],
    step: impl Fn(&Link<'_>, &[HttpResponse]) -> Result<Step<T>, PlatformError>,
) -> (Vec<(String, Value)>, T) {
    let credentials = credentials();
    let link = link(&credentials);
    let (mut answers, mut sent) = (Vec::new(), Vec::new());
    loop {
        match step(&link, &answers).unwrap() {
            Step::Done(result) => return (sent, result),
            Step::Ask(request) => {
                let path = request.url.strip_prefix(BASE).unwrap().to_owned();
                let body = request.body.map_or(Value::Null, |body| {
                    let sealed: Value = serde_json::from_slice(&body).unwrap();
                    let plain = key().open(sealed["value"].as_str().unwrap()).unwrap();
                    serde_json::from_slice(&plain).unwrap()
                });
                sent.push((path, body));
                let given = first.get(answers.len()).copied().unwrap_or(DONE);
                answers.push(answer(given));
            }
        }
    }
}

fn store(to: StoreTarget, detail: &str) -> (Vec<(String, Value)>, StoreChanged) {
    let change = change(to);
    let (mut sent, result) = run(&[detail], |link, answers| {
        Migros.change_store(&change, link, answers)
    });
    assert_eq!(sent.remove(0).0, "/Store/GetStoreDetail");
    (sent, result)
}

#[test]
fn store_is_closed_for_a_while_or_lastingly() {
    let at = |minutes: u64| {
        let end = change(StoreTarget::Open)
            .now
            .plus(Duration::from_secs(minutes * 60));
        StoreTarget::Closed {
            end: ClosingEnd::At(end),
            reason: None,
        }
    };
    for (minutes, option, reopening) in [
        (60, "ONE_HOUR", Reopening::Platform),
        (240, "FOUR_HOUR", Reopening::Platform),
        (90, "FOUR_HOUR", Reopening::Ours),
        (15, "ONE_HOUR", Reopening::Ours),
    ] {
        let (sent, result) = store(at(minutes), DETAIL);
        let body = json!({"storeId": 20417, "storeGroupId": 318, "storeOffDateOption": option});
        assert_eq!(sent, [("/Store/AddStoreOffDate".to_owned(), body)], "{minutes}");
        assert_eq!(result.reopening, reopening, "{minutes}");
    }
    let (sent, result) = store(at(600), DETAIL);
    let body = json!({"storeId": 20417, "warehouseId": 6610});
    assert_eq!(sent, [("/Store/DeActivateStore".to_owned(), body)]);
    assert_eq!(result.reopening, Reopening::Ours);
}

#[test]
fn store_is_opened_from_both_kinds_of_closing() {
    let removal = (
        "/Store/RemoveStoreOffDate".to_owned(),
        json!({"storeId": 20417, "storeGroupId": 318}),
    );
    let (sent, _) = store(StoreTarget::Open, DETAIL);
    assert_eq!(sent, std::slice::from_ref(&removal));
    let inactive = DETAIL.replace(r#""active": true"#, r#""active": false"#);
    let (sent, _) = store(StoreTarget::Open, &inactive);
    let activation = (
        "/Store/ActivateStore".to_owned(),
        json!({"storeId": 20417, "warehouseId": 6610}),
    );
    assert_eq!(sent, [activation, removal]);
    // After an activation there may be no off date to remove.
    let credentials = credentials();
    let answers = [answer(&inactive), answer(DONE), answer(REFUSAL)];
    let step = Migros.change_store(&change(StoreTarget::Open), &link(&credentials), &answers);
    assert!(matches!(step, Ok(Step::Done(_))), "{step:?}");
    let answers = [answer(DETAIL), answer(REFUSAL)];
    let step = Migros.change_store(&change(StoreTarget::Open), &link(&credentials), &answers);
    assert!(matches!(step, Err(PlatformError::Answered(_))));
}

#[test]
fn discount_is_kept_where_it_still_is_one() {
    let discounted = MENU.replacen(
        r#""defaultPrimaryDiscountedPrice": 18000"#,
        r#""defaultPrimaryDiscountedPrice": 15000"#,
        1,
    );
    let prices = |first: i64| PriceChange {
        prices: [("7001", first), ("7004", 20_050)]
            .map(|(id, price)| NewPrice {
                id: id.to_owned(),
                is_option: false,
                price: Minor(price),
            })
            .to_vec(),
        scope: PriceScope::Branch,
        reference: "1".to_owned(),
        now: Timestamp::default(),
    };
    for (price, sent_as) in [(19_000, json!([190.0, 150.0])), (14_000, json!([140.0, 140.0]))] {
        let change = prices(price);
        let (sent, _) = run(&[DETAIL, &discounted], |link, answers| {
            Migros.change_prices(&change, link, answers)
        });
        let (path, body) = sent.last().unwrap();
        assert_eq!(path, "/Menu/UpdateBatchPrice");
        assert_eq!(
            (&body["menuId"], &body["storeGroupId"]),
            (&json!(501), &json!(318))
        );
        let first = &body["prices"][0];
        assert_eq!(
            (&first["menuItemId"], &first["productId"]),
            (&json!(901), &json!(7001))
        );
        let both = json!([
            first["defaultPrimaryPrice"],
            first["defaultPrimaryDiscountedPrice"]
        ]);
        assert_eq!(both, sent_as);
        assert_eq!(body["prices"][1]["defaultPrimaryPrice"], 200.5);
        assert_eq!(body["prices"][1]["defaultPrimaryDiscountedPrice"], 200.5);
    }
}
