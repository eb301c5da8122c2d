//! Successful answers: `success`, `data`, and `paging` where there are pages.

use super::paging::Cursor;
use axum::response::{IntoResponse, Response};
use garson_store::feed::Page;
use http::{HeaderValue, header};
use serde::Serialize;
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

fn json<T: Serialize>(body: &T) -> Response {
    match serde_json::to_vec(body) {
        Ok(bytes) => {
            let mut response = bytes.into_response();
            response
                .headers_mut()
                .insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
            response
        }
        Err(error) => {
            tracing::error!(%error, "an answer does not serialise");
            super::ApiError::from_status(http::StatusCode::INTERNAL_SERVER_ERROR).into_response()
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
