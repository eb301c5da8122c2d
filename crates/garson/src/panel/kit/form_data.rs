//! Submitted form fields and query parameters.

use super::redirect::safe_path;
use crate::http::body::read as read_body;
use crate::http::body_budget::BodySource;
use crate::http::error::ApiError;
use crate::http::state::HttpState;
use axum::extract::Request;
use std::borrow::Cow;

/// Names and values in their original order. NUL characters are removed, because PostgreSQL cannot store them.
#[derive(Clone, Debug, Default)]
pub struct FormData(Vec<(String, String)>);

impl FormData {
    /// Parses a form body or a query string.
    pub fn parse(encoded: &[u8]) -> Self {
        let clean = |text: Cow<'_, str>| text.replace('\0', "");
        Self(
            url::form_urlencoded::parse(encoded)
                .map(|(name, value)| (clean(name), clean(value)))
                .collect(),
        )
    }

    /// The trimmed value; empty if the field is missing.
    pub fn get(&self, name: &str) -> &str {
        self.raw(name).trim()
    }

    /// The value without trimming, for passwords.
    pub fn raw(&self, name: &str) -> &str {
        let found = self.0.iter().find(|(n, _)| n == name);
        found.map_or("", |(_, value)| value.as_str())
    }

    /// The trimmed value, unless it is empty.
    pub fn non_empty(&self, name: &str) -> Option<String> {
        let value = self.get(name);
        (!value.is_empty()).then(|| value.to_owned())
    }

    /// The page that contains the form; `/` if the form does not say.
    pub fn page(&self) -> &str {
        match self.get("page") {
            "" => safe_path(self.get("back")),
            page => safe_path(page),
        }
    }

    /// Whether a checkbox is checked.
    pub fn is_checked(&self, name: &str) -> bool {
        !self.get(name).is_empty()
    }

    /// All values of a repeated field.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0
            .iter()
            .filter(move |(n, _)| n == name)
            .map(|(_, value)| value.trim())
    }

    /// All fields whose names start with the prefix; the prefix is removed from the names.
    pub fn with_prefix<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.0
            .iter()
            .filter_map(move |(name, value)| Some((name.strip_prefix(prefix)?, value.trim())))
    }

    /// All fields, as they were sent.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Reads the form of a request.
    pub async fn read(request: Request, api: &HttpState, source: BodySource) -> Result<Self, ApiError> {
        Ok(Self::parse(&read_body(api, request, source).await?.bytes))
    }
}
