//! Reads the text of a URL into a target with one spelling only, refusing tricks on the way.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use http::uri::PathAndQuery;
use url::Url;

use super::Refusal;

/// The longest URL text that is read.
pub const MAX_URL_BYTES: usize = 2048;

const MAX_NAME_BYTES: usize = 253;
const MAX_LABEL_BYTES: usize = 63;

/// How a target is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// Plain HTTP.
    Http,
    /// HTTP over TLS.
    Https,
}

impl Scheme {
    /// The scheme as it is written in a URL.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }

    /// The port that is meant where none is written.
    pub const fn default_port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let mut known = [Self::Http, Self::Https].into_iter();
        known.find(|scheme| scheme.as_str().eq_ignore_ascii_case(text))
    }
}

/// The host of a target in its one normal spelling.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Host {
    /// A DNS name: lower-case ASCII, no trailing dot.
    Name(String),
    /// A literal IPv4 address, however it was written (also as an IPv4-mapped IPv6 address).
    V4(Ipv4Addr),
    /// A literal IPv6 address.
    V6(Ipv6Addr),
}

impl Host {
    /// The address, if the host is one rather than a name.
    pub fn literal(&self) -> Option<IpAddr> {
        match self {
            Self::Name(_) => None,
            Self::V4(ip) => Some(IpAddr::V4(*ip)),
            Self::V6(ip) => Some(IpAddr::V6(*ip)),
        }
    }

    /// Reads a host as it stands in a URL, so an IPv6 address needs its brackets.
    pub(super) fn parse(text: &str) -> Result<Self, Refusal> {
        Self::normal(url::Host::parse(text).map_err(unreadable)?)
    }

    fn normal(host: url::Host<String>) -> Result<Self, Refusal> {
        match host {
            url::Host::Domain(name) => normal_name(&name).map(Self::Name),
            url::Host::Ipv4(ip) => Ok(Self::V4(ip)),
            url::Host::Ipv6(ip) => Ok(Self::from(ip.to_canonical())),
        }
    }
}

impl From<IpAddr> for Host {
    fn from(ip: IpAddr) -> Self {
        match ip {
            IpAddr::V4(ip) => Self::V4(ip),
            IpAddr::V6(ip) => Self::V6(ip),
        }
    }
}

impl fmt::Display for Host {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => out.write_str(name),
            Self::V4(ip) => write!(out, "{ip}"),
            Self::V6(ip) => write!(out, "[{ip}]"),
        }
    }
}

/// A URL that is well-formed for us to call; whether we may is for [`check`](super::check).
///
/// Its fields are private so that no target exists that did not pass [`Target::parse`].
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Target {
    scheme: Scheme,
    host: Host,
    port: u16,
    path_and_query: String,
}

impl Target {
    /// Reads a URL as browsers do (WHATWG), but refuses what they silently repair.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        let scheme = check_text(text)?;
        let url = Url::parse(text).map_err(unreadable)?;
        let host = url.host().ok_or_else(no_host)?.to_owned();
        let port = url.port().unwrap_or(scheme.default_port());
        if port == 0 {
            return Err(Refusal::new("port 0 cannot be called"));
        }
        Ok(Self {
            scheme,
            host: Host::normal(host)?,
            port,
            path_and_query: path_and_query(&url)?,
        })
    }

    /// Plain HTTP or TLS.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// The name or literal address to call.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// The port to call, written or meant.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// What to ask for, always beginning with a slash; may carry secrets.
    pub fn path_and_query(&self) -> &str {
        &self.path_and_query
    }

    /// The value for the Host header: the port only where it is not the usual one.
    pub fn authority(&self) -> String {
        if self.port == self.scheme.default_port() {
            self.host.to_string()
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }

    /// The target without path and query, fit for logs.
    pub fn origin(&self) -> String {
        format!("{}://{}", self.scheme.as_str(), self.authority())
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

fn path_and_query(url: &Url) -> Result<String, Refusal> {
    let text = match url.query() {
        Some(query) => format!("{}?{query}", url.path()),
        None => url.path().to_owned(),
    };
    // The HTTP client reads it once more: what it would not take is better refused now.
    match PathAndQuery::try_from(text.as_str()) {
        Ok(read) if read.as_str() == text => Ok(text),
        _ => Err(Refusal::new("the URL has a path that cannot be sent")),
    }
}

/// The URL standard lets far more pass as a name than DNS does.
fn normal_name(name: &str) -> Result<String, Refusal> {
    let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
    if name.is_empty() {
        return Err(no_host());
    }
    if name.len() > MAX_NAME_BYTES || !name.split('.').all(is_label) {
        return Err(Refusal::new("the URL has a host that is not a DNS name"));
    }
    Ok(name)
}

fn is_label(label: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
    (1..=MAX_LABEL_BYTES).contains(&label.len()) && label.bytes().all(plain)
}

fn no_host() -> Refusal {
    Refusal::new("the URL has no host")
}

fn unreadable(error: url::ParseError) -> Refusal {
    Refusal::new(format!("the URL cannot be read: {error}"))
}
