//! Addresses: whole blocks, their edges, and IPv4 addresses within IPv6 ones.

use super::*;

/// The IANA registries of special-purpose addresses and the metadata addresses, independent of the
/// guard's table, so that an entry lost there is found.
const SPECIAL: &[&str] = &[
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "168.63.129.16/32",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.31.196.0/24",
    "192.52.193.0/24",
    "192.88.99.0/24",
    "192.168.0.0/16",
    "192.175.48.0/24",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/4",
    "240.0.0.0/4",
    "255.255.255.255/32",
    "::/128",
    "::1/128",
    "::/96",
    "::ffff:0:0:0/96",
    "64:ff9b:1::/48",
    "100::/64",
    "100:0:0:1::/64",
    "2001::/23",
    "2001::/32",
    "2001:2::/48",
    "2001:20::/28",
    "2001:30::/28",
    "2001:db8::/32",
    "2002::/16",
    "2620:4f:8000::/48",
    "3fff::/20",
    "4000::/2",
    "5f00::/16",
    "8000::/1",
    "fc00::/7",
    "fe80::/10",
    "fec0::/10",
    "ff00::/8",
    "::ffff:10.0.0.0/104",
    "::ffff:127.0.0.0/104",
    "::ffff:169.254.0.0/112",
    "64:ff9b::10.0.0.0/104",
    "64:ff9b::127.0.0.0/104",
    "64:ff9b::169.254.0.0/112",
];

/// Restates the rule for IPv4 without the table, to find slips in it.
fn is_public_v4(ip: Ipv4Addr) -> bool {
    let special = matches!(
        ip.octets(),
        [0 | 10 | 127, ..]
            | [100, 64..=127, ..]
            | [169, 254, ..]
            | [172, 16..=31, ..]
            | [192, 168, ..]
            | [192, 0, 0 | 2, _]
            | [192, 31, 196, _]
            | [192, 52, 193, _]
            | [192, 88, 99, _]
            | [192, 175, 48, _]
            | [198, 18..=19, ..]
            | [198, 51, 100, _]
            | [203, 0, 113, _]
            | [224..=255, ..]
            | [168, 63, 129, 16]
    );
    !special
}

/// Restates the rule for IPv6 without the table.
fn is_public_v6(ip: Ipv6Addr) -> bool {
    match ip.segments() {
        [0, 0, 0, 0, 0, 0xffff, a, b] | [0x64, 0xff9b, 0, 0, 0, 0, a, b] => {
            is_public_v4(Ipv4Addr::from(u32::from(a) << 16 | u32::from(b)))
        }
        [0x2001, 0..=0x1ff | 0xdb8, ..] | [0x2002, ..] => false,
        [0x2620, 0x4f, 0x8000, ..] | [0x3fff, 0..=0xfff, ..] => false,
        [first, ..] => (0x2000..=0x3fff).contains(&first),
    }
}

/// First and last address of a block as numbers, and whether they are IPv4.
type Span = (u128, u128, bool);

fn span(block: &str) -> Span {
    let (first, prefix) = block.split_once('/').unwrap();
    let prefix: u32 = prefix.parse().unwrap();
    let (first, width, is_v4) = match ip(first) {
        IpAddr::V4(ip) => (u128::from(ip.to_bits()), 32, true),
        IpAddr::V6(ip) => (ip.to_bits(), 128, false),
    };
    (first, first | ((1 << (width - prefix)) - 1), is_v4)
}

fn table_span(block: &Block, is_v4: bool) -> Span {
    (block.first, block.first | ((1 << block.free_bits) - 1), is_v4)
}

fn special_spans() -> Vec<Span> {
    SPECIAL.iter().map(|block| span(block)).collect()
}

fn table_spans() -> impl Iterator<Item = Span> {
    let v4 = V4_BLOCKS.iter().map(|block| table_span(block, true));
    v4.chain(V6_BLOCKS.iter().map(|block| table_span(block, false)))
}

fn address(number: u128, is_v4: bool) -> IpAddr {
    if is_v4 {
        IpAddr::V4(Ipv4Addr::from(u32::try_from(number).unwrap()))
    } else {
        IpAddr::V6(Ipv6Addr::from(number))
    }
}

#[test]
fn first_and_last_address_of_every_block_are_refused() {
    for (first, last, is_v4) in table_spans().chain(special_spans()) {
        for ip in [address(first, is_v4), address(last, is_v4)] {
            assert!(classify(ip).is_err(), "{ip}");
        }
    }
}

#[test]
fn addresses_next_to_every_block_are_classified_as_the_rule_says() {
    for (first, last, is_v4) in table_spans().chain(special_spans()) {
        let end = if is_v4 { u128::from(u32::MAX) } else { u128::MAX };
        for number in [first.checked_sub(1), last.checked_add(1)].into_iter().flatten() {
            if number <= end {
                let ip = address(number, is_v4);
                let expected = match ip {
                    IpAddr::V4(ip) => is_public_v4(ip),
                    IpAddr::V6(ip) => is_public_v6(ip),
                };
                assert_eq!(classify(ip).is_ok(), expected, "{ip}");
            }
        }
    }
}

