//! Reads the text of a URL into a target with one spelling only, refusing tricks on the way.

use std::fmt;
use std::sync::Arc;

use http::uri::PathAndQuery;
use url::Url;

use super::Refusal;
use super::origin::{Host, Origin, Scheme};

/// The longest URL text that is read.
pub const MAX_URL_BYTES: usize = 2048;

/// A URL that is well-formed for us to call; whether we may is for [`check`](super::check).
///
/// Its fields are private so that no target exists that did not pass [`Target::parse`].
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Target {
    // Shared, because connections are kept by it.
    origin: Arc<Origin>,
    path_and_query: PathAndQuery,
}

impl Target {
    /// Reads a URL as browsers do (WHATWG), but refuses what they silently repair.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        Self::read(text).map_err(Refusal::malformed)
    }

    fn read(text: &str) -> Result<Self, Refusal> {
        let scheme = check_text(text)?;
        let url = Url::parse(text).map_err(unreadable)?;
        let host = url.host().ok_or_else(no_host)?.to_owned();
        let port = url.port().unwrap_or(scheme.default_port());
        if port == 0 {
            return Err(Refusal::new("port 0 cannot be called"));
        }
        let host = Host::normal(host)?;
        Ok(Self {
            origin: Arc::new(Origin { scheme, host, port }),
            path_and_query: path_and_query(&url)?,
        })
    }

    /// Plain HTTP or TLS.
    pub fn scheme(&self) -> Scheme {
        self.origin.scheme
    }

    /// The name or literal address to call.
    pub fn host(&self) -> &Host {
        &self.origin.host
    }

    /// The port to call, written or meant.
    pub fn port(&self) -> u16 {
        self.origin.port
    }

    /// What to ask for, always beginning with a slash; may carry secrets.
    pub fn path_and_query(&self) -> &PathAndQuery {
        &self.path_and_query
    }

    /// The value for the Host header: the port only where it is not the usual one.
    pub fn authority(&self) -> String {
        self.origin.authority()
    }

    /// The target without path and query, fit for logs.
    pub fn origin(&self) -> &Arc<Origin> {
        &self.origin
    }

    /// The whole URL in its normal spelling; may carry secrets.
    pub fn url(&self) -> String {
        format!("{}{}", self.origin(), self.path_and_query)
    }
}

impl fmt::Debug for Target {
    /// Leaves out path and query, because they may carry secrets.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Target({})", self.origin())
    }
}

/// Checks the text as given, for the URL parser drops or repairs what is refused here.
fn check_text(text: &str) -> Result<Scheme, Refusal> {
    if text.len() > MAX_URL_BYTES {
        let reason = format!("the URL is longer than {MAX_URL_BYTES} bytes");
        return Err(Refusal::new(reason));
    }
    if text.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Err(Refusal::new("the URL contains a space or control character"));
    }
    if text.contains('\\') {
        return Err(Refusal::new("the URL contains a backslash"));
    }
    let known = text
        .split_once("://")
        .and_then(|(scheme, rest)| Some((Scheme::parse(scheme)?, rest)));
    let Some((scheme, rest)) = known else {
        let reason = "the URL does not begin with http:// or https://";
        return Err(Refusal::new(reason));
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.is_empty() {
        return Err(no_host());
    }
    if authority.contains('@') {
        return Err(Refusal::new("the URL contains a user name or password"));
    }
    Ok(scheme)
}

fn path_and_query(url: &Url) -> Result<PathAndQuery, Refusal> {
    let text = match url.query() {
        Some(query) => format!("{}?{query}", url.path()),
        None => url.path().to_owned(),
    };
    let length = text.len();
    // What the HTTP client would not take, or would shorten, is better refused now.
    match PathAndQuery::try_from(text) {
        Ok(read) if read.as_str().len() == length => Ok(read),
        _ => Err(Refusal::new("the URL has a path that cannot be sent")),
    }
}

pub(super) fn no_host() -> Refusal {
    Refusal::new("the URL has no host")
}

pub(super) fn unreadable(error: url::ParseError) -> Refusal {
    Refusal::new(format!("the URL cannot be read: {error}"))
}
