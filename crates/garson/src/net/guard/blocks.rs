//! Lists every special-purpose address block (IANA registries) and cloud metadata address.

use garson_core::explanation::AddressKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether an address may be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AddressClass {
    /// An ordinary address of the public internet.
    Public,
    /// Refused, unless the operator allows private targets or this one.
    Special(AddressKind),
    /// Refused whatever the operator allows.
    Never(AddressKind),
}

use AddressClass::{Never, Special};

const METADATA: AddressClass = Never(AddressKind::Metadata);
const UNSPECIFIED: AddressClass = Never(AddressKind::Unspecified);
const MULTICAST: AddressClass = Never(AddressKind::Multicast);
const LOOPBACK: AddressClass = Special(AddressKind::Loopback);
const PRIVATE: AddressClass = Special(AddressKind::Private);
const LINK_LOCAL: AddressClass = Special(AddressKind::LinkLocal);
const DOCUMENTATION: AddressClass = Special(AddressKind::Documentation);
const BENCHMARK: AddressClass = Special(AddressKind::Benchmark);
const PROTOCOL: AddressClass = Special(AddressKind::IetfProtocol);
const AS112: AddressClass = Special(AddressKind::As112);
const AMT: AddressClass = Special(AddressKind::MulticastTunnel);
const ORCHID: AddressClass = Special(AddressKind::Orchid);
const SEGMENT: AddressClass = Special(AddressKind::SegmentRouting);
const RESERVED: AddressClass = Special(AddressKind::Reserved);
/// Such an address can hide an IPv4 address that a nearby gateway would unwrap, maybe a metadata
/// address: no policy allows that.
const TUNNEL: AddressClass = Never(AddressKind::Ipv4Wrapper);

/// An address block; both families as numbers, so that one comparison serves both.
pub(super) struct Block {
    pub(super) first: u128,
    pub(super) free_bits: u32,
    pub(super) class: AddressClass,
}

impl Block {
    const fn contains(&self, address: u128) -> bool {
        (address ^ self.first) >> self.free_bits == 0
    }
}

const fn v4(o: [u8; 4], prefix: u32, class: AddressClass) -> Block {
    Block {
        first: u32::from_be_bytes(o) as u128,
        free_bits: 32 - prefix,
        class,
    }
}

const fn v6(address: Ipv6Addr, prefix: u32, class: AddressClass) -> Block {
    Block {
        first: address.to_bits(),
        free_bits: 128 - prefix,
        class,
    }
}

/// An IPv6 address of which only the leading groups matter.
const fn groups(a: u16, b: u16, c: u16) -> Ipv6Addr {
    Ipv6Addr::new(a, b, c, 0, 0, 0, 0, 0)
}

/// An IPv6 address of which only the outer groups matter.
const fn host(a: u16, b: u16, y: u16, z: u16) -> Ipv6Addr {
    Ipv6Addr::new(a, b, 0, 0, 0, 0, y, z)
}

/// The first block that contains an address decides, so single addresses come first.
pub(super) const V4_BLOCKS: &[Block] = &[
    v4([169, 254, 169, 254], 32, METADATA), // most clouds
    v4([169, 254, 170, 2], 32, METADATA),   // AWS container credentials
    v4([169, 254, 170, 23], 32, METADATA),  // AWS pod identity
    v4([169, 254, 42, 42], 32, METADATA),   // Scaleway
    v4([169, 254, 0, 23], 32, METADATA),    // Tencent
    v4([192, 0, 0, 192], 32, METADATA),     // Oracle, older
    v4([100, 100, 100, 200], 32, METADATA), // Alibaba
    v4([168, 63, 129, 16], 32, METADATA),   // Azure, within public space
    v4([255, 255, 255, 255], 32, Never(AddressKind::Broadcast)),
    v4([0, 0, 0, 0], 8, UNSPECIFIED),
    v4([10, 0, 0, 0], 8, PRIVATE),
    v4([100, 64, 0, 0], 10, Special(AddressKind::CarrierShared)),
    v4([127, 0, 0, 0], 8, LOOPBACK),
    v4([169, 254, 0, 0], 16, LINK_LOCAL),
    v4([172, 16, 0, 0], 12, PRIVATE),
    v4([192, 0, 0, 0], 24, PROTOCOL),
    v4([192, 0, 2, 0], 24, DOCUMENTATION),
    v4([192, 31, 196, 0], 24, AS112),
    v4([192, 52, 193, 0], 24, AMT),
    v4([192, 88, 99, 0], 24, Special(AddressKind::Relay6to4)),
    v4([192, 168, 0, 0], 16, PRIVATE),
    v4([192, 175, 48, 0], 24, AS112),
    v4([198, 18, 0, 0], 15, BENCHMARK),
    v4([198, 51, 100, 0], 24, DOCUMENTATION),
    v4([203, 0, 113, 0], 24, DOCUMENTATION),
    v4([224, 0, 0, 0], 4, MULTICAST),
    v4([240, 0, 0, 0], 4, RESERVED),
];

