//! What packages cost, and how they are paid.

use super::*;
use garson_core::order::FundedBy;
use garson_core::payment::PaymentType;

fn sums(body: &str) -> (i64, i64, i64, i64) {
    let amount = read_order(body).map(|order| order.content.amount);
    amount.map_or((0, 0, 0, 0), |amount| {
        (
            amount.subtotal.0,
            amount.discount.0,
            amount.delivery_fee.0,
            amount.total.0,
        )
    })
}

#[test]
fn the_total_stands_and_what_does_not_add_up_is_an_adjustment() {
    for (total, minor, adjustment) in [
        (json!(602.4), 60_240, None),
        (json!(602.400_000_000_000_1), 60_240, None),
        // Without the delivery fee, without the discounts, without either, and none of these.
        (json!(572.5), 57_250, Some(-2_990)),
        (json!(657.4), 65_740, Some(5_500)),
        (json!("627.50"), 62_750, Some(2_510)),
        (json!(500), 50_000, Some(-10_240)),
        (json!(900), 90_000, Some(29_760)),
    ] {
        let order = read_order(&with(GO, "/totalPrice", Some(total.clone()))).unwrap();
        let amount = order.content.amount;
        assert_eq!(
            (amount.subtotal.0, amount.discount.0, amount.delivery_fee.0),
            (62_750, 5_500, 2_990)
        );
        assert_eq!(
            (amount.total.0, amount.adjustment.map(|adjustment| adjustment.0)),
            (minor, adjustment),
            "{total}"
        );
        assert_eq!(order.content.reading_notes.is_empty(), adjustment.is_none());
    }
}

/// The courier collects what the platform says, whatever the fees and promotions beside it.
#[test]
fn cash_is_collected_as_the_total_says() {
    let body = with(STORE, "/totalDeliveryPrice", Some(json!(10)));
    let promotion = json!([{ "description": "30 TL", "totalSellerAmount": 30 }]);
    for body in [body.clone(), with(&body, "/promotions", Some(promotion))] {
        let content = read_order(&body).unwrap().content;
        assert_eq!(
            (content.amount.total.0, content.payment.collect.0),
            (31_250, 31_250)
        );
    }
}

#[test]
fn a_test_package_says_so() {
    let body = with(STORE, "/testPackage", Some(json!(true)));
    let note = read_order(&body).unwrap().content.note.unwrap();
    assert!(note.starts_with("TEST"), "{note}");
}

#[test]
fn discounts_say_who_bears_them() {
    let discounts = |body: &str| {
        let amount = read_order(body).map(|order| order.content.amount);
        amount.map_or_else(
            |_| Vec::new(),
            |amount| {
                let one = |d: &garson_core::order::Discount| (d.name.clone(), d.amount.0, d.funded_by);
                amount.discounts.iter().map(one).collect()
            },
        )
    };
    let named = |name: &str, amount, by| (name.to_owned(), amount, by);
    assert_eq!(
        discounts(GO),
        [
            named("Sepette 40 TL indirim", 4_000, FundedBy::Restaurant),
            named("Hoş geldin kuponu", 1_000, FundedBy::Restaurant),
            named("Hoş geldin kuponu", 500, FundedBy::Platform),
        ]
    );
    assert_eq!(discounts(UBER), [named("Uber One", 2_000, FundedBy::Unknown)]);
    assert_eq!(sums(UBER), (12_000, 2_000, 0, 10_000));
}

#[test]
fn delivery_that_only_the_payment_names_counts() {
    let body = with(STORE, "/totalDeliveryPrice", None);
    let body = with(&body, "/payment/onDelivery/deliveryFee", Some(json!("15")));
    let body = with(&body, "/totalPrice", Some(json!(327.5)));
    assert_eq!(sums(&body), (31_250, 0, 1_500, 32_750));
}

#[test]
fn payments_are_one_vocabulary() {
    use PaymentType::{CardOnDelivery, Cash, MealCardOnDelivery, MealCardOnline, OnlineCard, Other};
    let at_door =
        |code: Value| json!({ "paymentType": "PAY_WITH_ON_DELIVERY", "onDelivery": { "paymentType": code } });
    let meal_card =
        json!({ "paymentType": "PAY_WITH_MEAL_CARD", "mealCard": { "cardSourceType": "EDENRED" } });
    for (payment, kind, code, is_paid) in [
        (
            json!({ "paymentType": "PAY_WITH_CARD" }),
            OnlineCard,
            Some("PAY_WITH_CARD"),
            true,
        ),
        (meal_card, MealCardOnline, Some("EDENRED"), true),
        (
            json!({ "paymentType": "PAY_WITH_MEAL_CARD", "mealCard": null }),
            MealCardOnline,
            Some("PAY_WITH_MEAL_CARD"),
            true,
        ),
        (at_door(json!("CASH")), Cash, Some("CASH"), false),
        (at_door(json!("CARD")), CardOnDelivery, Some("CARD"), false),
        (
            at_door(json!("SODEXO_CARD")),
            MealCardOnDelivery,
            Some("SODEXO_CARD"),
            false,
        ),
        (
            at_door(json!("MULTINET_CARD")),
            MealCardOnDelivery,
            Some("MULTINET_CARD"),
            false,
        ),
        (at_door(json!("GOLD")), Other, Some("GOLD"), false),
        (at_door(json!(null)), Other, Some("PAY_WITH_ON_DELIVERY"), false),
        (
            json!({ "paymentType": "PAY_WITH_WALLET" }),
            Other,
            Some("PAY_WITH_WALLET"),
            true,
        ),
        (
            json!({ "paymentType": "PAY_LATER", "onDelivery": {} }),
            Other,
            Some("PAY_LATER"),
            false,
        ),
        (json!({}), Other, None, false),
        (json!(null), Other, None, false),
    ] {
        let order = read_order(&with(STORE, "/payment", Some(payment.clone())));
        let found = order.map(|order| order.content.payment);
        let collect = if is_paid { 0 } else { 31_250 };
        assert_eq!(
            found.map(|p| (p.kind, p.provider_code, p.is_paid, p.collect.0)),
            Ok((kind, code.map(str::to_owned), is_paid, collect)),
            "{payment}"
        );
    }
    let name = read_order(PICKUP).map(|order| order.content.payment.name);
    assert_eq!(name, Ok(Some("Meal card, online (PLUXEE)".to_owned())));
}
