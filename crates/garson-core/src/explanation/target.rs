//! Why a URL may not be called.
//!
//! It names the host at most: never the path or query, which may carry secrets, and never an address that a name resolved to, which
//! would let an account explore our private DNS.

use serde::{Deserialize, Serialize};
use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TargetRefusal {
    /// The host itself is not allowed.
    Is {
        host: String,
        address: AddressKind,
    },
    /// The host resolves to an address that is not allowed.
    ResolvesTo {
        host: String,
        address: AddressKind,
    },
    NoAddress {
        host: String,
    },
    TooLong {
        max_bytes: usize,
    },
    HasWhitespace,
    HasBackslash,
    NotHttp,
    NoHost,
    HasCredentials,
    HostNotDnsName,
    PortZero,
    PathNotSendable,
    Unreadable {
        error: String,
    },
}

impl TargetRefusal {
    /// The URL cannot be called, whatever the operator allows.
    #[must_use]
    pub fn is_malformed(&self) -> bool {
        match self {
            Self::Is { .. } | Self::ResolvesTo { .. } | Self::NoAddress { .. } => false,
            Self::TooLong { .. }
            | Self::HasWhitespace
            | Self::HasBackslash
            | Self::NotHttp
            | Self::NoHost
            | Self::HasCredentials
            | Self::HostNotDnsName
            | Self::PortZero
            | Self::PathNotSendable
            | Self::Unreadable { .. } => true,
        }
    }
}

impl fmt::Display for TargetRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Is { host, address } => write!(f, "{host} is {address}"),
            Self::ResolvesTo { host, address } => write!(f, "{host} leads to {address}"),
            Self::NoAddress { host } => write!(f, "{host} has no address"),
            Self::TooLong { max_bytes } => write!(f, "the URL is longer than {max_bytes} bytes"),
            Self::HasWhitespace => f.write_str("the URL contains a space or control character"),
            Self::HasBackslash => f.write_str("the URL contains a backslash"),
            Self::NotHttp => f.write_str("the URL does not begin with http:// or https://"),
            Self::NoHost => f.write_str("the URL has no host"),
            Self::HasCredentials => f.write_str("the URL contains a user name or password"),
            Self::HostNotDnsName => f.write_str("the URL has a host that is not a DNS name"),
            Self::PortZero => f.write_str("port 0 cannot be called"),
            Self::PathNotSendable => f.write_str("the URL has a path that cannot be sent"),
            Self::Unreadable { error } => write!(f, "the URL cannot be read: {error}"),
        }
    }
}

impl std::error::Error for TargetRefusal {}

macro_rules! address_kinds {
    ($($variant:ident $english:literal,)*) => {
        /// What an address or name is, if it is not one of the public internet. The text reads well after "is".
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum AddressKind {
            $($variant,)*
        }

        impl AddressKind {
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $english,)*
                }
            }
        }
    };
}

address_kinds! {
    Loopback "a loopback address",
    Private "a private address",
    LinkLocal "a link-local address",
    CarrierShared "a carrier-shared address",
    Multicast "a multicast address",
    Broadcast "the broadcast address",
    Unspecified "an unspecified address",
    Reserved "a reserved address",
    Documentation "a documentation address",
    Metadata "a cloud metadata address",
    Benchmark "a benchmarking address",
    IetfProtocol "an address reserved for IETF protocols",
    As112 "an AS112 (DNS sink) address",
    MulticastTunnel "a multicast tunnel (AMT) address",
    Orchid "an ORCHID (not routed) address",
    SegmentRouting "a segment routing address",
    Relay6to4 "a 6to4 relay address",
    DiscardOnly "a discard-only address",
    Ipv4Wrapper "an address that may wrap an IPv4 address",
    MetadataName "the name of a cloud metadata service",
    NotListed "not among the targets that the operator allows",
    ComputerName "a name for this computer",
    LocalNetworkName "a name in the local network",
    InternalNetworkName "a name in an internal network",
    HomeNetworkName "a name in a home network",
    NameWithoutDot "a name without a dot, so it is local to a network",
}

impl fmt::Display for AddressKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
