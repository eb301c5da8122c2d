//! Every message, compared in what matters.

use super::*;
use garson_core::money::{Currency, Minor};
use garson_core::order::{FulfilmentType, FundedBy, ItemOption};
use garson_core::payment::PaymentType;

fn at(text: &str) -> Option<Timestamp> {
    text.parse().ok()
}

#[test]
fn an_order_that_the_platforms_rider_takes() {
    let message = read(ORDER, PLATFORM).unwrap();
    assert_eq!(message.branch.as_deref(), Some(BRANCH));
    let Sighting {
        order,
        change,
        is_ready,
    } = sighting(ORDER, PLATFORM).unwrap();
    assert_eq!((change, is_ready), (None, false));
    assert_eq!(order.identity, "5a0d6d0e-7c1f-4f0a-9d55-0c6a3f1b2e01");
    assert_eq!(order.provider_order_id, "ys-n0s1-w0k1");
    assert_eq!(order.short_code.as_deref(), Some("42"));
    assert_eq!(order.status, Status::New);
    assert_eq!(order.placed_at, at("2026-03-01T15:22:10Z"));
    assert_eq!(order.accept_by, at("2026-03-01T15:37:10Z"));
    assert_eq!(order.scheduled_for, None);
    let content = order.content;
    assert_eq!(content.note.as_deref(), Some("Zile basmayın, bebek uyuyor 👶"));
    assert_eq!(content.fulfilment.kind, FulfilmentType::Delivery);
    assert_eq!(content.fulfilment.courier, Courier::Platform);
    assert_eq!(content.customer.name.as_deref(), Some("İpek Yıldırım"));
    assert_eq!(content.customer.phone.as_deref(), Some("+90 532 000 00 00"));
    assert_eq!((content.customer.email, content.customer.address), (None, None));
    let lines: Vec<_> = content
        .items
        .iter()
        .map(|item| {
            let options: Vec<_> = item
                .options
                .iter()
                .map(|o| (o.name.as_str(), o.quantity, o.price.0))
                .collect();
            (
                item.product_id.as_deref().unwrap_or_default(),
                item.name.as_str(),
                item.quantity,
                item.unit_price.0,
                item.total.0,
                options,
            )
        })
        .collect();
    assert_eq!(
        lines,
        [
            (
                "ADANA",
                "Adana dürüm 🌯",
                2,
                18_000,
                39_000,
                vec![("Ayran", 1, 1_500), ("Acılı ezme", 1, 0)]
            ),
            (
                "MERCIMEK",
                "Mercimek çorbası",
                1,
                7_000,
                7_000,
                vec![("Limon", 2, 0)]
            ),
            (
                "KUNEFE-1",
                "Künefe",
                1,
                12_050,
                14_550,
                vec![("Dondurma", 1, 2_500)]
            ),
        ]
    );
    assert_eq!(content.items[1].note.as_deref(), Some("Sıcak olsun"));
    assert_eq!(content.items[0].note, None);
    assert_eq!(content.items[0].id.as_deref(), Some("p-1"));
    let amount = content.amount;
    assert_eq!(amount.currency, Currency::TRY);
    assert_eq!(
        [
            amount.subtotal,
            amount.discount,
            amount.delivery_fee,
            amount.tip,
            amount.total
        ]
        .map(|m| m.0),
        [60_550, 3_000, 2_499, 0, 60_049]
    );
    let discounts: Vec<_> = amount
        .discounts
        .iter()
        .map(|d| (d.name.as_str(), d.amount.0, d.funded_by))
        .collect();
    assert_eq!(
        discounts,
        [
            ("Hoş geldin", 2_000, FundedBy::Platform),
            ("Hoş geldin", 1_000, FundedBy::Restaurant)
        ]
    );
    assert_eq!(content.payment.kind, PaymentType::OnlineCard);
    assert_eq!(content.payment.name.as_deref(), Some("Online Kredi/Banka Kartı"));
    assert_eq!(
        (content.payment.is_paid, content.payment.collect),
        (true, Minor::ZERO)
    );
}

