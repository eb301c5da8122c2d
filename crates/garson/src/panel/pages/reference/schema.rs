//! Turns a JSON schema into rows of fields: name, type, limits and description, indented by depth.

use super::text::{Piece, pieces};
use serde_json::Value;
use std::collections::BTreeMap;
use utoipa::openapi::schema::{
    AdditionalProperties, ArrayItems, Object, Schema, SchemaFormat, SchemaType, Type,
};
use utoipa::openapi::{Ref, RefOr};

/// Deeper fields are not shown; no schema of ours nests this deep.
const MAX_DEPTH: usize = 9;

/// The named schemas of a document.
pub type Schemas = BTreeMap<String, RefOr<Schema>>;

/// A field of an object, at its depth.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FieldRow {
    pub depth: usize,
    pub name: String,
    pub kind: String,
    pub is_required: bool,
    pub about: Vec<Piece>,
}

/// The type of a value, and the fields in it.
#[derive(Debug, Default)]
pub struct Shape {
    pub kind: String,
    pub about: String,
    pub fields: Vec<FieldRow>,
}

/// Reads schemas of one document.
pub struct Reader<'a> {
    schemas: &'a Schemas,
    /// The named schemas that contain the current one: a schema may contain itself.
    inside: Vec<String>,
}

impl<'a> Reader<'a> {
    pub fn new(schemas: &'a Schemas) -> Self {
        Self {
            schemas,
            inside: Vec::new(),
        }
    }

    /// The type and the fields of a value; its fields are at `depth`.
    pub fn shape(&mut self, schema: &RefOr<Schema>, depth: usize) -> Shape {
        match schema {
            RefOr::Ref(to) => self.named(to, depth),
            RefOr::T(schema) => self.plain(schema, depth),
        }
    }

    fn named(&mut self, to: &Ref, depth: usize) -> Shape {
        let name = to.ref_location.rsplit('/').next().unwrap_or_default().to_owned();
        let Some(schema) = self.schemas.get(&name) else {
            return Shape::default();
        };
        if self.inside.contains(&name) {
            return Shape {
                kind: "object, as the one that contains it".to_owned(),
                about: to.description.clone(),
                fields: Vec::new(),
            };
        }
        self.inside.push(name);
        let mut shape = self.shape(schema, depth);
        self.inside.pop();
        if !to.description.is_empty() {
            shape.about.clone_from(&to.description);
        }
        shape
    }

    fn plain(&mut self, schema: &Schema, depth: usize) -> Shape {
        match schema {
            Schema::Object(object) => self.object(object, depth),
            Schema::Array(list) => {
                let mut shape = match &list.items {
                    ArrayItems::RefOrSchema(items) => self.shape(items, depth),
                    ArrayItems::False => Shape::default(),
                };
                let limits = range(list.min_items, list.max_items, " items");
                shape.kind = format!("list of {}{limits}", plural(&shape.kind));
                if is_nullable(&list.schema_type) {
                    shape.kind.push_str(" or null");
                }
                shape.about = list.description.clone().unwrap_or_default();
                shape
            }
            Schema::OneOf(either) => self.either(&either.items, either.description.as_ref(), depth),
            Schema::AnyOf(either) => self.either(&either.items, either.description.as_ref(), depth),
            Schema::AllOf(all) => {
                let mut whole = Shape::default();
                for part in &all.items {
                    let part = self.shape(part, depth);
                    if whole.kind.is_empty() || !part.kind.is_empty() {
                        whole.kind = part.kind;
                    }
                    whole.fields.extend(part.fields);
                    if whole.about.is_empty() {
                        whole.about = part.about;
                    }
                }
                if let Some(about) = &all.description {
                    whole.about.clone_from(about);
                }
                whole
            }
            _ => Shape::default(),
        }
    }

