//! Every fixture of every platform, with every value in turn missing or of another kind: the order is taken unless the
//! value is one of the connector's essentials.

mod answers;
mod fixtures;

use self::fixtures::{Connector, connectors, getir, migros, trendyol, yemeksepeti};
use crate::find;
use garson_core::order::{NewOrder, ReadingNote};
use garson_core::platform::{FETCHED, HookRequest, Message, News, Unreadable, Verified};
use garson_core::time::Timestamp;
use serde_json::{Value, json};

fn read(key: &str, kind: &'static str, body: impl Into<Vec<u8>>) -> Result<Message, Unreadable> {
    let request = HookRequest {
        kind,
        params: vec![
            ("remoteId".to_owned(), "branch".to_owned()),
            (
                "remoteOrderId".to_owned(),
                "018f3c1e-7b1a-7c3e-8d2a-1b2c3d4e5f60".to_owned(),
            ),
        ],
        body: body.into(),
        received_at: Timestamp::from_millis(1_772_378_535_000),
        ..HookRequest::default()
    };
    find(key).unwrap().read(&Verified::ours(&request))
}

fn order(message: Message) -> Option<NewOrder> {
    match message.news {
        News::Order(sighting) => Some(sighting.order),
        _ => None,
    }
}

fn order_of(key: &str, kind: &'static str, document: &Value) -> NewOrder {
    let message = read(key, kind, document.to_string()).unwrap_or_else(|e| panic!("{key} {document}: {e:?}"));
    order(message).unwrap()
}

/// Every place of a document but the document itself, as a JSON pointer and as a pattern with `[]` for indexes.
fn places(value: &Value, pointer: &str, pattern: &str, found: &mut Vec<(String, String)>) {
    match value {
        Value::Object(fields) => {
            for (name, inner) in fields {
                let pointer = format!("{pointer}/{name}");
                let pattern = match pattern {
                    "" => name.clone(),
                    pattern => format!("{pattern}.{name}"),
                };
                found.push((pointer.clone(), pattern.clone()));
                places(inner, &pointer, &pattern, found);
            }
        }
        Value::Array(list) => {
            for (index, inner) in list.iter().enumerate() {
                let (pointer, pattern) = (format!("{pointer}/{index}"), format!("{pattern}[]"));
                found.push((pointer.clone(), pattern.clone()));
                places(inner, &pointer, &pattern, found);
            }
        }
        _ => {}
    }
}

/// The document with another value at a place, or without the place.
fn with(document: &Value, pointer: &str, value: Option<&Value>) -> Value {
    let mut document = document.clone();
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    match (document.pointer_mut(parent).unwrap(), value) {
        (Value::Object(fields), Some(value)) => drop(fields.insert(name.to_owned(), value.clone())),
        (Value::Object(fields), None) => drop(fields.remove(name)),
        (Value::Array(list), Some(value)) => list[name.parse::<usize>().unwrap()] = value.clone(),
        (Value::Array(list), None) => drop(list.remove(name.parse().unwrap())),
        _ => unreachable!("the place is within something"),
    }
    document
}

#[test]
fn an_odd_value_loses_no_order_of_getir() {
    an_odd_value_loses_no_order(&getir());
}

#[test]
fn an_odd_value_loses_no_order_of_yemeksepeti() {
    an_odd_value_loses_no_order(&yemeksepeti());
}

#[test]
fn an_odd_value_loses_no_order_of_trendyol() {
    an_odd_value_loses_no_order(&trendyol());
}

#[test]
fn an_odd_value_loses_no_order_of_migros() {
    an_odd_value_loses_no_order(&migros());
}

/// What a place may hold instead of its value; the first is nothing at all.
fn odd_values() -> [Option<Value>; 7] {
    [
        None,
        Some(json!(null)),
        Some(json!("odd")),
        Some(json!(-7.5)),
        Some(json!(true)),
        Some(json!(["odd"])),
        Some(json!({ "odd": 1 })),
    ]
}