#[test]
fn an_order_that_the_restaurant_delivers() {
    let order = new_order(OWN).unwrap();
    let content = order.content;
    assert_eq!(content.fulfilment.courier, Courier::Restaurant);
    let address = content.customer.address.unwrap();
    let text = "Moda Cad. 12, Caferağa Mah., Kadıköy, 34710, İstanbul";
    assert_eq!(address.text.as_deref(), Some(text));
    assert_eq!(address.city.as_deref(), Some("İstanbul"));
    assert_eq!(address.district.as_deref(), Some("Kadıköy"));
    assert_eq!(address.neighbourhood.as_deref(), Some("Caferağa Mah."));
    assert_eq!(address.apartment.as_deref(), Some("Gül Apt."));
    assert_eq!(
        (address.floor.as_deref(), address.door.as_deref()),
        (Some("3"), Some("7"))
    );
    assert_eq!(address.directions.as_deref(), Some("B girişi; 7; Kapıya bırakın"));
    assert_eq!((address.lat, address.lon), (Some(40.985), Some(29.025)));
    assert_eq!(content.amount.delivery_fee, Minor(2_500));
    assert_eq!(
        (content.amount.discount, content.amount.total),
        (Minor(4_000), Minor(44_500))
    );
    let funded: Vec<_> = content
        .amount
        .discounts
        .iter()
        .map(|d| (d.amount.0, d.funded_by))
        .collect();
    assert_eq!(
        funded,
        [(2_500, FundedBy::Restaurant), (1_500, FundedBy::Unknown)]
    );
    assert_eq!(content.payment.kind, PaymentType::Cash);
    assert_eq!(content.payment.provider_code.as_deref(), Some("NAKIT"));
    assert_eq!(
        (content.payment.is_paid, content.payment.collect),
        (false, Minor(44_500))
    );
    assert_eq!(content.items[0].name, "Kral menü (Büyük boy)");
}

fn depth(options: &[ItemOption]) -> usize {
    options
        .iter()
        .map(|option| 1 + depth(&option.options))
        .max()
        .unwrap_or(0)
}

fn count(options: &[ItemOption]) -> usize {
    options.iter().map(|option| 1 + count(&option.options)).sum()
}

#[test]
fn toppings_are_nested_and_none_is_lost() {
    let options = |body: &str| new_order(body).unwrap().content.items.remove(0).options;
    let five = options(OWN);
    assert_eq!((depth(&five), count(&five)), (5, 7));
    assert_eq!(five[0].options[0].name, "Şalgam");
    assert_eq!(five[0].options[0].price, Minor(3_000));
    let deep = (0..20).fold(
        json!([]),
        |inner, n| json!([{ "name": n.to_string(), "price": "1", "quantity": 1, "children": inner }]),
    );
    let many = options(&with(OWN, "/products/0/selectedToppings", Some(deep)));
    assert_eq!((depth(&many), count(&many)), (5, 20));
}

#[test]
fn an_order_to_be_fetched_later() {
    let order = new_order(PICKUP).unwrap();
    assert_eq!(order.status, Status::New);
    assert_eq!(order.scheduled_for, at("2026-03-01T18:00:00Z"));
    let content = order.content;
    assert_eq!(content.fulfilment.kind, FulfilmentType::Pickup);
    assert_eq!(content.fulfilment.courier, Courier::None);
    assert_eq!(content.note, None);
    assert_eq!(content.customer.phone.as_deref(), Some("+905320000000"));
    assert_eq!(content.customer.email.as_deref(), Some("ipek@example.com"));
    assert_eq!(content.amount.subtotal, Minor(7_000));
    assert_eq!(content.payment.kind, PaymentType::MealCardOnDelivery);
    let later = with(OWN, "/preOrder", Some(json!(true)));
    assert_eq!(
        new_order(&later).unwrap().scheduled_for,
        at("2026-03-01T16:00:00Z")
    );
}