    /// Alternatives. One beside null is shown as itself.
    fn either(&mut self, items: &[RefOr<Schema>], about: Option<&String>, depth: usize) -> Shape {
        let is_null = |item: &RefOr<Schema>| matches!(item, RefOr::T(Schema::Object(object)) if object.schema_type == SchemaType::Type(Type::Null));
        let has_null = items.iter().any(is_null);
        let mut shapes: Vec<Shape> = items
            .iter()
            .filter(|item| !is_null(item))
            .map(|item| self.shape(item, depth))
            .collect();
        let mut shape = if shapes.len() == 1 {
            shapes.remove(0)
        } else {
            alternatives(shapes, depth)
        };
        if has_null {
            shape.kind.push_str(" or null");
        }
        if let Some(about) = about {
            shape.about.clone_from(about);
        }
        shape
    }

    fn object(&mut self, object: &Object, depth: usize) -> Shape {
        let mut fields = Vec::new();
        if depth < MAX_DEPTH {
            for (name, schema) in &object.properties {
                let shape = self.shape(schema, depth + 1);
                fields.push(FieldRow {
                    depth,
                    name: name.clone(),
                    kind: shape.kind,
                    is_required: object.required.contains(name),
                    about: pieces(&shape.about),
                });
                fields.extend(shape.fields);
            }
            if let Some(AdditionalProperties::RefOr(values)) = object.additional_properties.as_deref() {
                let shape = self.shape(values, depth + 1);
                fields.push(FieldRow {
                    depth,
                    name: "any name".to_owned(),
                    kind: shape.kind,
                    is_required: false,
                    about: pieces(&shape.about),
                });
                fields.extend(shape.fields);
            }
        }
        Shape {
            kind: kind(object),
            about: object.description.clone().unwrap_or_default(),
            fields,
        }
    }
}

/// Several alternatives, each below a row that numbers it.
fn alternatives(shapes: Vec<Shape>, depth: usize) -> Shape {
    let is_enum = shapes.iter().all(|shape| shape.fields.is_empty());
    if is_enum {
        let mut kinds: Vec<String> = Vec::new();
        for shape in shapes {
            if !kinds.contains(&shape.kind) {
                kinds.push(shape.kind);
            }
        }
        return Shape {
            kind: kinds.join(" or "),
            ..Shape::default()
        };
    }
    let mut fields = Vec::new();
    for (number, shape) in (1..).zip(shapes) {
        fields.push(FieldRow {
            depth,
            name: format!("variant {number}"),
            kind: shape.kind,
            is_required: false,
            about: pieces(&shape.about),
        });
        fields.extend(shape.fields.into_iter().map(|field| FieldRow {
            depth: field.depth + 1,
            ..field
        }));
    }
    Shape {
        kind: "one of several objects".to_owned(),
        fields,
        ..Shape::default()
    }
}

fn type_name(kind: &Type) -> &'static str {
    match kind {
        Type::Object => "object",
        Type::String => "string",
        Type::Integer => "integer",
        Type::Number => "number",
        Type::Boolean => "boolean",
        Type::Array => "list",
        Type::Null => "null",
    }
}

fn is_nullable(kind: &SchemaType) -> bool {
    matches!(kind, SchemaType::Array(kinds) if kinds.contains(&Type::Null))
}

/// The type of a value with its format, limits and allowed values.
fn kind(object: &Object) -> String {
    let name = match &object.schema_type {
        SchemaType::Type(kind) => type_name(kind).to_owned(),
        SchemaType::Array(kinds) => {
            let names: Vec<&str> = kinds
                .iter()
                .filter(|kind| **kind != Type::Null)
                .map(type_name)
                .collect();
            names.join(" or ")
        }
        SchemaType::AnyValue => "any value".to_owned(),
    };
    let mut text = match format_name(object.format.as_ref()) {
        Some(format) => format!("{name}, {format}"),
        None => name,
    };
    if let Some(values) = &object.enum_values {
        let values: Vec<String> = values.iter().map(value).collect();
        text.push_str(": ");
        text.push_str(&values.join(", "));
    }
    text.push_str(&range(object.min_length, object.max_length, " characters"));
    let number = |number: &utoipa::Number| {
        serde_json::to_value(number)
            .map(|number| value(&number))
            .unwrap_or_default()
    };
    let (minimum, maximum) = (object.minimum.as_ref(), object.maximum.as_ref());
    text.push_str(&range(minimum.map(number), maximum.map(number), ""));
    if is_nullable(&object.schema_type) {
        text.push_str(" or null");
    }
    if let Some(default) = object.default.as_ref().filter(|default| !default.is_null()) {
        text.push_str(&format!("; default {}", value(default)));
    }
    text
}

