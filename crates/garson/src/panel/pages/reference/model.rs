//! The API reference as the page shows it, read from the OpenAPI document.

use super::curl;
use super::schema::{FieldRow, Reader, Schemas, Shape};
use super::text::{Piece, paragraphs, pieces};
use crate::api::openapi::ERRORS;
use crate::http::error::Code;
use std::collections::HashMap;
use utoipa::openapi::path::{Operation, Parameter, ParameterIn, PathItem};
use utoipa::openapi::{Content, OpenApi, Ref, RefOr, Required};

/// The tags in the order of the page; others follow.
const ORDER: [&str; 14] = [
    "Orders",
    "Events",
    "Webhook",
    "Restaurants",
    "Integrations",
    "Stores",
    "Products",
    "Reports",
    "Providers",
    "Payment matching",
    "Packages",
    "Businesses",
    "Keys",
    "Shops",
];
/// The section that also lists the events.
const EVENTS: &str = "Events";

pub struct Reference {
    pub version: String,
    pub about: Vec<Vec<Piece>>,
    pub sections: Vec<Section>,
    pub errors: Vec<ErrorStatus>,
}

/// The operations of a tag.
pub struct Section {
    pub id: String,
    pub name: String,
    pub about: Vec<Piece>,
    pub operations: Vec<OperationView>,
    pub events: Vec<EventView>,
    /// The fields of every event.
    pub event_fields: Vec<FieldRow>,
}

pub struct OperationView {
    pub id: String,
    pub method: &'static str,
    pub path: String,
    /// The summary without its full stop.
    pub title: String,
    pub about: Vec<Vec<Piece>>,
    pub parameters: Vec<ParameterView>,
    pub request: Option<BodyView>,
    pub responses: Vec<ResponseView>,
    pub curl: String,
}

pub struct ParameterView {
    pub name: String,
    pub place: &'static str,
    pub kind: String,
    pub is_required: bool,
    pub about: Vec<Piece>,
}

pub struct BodyView {
    pub is_required: bool,
    pub kind: String,
    pub fields: Vec<FieldRow>,
    /// The operation above that takes the same fields; they are shown there only.
    pub same_as: Option<(String, String)>,
}

pub struct ResponseView {
    pub status: String,
    pub about: Vec<Piece>,
    pub content_type: String,
    pub kind: String,
    pub fields: Vec<FieldRow>,
    /// The operation above that answers with the same fields, by its id and title; they are shown there only.
    pub same_as: Option<(String, String)>,
}

/// An event with an example of its body.
pub struct EventView {
    pub id: String,
    pub name: String,
    pub summary: Vec<Piece>,
    pub example: String,
}

/// An error status with its codes.
pub struct ErrorStatus {
    pub status: &'static str,
    pub about: &'static str,
    pub codes: Vec<&'static str>,
}

impl Reference {
    pub fn read(document: &OpenApi) -> Self {
        let empty = Schemas::new();
        let schemas = document
            .components
            .as_ref()
            .map_or(&empty, |components| &components.schemas);
        Self {
            version: document.info.version.clone(),
            about: paragraphs(document.info.description.as_deref().unwrap_or_default()),
            sections: sections(document, schemas),
            errors: ERRORS.into_iter().map(error_status).collect(),
        }
    }
}

fn error_status((status, about): (&'static str, &'static str)) -> ErrorStatus {
    let codes = Code::ALL
        .iter()
        .filter(|code| code.status().as_str() == status)
        .map(|code| code.as_str());
    ErrorStatus {
        status,
        about,
        codes: codes.collect(),
    }
}

fn sections(document: &OpenApi, schemas: &Schemas) -> Vec<Section> {
    let tags = document.tags.as_deref().unwrap_or_default();
    let rank = |name: &str| {
        let known = ORDER.iter().position(|known| *known == name);
        known.unwrap_or(ORDER.len())
    };
    let mut sections: Vec<Section> = tags
        .iter()
        .map(|tag| Section {
            id: format!("section-{}", tag.name.to_lowercase().replace(' ', "-")),
            name: tag.name.clone(),
            about: pieces(tag.description.as_deref().unwrap_or_default()),
            operations: operations(document, schemas, &tag.name),
            events: Vec::new(),
            event_fields: Vec::new(),
        })
        .filter(|section| !section.operations.is_empty())
        .collect();
    sections.sort_by_key(|section| rank(&section.name));
    show_fields_once(&mut sections);
    if let Some(section) = sections.iter_mut().find(|section| section.name == EVENTS) {
        section.events = events(document);
        let event = RefOr::Ref(Ref::from_schema_name("Event"));
        section.event_fields = Reader::new(schemas).shape(&event, 0).fields;
    }
    sections
}

/// A parameter and a field of so many operations that the page describes them once, at its beginning.
const EVERYWHERE: (&str, &str) = ("Idempotency-Key", "success");

/// Bodies with as many fields are shown once; later ones refer to the first.
const FIELDS_SHOWN_ONCE: usize = 8;

/// The first operation with each list of fields, by its id and title.
type Shown = HashMap<Vec<FieldRow>, (String, String)>;

/// Removes fields that an earlier operation has, and returns which one.
fn show_once(
    shown: &mut Shown,
    fields: &mut Vec<FieldRow>,
    here: &(String, String),
) -> Option<(String, String)> {
    if fields.len() < FIELDS_SHOWN_ONCE {
        return None;
    }
    let first = shown.get(fields).cloned();
    match first {
        Some(_) => fields.clear(),
        None => {
            shown.insert(fields.clone(), here.clone());
        }
    }
    first
}

