//! Bodies of successful responses: `success`, `data`, and `paging` for lists.

use crate::flow::read::Page;
use crate::http::cursor::Cursor;
use crate::http::error::ApiError;
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, header};
use serde::Serialize;
use std::ops::Range;
use utoipa::ToSchema;

/// A result.
#[derive(Serialize, ToSchema)]
pub struct Data<T: ToSchema> {
    /// Always true.
    success: bool,
    data: T,
}

impl<T: ToSchema> Data<T> {
    pub fn new(data: T) -> Self {
        Self { success: true, data }
    }
}

/// It is done; there is nothing to say about it.
#[derive(Serialize, ToSchema)]
pub struct Done {
    /// Always true.
    success: bool,
}

impl Done {
    pub fn new() -> Self {
        Self { success: true }
    }
}

/// A page of a list, newest first.
#[derive(Serialize, ToSchema)]
pub struct Paged<T: ToSchema> {
    /// Always true.
    success: bool,
    data: Vec<T>,
    paging: Paging,
}

/// Where to go from a page.
#[derive(Serialize, ToSchema)]
pub struct Paging {
    /// The cursor towards older ones; null at the end.
    #[schema(value_type = Option<String>)]
    next: Option<Cursor>,
    /// The cursor towards newer ones (`dir=prev`); also on the newest page, for what comes later.
    #[schema(value_type = Option<String>)]
    prev: Option<Cursor>,
}

impl<T: ToSchema> Paged<T> {
    pub fn new<S>(page: Page<S>, view: impl FnMut(S) -> T) -> Self {
        Self {
            success: true,
            data: page.items.into_iter().map(view).collect(),
            paging: Paging {
                next: page.next.map(Cursor),
                prev: page.prev.map(Cursor),
            },
        }
    }
}

/// A body that is JSON already.
pub struct Rendered(Vec<u8>);

/// Writes a page as [`Paged`] would be written, item by item while they are read.
pub struct PageWriter(Vec<u8>);

const BEFORE_ITEMS: &[u8] = br#"{"success":true,"data":["#;

impl PageWriter {
    pub fn with_capacity(items: usize, bytes_each: usize) -> Self {
        let mut out = Vec::with_capacity(128 + items * bytes_each);
        out.extend_from_slice(BEFORE_ITEMS);
        Self(out)
    }

    /// Writes an item; returns its position.
    pub fn item(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> Range<usize> {
        if self.0.len() > BEFORE_ITEMS.len() {
            self.0.push(b',');
        }
        let start = self.0.len();
        write(&mut self.0);
        start..self.0.len()
    }

    /// Finishes the page with its selection of the written items, in its own order. A list that is merged from several ranges is
    /// written range by range, so that its page may be any selection.
    pub fn finish(mut self, page: &Page<Range<usize>>) -> Rendered {
        let mut end = BEFORE_ITEMS.len();
        let is_beginning = page.items.iter().enumerate().all(|(n, item)| {
            let separator = usize::from(n > 0);
            let follows = item.start == end + separator;
            end = item.end;
            follows
        });
        if is_beginning {
            self.0.truncate(end);
        } else {
            let selected = page.items.iter().filter_map(|item| self.0.get(item.clone()));
            self.0 = [BEFORE_ITEMS, &selected.collect::<Vec<_>>().join(&b',')].concat();
        }
        self.0.extend_from_slice(br#"],"paging":"#);
        let paging = Paging {
            next: page.next.map(Cursor),
            prev: page.prev.map(Cursor),
        };
        // Hexadecimal digits always serialise.
        let _ = serde_json::to_writer(&mut self.0, &paging);
        self.0.push(b'}');
        Rendered(self.0)
    }
}

#[cfg(test)]
impl Rendered {
    pub fn into_text(self) -> String {
        String::from_utf8(self.0).unwrap()
    }
}

impl IntoResponse for Rendered {
    fn into_response(self) -> Response {
        let mut response = self.0.into_response();
        response
            .headers_mut()
            .insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        response
    }
}

fn json<T: Serialize>(body: &T) -> Response {
    match serde_json::to_vec(body) {
        Ok(bytes) => Rendered(bytes).into_response(),
        Err(error) => {
            tracing::error!(%error, "a response could not be serialised");
            ApiError::from_status(http::StatusCode::INTERNAL_SERVER_ERROR).into_response()
        }
    }
}

impl<T: Serialize + ToSchema> IntoResponse for Data<T> {
    fn into_response(self) -> Response {
        json(&self)
    }
}

impl<T: Serialize + ToSchema> IntoResponse for Paged<T> {
    fn into_response(self) -> Response {
        json(&self)
    }
}

impl IntoResponse for Done {
    fn into_response(self) -> Response {
        json(&self)
    }
}
