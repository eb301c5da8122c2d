//! What is ordered, what it costs, and how it is paid.

use super::super::call_data::CallData;
use super::*;
use garson_core::order::FundedBy;
use garson_core::payment::PaymentType;

#[test]
fn lines_and_sums_add_up() {
    let content = sighting(ORDER).unwrap().order.content;
    let lines: Vec<_> = content
        .items
        .iter()
        .map(|item| (item.name.as_str(), item.quantity, item.unit_price.0, item.total.0))
        .collect();
    assert_eq!(
        lines,
        [
            ("Adana Dürüm 🌯", 2, 18_000, 39_000),
            ("Karışık Pizza", 1, 24_000, 30_500),
            ("Künefe", 1, 9_500, 9_500)
        ]
    );
    assert_eq!(content.items[0].product_id.as_deref(), Some("7001"));
    assert_eq!(content.items[0].note.as_deref(), Some("Bol közlenmiş biber"));
    assert_eq!(content.items[1].note, None);
    let onion = &content.items[0].options[1];
    assert_eq!((onion.name.as_str(), onion.removed), ("Soğan", true));
    let size = &content.items[1].options[0];
    assert_eq!((size.group.as_deref(), size.price.0), (Some("Boy"), 4_000));
    assert_eq!(size.options[0].options[0].name, "Kaşar");
    let amount = content.amount;
    assert_eq!(
        (amount.subtotal.0, amount.discount.0, amount.total.0),
        (79_000, 8_000, 71_000)
    );
    let discounts: Vec<_> = amount
        .discounts
        .iter()
        .map(|d| (d.amount.0, d.funded_by))
        .collect();
    assert_eq!(
        discounts,
        [(5_000, FundedBy::Restaurant), (3_000, FundedBy::Platform)]
    );
}

#[test]
fn cash_for_the_restaurants_courier_is_to_be_collected() {
    let order = sighting(RESTAURANT).unwrap().order;
    assert_eq!(order.content.fulfilment.courier, Courier::Restaurant);
    assert_eq!(order.content.payment.kind, PaymentType::Cash);
    assert_eq!(
        (order.content.payment.is_paid, order.content.payment.collect.0),
        (false, 25_000)
    );
    assert!(order.content.amount.discounts.is_empty());
    assert_eq!(order.content.note, None);
    let kept: CallData = serde_json::from_str(&order.provider_data.unwrap()).unwrap();
    assert_eq!(kept.courier, Some(Courier::Restaurant));
}

/// What the customer pays, and who pays for the discounts, by the four prices.
#[test]
fn the_four_prices_are_read_whichever_way_they_add_up() {
    let read = |prices: Value| {
        let amount = sighting(&with(ORDER, "/prices", Some(prices))).map(|s| s.order.content.amount);
        amount.map_err(|e| e.path).map(|amount| {
            let discounts = amount
                .discounts
                .iter()
                .map(|d| (d.amount.0, d.funded_by))
                .collect::<Vec<_>>();
            (amount.total.0, amount.discount.0, discounts)
        })
    };
    let price = |minor: i64| json!({ "amountAsPenny": minor, "text": "" });
    let four = |total, discounted, restaurant, migros| {
        json!({ "total": price(total), "discounted": price(discounted),
            "restaurantDiscounted": price(restaurant), "migrosDiscounted": price(migros) })
    };
    use FundedBy::{Platform, Restaurant, Unknown};
    for (prices, expected) in [
        (
            four(100, 70, 90, 80),
            (70, 30, vec![(10, Restaurant), (20, Platform)]),
        ),
        (
            four(100, 70, 10, 20),
            (70, 30, vec![(10, Restaurant), (20, Platform)]),
        ),
        (four(100, 70, 70, 100), (70, 30, vec![(30, Restaurant)])),
        (four(100, 70, 1, 1), (70, 30, vec![(30, Unknown)])),
        (four(100, 0, 0, 0), (100, 0, vec![])),
        (four(100, 0, 60, 40), (0, 100, vec![(100, Unknown)])),
        (four(100, 120, 0, 0), (120, 0, vec![])),
        (json!({ "total": 100 }), (100, 0, vec![])),
        (
            json!({ "total": price(100), "discounted": null }),
            (100, 0, vec![]),
        ),
        (
            json!({ "total": price(100), "discounted": { "amountAsPenny": null } }),
            (100, 0, vec![]),
        ),
        (
            json!({ "total": { "amountAsPenny": "100" }, "discounted": price(90) }),
            (90, 10, vec![(10, Unknown)]),
        ),
    ] {
        assert_eq!(read(prices.clone()), Ok(expected), "{prices}");
    }
    for (prices, path) in [
        (json!({}), "prices.total"),
        (json!({ "total": {} }), "prices.total.amountAsPenny"),
        (
            json!({ "total": { "amountAsPenny": "x" } }),
            "prices.total.amountAsPenny",
        ),
        (json!({ "total": 1.5 }), "prices.total"),
        (json!({ "total": -1 }), "prices.total"),
        (json!({ "total": 1, "discounted": -1 }), "prices.discounted"),
        (json!({ "total": u64::MAX }), "prices.total"),
    ] {
        assert_eq!(read(prices.clone()), Err(path.to_owned()), "{prices}");
    }
}

