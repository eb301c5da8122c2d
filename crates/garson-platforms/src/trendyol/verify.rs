//! A message is genuine when it repeats every HTTP header that was registered with the platform.

use super::names::INBOUND_HEADERS;
use garson_core::integration::Credentials;
use garson_core::platform::{Claim, HookRequest, Verified};
use garson_core::secret::Secret;
use std::collections::BTreeMap;

/// More headers than this are not looked through: every one of them costs a look-up.
const MAX_CLAIMS: usize = 40;

/// Headers of every request. They prove nothing, so no integration is looked up by them.
const STANDARD: [&str; 32] = [
    "accept",
    "accept-charset",
    "accept-encoding",
    "accept-language",
    "cache-control",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "cookie",
    "date",
    "expect",
    "forwarded",
    "from",
    "host",
    "keep-alive",
    "origin",
    "pragma",
    "referer",
    "te",
    "traceparent",
    "tracestate",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "user-agent",
    "via",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-port",
    "x-forwarded-proto",
    "x-request-id",
];

fn is_standard(name: &str) -> bool {
    STANDARD.contains(&name)
}

fn written(name: &str, value: &str) -> Secret<Vec<u8>> {
    Secret::new(format!("{name}: {value}").into_bytes())
}

pub fn claim(request: &HookRequest) -> Claim {
    let presented: Vec<_> = request
        .headers
        .iter()
        .filter(|(name, value)| !is_standard(name) && !value.is_empty())
        .take(MAX_CLAIMS)
        .map(|(name, value)| written(name, value))
        .collect();
    if presented.is_empty() {
        Claim::Nothing
    } else {
        Claim::Secrets(presented)
    }
}

/// The registered headers by name; nothing unless one of them can be a secret and none is empty.
fn registered(credentials: &Credentials) -> Option<BTreeMap<String, Secret<String>>> {
    let given: BTreeMap<String, Secret<String>> =
        serde_json::from_str(credentials.get(INBOUND_HEADERS)?.expose()).ok()?;
    let count = given.len();
    let headers: BTreeMap<_, _> = given
        .into_iter()
        .map(|(name, value)| {
            let value = Secret::new(value.expose().trim().to_owned());
            (name.trim().to_ascii_lowercase(), value)
        })
        .collect();
    let is_whole = headers.len() == count && headers.values().all(|value| !value.expose().is_empty());
    let has_secret = headers.keys().any(|name| !is_standard(name));
    (is_whole && has_secret).then_some(headers)
}

pub fn inbound_secret(credentials: &Credentials) -> Option<Secret<Vec<u8>>> {
    registered(credentials)?
        .iter()
        .find(|(name, _)| !is_standard(name))
        .map(|(name, value)| written(name, value.expose()))
}

/// All headers are compared as one text, so the time taken does not tell which of them is wrong.
pub fn verify<'a>(request: &'a HookRequest, credentials: &Credentials) -> Option<Verified<'a>> {
    let (mut presented, mut expected) = (Vec::new(), Vec::new());
    for (name, value) in &registered(credentials)? {
        let shown = request.header(name).unwrap_or_default();
        for (lines, value) in [(&mut presented, shown), (&mut expected, value.expose())] {
            lines.extend_from_slice(written(name, value).expose());
            lines.push(b'\n');
        }
    }
    let (presented, expected) = (Secret::new(presented), Secret::new(expected));
    Verified::by_secret(request, presented.expose(), expected.expose())
}
