//! The last pass over the document: replaces copies of schemas by references, and removes unused schemas.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use utoipa::openapi::schema::{ArrayItems, Schema};
use utoipa::openapi::{OpenApi, Ref, RefOr};

const PREFIX: &str = "#/components/schemas/";

/// Responses contain copies of the schemas of their content, from which generators would make separate classes.
pub fn refer(document: &mut OpenApi) {
    let Some(components) = &mut document.components else {
        return;
    };
    let named: BTreeMap<String, RefOr<Schema>> = components
        .schemas
        .iter()
        .map(|(name, schema)| (name.clone(), schema.clone()))
        .collect();
    for schema in components.schemas.values_mut() {
        let RefOr::T(Schema::Object(object)) = schema else {
            continue;
        };
        for property in object.properties.values_mut() {
            match property {
                RefOr::T(Schema::Array(list)) => {
                    if let ArrayItems::RefOrSchema(items) = &mut list.items {
                        refer_one(items, &named);
                    }
                }
                other => refer_one(other, &named),
            }
        }
    }
}

/// Replaces a copy of a schema by a reference.
fn refer_one(schema: &mut RefOr<Schema>, named: &BTreeMap<String, RefOr<Schema>>) {
    let is_worth_it = match schema {
        RefOr::T(Schema::Object(object)) => !object.properties.is_empty(),
        RefOr::T(Schema::AllOf(_) | Schema::OneOf(_)) => true,
        _ => false,
    };
    if is_worth_it && let Some((name, _)) = named.iter().find(|(_, known)| *known == schema) {
        *schema = Ref::from_schema_name(name).into();
    }
}

/// Removes schemas that nothing refers to.
pub fn remove_unused(document: &mut OpenApi) {
    let mut used = BTreeSet::new();
    let mut waiting = Vec::new();
    for part in [
        serde_json::to_value(&document.paths),
        serde_json::to_value(&document.webhooks),
        serde_json::to_value(document.components.as_ref().map(|it| &it.responses)),
    ] {
        waiting.extend(names(&part.unwrap_or_default()));
    }
    let Some(components) = &mut document.components else {
        return;
    };
    while let Some(name) = waiting.pop() {
        if let Some(schema) = components.schemas.get(&name)
            && used.insert(name)
        {
            waiting.extend(names(&serde_json::to_value(schema).unwrap_or_default()));
        }
    }
    components.schemas.retain(|name, _| used.contains(name));
}

/// The names of referenced schemas.
pub fn names(part: &Value) -> Vec<String> {
    match part {
        Value::Object(fields) => fields
            .iter()
            .flat_map(|(key, value)| match (key.as_str(), value) {
                ("$ref", Value::String(to)) => {
                    to.strip_prefix(PREFIX).map(str::to_owned).into_iter().collect()
                }
                _ => names(value),
            })
            .collect(),
        Value::Array(items) => items.iter().flat_map(names).collect(),
        _ => Vec::new(),
    }
}
