use super::*;
use garson_core::time::Zone;
use proptest::strategy::{Strategy, ValueTree};
use proptest::string::string_regex;
use proptest::test_runner::TestRunner;
use serde_json::Value;
use std::collections::BTreeSet;

fn written() -> Value {
    serde_json::to_value(document()).unwrap()
}

/// All operations of paths and webhooks, each with where it stands.
fn all_operations(document: &Value) -> Vec<(String, &Value)> {
    ["paths", "webhooks"]
        .into_iter()
        .flat_map(|part| document[part].as_object().unwrap())
        .flat_map(|(path, item)| {
            let methods = item.as_object().unwrap().iter();
            methods.map(move |(method, operation)| (format!("{method} {path}"), operation))
        })
        .collect()
}

fn references(part: &Value, found: &mut BTreeSet<String>) {
    match part {
        Value::Object(fields) => {
            for (key, value) in fields {
                match (key.as_str(), value) {
                    ("$ref", Value::String(to)) => drop(found.insert(to.clone())),
                    _ => references(value, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, found)),
        _ => {}
    }
}

#[test]
fn every_operation_is_described() {
    let document = written();
    let tags = document["tags"].as_array().unwrap();
    let tags: BTreeSet<&str> = tags.iter().filter_map(|tag| tag["name"].as_str()).collect();
    let mut ids = BTreeSet::new();
    let mut used = BTreeSet::new();
    for (place, operation) in all_operations(&document) {
        for field in ["summary", "description"] {
            assert!(
                operation[field].as_str().is_some_and(|text| !text.is_empty()),
                "{field} of {place}"
            );
        }
        assert!(ids.insert(operation["operationId"].as_str().unwrap()), "{place}");
        for tag in operation["tags"].as_array().unwrap() {
            assert!(tags.contains(tag.as_str().unwrap()), "{tag} of {place}");
            used.insert(tag.as_str().unwrap());
        }
        if let Some(body) = operation.get("requestBody") {
            for content in body["content"].as_object().unwrap().values() {
                assert!(content["example"].is_object(), "no example of {place}");
                assert!(content["schema"]["$ref"].is_string(), "{place}");
            }
        }
        if place.contains("/web-api/") {
            let timeout = &operation["responses"]["504"]["$ref"];
            assert_eq!(timeout, "#/components/responses/GatewayTimeout", "{place}");
        }
    }
    assert_eq!(used, tags);
}

#[test]
fn every_schema_and_response_is_there_and_used() {
    let document = written();
    let mut found = BTreeSet::new();
    references(&document, &mut found);
    let components = ["schemas", "responses"].into_iter().flat_map(|kind| {
        let names = document["components"][kind].as_object().unwrap().keys();
        names.map(move |name| format!("#/components/{kind}/{name}"))
    });
    assert_eq!(found, components.collect());
}

#[test]
fn answers_refer_to_what_they_carry() {
    let document = written();
    let schemas = &document["components"]["schemas"];
    let carried = &schemas["Data_OrderView"]["properties"]["data"];
    assert_eq!(carried["$ref"], "#/components/schemas/OrderView");
    let carried = &schemas["Paged_DeliveryView"]["properties"]["data"]["items"];
    assert_eq!(carried["$ref"], "#/components/schemas/DeliveryView");
}

#[test]
fn orders_in_a_list_are_detailed_or_not() {
    let document = written();
    let items = &document["components"]["schemas"]["Paged_OrderItem"]["properties"]["data"]["items"];
    let refer = |name: &str| serde_json::json!({ "$ref": format!("#/components/schemas/{name}") });
    assert_eq!(
        items["anyOf"],
        Value::from([refer("DetailedItem"), refer("OrderItem")].to_vec())
    );
}

#[test]
fn a_body_that_may_be_left_out_is_not_required() {
    let document = written();
    let body = &document["paths"]["/web-api/v1/orders/cancel/{orderId}"]["post"]["requestBody"];
    assert_ne!(body["required"], true);
    assert_eq!(
        body["content"]["application/json"]["schema"]["$ref"],
        "#/components/schemas/CancelRequest"
    );
}

#[test]
fn events_and_shops_are_part_of_it() {
    let document = written();
    let webhooks: Vec<&String> = document["webhooks"].as_object().unwrap().keys().collect();
    assert_eq!(webhooks.len(), EVENTS.len());
    for platform in garson_platforms::all()
        .iter()
        .filter(|it| it.provider().as_str() == "direct")
    {
        for route in platform.hooks() {
            let path = format!("/hooks/direct{}", route.path);
            assert!(document["paths"][&path]["post"].is_object(), "{path}");
        }
    }
    let codes = document["components"]["schemas"]["Code"]["enum"]
        .as_array()
        .unwrap();
    for code in ["duplicate_order_id", "unknown_store", "provider_timeout"] {
        assert!(codes.iter().any(|known| known == code), "{code}");
    }
}

#[test]
fn the_filter_by_platform_names_each_of_them() {
    let document = written();
    let parameters = document["paths"]["/web-api/v1/orders"]["get"]["parameters"]
        .as_array()
        .unwrap();
    let filter = parameters.iter().find(|it| it["name"] == "provider").unwrap();
    let pattern = filter["schema"]["pattern"].as_str().unwrap();
    for platform in garson_platforms::all() {
        assert!(
            pattern.contains(platform.provider().as_str()),
            "{}",
            platform.provider()
        );
    }
}

#[test]
fn patterns_of_days_have_all_days_of_a_month_and_no_others() {
    let document = written();
    let mut runner = TestRunner::deterministic();
    for (path, names) in [
        ("/web-api/v1/reports/summary", ["from", "to"].as_slice()),
        ("/web-api/v1/orders", &["from", "to", "updatedSince"]),
    ] {
        let parameters = document["paths"][path]["get"]["parameters"].as_array().unwrap();
        for name in names {
            let parameter = parameters.iter().find(|it| it["name"] == *name).unwrap();
            let pattern = parameter["schema"]["pattern"].as_str().unwrap();
            let inner = pattern.strip_prefix('^').and_then(|it| it.strip_suffix('$'));
            let matching = string_regex(inner.unwrap()).unwrap();
            let mut ends = BTreeSet::new();
            for _ in 0..2_000 {
                let text = matching.new_tree(&mut runner).unwrap().current();
                let day = text.get(..10).unwrap();
                assert!(Zone::istanbul().start_of_day(day).is_some(), "{text}");
                ends.insert(day.get(5..).unwrap().to_owned());
            }
            for end in ["01-31", "02-28", "02-29", "04-30", "12-31"] {
                assert!(ends.contains(end), "{path} {name} {end}");
            }
        }
    }
}

/// The request log notes only names that it knows.
#[test]
fn request_log_knows_every_parameter() {
    let document = written();
    let mut names = BTreeSet::new();
    for (_, operation) in all_operations(&document) {
        let parameters = operation["parameters"].as_array().into_iter().flatten();
        let of_query = parameters.filter(|it| it["in"] == "query");
        names.extend(of_query.filter_map(|it| it["name"].as_str()));
    }
    let known: BTreeSet<&str> = crate::http::request_log::PARAMETERS.iter().copied().collect();
    assert_eq!(known, names);
}
