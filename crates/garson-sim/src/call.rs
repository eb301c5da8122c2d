//! A request as the platforms see it, and the answer they give.

use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode};
use serde_json::Value;

/// A request below a platform's prefix, or below `/control`.
#[derive(Debug)]
pub(crate) struct Call {
    pub method: Method,
    /// Path and query without the prefix, for the journal.
    pub target: String,
    pub segments: Vec<String>,
    pub query: Vec<(String, String)>,
    pub headers: HeaderMap,
    /// The names of the headers as they were written.
    pub spelled: Vec<String>,
    pub body: Bytes,
}

impl Call {
    /// `path` begins with the prefix's first segment, which is taken off.
    pub(crate) fn new(method: Method, uri: &http::Uri, headers: HeaderMap, body: Bytes) -> (String, Self) {
        let mut segments = uri.path().split('/').skip(1).map(|part| decode(part, false));
        let prefix = segments.next().unwrap_or_default();
        let segments = segments.collect();
        let path = uri.path().get(prefix.len() + 1..).unwrap_or_default();
        let target = uri
            .query()
            .map_or_else(|| path.to_owned(), |query| format!("{path}?{query}"));
        let query = parse_form(uri.query().unwrap_or_default());
        (
            prefix,
            Self {
                method,
                target,
                segments,
                query,
                headers,
                spelled: Vec::new(),
                body,
            },
        )
    }

    pub(crate) fn parts(&self) -> Vec<&str> {
        self.segments.iter().map(String::as_str).collect()
    }

    pub(crate) fn query(&self, name: &str) -> Option<&str> {
        self.query
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// A header for which the platform minds the case of its name.
    pub(crate) fn header_as_spelled(&self, name: &str) -> Option<&str> {
        let is_spelled = self.spelled.iter().any(|spelled| spelled == name);
        is_spelled.then(|| self.header(name)).flatten()
    }

    /// Whether the body says that it is of this type, parameters aside.
    pub(crate) fn is_of_type(&self, media_type: &str) -> bool {
        let given = self.header("content-type").unwrap_or_default();
        given
            .split(';')
            .next()
            .unwrap_or_default()
            .trim()
            .eq_ignore_ascii_case(media_type)
    }

    /// The body as JSON, if it is said to be and is.
    pub(crate) fn json(&self) -> Result<Value, String> {
        if !self.is_of_type("application/json") {
            return Err("Content-Type must be application/json".to_owned());
        }
        serde_json::from_slice(&self.body).map_err(|error| format!("the body is not JSON: {error}"))
    }

    pub(crate) fn form(&self) -> Vec<(String, String)> {
        parse_form(&String::from_utf8_lossy(&self.body))
    }
}

pub(crate) fn parse_form(text: &str) -> Vec<(String, String)> {
    let pairs = text.split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .map(|(k, v)| (decode(k, true), decode(v, true)))
        .collect()
}

fn decode(text: &str, plus_is_space: bool) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        let code = (byte == b'%').then(|| rest.get(..2)).flatten().and_then(hex);
        bytes.push(match (byte, code) {
            (_, Some(decoded)) => {
                rest = rest.get(2..).unwrap_or_default();
                decoded
            }
            (b'+', _) if plus_is_space => b' ',
            _ => byte,
        });
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The byte of two hexadecimal digits.
fn hex(digits: &[u8]) -> Option<u8> {
    u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

/// Percent-encodes text for a path.
pub(crate) fn encode(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let mut path = String::new();
    for byte in text.bytes() {
        if plain(byte) {
            path.push(char::from(byte));
        } else {
            path.push_str(&format!("%{byte:02X}"));
        }
    }
    path
}

/// What a call asks for.
#[derive(Clone, Debug)]
pub(crate) struct Route {
    pub operation: &'static str,
    /// A wider name that means this operation too.
    pub family: &'static str,
    /// The order that the path or the body names, if any.
    pub order: Option<String>,
}

impl Route {
    pub(crate) const UNKNOWN: &str = "unknown";

    pub(crate) fn new(operation: &'static str, order: Option<&str>) -> Self {
        Self {
            operation,
            family: operation,
            order: order.map(str::to_owned),
        }
    }

    pub(crate) fn unknown() -> Self {
        Self::new(Self::UNKNOWN, None)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub status: StatusCode,
    pub body: Bytes,
    pub is_json: bool,
    /// Why, for the journal.
    pub note: String,
    /// The order, where only the work has shown which one it is.
    pub order: Option<String>,
    /// The store of the call, and its body in plain text, for the journal.
    pub store: Option<String>,
    pub request: Option<String>,
}

impl Reply {
    pub(crate) fn json(status: StatusCode, body: &Value) -> Self {
        Self {
            status,
            body: Bytes::from(body.to_string()),
            is_json: true,
            note: String::new(),
            order: None,
            store: None,
            request: None,
        }
    }

    pub(crate) fn ok(body: &Value) -> Self {
        Self::json(StatusCode::OK, body)
    }

    pub(crate) fn empty(status: StatusCode) -> Self {
        Self {
            status,
            body: Bytes::new(),
            is_json: false,
            note: String::new(),
            order: None,
            store: None,
            request: None,
        }
    }

    /// The same, of a call for this store with this body.
    pub(crate) fn of_store(mut self, store: &str, request: Option<String>) -> Self {
        self.store = Some(store.to_owned());
        self.request = request.or(self.request);
        self
    }

    pub(crate) fn with_note(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_taken_apart() {
        let uri = "/getir/food-orders/a%2Fb/verify?x=1%202&y=a+b".parse().unwrap();
        let (prefix, call) = Call::new(Method::POST, &uri, HeaderMap::new(), Bytes::new());
        assert_eq!(prefix, "getir");
        assert_eq!(call.parts(), ["food-orders", "a/b", "verify"]);
        assert_eq!(call.query("x"), Some("1 2"));
        assert_eq!(call.query("y"), Some("a b"));
        assert_eq!(call.target, "/food-orders/a%2Fb/verify?x=1%202&y=a+b");
    }

    #[test]
    fn broken_escapes_stay_as_they_are() {
        assert_eq!(decode("100%", false), "100%");
        assert_eq!(decode("%zz%41", false), "%zzA");
        assert_eq!(encode("a b/ç"), "a%20b%2F%C3%A7");
    }
}
