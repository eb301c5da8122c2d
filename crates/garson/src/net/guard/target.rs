//! Parses a URL into a target in one normal form, and refuses ambiguous spellings.

use super::origin::{Host, Origin, Scheme, unreadable};
use garson_core::explanation::TargetRefusal;
use http::uri::PathAndQuery;
use std::fmt;
use std::sync::Arc;
use url::Url;

/// The longest URL text that is read.
pub const MAX_URL_BYTES: usize = 2048;

/// A well-formed URL; whether it may be called is for [`check`](super::check).
///
/// Its fields are private so that no target exists that did not pass [`Target::parse`].
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Target {
    // Shared, because it is the key of the connection pool.
    origin: Arc<Origin>,
    path_and_query: PathAndQuery,
}

impl Target {
    /// Reads a URL as browsers do (WHATWG), but refuses what they silently repair.
    pub fn parse(text: &str) -> Result<Self, TargetRefusal> {
        let scheme = check_text(text)?;
        let url = Url::parse(text).map_err(unreadable)?;
        let host = url.host().ok_or(TargetRefusal::NoHost)?.to_owned();
        let port = url.port().unwrap_or(scheme.default_port());
        if port == 0 {
            return Err(TargetRefusal::PortZero);
        }
        let host = Host::normal(host)?;
        Ok(Self {
            origin: Arc::new(Origin { scheme, host, port }),
            path_and_query: path_and_query(&url)?,
        })
    }

    pub fn scheme(&self) -> Scheme {
        self.origin.scheme
    }

    /// The name or literal address to call.
    pub fn host(&self) -> &Host {
        &self.origin.host
    }

    /// The port, written or default.
    pub fn port(&self) -> u16 {
        self.origin.port
    }

    /// Always begins with a slash; may carry secrets.
    pub fn path_and_query(&self) -> &PathAndQuery {
        &self.path_and_query
    }

    /// The value for the Host header: with the port only if it is not the default.
    pub fn authority(&self) -> String {
        self.origin.authority()
    }

    /// The target without path and query, fit for logs.
    pub fn origin(&self) -> &Arc<Origin> {
        &self.origin
    }

    /// The whole URL in its normal form; may carry secrets.
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

/// Checks the text as given: the URL parser would drop or repair what is refused here.
fn check_text(text: &str) -> Result<Scheme, TargetRefusal> {
    if text.len() > MAX_URL_BYTES {
        return Err(TargetRefusal::TooLong {
            max_bytes: MAX_URL_BYTES,
        });
    }
    if text.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Err(TargetRefusal::HasWhitespace);
    }
    if text.contains('\\') {
        return Err(TargetRefusal::HasBackslash);
    }
    let known = text
        .split_once("://")
        .and_then(|(scheme, rest)| Some((Scheme::parse(scheme)?, rest)));
    let Some((scheme, rest)) = known else {
        return Err(TargetRefusal::NotHttp);
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.is_empty() {
        return Err(TargetRefusal::NoHost);
    }
    if authority.contains('@') {
        return Err(TargetRefusal::HasCredentials);
    }
    Ok(scheme)
}

fn path_and_query(url: &Url) -> Result<PathAndQuery, TargetRefusal> {
    let text = match url.query() {
        Some(query) => format!("{}?{query}", url.path()),
        None => url.path().to_owned(),
    };
    let length = text.len();
    // The HTTP client would refuse or shorten it later.
    match PathAndQuery::try_from(text) {
        Ok(read) if read.as_str().len() == length => Ok(read),
        _ => Err(TargetRefusal::PathNotSendable),
    }
}