fn show_fields_once(sections: &mut [Section]) {
    let (mut requests, mut answers) = (Shown::new(), Shown::new());
    let operations = sections
        .iter_mut()
        .flat_map(|section| section.operations.iter_mut());
    for operation in operations {
        let here = (operation.id.clone(), operation.title.clone());
        if let Some(body) = &mut operation.request {
            body.same_as = show_once(&mut requests, &mut body.fields, &here);
        }
        for response in &mut operation.responses {
            response.same_as = show_once(&mut answers, &mut response.fields, &here);
        }
    }
}

/// The operations of a path with their methods.
fn of_path(item: &PathItem) -> impl Iterator<Item = (&'static str, &Operation)> {
    let all = [
        ("GET", &item.get),
        ("POST", &item.post),
        ("PUT", &item.put),
        ("PATCH", &item.patch),
        ("DELETE", &item.delete),
    ];
    all.into_iter()
        .filter_map(|(method, operation)| Some((method, operation.as_ref()?)))
}

fn operations(document: &OpenApi, schemas: &Schemas, tag: &str) -> Vec<OperationView> {
    let mut found = Vec::new();
    for (path, item) in &document.paths.paths {
        for (method, operation) in of_path(item) {
            let tags = operation.tags.as_deref().unwrap_or_default();
            if tags.iter().any(|of| of == tag) {
                found.push(operation_view(schemas, method, path, operation));
            }
        }
    }
    found
}

fn operation_view(
    schemas: &Schemas,
    method: &'static str,
    path: &str,
    operation: &Operation,
) -> OperationView {
    let summary = operation.summary.as_deref().unwrap_or_default();
    let description = operation.description.as_deref().unwrap_or_default();
    let parameters = operation.parameters.as_deref().unwrap_or_default();
    let mut reader = Reader::new(schemas);
    let is_shop = operation.security.is_some();
    OperationView {
        id: operation.operation_id.clone().unwrap_or_default(),
        method,
        path: path.to_owned(),
        title: title(summary),
        // Operations without a description repeat their summary in the document.
        about: paragraphs(if description == summary { "" } else { description }),
        parameters: parameters
            .iter()
            .filter_map(|parameter| match parameter {
                RefOr::T(parameter) if parameter.name == EVERYWHERE.0 => None,
                RefOr::T(parameter) => Some(parameter_view(&mut reader, parameter)),
                RefOr::Ref(_) => None,
            })
            .collect(),
        request: request(&mut reader, operation),
        responses: responses(&mut reader, operation),
        curl: curl::example(method, path, operation, is_shop),
    }
}

fn title(summary: &str) -> String {
    summary.trim_end_matches('.').replace('`', "")
}

fn parameter_view(reader: &mut Reader<'_>, parameter: &Parameter) -> ParameterView {
    let shape = parameter
        .schema
        .as_ref()
        .map_or_else(Shape::default, |schema| reader.shape(schema, 0));
    let about = parameter.description.as_deref().unwrap_or(&shape.about);
    ParameterView {
        name: parameter.name.clone(),
        place: match parameter.parameter_in {
            ParameterIn::Path => "path",
            ParameterIn::Query => "query",
            ParameterIn::Header => "header",
            ParameterIn::Cookie => "cookie",
            ParameterIn::QueryString => "whole query",
        },
        is_required: parameter.required == Required::True,
        about: pieces(about),
        kind: shape.kind,
    }
}

fn shape_of(reader: &mut Reader<'_>, content: &RefOr<Content>) -> Shape {
    match content {
        RefOr::T(Content {
            schema: Some(schema), ..
        }) => reader.shape(schema, 0),
        _ => Shape::default(),
    }
}

fn request(reader: &mut Reader<'_>, operation: &Operation) -> Option<BodyView> {
    let Some(RefOr::T(body)) = &operation.request_body else {
        return None;
    };
    let shape = shape_of(reader, body.content.values().next()?);
    Some(BodyView {
        is_required: body.required != Some(Required::False),
        kind: shape.kind,
        fields: shape.fields,
        same_as: None,
    })
}

/// The successful responses; errors are the same for every operation.
fn responses(reader: &mut Reader<'_>, operation: &Operation) -> Vec<ResponseView> {
    let mut found = Vec::new();
    for (status, response) in &operation.responses.responses {
        let RefOr::T(response) = response else { continue };
        if ERRORS.iter().any(|(error, _)| error == status) {
            continue;
        }
        let plain = |content_type: &str, shape: Shape| ResponseView {
            status: status.clone(),
            about: pieces(&response.description),
            content_type: content_type.to_owned(),
            kind: shape.kind,
            fields: shape.fields,
            same_as: None,
        };
        if response.content.is_empty() {
            found.push(plain("", Shape::default()));
        }
        for (content_type, content) in &response.content {
            let mut shape = shape_of(reader, content);
            shape
                .fields
                .retain(|field| field.depth > 0 || field.name != EVERYWHERE.1);
            found.push(plain(content_type, shape));
        }
    }
    found
}

fn events(document: &OpenApi) -> Vec<EventView> {
    let Some(webhooks) = &document.webhooks else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for (name, item) in &webhooks.paths {
        for (_, operation) in of_path(item) {
            found.push(EventView {
                id: operation.operation_id.clone().unwrap_or_default(),
                name: name.clone(),
                summary: pieces(operation.summary.as_deref().unwrap_or_default()),
                example: curl::request_example(operation).unwrap_or_default(),
            });
        }
    }
    found
}