fn an_odd_value_loses_no_order(connector: &Connector) {
    let odd = odd_values();
    for (kind, document) in &connector.messages {
        let whole = read(connector.key, kind, document.to_string()).unwrap();
        let branch = whole.branch.clone();
        let expected = order(whole);
        let mut all = Vec::new();
        places(document, "", "", &mut all);
        for (pointer, pattern) in all {
            let bare = ["foodOrder.", "updatedOrder."]
                .into_iter()
                .find_map(|wrapper| pattern.strip_prefix(wrapper))
                .unwrap_or(&pattern);
            // Either of Getir's totals will do.
            let is_only_total = connector.key == "getir"
                && bare == "totalPrice"
                && !document.to_string().contains("totalDiscountedPrice\"");
            // What has neither a name nor an id cannot be cooked.
            let is_only_name = pattern == "products[].name" && !document.to_string().contains("\"id\"");
            // An update says nothing without it.
            let is_update = *kind == "status" && pattern == "status";
            let is_excepted = is_only_total || is_only_name || is_update;
            if connector.essentials.contains(&bare) || is_excepted {
                continue;
            }
            for value in &odd {
                let body = with(document, &pointer, value.as_ref()).to_string();
                let name = format!("{} {kind} {pointer} {value:?}", connector.key);
                let message = read(connector.key, kind, body).unwrap_or_else(|e| panic!("{name}: {e:?}"));
                let Some(expected) = &expected else {
                    continue;
                };
                assert_eq!(message.branch, branch, "{name}");
                match order(message) {
                    Some(order) => {
                        assert_eq!(order.identity, expected.identity, "{name}");
                        assert_eq!(
                            order.content.amount.total, expected.content.amount.total,
                            "{name}"
                        );
                        assert!(!order.content.items.is_empty(), "{name}");
                        adds_up(&order, &name);
                    }
                    // A cancellation that shows no whole order still cancels.
                    None => assert_eq!(*kind, "cancel-order", "{name}"),
                }
            }
        }
    }
}

fn adds_up(order: &NewOrder, name: &str) {
    let content = &order.content;
    let lines: i64 = content.items.iter().map(|item| item.total.0).sum();
    let amount = &content.amount;
    let adjustment = amount.adjustment.map_or(0, |minor| minor.0);
    assert_eq!(lines, amount.subtotal.0, "{name}");
    let sum = lines - amount.discount.0 + amount.delivery_fee.0 + amount.tip.0 + adjustment;
    assert_eq!(sum, amount.total.0, "{name}");
    assert!(adjustment == 0 || !content.reading_notes.is_empty(), "{name}");
}

#[test]
fn fixtures_add_up_and_need_no_notes() {
    for connector in connectors() {
        for (kind, document) in &connector.messages {
            let Some(order) = order(read(connector.key, kind, document.to_string()).unwrap()) else {
                continue;
            };
            let name = format!("{} {kind} {}", connector.key, order.identity);
            adds_up(&order, &name);
            // The least order that there is says neither how many nor for how much.
            if order.identity != "t-1" {
                assert_eq!(order.content.reading_notes, [], "{name}");
                assert_eq!(order.content.amount.adjustment, None, "{name}");
            }
        }
    }
}

#[test]
fn essentials_that_cannot_be_read_are_refused() {
    for connector in connectors() {
        for (kind, document) in &connector.messages {
            let mut all = Vec::new();
            places(document, "", "", &mut all);
            for (pointer, pattern) in all {
                let is_order = [FETCHED, "new-order", "order", "created", "order-created"].contains(kind);
                let bare = pattern.strip_prefix("foodOrder.").unwrap_or(&pattern);
                let is_state = bare == "status" && *kind != FETCHED;
                if !is_order || !connector.essentials.contains(&bare) || is_state {
                    continue;
                }
                for value in odd_values().into_iter().chain([Some(json!([]))]) {
                    let body = with(document, &pointer, value.as_ref()).to_string();
                    let name = format!("{} {kind} {pointer} {value:?}", connector.key);
                    match read(connector.key, kind, body) {
                        Err(refused) => {
                            assert!(!refused.path.is_empty() && !refused.message.is_empty(), "{name}");
                        }
                        // A body without any order is a connection test.
                        Ok(message) if bare == "foodOrder" && value.is_none() => {
                            assert_eq!(message.news, News::Nothing, "{name}");
                        }
                        Ok(message) => {
                            // An order that was fetched is of the branch that asked for it.
                            let is_asked = *kind == FETCHED && bare.starts_with("restaurant");
                            assert!(is_asked || may_be_read(bare, value.as_ref()), "{name}");
                            let branch = message.branch.as_deref();
                            assert!(is_asked || branch.is_some_and(|it| !it.is_empty()), "{name}");
                            let order = order(message).unwrap();
                            assert!(
                                !order.identity.is_empty() && !order.content.items.is_empty(),
                                "{name}"
                            );
                            adds_up(&order, &name);
                        }
                    }
                }
            }
        }
    }
}

