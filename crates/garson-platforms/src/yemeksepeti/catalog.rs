//! Sending a whole menu, the report of its import, and the log of imports. Not offered in Turkey yet: a setting switches it on.

use super::names::{CATALOG_PUSH, CHAIN_CODE};
use super::outcome::question;
use super::soft::text;
use super::wire::store::{CatalogAnswer, CatalogLog, CatalogLogLine, CatalogReport};
use super::write::authorized;
use crate::common::body::{fault, parse};
use crate::common::number::lira_text;
use crate::common::request::{request, segment, with_json};
use crate::common::soft::objects;
use crate::common::steps::{setting, single};
use crate::common::text::{MAX_ID, MAX_NOTE, keep_some};
use garson_core::catalog::{CatalogImport, CatalogLogEntry, CatalogPush, CatalogState, CatalogSubmitted};
use garson_core::explanation::{Explanation, PlatformTask};
use garson_core::menu::{Menu, OptionGroup};
use garson_core::platform::{CallError, CatalogSupport, HttpResponse, Link, PlatformError, Step, Unreadable};
use garson_core::time::Timestamp;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

pub const SUPPORT: CatalogSupport = CatalogSupport {
    reports: true,
    has_log: true,
};

/// Toppings within toppings are followed to this depth.
const MAX_DEPTH: usize = 2;
/// Entries of the log that are read.
const LOG_ENTRIES: usize = 20;
/// How much of a report's details is kept.
const MAX_DETAILS: usize = 50;

pub fn push_catalog(
    push: &CatalogPush<'_>,
    link: &Link<'_>,
    answers: &[HttpResponse],
) -> Result<Step<CatalogSubmitted>, PlatformError> {
    check_switched_on(link)?;
    let ask = || {
        let chain = segment(link.credential(CHAIN_CODE)?);
        let mut body = json!({ "vendors": [link.branch], "catalog": { "items": items(push.menu) } });
        if let (Some(url), Some(fields)) = (push.callback_url, body.as_object_mut()) {
            fields.insert("callbackUrl".to_owned(), url.into());
        }
        let url = format!("{}/v2/chains/{chain}/catalog", link.base);
        authorized(with_json("PUT", url, &body), link)
    };
    single(ask, answers, submitted)
}

fn check_switched_on(link: &Link<'_>) -> Result<(), PlatformError> {
    if setting(link, CATALOG_PUSH) == Some("on") {
        return Ok(());
    }
    Err(PlatformError::Unsupported {
        what: PlatformTask::PushCatalog,
    })
}

fn submitted(answer: &HttpResponse) -> Result<CatalogSubmitted, CallError> {
    question(answer)?;
    let shown: CatalogAnswer<'_> = serde_json::from_slice(&answer.body).map_err(|error| {
        CallError::unclear(Explanation::AnsweredUnreadable {
            status: answer.status,
            error: error.to_string(),
        })
    })?;
    let id = keep_some(text(shown.catalog_import_id.as_ref()), MAX_ID);
    let import_id = id.ok_or_else(|| {
        CallError::unclear(Explanation::AnsweredUnreadable {
            status: answer.status,
            error: "catalogImportId is missing".to_owned(),
        })
    })?;
    Ok(CatalogSubmitted { import_id })
}

/// Categories, products and toppings by id; they refer to each other.
fn items(menu: &Menu) -> Map<String, Value> {
    let mut items = Map::new();
    for category in &menu.categories {
        let mut products = Map::new();
        for product in &category.products {
            products.insert(product.id.clone(), reference(&product.id, "Product"));
            let mut fields = json!({
                "id": product.id,
                "type": "Product",
                "title": { "default": product.name },
                "price": lira_text(product.price).get(),
                "active": product.is_available,
                "toppings": toppings(&product.option_groups, 1, &mut items),
            });
            if let (Some(text), Some(fields)) = (&product.description, fields.as_object_mut()) {
                fields.insert("description".to_owned(), json!({ "default": text }));
            }
            items.insert(product.id.clone(), fields);
        }
        let fields = json!({
            "id": category.id,
            "type": "Category",
            "title": { "default": category.name },
            "order": category.position,
            "products": products,
        });
        items.insert(category.id.clone(), fields);
    }
    items
}

fn reference(id: &str, kind: &str) -> Value {
    json!({ "id": id, "type": kind })
}

fn toppings(groups: &[OptionGroup], depth: usize, items: &mut Map<String, Value>) -> Map<String, Value> {
    let mut listed = Map::new();
    if depth > MAX_DEPTH {
        return listed;
    }
    for group in groups {
        let mut products = Map::new();
        for option in &group.options {
            let mut place = reference(&option.id, "Product");
            if let Some(fields) = place.as_object_mut() {
                fields.insert("price".to_owned(), lira_text(option.price).get().into());
            }
            products.insert(option.id.clone(), place);
            let fields = json!({
                "id": option.id,
                "type": "Product",
                "title": { "default": option.name },
                "active": option.is_available,
                "toppings": toppings(&option.option_groups, depth + 1, items),
            });
            items.entry(option.id.clone()).or_insert(fields);
        }
        let fields = json!({
            "id": group.id,
            "type": "Topping",
            "title": { "default": group.name },
            "quantity": { "minimum": group.min, "maximum": group.max },
            "products": products,
        });
        items.insert(group.id.clone(), fields);
        listed.insert(group.id.clone(), reference(&group.id, "Topping"));
    }
    listed
}

