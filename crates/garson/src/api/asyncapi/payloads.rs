//! The payload of each event: the fields of the OpenAPI document's `Veri` that this event has.

use super::events::Described;
use crate::api::openapi::schema_names;
use crate::http::path::API_PREFIX;
use garson_core::event;
use serde_json::{Map, Value, json};
use utoipa::openapi::OpenApi;

/// The schemas of the OpenAPI document.
pub struct Payloads(Value);

/// What an event has in `veri`.
struct Fields {
    /// Always there, and never null.
    given: &'static [&'static str],
    /// Always there, possibly as null.
    nullable: &'static [&'static str],
}

const ALWAYS: &[&str] = &["id", "occurredAt"];
const OF_RESTAURANT: &[&str] = &["restaurantId", "provider"];
const OF_ORDER: &[&str] = &["orderId", "pid", "providerOrderId", "sequence"];

fn fields(name: &str) -> Fields {
    let (given, nullable): (&[&str], &[&str]) = match name {
        event::CREATED => (&["status"], &[]),
        event::MOVED => (&["oldStatus", "newStatus", "by"], &[]),
        event::CANCELLED => (&["status", "by"], &["reason", "note"]),
        event::UPDATED => (&["status", "by", "revision", "total", "currency", "changes"], &[]),
        event::INTEGRATION_TOGGLED => (&["isActive"], &[]),
        event::STORE_CHANGED => (&["oldState", "state"], &["since", "until", "by", "stateReason"]),
        event::PRODUCT_CHANGED => (&["productId", "itemId", "name", "available", "by"], &["until"]),
        event::MENU_CHANGED => (
            &[
                "version",
                "added",
                "removed",
                "prices",
                "names",
                "availability",
                "images",
            ],
            &[],
        ),
        _ => (&[], &[]),
    };
    Fields { given, nullable }
}

/// The name of an event's schema: `OrderCreatedEvent` for `order_created`.
pub fn schema_name(id: &str) -> String {
    let mut name = String::new();
    for word in id.split('_').chain(["event"]) {
        let mut letters = word.chars();
        name.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        name.push_str(letters.as_str());
    }
    name
}

impl Payloads {
    pub fn new(document: &OpenApi) -> Self {
        Self(serde_json::to_value(document).unwrap_or_default())
    }

    /// The schema of an event's body.
    pub fn of(&self, event: &Described) -> Value {
        let Fields { given, nullable } = fields(event.name);
        let is_order = event.name.starts_with("siparis.");
        let mut groups = vec![ALWAYS];
        if event.is_streamed {
            groups.push(OF_RESTAURANT);
        }
        if is_order {
            groups.push(OF_ORDER);
        }
        groups.push(given);
        let mut properties = Map::new();
        let mut required: Vec<&str> = Vec::new();
        for name in groups.into_iter().flatten() {
            properties.insert((*name).to_owned(), without_null(&self.field(name)));
            required.push(name);
        }
        for name in nullable {
            properties.insert((*name).to_owned(), self.field(name));
            required.push(name);
        }
        if is_order {
            let order = json!({
                "allOf": [{ "$ref": "#/components/schemas/OrderView" }],
                "description": "The order at the time of the attempt; only for endpoints whose `body` is `withOrder`, and not on the \
                    stream."
            });
            properties.insert("order".to_owned(), order);
        }
        json!({
            "type": "object",
            "description": event.about,
            "required": ["olay", "veri"],
            "properties": {
                "olay": { "type": "string", "const": event.name },
                "veri": { "type": "object", "required": required, "properties": properties }
            }
        })
    }

    fn field(&self, name: &str) -> Value {
        self.0["components"]["schemas"]["Veri"]["properties"][name].clone()
    }

    /// Adds the schemas of the OpenAPI document to which these refer.
    pub fn add_referenced(&self, schemas: &mut Map<String, Value>) {
        let mut waiting: Vec<String> = schemas.values().flat_map(schema_names).collect();
        while let Some(name) = waiting.pop() {
            if !schemas.contains_key(&name) {
                let schema = self.0["components"]["schemas"][&name].clone();
                waiting.extend(schema_names(&schema));
                schemas.insert(name, schema);
            }
        }
    }

    /// The query of a stream, as the operation describes it.
    pub fn cursor_query(&self) -> Value {
        let path = format!("{API_PREFIX}/events");
        let parameters = self.0["paths"][&path]["get"]["parameters"].as_array();
        let cursor = parameters.and_then(|all| all.iter().find(|it| it["name"] == "cursor"));
        let schema = cursor.map(|it| it["schema"].clone()).unwrap_or_default();
        json!({ "type": "object", "properties": { "cursor": schema } })
    }
}

/// The schema of a field that is never null. In `Veri` it is optional, because other events do not have it.
fn without_null(schema: &Value) -> Value {
    let mut schema = schema.clone();
    let is_null = |kind: &Value| kind == "null";
    if let Some(kinds) = schema["type"].as_array() {
        let mut kinds: Vec<Value> = kinds.iter().filter(|kind| !is_null(kind)).cloned().collect();
        schema["type"] = if kinds.len() == 1 {
            kinds.remove(0)
        } else {
            kinds.into()
        };
    }
    if let Some(variants) = schema["oneOf"].as_array() {
        let mut others = variants.iter().filter(|variant| !is_null(&variant["type"]));
        if let (Some(only), None) = (others.next().cloned(), others.next()) {
            return only;
        }
    }
    schema
}