/// A value as it is written in a sentence.
fn value(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string().trim_end_matches(".0").to_owned(),
    }
}

fn format_name(format: Option<&SchemaFormat>) -> Option<String> {
    let format = match format? {
        SchemaFormat::KnownFormat(format) => serde_json::to_value(format).ok()?.as_str()?.to_owned(),
        SchemaFormat::Custom(format) => format.clone(),
    };
    // The number of bits of a number is of no use to a reader.
    let is_number = ["int32", "int64", "double", "float"].contains(&format.as_str());
    (!is_number).then_some(format)
}

fn range<T: ToString>(low: Option<T>, high: Option<T>, unit: &str) -> String {
    match (low.map(|low| low.to_string()), high.map(|high| high.to_string())) {
        (Some(low), Some(high)) if low == high => format!(", {low}{unit}"),
        (Some(low), Some(high)) => format!(", {low} to {high}{unit}"),
        (Some(low), None) => format!(", at least {low}{unit}"),
        (None, Some(high)) => format!(", at most {high}{unit}"),
        (None, None) => String::new(),
    }
}

/// `object` → `objects`, `string, uuid` → `strings, uuid`.
fn plural(kind: &str) -> String {
    let end = kind.find([',', ':', ' ']).unwrap_or(kind.len());
    let (word, rest) = kind.split_at(end);
    match word {
        "" => "values".to_owned(),
        "any" | "list" | "one" => kind.to_owned(),
        _ => format!("{word}s{rest}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn rows(schemas: Value, schema: Value) -> (String, Vec<String>) {
        let schemas: Schemas = serde_json::from_value(schemas).unwrap();
        let schema = serde_json::from_value(schema).unwrap();
        let shape = Reader::new(&schemas).shape(&schema, 0);
        let row = |row: &FieldRow| {
            let mark = if row.is_required { "*" } else { "" };
            format!("{} {}{mark}: {}", row.depth, row.name, row.kind)
        };
        (shape.kind.clone(), shape.fields.iter().map(row).collect())
    }

    #[test]
    fn nested_fields_are_listed_with_depth_type_and_limits() {
        let schemas = json!({
            "Item": { "type": "object", "required": ["name"], "properties": {
                "name": { "type": "string", "minLength": 1, "maxLength": 200 },
                "price": { "type": ["integer", "null"], "format": "int64", "minimum": 0 },
            } },
        });
        let schema = json!({ "type": "object", "required": ["items"], "properties": {
            "items": { "type": "array", "maxItems": 5, "items": { "$ref": "#/components/schemas/Item" } },
            "note": { "oneOf": [{ "type": "null" }, { "type": "string", "format": "uuid" }] },
            "kind": { "type": "string", "enum": ["cash", "card"] },
        } });
        let (kind, rows) = rows(schemas, schema);
        assert_eq!(kind, "object");
        assert_eq!(
            rows,
            [
                "0 items*: list of objects, at most 5 items",
                "1 name*: string, 1 to 200 characters",
                "1 price: integer, at least 0 or null",
                "0 kind: string: cash, card",
                "0 note: string, uuid or null",
            ]
        );
    }

    #[test]
    fn schema_that_contains_itself_ends() {
        let schemas = json!({ "Node": { "type": "object", "properties": {
            "children": { "type": "array", "items": { "$ref": "#/components/schemas/Node" } },
        } } });
        let (_, rows) = rows(schemas, json!({ "$ref": "#/components/schemas/Node" }));
        assert_eq!(rows, ["0 children: list of objects, as the one that contains it"]);
    }

    #[test]
    fn alternatives_are_numbered() {
        let object = |name: &str| json!({ "type": "object", "properties": { name: { "type": "boolean" } } });
        let (kind, rows) = rows(json!({}), json!({ "oneOf": [object("a"), object("b")] }));
        assert_eq!(kind, "one of several objects");
        assert_eq!(
            rows,
            [
                "0 variant 1: object",
                "1 a: boolean",
                "0 variant 2: object",
                "1 b: boolean"
            ]
        );
    }
}