#[test]
fn the_least_is_enough() {
    let order = new_order(LEAST).unwrap();
    assert_eq!(
        (order.identity.as_str(), order.provider_order_id.as_str()),
        ("t-1", "t-1")
    );
    let content = order.content;
    assert_eq!(content.fulfilment.courier, Courier::Restaurant);
    assert_eq!(
        (content.amount.total, content.payment.collect),
        (Minor(1_250), Minor(1_250))
    );
    assert_eq!(content.payment.kind, PaymentType::Other);
    assert_eq!(
        (content.items[0].quantity, content.items[0].total),
        (1, Minor::ZERO)
    );
}

#[test]
fn numbers_and_strings_mean_the_same() {
    for (place, value) in [
        ("/products/0/quantity", json!(2)),
        ("/products/0/paidPrice", json!(390)),
        ("/products/0/unitPrice", json!(180.0)),
        ("/price/grandTotal", json!(600.49)),
        ("/price/collectFromCustomer", json!(0)),
        ("/shortCode", json!(42)),
    ] {
        let read = new_order(&with(PLATFORM, place, Some(value)));
        assert_eq!(read, new_order(PLATFORM), "{place}");
    }
    let place = with(OWN, "/delivery/address/latitude", Some(json!("40.985")));
    assert_eq!(new_order(&place), new_order(OWN));
    for wrong in [json!("x"), json!(91), json!("NaN"), json!({})] {
        let order = new_order(&with(OWN, "/delivery/address/latitude", Some(wrong))).unwrap();
        assert_eq!(
            order.content.customer.address.and_then(|address| address.lat),
            None
        );
    }
}

#[test]
fn who_delivers_follows_from_the_order() {
    for (body, place, value, courier) in [
        (
            OWN,
            "/delivery/riderPickupTime",
            json!("2026-03-01T15:45:00Z"),
            Courier::Platform,
        ),
        (OWN, "/delivery/riderPickupTime", json!(""), Courier::Restaurant),
        (
            PLATFORM,
            "/delivery/riderPickupTime",
            json!(null),
            Courier::Restaurant,
        ),
        (PLATFORM, "/expeditionType", json!("pickup"), Courier::None),
        (PLATFORM, "/expeditionType", json!("Pickup"), Courier::None),
        (PLATFORM, "/expeditionType", json!(""), Courier::Platform),
        (PICKUP, "/expeditionType", json!(null), Courier::None),
        (PICKUP, "/expeditionType", json!("delivery"), Courier::Restaurant),
    ] {
        let order = new_order(&with(body, place, Some(value))).unwrap();
        assert_eq!(order.content.fulfilment.courier, courier, "{place}");
    }
}

#[test]
fn a_test_order_says_so() {
    let order = new_order(&with(PICKUP, "/test", Some(json!(true)))).unwrap();
    assert_eq!(order.content.note.as_deref(), Some("TEST"));
}

/// `paidPrice` with its toppings, and without them for the line or for each piece: the order's total tells.
#[test]
fn toppings_are_in_the_totals_of_their_lines() {
    let topping = json!([{ "name": "Peynir", "price": "1.50", "quantity": 1 }]);
    for (total, quantity, expected, adjustment) in [
        ("13.50", 1, 1_350, None),
        ("12.00", 1, 1_200, None),
        ("15.00", 2, 1_500, None),
        ("13.50", 2, 1_350, None),
        // None of these: the description leaves the toppings out of the price.
        ("20.00", 1, 1_350, Some(650)),
    ] {
        let products = json!([{ "name": "Tost", "unitPrice": "12.00", "paidPrice": "12.00", "quantity": quantity,
            "selectedToppings": topping }]);
        let body = with(LEAST, "/products", Some(products));
        let body = with(&body, "/price", Some(json!({ "grandTotal": total })));
        let content = new_order(&body).unwrap().content;
        assert_eq!(content.items[0].total.0, expected, "{total} {quantity}");
        assert_eq!(content.amount.subtotal.0, expected, "{total} {quantity}");
        assert_eq!(
            content.amount.adjustment.map(|minor| minor.0),
            adjustment,
            "{total}"
        );
    }
}