#[test]
fn no_block_has_bits_set_beyond_its_prefix() {
    for (first, last, _) in table_spans().chain(special_spans()) {
        assert_eq!(first & (last ^ first), 0);
        assert_eq!((last - first + 1).count_ones(), 1);
    }
}

#[test]
fn well_known_addresses_are_named() {
    for (text, kind) in [
        ("127.0.0.1", "a loopback address"),
        ("::1", "a loopback address"),
        ("::ffff:127.0.0.1", "a loopback address"),
        ("64:ff9b::7f00:1", "a loopback address"),
        ("10.1.2.3", "a private address"),
        ("fd12::1", "a private address"),
        ("169.254.1.1", "a link-local address"),
        ("fe80::1", "a link-local address"),
        ("fec0::1", "a private address"),
        ("100::1", "a discard-only address"),
        ("2001:20::1", "an ORCHID (not routed) address"),
        ("5f00::1", "a segment routing address"),
        ("2001:2::1", "a benchmarking address"),
        ("169.254.169.254", "a cloud metadata address"),
        ("168.63.129.16", "a cloud metadata address"),
        ("0.1.2.3", "an unspecified address"),
        ("::", "an unspecified address"),
        ("255.255.255.255", "the broadcast address"),
        ("239.1.1.1", "a multicast address"),
        ("ff02::1", "a multicast address"),
        ("2002:a9fe:a9fe::", "an address that may wrap an IPv4 address"),
        ("4000::", "a reserved address"),
    ] {
        assert_eq!(
            classify(ip(text)).map_err(|found| found.as_str()),
            Err(kind),
            "{text}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn every_address_of_every_block_is_refused(noise: u128, pick: prop::sample::Index) {
        let (first, last, is_v4) = *pick.get(&special_spans());
        let ip = address(first | (noise & (last ^ first)), is_v4);
        prop_assert!(classify(ip).is_err(), "{}", ip);
    }

    #[test]
    fn v4_agrees_with_the_oracle(number: u32) {
        let ip = Ipv4Addr::from(number);
        prop_assert_eq!(classify(ip.into()).is_ok(), is_public_v4(ip));
    }

    #[test]
    fn v6_agrees_with_the_oracle(number: u128, leading in prop::option::of(0x2000u16..=0x3fff)) {
        let number = match leading {
            Some(group) => number >> 16 | u128::from(group) << 112,
            None => number,
        };
        let ip = Ipv6Addr::from(number);
        prop_assert_eq!(classify(ip.into()).is_ok(), is_public_v6(ip));
    }

    #[test]
    fn v6_agrees_with_the_oracle_near_special_blocks(
        a in prop::sample::select(vec![0, 0x64, 0x100, 0x2001, 0x2002, 0x2620, 0x3fff, 0x5f00, 0xfd00u16]),
        b in prop::sample::select(vec![0, 1, 2, 0x1f, 0x20, 0x2f, 0x4f, 0x1ff, 0x200, 0xdb8, 0xfff, 0x1000, 0xff9bu16]),
        c in prop::sample::select(vec![0, 1, 0x7fff, 0x8000, 0x8001u16]),
        rest: u64,
        noise: u16,
    ) {
        let [.., d, e, f, g] = Ipv6Addr::from(u128::from(rest)).segments();
        let f = if noise & 1 == 0 { 0 } else { f };
        for (d, e) in [(0, 0), (0, 0xffff), (d, e)] {
            let ip = Ipv6Addr::new(a, b, c, d, 0, e, f, g);
            prop_assert_eq!(classify(ip.into()).is_ok(), is_public_v6(ip), "{}", ip);
        }
    }

    #[test]
    fn wrapped_v4_is_classified_as_the_address_inside(number: u32) {
        let inner = Ipv4Addr::from(number);
        let [a, b, c, d] = inner.octets().map(u16::from);
        let (high, low) = (a << 8 | b, c << 8 | d);
        let mapped = inner.to_ipv6_mapped();
        let nat64 = Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, high, low);
        prop_assert_eq!(class_of(mapped.into()), class_of(inner.into()));
        prop_assert_eq!(class_of(nat64.into()), class_of(inner.into()));
    }

    #[test]
    fn other_wrappings_of_v4_are_never_allowed(number: u32, noise: u64) {
        let v4 = u128::from(number);
        let noise = u128::from(noise);
        let wrapped = [
            v4 | 1 << 33,                            // within ::/64
            v4 | 0xffff << 48,                       // translated
            v4 | 0x0064_ff9b_0001 << 80,             // local NAT64
            0x2002 << 112 | v4 << 80 | noise,        // 6to4
            0x2001_0000 << 96 | v4 << 64 | noise,    // Teredo
        ];
        for number in wrapped {
            let standing = class_of(Ipv6Addr::from(number).into());
            prop_assert!(matches!(standing, AddressClass::Never(_)));
        }
    }
}