/// An essential that is there, but another: a text or number may be an id, one of several lines or totals may be missing.
fn may_be_read(place: &str, value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => place.ends_with("[]") || place.contains("iscounted"),
        Some(Value::String(_) | Value::Number(_)) => {
            place.to_lowercase().ends_with("id") || ["store", "token"].contains(&place)
        }
        // A line without a name is cooked as "?", and a discounted price without an amount is none.
        Some(Value::Object(_)) => place.ends_with("[]") || place == "prices.discounted",
        Some(_) => false,
    }
}

fn notes(key: &str, kind: &'static str, body: impl Into<Vec<u8>>) -> Vec<ReadingNote> {
    let message = read(key, kind, body).unwrap_or_else(|e| panic!("{key}: {e:?}"));
    order(message).unwrap().content.reading_notes
}

/// Odd values that platforms and public integrations have been seen to send.
#[test]
fn what_is_left_out_is_noted_with_its_place_and_value() {
    let all = connectors();
    let sample = |key: &str, at: usize| {
        let connector = all.iter().find(|connector| connector.key == key).unwrap();
        connector.messages[at].clone()
    };
    for (key, pointer, value, path) in [
        ("getir", "/doNotKnock", json!("perhaps"), Some("doNotKnock")),
        ("getir", "/doNotKnock", json!("false"), None),
        ("getir", "/isEcoFriendly", json!(1), None),
        ("getir", "/checkoutDate", json!(1_772_378_535_000i64), None),
        (
            "getir",
            "/checkoutDate",
            json!({ "$date": 5 }),
            Some("checkoutDate"),
        ),
        ("getir", "/cancelReason", json!("Vazgeçti"), None),
        (
            "getir",
            "/products/0/optionCategories",
            json!({}),
            Some("products[0].optionCategories"),
        ),
        (
            "getir",
            "/products/0/count",
            json!("two"),
            Some("products[0].count"),
        ),
        (
            "trendyol",
            "/totalDeliveryPrice",
            json!(""),
            Some("totalDeliveryPrice"),
        ),
        ("trendyol", "/lines/1/modifierProducts/0/name", json!(null), None),
        ("trendyol", "/lines/1/removedIngredients", json!(["Soğan"]), None),
        ("migros", "/extendedProperties/ringDoorBell", json!("true"), None),
        (
            "migros",
            "/items/0/options/0/itemNames",
            json!(["Ayran", "Kola"]),
            None,
        ),
        ("migros", "/store", json!(20417), None),
        ("migros", "/customer", json!("Ayşe"), Some("customer")),
        ("yemeksepeti", "/products/0/variation", json!("Büyük"), None),
        ("yemeksepeti", "/comments", json!("Zile basmayın"), None),
        ("yemeksepeti", "/preOrder", json!("false"), None),
        ("yemeksepeti", "/customer", json!([1]), Some("customer")),
        ("yemeksepeti", "/discounts/0", json!("x"), Some("discounts[0]")),
    ] {
        let (kind, document) = sample(key, 0);
        let body = with(&document, pointer, Some(&value));
        let notes = notes(key, kind, body.to_string());
        match path {
            None => assert_eq!(notes, [], "{key} {pointer}"),
            Some(path) => {
                let found = notes.iter().find(|note| note.path == path);
                let found = found.unwrap_or_else(|| panic!("{key} {pointer}: {notes:?}"));
                assert!(found.message.contains(&value.to_string()), "{found:?}");
            }
        }
    }
    let (kind, document) = sample("yemeksepeti", 0);
    let body = with(&document, "/comments", Some(&json!("Zile basmayın")));
    let order = order_of("yemeksepeti", kind, &body);
    assert_eq!(order.content.note.as_deref(), Some("Zile basmayın"));
    let (kind, document) = sample("migros", 0);
    let body = with(
        &document,
        "/items/0/options/0/itemNames",
        Some(&json!(["Ayran", "Kola"])),
    );
    let order = order_of("migros", kind, &body);
    assert_eq!(order.content.items[0].options[0].name, "Ayran, Kola");
}

