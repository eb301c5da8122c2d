//! What must be there, what may be missing, and where a fault is said to be.

use super::*;

#[test]
fn every_fault_is_named_where_it_is() {
    for (pointer, value, path) in [
        ("/id", None, "id"),
        ("/id", Some(json!(" ")), "id"),
        ("/id", Some(json!("a\u{0}b")), "id"),
        ("/id", Some(json!("x".repeat(601))), "id"),
        ("/id", Some(json!(true)), "id"),
        ("/supplierId", None, "supplierId"),
        ("/supplierId", Some(json!("1:2")), "supplierId"),
        ("/storeId", Some(json!([])), "storeId"),
        ("/totalPrice", None, "totalPrice"),
        ("/totalPrice", Some(json!("çok")), "totalPrice"),
        ("/totalPrice", Some(json!(-1)), "totalPrice"),
        ("/lines", None, "lines"),
        ("/lines", Some(json!([])), "lines"),
        ("/lines", Some(json!([{ "price": 1 }])), "lines[0].name"),
    ] {
        let found = read_order(&with(GO, pointer, value)).map_err(|unreadable| unreadable.path);
        assert_eq!(found.map(drop), Err(path.to_owned()), "{pointer}");
    }
    for (pointer, value, path) in [
        ("/totalDeliveryPrice", json!(-1), "totalDeliveryPrice"),
        (
            "/lines/0/unitSellingPrice",
            json!(-3),
            "lines[0].unitSellingPrice",
        ),
        (
            "/lines/0/unitSellingPrice",
            json!(999_999_999),
            "lines[0].unitSellingPrice",
        ),
        ("/lines/0/items", json!({}), "lines[0].items"),
        (
            "/lines/1/modifierProducts/0/modifierProducts/0/price",
            json!("x"),
            "lines[1].modifierProducts[0].modifierProducts[0].price",
        ),
        ("/address/floor", json!(["3"]), "address.floor"),
        ("/packageCreationDate", json!("yesterday"), "packageCreationDate"),
    ] {
        let order = read_order(&with(GO, pointer, Some(value))).unwrap();
        let notes = order.content.reading_notes;
        assert!(notes.iter().any(|note| note.path == path), "{pointer}: {notes:?}");
    }
    for kind in [SHIPPED, DELIVERED, CANCELLED, UNSUPPLIED] {
        let place = read_body(kind, "{}").map_err(|unreadable| unreadable.path);
        assert_eq!(place, Err("id".to_owned()), "{kind}");
    }
    assert!(read_body("unheard", "{}").is_err());
}

/// Every place of a document that is a field of an object.
fn fields(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(map) => map.iter().for_each(|(name, value)| {
            found.push(format!("{at}/{name}"));
            fields(value, &format!("{at}/{name}"), found);
        }),
        Value::Array(list) => list
            .iter()
            .enumerate()
            .for_each(|(index, value)| fields(value, &format!("{at}/{index}"), found)),
        _ => {}
    }
}

#[test]
fn only_what_makes_an_order_must_be_there() {
    for body in [GO, STORE, PICKUP, UBER, ENDED] {
        let document: Value = serde_json::from_str(body).unwrap_or_default();
        let mut places = Vec::new();
        fields(&document, "", &mut places);
        assert!(places.len() > 50);
        for place in places {
            let is_needed = matches!(
                place.as_str(),
                "/id" | "/supplierId" | "/storeId" | "/totalPrice" | "/lines"
            );
            let missing = read_order(&with(body, &place, None));
            assert_eq!(missing.is_err(), is_needed, "{place}: {missing:?}");
            let null = read_order(&with(body, &place, Some(Value::Null)));
            assert_eq!(null.is_err(), is_needed, "{place} null");
        }
    }
    let bare = json!({ "id": "p", "supplierId": 1, "storeId": "2", "totalPrice": 5, "lines": [{ "name": "Çay", "price": 5 }] });
    let order = read_order(&bare.to_string());
    assert_eq!(order.map(|order| order.content.items.len()), Ok(1));
}