#[test]
fn an_items_price_is_read_the_way_that_adds_up() {
    let option = json!([{ "headerName": "x", "itemNames": "y", "primaryPrice": 100 }]);
    for (total, expected) in [
        (2_200, (1_000, 2_200)),
        (2_000, (1_000, 2_000)),
        (1_000, (500, 1_000)),
        (7, (1_000, 2_200)),
    ] {
        let items = json!([{ "name": "a", "price": 1_000, "amount": 2, "options": option }]);
        let body = with(ORDER, "/items", Some(items));
        let body = with(&body, "/prices", Some(json!({ "total": total })));
        let item = sighting(&body).unwrap().order.content.items.remove(0);
        assert_eq!((item.unit_price.0, item.total.0), expected, "{total}");
    }
}

/// Four readings of the same order of 402.00: two lahmacun of 120.00 with ayran of 40.00 each, and a soup of 82.00.
#[test]
fn every_known_reading_of_prices_leads_to_the_same_lines() {
    let ayran = |price: i64, unit: Option<i64>| {
        json!([{ "headerName": "İçecek", "itemNames": "Ayran", "primaryPrice": price, "unitPrimaryPrice": unit,
            "quantity": 2 }])
    };
    let per_piece = json!([{ "itemNames": "Ayran", "primaryPrice": 4_000, "quantity": 1 }]);
    let lahmacun = |price: i64, unit: Option<i64>, options: Value| json!({ "name": "Lahmacun", "price": price, "unitPrice": unit, "amount": 2, "options": options });
    let soup = json!({ "name": "Çorba", "price": 8_200, "unitPrice": null, "amount": 1 });
    for (name, first) in [
        ("per piece", lahmacun(12_000, None, per_piece.clone())),
        (
            "per piece, options included",
            lahmacun(16_000, None, per_piece.clone()),
        ),
        ("of the line", lahmacun(32_000, None, per_piece.clone())),
        (
            "of the line, options apart and of the line",
            lahmacun(24_000, Some(12_000), ayran(8_000, Some(4_000))),
        ),
        (
            "of the line, options apart, each",
            lahmacun(24_000, Some(12_000), ayran(4_000, None)),
        ),
        (
            "of the line, options apart, for one piece",
            lahmacun(24_000, Some(12_000), per_piece),
        ),
    ] {
        let body = with(ORDER, "/items", Some(json!([first, soup])));
        let body = with(&body, "/prices", Some(json!({ "total": 40_200 })));
        let content = sighting(&body).unwrap().order.content;
        let totals: Vec<_> = content.items.iter().map(|item| item.total.0).collect();
        assert_eq!(totals, [32_000, 8_200], "{name}");
        assert_eq!(
            (content.amount.subtotal.0, content.amount.adjustment),
            (40_200, None),
            "{name}"
        );
        assert_eq!(content.reading_notes, [], "{name}");
    }
}

#[test]
fn lines_that_add_up_in_no_reading_are_not_inflated_and_say_so() {
    let items = json!([{ "name": "a", "price": 26_500, "unitPrice": 13_250, "amount": 2,
        "options": [{ "itemNames": "b", "primaryPrice": 100, "quantity": 1 }] }]);
    let body = with(ORDER, "/items", Some(items));
    let body = with(&body, "/prices", Some(json!({ "total": 40_200 })));
    let content = sighting(&body).unwrap().order.content;
    assert_eq!(
        (content.items[0].unit_price.0, content.items[0].total.0),
        (13_250, 26_600)
    );
    assert_eq!(content.amount.total.0, 40_200);
    assert_eq!(content.amount.adjustment.map(|minor| minor.0), Some(13_600));
    assert_eq!(content.reading_notes.len(), 1);
}

