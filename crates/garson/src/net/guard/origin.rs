//! A target's scheme, host and port, each in one normal form.

use garson_core::explanation::TargetRefusal;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

const MAX_NAME_BYTES: usize = 253;
const MAX_LABEL_BYTES: usize = 63;

/// Plain HTTP or TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scheme {
    Http,
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

    /// The port of a URL without one.
    pub const fn default_port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut known = [Self::Http, Self::Https].into_iter();
        known.find(|scheme| scheme.as_str().eq_ignore_ascii_case(text))
    }
}

/// The host of a target in its normal form.
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

    /// Reads a host as it is written in a URL, so an IPv6 address needs its brackets.
    pub(super) fn parse(text: &str) -> Result<Self, TargetRefusal> {
        Self::normal(url::Host::parse(text).map_err(unreadable)?)
    }

    pub(super) fn normal(host: url::Host<String>) -> Result<Self, TargetRefusal> {
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

/// What a connection is opened to: the part of a URL before the path.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Origin {
    pub(super) scheme: Scheme,
    pub(super) host: Host,
    pub(super) port: u16,
}

impl Origin {
    /// The value for the Host header: with the port only if it is not the default.
    pub fn authority(&self) -> String {
        if self.port == self.scheme.default_port() {
            self.host.to_string()
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}://{}", self.scheme.as_str(), self.host)?;
        if self.port == self.scheme.default_port() {
            Ok(())
        } else {
            write!(out, ":{}", self.port)
        }
    }
}

/// The URL standard lets far more pass as a name than DNS does.
fn normal_name(name: &str) -> Result<String, TargetRefusal> {
    let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
    if name.is_empty() {
        return Err(TargetRefusal::NoHost);
    }
    if name.len() > MAX_NAME_BYTES || !name.split('.').all(is_label) {
        return Err(TargetRefusal::HostNotDnsName);
    }
    Ok(name)
}

fn is_label(label: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
    (1..=MAX_LABEL_BYTES).contains(&label.len()) && label.bytes().all(plain)
}

pub(super) fn unreadable(error: url::ParseError) -> TargetRefusal {
    TargetRefusal::Unreadable {
        error: error.to_string(),
    }
}