pub fn read_import(body: &[u8]) -> Result<CatalogImport, Unreadable> {
    let shown: CatalogReport<'_> = parse(body)?;
    let import_id = keep_some(text(shown.catalog_import_id.as_ref()), MAX_ID)
        .ok_or_else(|| fault("catalogImportId", "is missing"))?;
    let state = state_of(text(shown.status.as_ref()));
    let details = shown.details.as_deref().unwrap_or_default().iter();
    Ok(CatalogImport {
        import_id,
        state,
        message: keep_some(text(shown.message.as_ref()), MAX_NOTE),
        details: details
            .take(MAX_DETAILS)
            .filter_map(|raw| keep_some(Some(raw.get()), 500))
            .collect(),
    })
}

fn state_of(word: Option<&str>) -> CatalogState {
    match word.map(str::trim) {
        Some("in_progress") => CatalogState::InProgress,
        Some("done") => CatalogState::Done,
        Some("done_with_errors") => CatalogState::DoneWithErrors,
        Some("failed") => CatalogState::Failed,
        _ => CatalogState::Unknown,
    }
}

/// Reads the log of imports, of which the platform keeps the last 30 days.
pub fn read_log(
    since: Timestamp,
    link: &Link<'_>,
    answers: &[HttpResponse],
) -> Result<Step<Vec<CatalogLogEntry>>, PlatformError> {
    check_switched_on(link)?;
    let ask = || {
        let chain = segment(link.credential(CHAIN_CODE)?);
        let branch = segment(link.branch);
        let url = format!(
            "{}/v2/chains/{chain}/vendors/{branch}/menu-import-logs?from={since}&limit={LOG_ENTRIES}&sort=desc",
            link.base
        );
        authorized(request("GET", url), link)
    };
    single(ask, answers, log_entries)
}

fn log_entries(answer: &HttpResponse) -> Result<Vec<CatalogLogEntry>, CallError> {
    question(answer)?;
    let shown: CatalogLog<'_> = serde_json::from_slice(&answer.body).map_err(|error| {
        CallError::later(Explanation::AnsweredUnreadable {
            status: answer.status,
            error: error.to_string(),
        })
    })?;
    // The entries are listed by vendor; only those of one were asked for.
    let listed: Vec<&RawValue> = shown.menu_import_logs.into_values().flatten().collect();
    let lines: Vec<CatalogLogLine<'_>> = objects(&listed);
    let entry = |line: CatalogLogLine<'_>| {
        Some(CatalogLogEntry {
            created_at: text(line.created_at.as_ref()).and_then(|at| at.parse().ok()),
            import: CatalogImport {
                import_id: keep_some(text(line.menu_import_id.as_ref()), MAX_ID)?,
                state: state_of(text(line.status.as_ref())),
                message: keep_some(text(line.message.as_ref()), MAX_NOTE),
                details: Vec::new(),
            },
        })
    };
    let mut entries: Vec<CatalogLogEntry> = lines.into_iter().filter_map(entry).collect();
    entries.sort_by_key(|entry| std::cmp::Reverse(entry.created_at));
    entries.truncate(LOG_ENTRIES);
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str) -> Result<Vec<CatalogLogEntry>, CallError> {
        log_entries(&HttpResponse {
            status: 200,
            body: body.as_bytes().to_vec(),
        })
    }

    #[test]
    fn log_is_newest_first_and_skips_what_is_unreadable() {
        let body = r#"{"menuImportLogs":{"kadikoy":[
            {"createdAt":"2026-01-02T16:56:00Z","menuImportId":"n2","message":"","status":"in_progress","version":1},
            {"createdAt":"2026-01-02T16:56:05Z","menuImportId":"n2","message":"Import successful","status":"done"},
            {"menuImportId":"n1","message":7,"status":"shiny"}, {"status":"done"}, ["n3"], null]}}"#;
        let found = read(body).unwrap();
        let shown: Vec<(&str, CatalogState)> = found
            .iter()
            .map(|it| (it.import.import_id.as_str(), it.import.state))
            .collect();
        assert_eq!(
            shown,
            [
                ("n2", CatalogState::Done),
                ("n2", CatalogState::InProgress),
                ("n1", CatalogState::Unknown)
            ]
        );
        assert_eq!(found[0].import.message.as_deref(), Some("Import successful"));
        assert_eq!(read("{}").unwrap(), []);
        assert_eq!(read(r#"{"menuImportLogs":[]}"#).unwrap(), []);
        assert!(read("<html>").is_err());
    }
}
