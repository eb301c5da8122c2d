//! The operator's list of single private targets that may be called.

use super::blocks::{self, AddressClass};
use super::names;
use super::origin::Host;
use super::target::Target;
use garson_core::explanation::AddressKind;
use std::fmt;
use std::net::{IpAddr, Ipv6Addr};
use std::str::FromStr;

/// One allowed target: an address or a name, at one port or (without a port) at any.
///
/// An address allows just that address, whichever host resolves to it; a name allows whatever
/// it resolves to, except addresses that are never allowed (metadata, multicast and the like).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exception {
    host: Host,
    port: Option<u16>,
}

impl Exception {
    /// Does it name this host and port?
    pub(super) fn names(&self, target: &Target) -> bool {
        self.is_at(target.port()) && (self.host == *target.host() || self.means_loopback(target.host()))
    }

    /// Does it allow calling this target at this address?
    pub(super) fn allows(&self, target: &Target, ip: IpAddr) -> bool {
        match self.host.literal() {
            Some(allowed) => self.is_at(target.port()) && allowed == ip.to_canonical(),
            None => self.names(target),
        }
    }

    /// `localhost` is this machine, however it is written.
    fn means_loopback(&self, host: &Host) -> bool {
        matches!(&self.host, Host::Name(name) if name.as_str() == "localhost")
            && host.literal().is_some_and(|ip| ip.is_loopback())
    }

    fn is_at(&self, port: u16) -> bool {
        self.port.is_none_or(|allowed| allowed == port)
    }
}

impl fmt::Display for Exception {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.port {
            Some(port) => write!(out, "{}:{port}", self.host),
            None => write!(out, "{}", self.host),
        }
    }
}

/// Why a text is not an [`Exception`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidException {
    text: String,
    reason: String,
}

impl fmt::Display for InvalidException {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { text, reason } = self;
        write!(out, "allowed target {text:?}: {reason}")
    }
}

impl std::error::Error for InvalidException {}

impl FromStr for Exception {
    type Err = InvalidException;

    /// Reads `10.0.4.7:8443`, `[fd00::1]:443`, `till.local:8443`, or a host alone for any port.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        read(text.trim()).map_err(|reason| InvalidException {
            text: text.to_owned(),
            reason,
        })
    }
}

fn read(text: &str) -> Result<Exception, String> {
    if text.contains('/') {
        let reason = "write one host with a port, such as 10.0.4.7:8443, not a URL or a range";
        return Err(reason.to_owned());
    }
    let (host, port) = split(text)?;
    check_allowable(&host)?;
    Ok(Exception { host, port })
}

fn split(text: &str) -> Result<(Host, Option<u16>), String> {
    if let Ok(bare) = text.parse::<Ipv6Addr>() {
        return Ok((Host::from(bare.to_canonical()), None));
    }
    // The last colon of "[fd00::1]" separates no port.
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (text, None),
    };
    let port = port.map(read_port).transpose()?;
    Ok((read_host(host)?, port))
}

fn read_host(text: &str) -> Result<Host, String> {
    Host::parse(text).map_err(|_| format!("{text:?} is neither a host name nor an address"))
}

fn read_port(text: &str) -> Result<u16, String> {
    match text.parse() {
        Ok(port) if port != 0 => Ok(port),
        _ => Err(format!("{text:?} is not a port from 1 to 65535")),
    }
}

/// An exception that can never take effect is a mistake, reported at start.
fn check_allowable(host: &Host) -> Result<(), String> {
    match never_allowed(host) {
        Some(kind) => Err(format!("{host} is {kind}, which is never allowed")),
        None => Ok(()),
    }
}

fn never_allowed(host: &Host) -> Option<AddressKind> {
    match host {
        Host::Name(name) => names::is_metadata(name).then_some(AddressKind::MetadataName),
        Host::V4(ip) => never(IpAddr::V4(*ip)),
        Host::V6(ip) => never(IpAddr::V6(*ip)),
    }
}

fn never(ip: IpAddr) -> Option<AddressKind> {
    match blocks::class_of(ip) {
        AddressClass::Never(kind) => Some(kind),
        AddressClass::Public | AddressClass::Special(_) => None,
    }
}