#[test]
fn payments_are_told_apart() {
    use PaymentType::{CardOnDelivery, Cash, MealCardOnDelivery, MealCardOnline, OnlineCard, Other};
    for (name, online, kind, is_paid) in [
        ("CASH_ON_DELIVERY", Some(false), Cash, false),
        ("CREDIT_CARD_ON_DELIVERY", Some(false), CardOnDelivery, false),
        ("CREDIT_CARD", Some(true), OnlineCard, true),
        ("CREDIT_CARD", Some(false), CardOnDelivery, false),
        ("ONLINE_PAYMENT", None, OnlineCard, true),
        ("MEAL_CARD", Some(true), MealCardOnline, true),
        ("MEAL_CARD", Some(false), MealCardOnDelivery, false),
        ("MEAL_CARD_ON_DELIVERY", None, MealCardOnDelivery, false),
        ("SODEXO_ON_DELIVERY", Some(false), MealCardOnDelivery, false),
        ("MULTINET_ON_DELIVERY", None, MealCardOnDelivery, false),
        ("TICKET_ON_DELIVERY", Some(false), MealCardOnDelivery, false),
        ("METROPOL_ON_DELIVERY", Some(false), MealCardOnDelivery, false),
        ("MULTINET", Some(true), MealCardOnline, true),
        ("MULTINET", None, MealCardOnline, true),
        ("PUAN", Some(true), Other, true),
        ("PUAN", None, Other, false),
    ] {
        let body = with(
            ORDER,
            "/payment/type",
            Some(json!({ "name": name, "isOnlinePayment": online })),
        );
        let payment = sighting(&body).unwrap().order.content.payment;
        let collect = if is_paid { 0 } else { 71_000 };
        assert_eq!(
            (payment.kind, payment.is_paid, payment.collect.0),
            (kind, is_paid, collect),
            "{name} {online:?}"
        );
        assert_eq!(payment.provider_code.as_deref(), Some(name));
    }
}

/// How a price may be meant: what the whole line costs, and the item as the platform would then write it.
fn written_as(reading: usize, piece: i64, pieces: i64, options: &[(i64, i64)]) -> (i64, Value) {
    let option =
        |price: i64, quantity: i64| json!({ "itemNames": "x", "primaryPrice": price, "quantity": quantity });
    let each: Vec<Value> = options
        .iter()
        .map(|(price, quantity)| option(*price, *quantity))
        .collect();
    let of_line: Vec<Value> = options
        .iter()
        .map(|(price, quantity)| option(price * quantity, *quantity))
        .collect();
    let extra: i64 = options.iter().map(|(price, quantity)| price * quantity).sum();
    let (total, price, options) = match reading {
        0 => ((piece + extra) * pieces, piece, each),
        1 => ((piece + extra) * pieces, piece + extra, each),
        2 => ((piece + extra) * pieces, (piece + extra) * pieces, each),
        3 => (piece * pieces + extra, piece * pieces, of_line),
        4 => (piece * pieces + extra, piece * pieces, each),
        _ => ((piece + extra) * pieces, piece * pieces, each),
    };
    let unit = (reading > 2).then_some(piece);
    let item =
        json!({ "name": "x", "price": price, "unitPrice": unit, "amount": pieces, "options": options });
    (total, item)
}

proptest::proptest! {
    #[test]
    fn lines_add_up_in_every_reading(
        reading in 0usize..6,
        lines in proptest::collection::vec(
            (100i64..50_000, 1i64..4, proptest::collection::vec((0i64..5_000, 1i64..4), 0..3)),
            1..5,
        ),
    ) {
        let written: Vec<_> = lines
            .iter()
            .map(|(piece, pieces, options)| written_as(reading, *piece, *pieces, options))
            .collect();
        let total: i64 = written.iter().map(|(total, _)| total).sum();
        let items: Vec<Value> = written.into_iter().map(|(_, item)| item).collect();
        let body = with(ORDER, "/items", Some(json!(items)));
        let body = with(&body, "/prices", Some(json!({ "total": total })));
        let content = sighting(&body).unwrap().order.content;
        let sum: i64 = content.items.iter().map(|item| item.total.0).sum();
        proptest::prop_assert_eq!((sum, content.amount.total.0), (total, total));
        proptest::prop_assert_eq!(content.amount.adjustment, None);
        proptest::prop_assert_eq!(content.reading_notes.len(), 0);
    }
}
