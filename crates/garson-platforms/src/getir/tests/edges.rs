//! Orders that lack something, or hold what they should not.

use super::*;
use serde_json::json;

#[test]
fn what_cannot_be_read_is_named_and_what_can_be_missed_is_not() {
    for (pointer, value, path) in [
        ("/id", None, "id"),
        ("/id", Some(json!("  ")), "id"),
        ("/id", Some(json!([])), "id"),
        ("/restaurant", None, "restaurant.id"),
        ("/restaurant/id", None, "restaurant.id"),
        ("/products", None, "products"),
        ("/products", Some(json!([])), "products"),
        ("/products", Some(json!("x")), "products"),
        ("/totalDiscountedPrice", Some(json!(-1)), "totalDiscountedPrice"),
        ("/totalDiscountedPrice", Some(json!(true)), "totalDiscountedPrice"),
    ] {
        let found = read(NEW_ORDER, &with(NEW, pointer, value)).map_err(|found| found.path);
        assert_eq!(found.map(drop), Err(path.to_owned()), "{pointer}");
    }
    for (pointer, value, path) in [
        ("/products/1/price", json!("dear"), "products[1].price"),
        ("/products/1/count", json!(1.5), "products[1].count"),
        (
            "/products/2/optionCategories/0/options/0/price",
            json!({}),
            "products[2].optionCategories[0].options[0].price",
        ),
        ("/totalPrice", json!(true), "totalPrice"),
        ("/checkoutDate", json!("soon"), "checkoutDate"),
        ("/client/name", json!({}), "client.name"),
        ("/status", json!("new"), "status"),
    ] {
        let order = seen(NEW_ORDER, &with(NEW, pointer, Some(value))).order;
        let notes = order.content.reading_notes;
        assert!(notes.iter().any(|note| note.path == path), "{pointer}: {notes:?}");
    }
    let nameless = json!([{ "options": [{}] }]);
    let order = seen(
        NEW_ORDER,
        &with(NEW, "/products/2/optionCategories", Some(nameless)),
    )
    .order;
    assert_eq!(order.content.items[2].options[0].name, "?");
    assert_eq!(
        read(NEW_ORDER, "[]").map_err(|e| e.path).map(drop),
        Err("$".to_owned())
    );
    let bare = with(&with(NEW, "/totalPrice", None), "/totalDiscountedPrice", None);
    assert_eq!(
        read(NEW_ORDER, &bare).map_err(|e| e.path).map(drop),
        Err("totalPrice".to_owned())
    );
}

/// Every place of a document that is an object's field.
pub fn places(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, inner) in fields {
                let at = format!("{at}/{name}");
                found.push(at.clone());
                places(inner, &at, found);
            }
        }
        Value::Array(items) => {
            for (index, inner) in items.iter().enumerate() {
                places(inner, &format!("{at}/{index}"), found);
            }
        }
        _ => {}
    }
}

#[test]
fn each_optional_field_may_be_missing_or_null() {
    let mut all = Vec::new();
    places(&json_of(NEW), "", &mut all);
    let required = ["/id", "/restaurant", "/restaurant/id", "/products"];
    for pointer in all.iter().filter(|p| !required.contains(&p.as_str())) {
        for value in [None, Some(Value::Null)] {
            let read = read(NEW_ORDER, &with(NEW, pointer, value.clone()));
            assert!(read.is_ok(), "{pointer} {value:?}: {read:?}");
        }
    }
}

#[test]
fn what_is_missing_is_worked_out() {
    let order = seen(NEW_ORDER, &with(NEW, "/products/0/totalPriceWithOption", None)).order;
    assert_eq!(order.content.items[0].total.0, 41_080);
    let bare = json!([{ "product": "p", "price": "10.10", "optionCategories": [{ "options": [{ "option": "o", "price": 1 }] }], "count": "3" }]);
    let item = &seen(NEW_ORDER, &with(NEW, "/products", Some(bare)))
        .order
        .content
        .items[0];
    assert_eq!(
        (item.name.as_str(), item.unit_price.0, item.total.0),
        ("p", 1_010, 3_330)
    );
    let order = seen(NEW_ORDER, &with(NEW, "/totalDiscountedPrice", None)).order;
    assert_eq!(
        (order.content.amount.total.0, order.content.amount.discount.0),
        (62_090, 0)
    );
    let order = seen(NEW_ORDER, &with(NEW, "/checkoutDate", Some(json!("")))).order;
    assert_eq!(
        (order.placed_at, order.accept_by),
        (None, Some(timestamp("2026-03-01T17:35:02Z")))
    );
    let unmasked = with(
        &with(NEW, "/client/clientPhoneNumber", None),
        "/client/clientUnmaskedPhoneNumber",
        Some(json!("+905000000000")),
    );
    assert_eq!(
        seen(NEW_ORDER, &unmasked).order.content.customer.phone.as_deref(),
        Some("+905000000000")
    );
}

#[test]
fn messages_about_no_order_are_nothing() {
    let news = |kind, body: &str| read(kind, body).map(|message| (message.branch, message.news));
    for body in ["", " \n", "{}", r#"{"ping":true}"#] {
        assert_eq!(news(NEW_ORDER, body), Ok((None, News::Nothing)), "{body}");
        assert_eq!(news(CANCEL_ORDER, body), Ok((None, News::Nothing)), "{body}");
    }
    for body in ["", "{}", "closed", r#"{"status":200}"#] {
        assert_eq!(news(RESTAURANT_STATUS, body), Ok((None, News::Nothing)), "{body}");
        assert_eq!(news(COURIER_ARRIVAL, body), Ok((None, News::Nothing)), "{body}");
    }
    // What has anything of an order is one, and must say which.
    for field in ["products", "client", "restaurant", "totalPrice", "status"] {
        let value = json_of(NEW)[field].clone();
        let body = serde_json::json!({ field: value }).to_string();
        assert!(read(NEW_ORDER, &body).is_err(), "{field}");
    }
    for wrapped in ["{}", "null", "5", "[]"] {
        let body = format!(r#"{{"foodOrder":{wrapped}}}"#);
        assert!(read(NEW_ORDER, &body).is_err(), "{body}");
    }
    assert!(read(NEW_ORDER, "[]").is_err());
    assert!(read(FETCHED, "{}").is_err());
}