#[test]
fn a_missing_quantity_is_one_with_a_note() {
    for (connector, pointer, path) in [
        (getir(), "/products/0/count", "products[0].count"),
        (yemeksepeti(), "/products/0/quantity", "products[0].quantity"),
        (trendyol(), "/lines/0/items", "lines[0].items"),
        (migros(), "/items/0/amount", "items[0].amount"),
    ] {
        let (kind, document) = &connector.messages[0];
        let order = order_of(connector.key, kind, &with(document, pointer, None));
        assert_eq!(order.content.items[0].quantity, 1);
        let notes = order.content.reading_notes;
        assert!(notes.iter().any(|note| note.path == path), "{notes:?}");
    }
}

#[test]
fn characters_that_do_not_exist_cost_no_order() {
    let lone = |document: &Value, pointer: &str| {
        let body = with(document, pointer, Some(&json!("LONE"))).to_string();
        body.replace("\"LONE\"", "\"x\\ud800y\"")
    };
    for (connector, pointer, path, identity) in [
        (getir(), "/clientNote", "clientNote", "/id"),
        (
            yemeksepeti(),
            "/comments/customerComment",
            "comments.customerComment",
            "/token",
        ),
        (trendyol(), "/customerNote", "customerNote", "/id"),
        (
            migros(),
            "/extendedProperties/orderNote",
            "extendedProperties.orderNote",
            "/id",
        ),
    ] {
        let (kind, document) = &connector.messages[0];
        let body = lone(document, pointer);
        let message = read(connector.key, kind, body.clone()).unwrap();
        let content = order(message).unwrap().content;
        assert!(content.note.unwrap().contains("x\u{fffd}y"), "{}", connector.key);
        assert!(content.reading_notes.iter().any(|note| note.path == path));
        // The same byte for byte in another encoding.
        let latin = body.replace("\\ud800", "\u{1}").into_bytes();
        let latin: Vec<u8> = latin.into_iter().map(|b| if b == 1 { 0xfd } else { b }).collect();
        assert!(!notes(connector.key, kind, latin).is_empty());
        // What identifies an order must have come whole.
        assert!(read(connector.key, kind, lone(document, identity)).is_err());
    }
}

/// Removing elements shifts the following ones; the notes contain the paths of the original message.
#[test]
fn several_odd_values_are_all_noted_where_they_were() {
    let connector = yemeksepeti();
    let (kind, document) = &connector.messages[0];
    let discounts = json!([5, { "name": "a", "amount": "1" }, "x", null, { "name": [] }]);
    let body = with(document, "/discounts", Some(&discounts));
    let body = with(&body, "/customer/firstName", Some(&json!({})));
    let notes = notes("yemeksepeti", kind, body.to_string());
    let paths: Vec<_> = notes.iter().map(|note| note.path.as_str()).collect();
    assert_eq!(
        paths,
        [
            "customer.firstName",
            "discounts[0]",
            "discounts[2]",
            "discounts[3]",
            "discounts[4].name"
        ]
    );
}

#[test]
fn a_message_of_nothing_but_oddities_is_given_up_in_time() {
    let products: Vec<Value> = (0..3_000)
        .map(|_| json!({ "name": "x", "comment": [1], "variation": 5 }))
        .collect();
    let body = json!({ "token": "t", "price": { "grandTotal": 1 }, "products": products });
    assert!(read("yemeksepeti", "order", body.to_string()).is_err());
}