/// The same for IPv6; IPv4-mapped and NAT64 addresses are unwrapped before this lookup.
pub(super) const V6_BLOCKS: &[Block] = &[
    v6(host(0xfd00, 0x0ec2, 0, 0x254), 128, METADATA), // AWS
    v6(host(0xfd00, 0x0ec2, 0, 0x23), 128, METADATA),  // AWS pod identity
    v6(host(0xfd20, 0x00ce, 0, 0x254), 128, METADATA), // Google
    v6(host(0xfd00, 0x0042, 0, 0x42), 128, METADATA),  // Scaleway
    v6(host(0xfd00, 0x00c1, 0xa9fe, 0xa9fe), 128, METADATA), // Oracle
    v6(host(0xfe80, 0, 0xa9fe, 0xa9fe), 128, METADATA), // OpenStack
    v6(Ipv6Addr::UNSPECIFIED, 128, UNSPECIFIED),
    v6(Ipv6Addr::LOCALHOST, 128, LOOPBACK),
    // All else below 100:: is a way to write IPv4 (compatible, translated, local NAT64) or unused.
    v6(groups(0, 0, 0), 8, TUNNEL),
    v6(groups(0x0100, 0, 0), 64, Special(AddressKind::DiscardOnly)),
    v6(groups(0x2001, 0, 0), 32, TUNNEL), // Teredo
    v6(groups(0x2001, 0x0002, 0), 48, BENCHMARK),
    v6(groups(0x2001, 0x0020, 0), 28, ORCHID),
    v6(groups(0x2001, 0, 0), 23, PROTOCOL),
    v6(groups(0x2001, 0x0db8, 0), 32, DOCUMENTATION),
    v6(groups(0x2002, 0, 0), 16, TUNNEL), // 6to4
    v6(groups(0x2620, 0x004f, 0x8000), 48, AS112),
    v6(groups(0x3fff, 0, 0), 20, DOCUMENTATION),
    v6(groups(0x5f00, 0, 0), 16, SEGMENT),
    v6(groups(0xfc00, 0, 0), 7, PRIVATE),
    v6(groups(0xfe80, 0, 0), 10, LINK_LOCAL),
    v6(groups(0xfec0, 0, 0), 10, PRIVATE),
    v6(groups(0xff00, 0, 0), 8, MULTICAST),
];

/// The only IPv6 space assigned to the public internet; anything outside is never public.
const V6_PUBLIC: Block = v6(groups(0x2000, 0, 0), 3, AddressClass::Public);

/// Well-known NAT64 prefix: a gateway sends such a packet on to the IPv4 address inside.
const NAT64: Block = v6(groups(0x0064, 0xff9b, 0), 96, AddressClass::Public);

/// Checks that an address belongs to the public internet; if not, returns what it is instead.
pub fn classify(ip: IpAddr) -> Result<(), AddressKind> {
    match class_of(ip) {
        AddressClass::Public => Ok(()),
        Special(kind) | Never(kind) => Err(kind),
    }
}

pub(super) fn class_of(ip: IpAddr) -> AddressClass {
    match ip {
        IpAddr::V4(ip) => class_of_v4(ip),
        IpAddr::V6(ip) => embedded_v4(ip).map_or_else(|| class_of_v6(ip), class_of_v4),
    }
}

fn class_of_v4(ip: Ipv4Addr) -> AddressClass {
    find(V4_BLOCKS, u128::from(ip.to_bits())).unwrap_or(AddressClass::Public)
}

fn class_of_v6(ip: Ipv6Addr) -> AddressClass {
    let otherwise = if V6_PUBLIC.contains(ip.to_bits()) {
        AddressClass::Public
    } else {
        RESERVED
    };
    find(V6_BLOCKS, ip.to_bits()).unwrap_or(otherwise)
}

fn find(blocks: &[Block], address: u128) -> Option<AddressClass> {
    let mut blocks = blocks.iter();
    let block = blocks.find(|block| block.contains(address))?;
    Some(block.class)
}

/// The IPv4 address that packets to a mapped or NAT64 address are delivered to.
fn embedded_v4(ip: Ipv6Addr) -> Option<Ipv4Addr> {
    let [.., a, b, c, d] = ip.octets();
    let through_nat64 = || NAT64.contains(ip.to_bits()).then(|| Ipv4Addr::new(a, b, c, d));
    ip.to_ipv4_mapped().or_else(through_nat64)
}
