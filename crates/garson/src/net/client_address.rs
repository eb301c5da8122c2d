//! A client's address: that of its connection, or the one that a trusted proxy names.

use garson_core::network::Network;
use http::{Extensions, HeaderMap, HeaderName, header};
use std::net::{IpAddr, Ipv6Addr};
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};

/// The address of a request's client; limits by address count with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientAddress(pub IpAddr);

impl ClientAddress {
    #[must_use]
    pub fn of(extensions: &Extensions) -> Option<IpAddr> {
        extensions.get::<Self>().map(|client| client.0)
    }
}

/// The address that limits count by: an IPv6 client can use any address of its /64 network.
#[must_use]
pub fn one_address(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() >> 64 << 64)),
        v4 @ IpAddr::V4(_) => v4,
    }
}

/// The header in which the proxies name the client. Only one is trusted: a proxy forwards the other unchanged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProxyHeader {
    #[default]
    XForwardedFor,
    Forwarded,
}

impl ProxyHeader {
    fn name(self) -> HeaderName {
        match self {
            Self::XForwardedFor => HeaderName::from_static("x-forwarded-for"),
            Self::Forwarded => header::FORWARDED,
        }
    }
}

impl FromStr for ProxyHeader {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.to_ascii_lowercase().as_str() {
            "x-forwarded-for" => Ok(Self::XForwardedFor),
            "forwarded" => Ok(Self::Forwarded),
            _ => Err("not a header that names clients"),
        }
    }
}

/// The proxies whose header is trusted.
#[derive(Clone, Debug, Default)]
pub struct Proxies {
    pub networks: Vec<Network>,
    pub header: ProxyHeader,
}

impl Proxies {
    #[must_use]
    pub fn are_trusted(&self, peer: IpAddr) -> bool {
        self.networks.iter().any(|network| network.contains(peer))
    }

    /// The client of a request: the peer, or the address that the nearest trusted proxies name. Each proxy appends its peer.
    #[must_use]
    pub fn client(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        let peer = peer.to_canonical();
        if !self.are_trusted(peer) {
            self.warn_of_unlisted(peer, headers);
            return peer;
        }
        let named = self.named(headers);
        let mut client = peer;
        for address in named.into_iter().rev() {
            // A trusted proxy did not write an unreadable address, nor anything before it.
            let Some(address) = address else { break };
            client = address;
            if !self.are_trusted(address) {
                break;
            }
        }
        client
    }

    /// Warns once about a sender that names clients and is not trusted: most likely a proxy that is missing in the settings.
    fn warn_of_unlisted(&self, peer: IpAddr, headers: &HeaderMap) {
        static HAS_WARNED: AtomicBool = AtomicBool::new(false);
        if headers.contains_key(self.header.name()) && !HAS_WARNED.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                %peer,
                header = self.header.name().as_str(),
                "a request names its client's address, but its sender is not in server.trusted_proxies: all clients of a \
                 proxy count as one address then"
            );
        }
    }

    fn named(&self, headers: &HeaderMap) -> Vec<Option<IpAddr>> {
        let values = headers.get_all(self.header.name()).iter();
        let elements = values.flat_map(|value| value.to_str().unwrap_or("").split(','));
        elements
            .map(|element| match self.header {
                ProxyHeader::XForwardedFor => read_address(element),
                ProxyHeader::Forwarded => element
                    .split(';')
                    .filter_map(|pair| pair.trim().split_once('='))
                    .find(|(name, _)| name.eq_ignore_ascii_case("for"))
                    .and_then(|(_, address)| read_address(address)),
            })
            .collect()
    }
}

/// Reads `192.0.2.1`, `192.0.2.1:80`, `2001:db8::1`, `[2001:db8::1]:80`, with or without quotes.
fn read_address(text: &str) -> Option<IpAddr> {
    let text = text.trim().trim_matches('"');
    if let Ok(address) = text.parse::<IpAddr>() {
        return Some(address.to_canonical());
    }
    let host = match text.strip_prefix('[') {
        Some(rest) => rest.split_once(']')?.0,
        None => text.split_once(':')?.0,
    };
    host.parse::<IpAddr>().ok().map(|address| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn client(proxies: &Proxies, peer: &str, name: &'static str, said: &[&str]) -> String {
        let mut headers = HeaderMap::new();
        for value in said {
            headers.append(name, HeaderValue::from_str(value).unwrap());
        }
        proxies.client(peer.parse().unwrap(), &headers).to_string()
    }

    #[test]
    fn only_addresses_added_by_trusted_proxies_count() {
        let networks = ["10.0.0.0/8", "::1"].map(|text| text.parse().unwrap()).to_vec();
        let xff = Proxies {
            networks: networks.clone(),
            header: ProxyHeader::XForwardedFor,
        };
        let name = "x-forwarded-for";
        for (peer, said, expected) in [
            ("192.0.2.9", &["203.0.113.1"][..], "192.0.2.9"),
            ("10.1.2.3", &[], "10.1.2.3"),
            ("::ffff:10.1.2.3", &["203.0.113.1"], "203.0.113.1"),
            ("::1", &["2001:db8::7"], "2001:db8::7"),
            // The client itself wrote the first ones.
            ("10.1.2.3", &["1.1.1.1, 203.0.113.1"], "203.0.113.1"),
            ("10.1.2.3", &["1.1.1.1", "203.0.113.1:4711"], "203.0.113.1"),
            ("10.1.2.3", &["203.0.113.1, 10.9.9.9"], "203.0.113.1"),
            ("10.1.2.3", &["203.0.113.1, nonsense, 10.9.9.9"], "10.9.9.9"),
            ("10.1.2.3", &["nonsense"], "10.1.2.3"),
        ] {
            assert_eq!(client(&xff, peer, name, said), expected, "{peer} {said:?}");
        }
        let forwarded = Proxies {
            networks,
            header: ProxyHeader::Forwarded,
        };
        let said = ["for=1.1.1.1, for=\"[2001:db8::7]:80\";proto=https"];
        assert_eq!(client(&forwarded, "10.1.2.3", "forwarded", &said), "2001:db8::7");
        assert_eq!(client(&forwarded, "10.1.2.3", name, &["1.1.1.1"]), "10.1.2.3");
    }

    #[test]
    fn a_network_of_64_bits_is_one_address() {
        let one = |text: &str| one_address(text.parse().unwrap()).to_string();
        assert_eq!(one("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
        assert_eq!(one("::ffff:192.0.2.1"), "192.0.2.1");
    }
}
