//! The fields of a form that was sent.

use super::lang::safe_path;
use crate::http::body::read as read_body;
use crate::http::body_budget::BodySource;
use crate::http::error::ApiError;
use crate::http::state::HttpState as Api;
use axum::extract::Request;
use std::borrow::Cow;

/// Names and values, in the order in which they came. Nothing in them holds a NUL.
#[derive(Clone, Debug, Default)]
pub struct Fields(Vec<(String, String)>);

impl Fields {
    /// Reads what a form sends, or what stands behind the `?` of an address.
    pub fn parse(encoded: &[u8]) -> Self {
        let clean = |text: Cow<'_, str>| text.replace('\0', "");
        Self(
            url::form_urlencoded::parse(encoded)
                .map(|(name, value)| (clean(name), clean(value)))
                .collect(),
        )
    }

    /// A field's value, without the blanks around it; empty when it is not there.
    pub fn get(&self, name: &str) -> &str {
        self.raw(name).trim()
    }

    /// A field's value as it was sent: for passwords.
    pub fn raw(&self, name: &str) -> &str {
        let found = self.0.iter().find(|(n, _)| n == name);
        found.map_or("", |(_, value)| value.as_str())
    }

    /// A field's value, unless it is empty.
    pub fn given(&self, name: &str) -> Option<String> {
        let value = self.get(name);
        (!value.is_empty()).then(|| value.to_owned())
    }

    /// The page that the form stands on, which can be looked at; the first page, when the form does not say.
    pub fn page(&self) -> &str {
        match self.get("page") {
            "" => safe_path(self.get("back")),
            page => safe_path(page),
        }
    }

    /// Is a box ticked?
    pub fn is_ticked(&self, name: &str) -> bool {
        !self.get(name).is_empty()
    }

    /// Every value of a field that may come several times.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0
            .iter()
            .filter(move |(n, _)| n == name)
            .map(|(_, value)| value.trim())
    }

    /// Every field whose name begins so, with the rest of its name.
    pub fn below<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.0
            .iter()
            .filter_map(move |(name, value)| Some((name.strip_prefix(prefix)?, value.trim())))
    }
}

impl Fields {
    /// Reads the form that a request carries.
    pub async fn read(request: Request, api: &Api, source: BodySource) -> Result<Self, ApiError> {
        Ok(Self::parse(&read_body(api, request, source).await?.bytes))
    }
}
