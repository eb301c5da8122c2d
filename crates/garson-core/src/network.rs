//! Networks of addresses, as settings and keys name them.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

/// A network, such as 10.0.0.0/8, or a single address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Network {
    address: IpAddr,
    prefix: u32,
}

impl FromStr for Network {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (address, prefix) = match text.trim().split_once('/') {
            Some((address, prefix)) => (address, Some(prefix)),
            None => (text.trim(), None),
        };
        let address = address.parse::<IpAddr>().map_err(|_| "not an address")?;
        let longest = if address.is_ipv4() { 32 } else { 128 };
        let prefix = match prefix {
            Some(prefix) => prefix.parse::<u32>().map_err(|_| "not a length of a prefix")?,
            None => longest,
        };
        if prefix > longest {
            return Err("the prefix is longer than the address");
        }
        // Addresses of clients are compared in this form, too.
        Ok(match address.to_canonical() {
            IpAddr::V4(v4) if address.is_ipv6() && prefix >= 96 => Self {
                address: IpAddr::V4(v4),
                prefix: prefix - 96,
            },
            _ => Self { address, prefix },
        })
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix)
    }
}

impl From<Network> for String {
    fn from(network: Network) -> Self {
        network.to_string()
    }
}

impl TryFrom<String> for Network {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl Network {
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        self.contains_exactly(address.to_canonical())
    }

    fn contains_exactly(&self, address: IpAddr) -> bool {
        match (self.address, address) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                (own.to_bits() ^ other.to_bits())
                    .checked_shr(32 - self.prefix)
                    .unwrap_or(0)
                    == 0
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => {
                (own.to_bits() ^ other.to_bits())
                    .checked_shr(128 - self.prefix)
                    .unwrap_or(0)
                    == 0
            }
            _ => false,
        }
    }

    /// Is every address of the other network in this one?
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        self.prefix <= other.prefix && self.contains_exactly(other.address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn network(text: &str) -> Network {
        text.parse().unwrap()
    }

    #[test]
    fn network_is_written_as_it_is_read() {
        for text in ["10.0.0.0/8", "192.0.2.7/32", "2001:db8::/32", "0.0.0.0/0"] {
            assert_eq!(network(text).to_string(), text);
        }
        assert_eq!(network("192.0.2.7").to_string(), "192.0.2.7/32");
        assert_eq!(network("::ffff:192.0.2.0/120").to_string(), "192.0.2.0/24");
        for wrong in [
            "",
            "10.0.0.0/33",
            "10.0.0/8",
            "::/129",
            "10.0.0.0/-1",
            "10.0.0.0/8/8",
        ] {
            assert!(wrong.parse::<Network>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn network_contains_its_addresses() {
        let contains = |text: &str, address: &str| network(text).contains(address.parse().unwrap());
        assert!(contains("10.0.0.0/8", "10.255.0.1") && !contains("10.0.0.0/8", "11.0.0.1"));
        assert!(contains("10.0.0.0/8", "::ffff:10.1.2.3"));
        assert!(contains("0.0.0.0/0", "203.0.113.9") && !contains("0.0.0.0/0", "2001:db8::1"));
        assert!(contains("2001:db8::/32", "2001:db8:1::2") && !contains("::/0", "10.0.0.1"));
    }

    proptest! {
        #[test]
        fn covered_network_has_no_address_outside(
            (one, long) in (any::<u32>(), 0u32..=32), (other, short) in (any::<u32>(), 0u32..=32), some: u32
        ) {
            let of = |bits: u32, prefix| Network { address: IpAddr::V4(bits.into()), prefix };
            let (one, other) = (of(one, long), of(other, short));
            // An address of the other network: its prefix, and anything behind it.
            let mask = u32::MAX.checked_shr(other.prefix).unwrap_or(0);
            let IpAddr::V4(base) = other.address else { unreachable!() };
            let member = IpAddr::V4((base.to_bits() & !mask | some & mask).into());
            prop_assert!(other.contains(member));
            if one.covers(&other) {
                prop_assert!(one.contains(member));
            }
            prop_assert!(other.covers(&other));
        }
    }
}
