//! A message from a platform to the service.

use bytes::Bytes;
use http::{Method, Request};

/// A message to the service.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub kind: &'static str,
    pub method: Method,
    /// `{remoteOrderId}` in it is replaced when the message is sent.
    pub url: String,
    pub headers: Vec<(String, String)>,
    pub body: String,
    /// A fault has held it back before; it is not held again.
    pub was_held: bool,
}

pub(crate) const REMOTE_ORDER_ID: &str = "{remoteOrderId}";

impl Message {
    pub(crate) fn post(kind: &'static str, url: String, body: &serde_json::Value) -> Self {
        Self {
            kind,
            method: Method::POST,
            url,
            headers: Vec::new(),
            body: body.to_string(),
            was_held: false,
        }
    }

    pub(crate) fn with_header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    pub(crate) fn request(&self, half: bool) -> Result<Request<Bytes>, String> {
        let mut request = Request::builder().method(self.method.clone()).uri(&self.url);
        request = request
            .header("content-type", "application/json")
            .header("user-agent", "garson-sim");
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let mut body = self.body.clone().into_bytes();
        if half {
            body.truncate(body.len() / 2);
        }
        request.body(Bytes::from(body)).map_err(|error| error.to_string())
    }
}
