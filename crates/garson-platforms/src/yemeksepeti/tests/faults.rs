//! What may be missing, and how what is wrong is named.

use super::*;

/// Every value of a document, by its place.
fn places(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => fields.iter().for_each(|(name, value)| {
            found.push(format!("{at}/{name}"));
            places(value, &format!("{at}/{name}"), found);
        }),
        Value::Array(list) => list.iter().enumerate().for_each(|(index, value)| {
            places(value, &format!("{at}/{index}"), found);
        }),
        _ => {}
    }
}

/// Each field may be missing, null or empty but for these.
#[test]
fn what_is_missing_is_done_without() {
    const NEEDED: [&str; 4] = ["/token", "/price", "/price/grandTotal", "/products"];
    for body in [PLATFORM, OWN, PICKUP] {
        let mut found = Vec::new();
        places(&serde_json::from_str(body).unwrap(), "", &mut found);
        for place in found {
            let needed = NEEDED.contains(&place.as_str());
            for value in [None, Some(Value::Null)] {
                let read = new_order(&with(body, &place, value));
                assert_eq!(read.is_err(), needed, "{place}: {:?}", read.err());
            }
        }
    }
    for place in [
        "/price/riderTip",
        "/expiryDate",
        "/products/0/quantity",
        "/discounts/0/amount",
    ] {
        assert!(
            new_order(&with(PLATFORM, place, Some(json!("")))).is_ok(),
            "{place}"
        );
    }
}

#[test]
fn what_cannot_be_read_is_named_where_it_stands() {
    let long = "x".repeat(513);
    let topping = json!([{ "name": "x" }, { "name": "y", "children": [{ "price": {} }] }]);
    for (place, value, path) in [
        ("/token", None, "token"),
        ("/token", Some(json!("")), "token"),
        ("/token", Some(json!(" ")), "token"),
        ("/token", Some(json!("a\u{0}b")), "token"),
        ("/token", Some(json!(long)), "token"),
        ("/token", Some(json!({})), "token"),
        ("/products", Some(json!([])), "products"),
        ("/products", Some(json!({})), "products"),
        ("/products/1", Some(json!({ "comment": "x" })), "products[1].name"),
        ("/price/grandTotal", None, "price.grandTotal"),
        ("/price/grandTotal", Some(json!("")), "price.grandTotal"),
        ("/price/grandTotal", Some(json!("-0.01")), "price.grandTotal"),
        (
            "/price/grandTotal",
            Some(json!("99999999999")),
            "price.grandTotal",
        ),
    ] {
        let found = new_order(&with(PLATFORM, place, value)).map_err(|unreadable| unreadable.path);
        assert_eq!(found.map(drop), Err(path.to_owned()), "{place}");
    }
    for (place, value, path) in [
        ("/code", json!(["x"]), "code"),
        ("/createdAt", json!("yesterday"), "createdAt"),
        (
            "/delivery/expectedDeliveryTime",
            json!(5),
            "delivery.expectedDeliveryTime",
        ),
        ("/products/0/quantity", json!("string"), "products[0].quantity"),
        ("/products/0/quantity", json!(-1), "products[0].quantity"),
        ("/products/0/quantity", json!(1.5), "products[0].quantity"),
        ("/products/2/paidPrice", json!("1,5"), "products[2].paidPrice"),
        (
            "/products/0/selectedToppings",
            topping,
            "products[0].selectedToppings[1].children[0].price",
        ),
        (
            "/price/collectFromCustomer",
            json!(true),
            "price.collectFromCustomer",
        ),
        (
            "/discounts/0/sponsorships/1/amount",
            json!("x"),
            "discounts[0].sponsorships[1].amount",
        ),
    ] {
        let notes = new_order(&with(PLATFORM, place, Some(value)))
            .unwrap()
            .content
            .reading_notes;
        assert!(notes.iter().any(|note| note.path == path), "{place}: {notes:?}");
    }
    let big = json!([{ "name": "x", "unitPrice": "900000000", "quantity": "1000000" }]);
    let path = new_order(&with(LEAST, "/products", Some(big)))
        .map_err(|e| e.path)
        .map(drop);
    assert_eq!(path, Err("products[0].paidPrice".to_owned()));
    for broken in ["", "[]", " [1]", "null", "5", "{", "{} {}"] {
        let found = read(ORDER, broken).map_err(|unreadable| unreadable.path.is_empty());
        assert_eq!(found, Err(false), "{broken}");
    }
    assert!(read("another", PLATFORM).is_err());
}