#[test]
fn promised_times_and_codes_are_kept_for_the_restaurant() {
    let of = |body: &str| new_order(body).unwrap().content.fulfilment;
    let own = of(OWN);
    assert_eq!(own.promised_at, at("2026-03-01T16:00:00Z"));
    assert_eq!((own.courier_pickup_at, own.pickup_code), (None, None));
    let pickup = of(PICKUP);
    assert_eq!(pickup.promised_at, at("2026-03-01T18:00:00Z"));
    assert_eq!(pickup.pickup_code.as_deref(), Some("4321"));
    let rider = of(&with(
        PLATFORM,
        "/delivery/riderPickupTime",
        Some(json!("2026-03-01T15:45:00Z")),
    ));
    assert_eq!(rider.courier_pickup_at, at("2026-03-01T15:45:00Z"));
}

#[test]
fn a_discount_whose_parts_exceed_it_is_shown_whole() {
    let body = with(PLATFORM, "/discounts/0/amount", Some(json!("5.00")));
    let discounts = new_order(&body).unwrap().content.amount.discounts;
    let funded: Vec<_> = discounts.iter().map(|d| (d.amount.0, d.funded_by)).collect();
    // The order's whole discount is larger: the rest has no name.
    assert_eq!(funded, [(500, FundedBy::Unknown), (2_500, FundedBy::Unknown)]);
}

fn lira(minor: i64) -> String {
    format!("{}.{:02}", minor / 100, minor % 100)
}

proptest::proptest! {
    /// With toppings in `paidPrice`, and without them for each piece or for the line; fees, tip and discount around them.
    #[test]
    fn lines_add_up_in_every_reading(
        reading in 0usize..3,
        lines in proptest::collection::vec(
            (100i64..50_000, 1i64..4, proptest::collection::vec((0i64..5_000, 1i64..3), 0..3)),
            1..5,
        ),
        (fee, tip, discount) in (0i64..3_000, 0i64..1_000, 0i64..100),
    ) {
        let mut sum = 0;
        let mut products = Vec::new();
        for (piece, pieces, toppings) in &lines {
            let extra: i64 = toppings.iter().map(|(price, quantity)| price * quantity).sum();
            let (total, paid) = match reading {
                0 => ((piece + extra) * pieces, (piece + extra) * pieces),
                1 => ((piece + extra) * pieces, piece * pieces),
                _ => (piece * pieces + extra, piece * pieces),
            };
            sum += total;
            let toppings: Vec<Value> = toppings
                .iter()
                .map(|(price, quantity)| json!({ "name": "t", "price": lira(*price), "quantity": quantity }))
                .collect();
            products.push(json!({ "name": "x", "unitPrice": lira(*piece), "paidPrice": lira(paid),
                "quantity": pieces.to_string(), "selectedToppings": toppings }));
        }
        let total = sum + fee + tip - discount;
        let price = json!({ "grandTotal": lira(total), "deliveryFee": lira(fee), "riderTip": lira(tip),
            "discountAmountTotal": lira(discount) });
        let body = with(LEAST, "/products", Some(json!(products)));
        let content = new_order(&with(&body, "/price", Some(price))).unwrap().content;
        let amount = content.amount;
        let of_lines: i64 = content.items.iter().map(|item| item.total.0).sum();
        proptest::prop_assert_eq!((of_lines, amount.subtotal.0, amount.total.0), (sum, sum, total));
        proptest::prop_assert_eq!(amount.adjustment, None);
    }
}
