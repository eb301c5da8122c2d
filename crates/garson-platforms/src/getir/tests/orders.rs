//! Orders and cancellations as Getir writes them.

use super::*;
use garson_core::money::Minor;
use garson_core::order::{Actor, Change, FulfilmentFlags, ItemOption};
use garson_core::payment::PaymentType;
use garson_core::platform::Which;
use serde_json::json;

#[test]
fn a_pushed_order_is_read_whole() {
    let message = read(NEW_ORDER, NEW);
    assert_eq!(message.map(|m| m.branch), Ok(Some(BRANCH.to_owned())));
    let Sighting {
        order,
        change,
        is_ready,
    } = seen(NEW_ORDER, NEW);
    assert_eq!((change, is_ready), (None, false));
    assert_eq!(
        (order.provider_order_id.as_str(), order.identity.as_str()),
        (ID, ID)
    );
    assert_eq!(order.short_code.as_deref(), Some("A7K2"));
    assert_eq!(
        (order.status, order.provider_status.as_deref()),
        (Status::New, Some("400"))
    );
    assert_eq!(order.provider_data.as_deref(), Some(r#"{"deliveryType":1}"#));
    assert_eq!(order.placed_at, Some(timestamp("2026-03-01T17:30:00Z")));
    assert_eq!(order.accept_by, Some(timestamp("2026-03-01T17:35:00Z")));
    assert_eq!(order.scheduled_for, None);
    let content = order.content;
    assert_eq!(content.note.as_deref(), Some("Zile basmayın lütfen"));
    assert_eq!(content.fulfilment.courier, Courier::Platform);
    let flags = FulfilmentFlags {
        do_not_ring: true,
        drop_at_door: false,
        no_cutlery: true,
    };
    assert_eq!(content.fulfilment.flags, flags);
    let customer = content.customer;
    assert_eq!(customer.name.as_deref(), Some("Ayşe Çağlar"));
    assert_eq!(customer.phone.as_deref(), Some("+90 850 000 00 00"));
    assert_eq!(customer.phone_code.as_deref(), Some("48213"));
    let address = customer.address.unwrap();
    let parts = [
        &address.city,
        &address.district,
        &address.apartment,
        &address.floor,
        &address.door,
    ];
    let parts: Vec<_> = parts.into_iter().flatten().map(String::as_str).collect();
    assert_eq!(parts, ["İstanbul", "Kadıköy", "12", "3", "7"]);
    assert_eq!(address.directions.as_deref(), Some("Fırının karşısı 🥖"));
    assert_eq!((address.lat, address.lon), (Some(40.98765), Some(29.02711)));
    let lines: Vec<_> = content
        .items
        .iter()
        .map(|item| (item.name.as_str(), item.quantity, item.unit_price.0, item.total.0))
        .collect();
    assert_eq!(
        lines,
        [
            ("Adana Dürüm 🌯", 2, 18_050, 41_080),
            ("Mercimek Çorbası", 1, 7_500, 7_500),
            ("Künefe", 1, 12_010, 13_510),
        ]
    );
    let first = &content.items[0];
    assert_eq!(first.id.as_deref(), Some("65f1c0de8a4b2f0012ab1001"));
    assert_eq!(first.product_id.as_deref(), Some("65f1c0de8a4b2f0012ab2001"));
    assert_eq!(first.note.as_deref(), Some("Acılı olsun"));
    let options: Vec<_> = first
        .options
        .iter()
        .map(|o| (o.group.as_deref(), o.name.as_str(), o.price.0, o.removed))
        .collect();
    assert_eq!(
        options,
        [
            (Some("İçecek"), "Ayran", 2_490, false),
            (Some("Çıkarılacaklar"), "Soğan", 0, true),
        ]
    );
    let amount = &content.amount;
    assert_eq!(
        (amount.subtotal.0, amount.discount.0, amount.total.0),
        (62_090, 5_000, 57_090)
    );
    let payment = &content.payment;
    assert_eq!(
        (payment.kind, payment.is_paid, payment.collect),
        (PaymentType::OnlineCard, true, Minor::ZERO)
    );
    assert_eq!(payment.provider_code.as_deref(), Some("1"));
    assert_eq!(payment.name.as_deref(), Some("Online Kart"));
}

#[test]
fn who_cancelled_is_told_by_the_source() {
    use garson_core::order::{Actor, Change};
    for (source, status, by) in [
        (json!("client"), 1500, Actor::Customer),
        (json!("CUSTOMER"), 1500, Actor::Customer),
        (json!("restaurant"), 1500, Actor::Account),
        (json!("admin"), 1600, Actor::Platform),
        (json!(2), 1500, Actor::Platform),
        (json!(2), 1600, Actor::Account),
        (json!(null), 1600, Actor::Account),
    ] {
        let body = with(
            CANCELLED,
            "/foodOrder/cancelReason/cancelSource",
            Some(source.clone()),
        );
        let body = with(&body, "/foodOrder/status", Some(json!(status)));
        let change = seen(CANCEL_ORDER, &body).change;
        assert!(
            matches!(&change, Some(Change::Cancelled { by: found, .. }) if *found == by),
            "{source} {status}: {change:?}"
        );
    }
}

#[test]
fn flat_and_wrapped_say_the_same() {
    let wrapped = json!({ "foodOrder": json_of(NEW) }).to_string();
    assert_eq!(read(NEW_ORDER, &wrapped), read(NEW_ORDER, NEW));
    let broken = with(&wrapped, "/foodOrder/products", Some(json!([{ "price": true }])));
    let path = read(NEW_ORDER, &broken).map_err(|found| found.path);
    assert_eq!(path.map(drop), Err("foodOrder.products[0].name".to_owned()));
}

fn depth(options: &[ItemOption]) -> usize {
    options.iter().map(|o| 1 + depth(&o.options)).max().unwrap_or(0)
}

#[test]
fn options_nest_five_deep_and_deeper_ones_are_not_lost() {
    let order = seen(NEW_ORDER, WRAPPED).order;
    assert_eq!(order.provider_data.as_deref(), Some(r#"{"deliveryType":2}"#));
    assert_eq!(order.content.fulfilment.courier, Courier::Restaurant);
    assert_eq!(depth(&order.content.items[0].options), 5);
    let payment = &order.content.payment;
    assert_eq!(
        (payment.kind, payment.is_paid, payment.collect.0),
        (PaymentType::Cash, false, 20_525)
    );
    assert_eq!(order.content.customer.phone_code, None);

    let deep = (1..=7).rev().fold(json!([]), |inner, level| {
        json!([{ "name": { "tr": "g" }, "options": [{ "name": { "tr": format!("o{level}") }, "optionCategories": inner }] }])
    });
    let order = seen(NEW_ORDER, &with(NEW, "/products/1/optionCategories", Some(deep))).order;
    let options = &order.content.items[1].options;
    assert_eq!(depth(options), 5);
    let last = &options[0].options[0].options[0].options[0].options;
    assert_eq!(
        last.iter().map(|o| o.name.as_str()).collect::<Vec<_>>(),
        ["o5", "o6", "o7"]
    );
}

#[test]
fn orders_for_later_wait_to_be_approved_and_then_to_be_due() {
    let first = seen(NEW_ORDER, SCHEDULED);
    assert_eq!((first.order.status, first.change), (Status::Scheduled, None));
    assert_eq!(first.order.accept_by, None);
    assert_eq!(first.order.scheduled_for, Some(timestamp("2026-03-02T16:00:00Z")));
    assert_eq!(
        first.order.content.fulfilment.promised_at,
        first.order.scheduled_for
    );
}

#[test]
fn every_status_is_placed_on_the_scale() {
    let moved = |to, by| Some((to, by));
    use Actor::{Account, Platform};
    for (base, code, arrived, change, is_ready) in [
        (NEW, 400, Status::New, None, false),
        (NEW, 500, Status::New, moved(Status::Preparing, Account), false),
        (NEW, 550, Status::New, moved(Status::Preparing, Account), true),
        (NEW, 600, Status::New, moved(Status::OnTheWay, Account), true),
        (NEW, 700, Status::New, moved(Status::OnTheWay, Platform), true),
        (NEW, 800, Status::New, moved(Status::OnTheWay, Platform), true),
        (NEW, 900, Status::New, moved(Status::Delivered, Platform), true),
        (NEW, 410, Status::New, None, false),
        (SCHEDULED, 325, Status::Scheduled, None, false),
        (
            SCHEDULED,
            350,
            Status::Scheduled,
            moved(Status::ScheduledAccepted, Account),
            false,
        ),
        (
            SCHEDULED,
            400,
            Status::Scheduled,
            moved(Status::New, Platform),
            false,
        ),
        (
            SCHEDULED,
            500,
            Status::Scheduled,
            moved(Status::Preparing, Platform),
            false,
        ),
    ] {
        let sighting = seen(FETCHED, &with(base, "/status", Some(json!(code))));
        let found = sighting.change.map(|change| match change {
            Change::Moved {
                to,
                by,
                provider_status,
            } => {
                assert_eq!(provider_status, Some(code.to_string()));
                (to, by)
            }
            Change::Cancelled { .. } => unreachable!("{code}"),
        });
        assert_eq!(
            (sighting.order.status, found, sighting.is_ready),
            (arrived, change, is_ready),
            "{code}"
        );
    }
    for (code, to) in [(700, Status::OnTheWay), (900, Status::Delivered)] {
        let own = with(
            &with(NEW, "/status", Some(json!(code))),
            "/deliveryType",
            Some(json!(2)),
        );
        let change = seen(FETCHED, &own).change;
        assert!(
            matches!(change, Some(Change::Moved { to: t, by: Account, .. }) if t == to),
            "{code}"
        );
    }
    assert_eq!(
        read(FETCHED, &with(NEW, "/status", None))
            .map_err(|e| e.path)
            .map(drop),
        Err("status".to_owned())
    );
}

#[test]
fn cancellations_say_who_and_why() {
    let Some(Change::Cancelled {
        by,
        reason,
        note,
        provider_status,
    }) = seen(CANCEL_ORDER, CANCELLED).change
    else {
        panic!("not a cancellation");
    };
    assert_eq!((by, provider_status.as_deref()), (Actor::Platform, Some("1500")));
    assert_eq!(
        reason.map(|r| (r.id, r.name)),
        Some(("65f1c0de8a4b2f0012abc001".to_owned(), "Müşteri isteği".to_owned()))
    );
    assert_eq!(note.as_deref(), Some("Müşteri vazgeçti"));

    let by = |body: &str| match read(CANCEL_ORDER, body).map(|message| message.news) {
        Ok(News::Changed {
            order: Which::Identity(id),
            change: Change::Cancelled { by, .. },
        }) => Ok((id, by)),
        Ok(News::Order(seen)) => match seen.change {
            Some(Change::Cancelled { by, .. }) => Ok((seen.order.identity, by)),
            other => unreachable!("{other:?}"),
        },
        Ok(other) => unreachable!("{other:?}"),
        Err(found) => Err(found.path),
    };
    let id = || "1".to_owned();
    assert_eq!(by(r#"{"id":"1","status":1600}"#), Ok((id(), Actor::Account)));
    assert_eq!(
        by(r#"{"id":"1","restaurant":{"id":"2"}}"#),
        Ok((id(), Actor::Platform))
    );
    assert_eq!(
        by(r#"{"foodOrder":{"id":"1","status":"1500"}}"#),
        Ok((id(), Actor::Platform))
    );
    assert_eq!(by(r#"{"status":1500}"#), Err("id".to_owned()));
    let stale = with(NEW, "/cancelReason", Some(json!({ "id": "7" })));
    assert_eq!(by(&stale), Ok((ID.to_owned(), Actor::Platform)));
}

#[test]
fn every_way_of_paying_has_its_place() {
    use PaymentType::*;
    for (codes, kind, is_paid) in [
        (&[1, 2, 15, 26][..], OnlineCard, true),
        (&[3], CardOnDelivery, false),
        (&[4], Cash, false),
        (
            &[5, 6, 8, 10, 11, 12, 17, 21, 27, 28, 29, 30, 31, 32],
            MealCardOnDelivery,
            false,
        ),
        (&[7, 9], Voucher, false),
        (&[16], Wallet, true),
        (&[19, 22, 24], MealCardOnline, true),
        (&[0, 13, 14, 18, 20, 23, 25, 33, 999], Other, false),
    ] {
        for code in codes {
            let payment = seen(NEW_ORDER, &with(NEW, "/paymentMethod", Some(json!(code))))
                .order
                .content
                .payment;
            assert_eq!((payment.kind, payment.is_paid), (kind, is_paid), "{code}");
            assert_eq!(payment.provider_code, Some(code.to_string()));
            assert_eq!(payment.collect.0, if is_paid { 0 } else { 57_090 });
        }
    }
}
