//! Everything that is stored about a customer as one JSON file, streamed order by order.

use crate::app::App;
use crate::flow::Fault;
use crate::flow::privacy::CustomerExport;
use axum::body::{Body, Bytes};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use http::{HeaderName, header};
use serde_json::Value;
use std::io;
use std::sync::Arc;

/// The file. The first orders are read before the response starts, so that an early error becomes an error response.
pub async fn customer_file(app: Arc<App>, mut export: CustomerExport) -> Result<Response, Fault> {
    let first = export.next(&app).await?.unwrap_or_default();
    let mut text = format!(
        "{{\"success\":true,\"data\":{{\"exportedAt\":\"{}\",\"orders\":[",
        app.now()
    );
    let mut is_first = true;
    append(&mut text, &first, &mut is_first);
    let start = stream::iter([Ok(Bytes::from(text))]);
    let rest = stream::try_unfold(Some((app, export, is_first)), async |state| {
        let Some((app, mut export, mut is_first)) = state else {
            return Ok(None);
        };
        match export.next(&app).await.map_err(truncated)? {
            Some(orders) => {
                let mut text = String::new();
                append(&mut text, &orders, &mut is_first);
                Ok::<_, io::Error>(Some((Bytes::from(text), Some((app, export, is_first)))))
            }
            None => Ok(Some((Bytes::from_static(b"]}}\n"), None))),
        }
    });
    let headers: [(HeaderName, &str); 3] = [
        (header::CONTENT_TYPE, "application/json"),
        (
            header::CONTENT_DISPOSITION,
            "attachment; filename=\"customer.json\"",
        ),
        (header::CACHE_CONTROL, "no-store"),
    ];
    let body = Body::from_stream(stream::StreamExt::chain(start, rest));
    Ok((headers, body).into_response())
}

fn append(text: &mut String, orders: &[Value], is_first: &mut bool) {
    for order in orders {
        text.push_str(if std::mem::take(is_first) { "\n" } else { ",\n" });
        text.push_str(&order.to_string());
    }
}

/// Aborts the connection, so that a part of the file is not mistaken for all of it.
fn truncated(fault: Fault) -> io::Error {
    tracing::error!(?fault, "an export failed after it had started");
    io::Error::other("the file is incomplete")
}
