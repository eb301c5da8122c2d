//! Tests the guard with whole address blocks and with every known trick for spelling a host.

mod spellings;

use super::blocks::{AddressClass, Block, V4_BLOCKS, V6_BLOCKS, class_of};
use super::names::METADATA_NAMES;
use super::*;
use garson_core::explanation::TargetRefusal;
use proptest::prelude::*;
use spellings::{HARMLESS, HOSTILE};
use std::collections::HashSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What a name resolves to in these tests: public, so only the name itself can be refused.
const PUBLIC: IpAddr = IpAddr::V4(Ipv4Addr::new(93, 184, 215, 14));

const METADATA_ADDRESSES: &[&str] = &[
    "169.254.169.254",
    "169.254.170.2",
    "100.100.100.200",
    "168.63.129.16",
    "169.254.170.23",
    "169.254.42.42",
    "169.254.0.23",
    "192.0.0.192",
    "fd00:ec2::254",
    "fd00:ec2::23",
    "fd20:ce::254",
    "fd00:42::42",
    "fd00:c1::a9fe:a9fe",
    "fe80::a9fe:a9fe",
    "::ffff:169.254.169.254",
    "64:ff9b::a9fe:a9fe",
];

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

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

fn target(text: &str) -> Target {
    Target::parse(text).unwrap()
}

fn policy(exceptions: &[&str]) -> Policy {
    let allow_targets = exceptions.iter().map(|text| text.parse().unwrap());
    Policy {
        allow_targets: allow_targets.collect(),
        ..Policy::default()
    }
}

fn open_policy() -> Policy {
    Policy {
        allow_private: true,
        ..Policy::default()
    }
}

#[test]
fn only_listed_targets_are_allowed_with_only_listed() {
    let closed = Policy {
        only_listed: true,
        ..policy(&["pos.example.com:443", "10.0.4.7"])
    };
    for allowed in ["https://pos.example.com/", "http://10.0.4.7:81/"] {
        assert!(call(&closed, allowed).is_ok(), "{allowed}");
    }
    for refused in [
        "https://example.com/",
        "https://pos.example.com:8443/",
        "https://93.184.215.14/",
        "http://10.0.4.8/",
        "http://169.254.169.254/",
    ] {
        assert!(call(&closed, refused).is_err(), "{refused}");
    }
}

/// Parses and checks as the caller does, a name resolving to a public address.
fn call(policy: &Policy, text: &str) -> Result<Target, TargetRefusal> {
    let target = Target::parse(text)?;
    let resolved = target.host().literal().unwrap_or(PUBLIC);
    check(policy, &target, &[resolved])?;
    Ok(target)
}

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
fn hostile_urls_are_refused() {
    let distinct: HashSet<_> = HOSTILE.iter().collect();
    assert_eq!(distinct.len(), HOSTILE.len());
    for text in HOSTILE {
        let outcome = call(&Policy::default(), text);
        assert!(outcome.is_err(), "{text:?} was allowed as {outcome:?}");
    }
}

#[test]
fn odd_spellings_are_recognised_as_loopback() {
    for text in [
        "http://2130706433/",
        "http://017700000001/",
        "http://0x7f.1/",
        "http://127.1/",
        "http://0177.0x0.0.01./",
        "http://\u{ff11}\u{ff12}\u{ff17}\u{ff0e}\u{ff10}.\u{ff10}.\u{ff11}/",
        "http://①②⑦.⓪.⓪.①/",
        "http://127。0。0。1/",
        "http://%31%32%37%2e0.0.1/",
        "http://12\u{ad}7.0.0.1/",
        "http://[::ffff:7f00:1]/",
    ] {
        let refusal = call(&Policy::default(), text).unwrap_err();
        assert_eq!(refusal.to_string(), "127.0.0.1 is a loopback address", "{text:?}");
    }
}

#[test]
fn harmless_urls_are_allowed_in_their_normal_spelling() {
    for (text, normal) in HARMLESS {
        let target = call(&Policy::default(), text).unwrap_or_else(|r| panic!("{text}: {r}"));
        assert_eq!(target.url(), *normal);
        assert_eq!(Target::parse(normal), Ok(target));
    }
}

#[test]
fn length_limit_is_exact() {
    let padded = |length: usize| {
        let start = "https://example.com/";
        format!("{start}{}", "a".repeat(length - start.len()))
    };
    assert!(Target::parse(&padded(MAX_URL_BYTES)).is_ok());
    assert!(Target::parse(&padded(MAX_URL_BYTES + 1)).is_err());
}

#[test]
fn names_longer_than_dns_allows_are_refused() {
    let label = "a".repeat(63);
    let longest = format!("{label}.{label}.{label}.{}", "a".repeat(61));
    assert!(Target::parse(&format!("http://{longest}/")).is_ok());
    assert!(Target::parse(&format!("http://{longest}a/")).is_err());
    assert!(Target::parse(&format!("http://{label}a.example.com/")).is_err());
}

#[test]
fn the_parts_of_a_target_are_as_given() {
    let target = target("https://Till.Example.com:8443/a%20b?c#d");
    assert_eq!(target.scheme(), Scheme::Https);
    assert_eq!(*target.host(), Host::Name("till.example.com".to_owned()));
    assert_eq!(target.port(), 8443);
    assert_eq!(target.path_and_query(), "/a%20b?c");
    assert_eq!(target.authority(), "till.example.com:8443");
    assert_eq!(target.origin().to_string(), "https://till.example.com:8443");
}

#[test]
fn secrets_show_neither_in_debug_output_nor_in_refusals() {
    let shown = format!("{:?}", target("https://example.com/secret?secret"));
    assert!(!shown.contains("secret"));
    for text in [
        "http://a:secret@example.com/secret",
        "http://127.0.0.1/secret",
        "http://example.com:0/secret",
        "ftp://example.com/secret",
        "http://example.com/secret ",
        "http://[::1/secret",
    ] {
        let refusal = call(&Policy::default(), text).unwrap_err();
        assert!(!refusal.to_string().contains("secret"), "{refusal}");
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

#[test]
fn one_forbidden_address_refuses_the_whole_host() {
    let target = target("https://example.com/");
    let refused = |resolved: &[IpAddr]| check(&Policy::default(), &target, resolved).is_err();
    assert!(!refused(&[PUBLIC, ip("2606:4700::1111")]));
    assert!(refused(&[PUBLIC, ip("10.0.0.1")]));
    assert!(refused(&[ip("::1"), PUBLIC]));
    assert!(refused(&[]));
}

#[test]
fn an_empty_answer_is_refused_whatever_is_allowed() {
    let target = target("http://till.local:8443/");
    assert!(check(&open_policy(), &target, &[]).is_err());
    assert!(check(&policy(&["till.local"]), &target, &[]).is_err());
}

#[test]
fn literal_is_checked_even_if_the_caller_passes_other_addresses() {
    let target = target("http://127.0.0.1/");
    assert!(check(&Policy::default(), &target, &[PUBLIC]).is_err());
}

#[test]
fn refusals_do_not_reveal_what_a_name_resolved_to() {
    let outcome = check(
        &Policy::default(),
        &target("http://x.example.com/"),
        &[ip("10.9.8.7")],
    );
    assert_eq!(
        outcome.unwrap_err().to_string(),
        "x.example.com leads to a private address"
    );
}

#[test]
fn allowing_private_targets_opens_private_ranges_and_names() {
    for text in [
        "http://127.0.0.1:3000/",
        "http://10.0.0.1/",
        "http://192.168.1.1/",
        "http://172.16.0.1/",
        "http://169.254.1.1/",
        "http://100.64.0.1/",
        "http://[::1]/",
        "http://[fd00::1]/",
        "http://[fe80::1]/",
        "http://[::ffff:10.0.0.1]/",
        "http://localhost:3000/",
        "http://till.local/",
        "http://postgres/",
        "http://8.8.8.8/",
    ] {
        assert!(call(&open_policy(), text).is_ok(), "{text}");
    }
}

#[test]
fn some_addresses_are_refused_whatever_is_allowed() {
    let others = [
        "0.0.0.0",
        "0.1.2.3",
        "::",
        "224.0.0.1",
        "ff02::1",
        "255.255.255.255",
    ];
    let wrapped = [
        "::169.254.169.254",
        "2002:a9fe:a9fe::",
        "2001::1",
        "64:ff9b:1::a9fe:a9fe",
    ];
    let named = policy(&["till.local"]);
    for text in METADATA_ADDRESSES.iter().chain(&others).chain(&wrapped) {
        let till = target("http://till.local/");
        assert!(check(&open_policy(), &till, &[ip(text)]).is_err(), "{text}");
        assert!(check(&named, &till, &[ip(text)]).is_err(), "{text}");
        assert!(text.parse::<Exception>().is_err(), "{text}");
    }
    for name in METADATA_NAMES {
        assert!(call(&open_policy(), &format!("http://{name}/")).is_err());
        assert!(name.parse::<Exception>().is_err(), "{name}");
    }
}

#[test]
fn an_address_exception_allows_just_that_address_and_port() {
    let policy = policy(&["10.0.4.7:8443", "[fd00::1]:443", "10.0.4.9"]);
    for text in [
        "https://10.0.4.7:8443/",
        "https://[::ffff:10.0.4.7]:8443/",
        "https://[fd00::1]/",
        "http://10.0.4.9/",
        "http://10.0.4.9:81/",
    ] {
        assert!(call(&policy, text).is_ok(), "{text}");
    }
    for text in [
        "https://10.0.4.7/",
        "https://10.0.4.8:8443/",
        "https://[fd00::1]:8443/",
        "https://[fd00::2]/",
        "https://[64:ff9b::10.0.4.7]:8443/",
        "https://localhost:8443/",
    ] {
        assert!(call(&policy, text).is_err(), "{text}");
    }
}

#[test]
fn an_address_exception_serves_a_name_that_resolves_to_it() {
    let policy = policy(&["10.0.4.7:8443"]);
    let till = target("https://till.example.com:8443/");
    assert!(check(&policy, &till, &[ip("10.0.4.7")]).is_ok());
    assert!(check(&policy, &till, &[ip("::ffff:10.0.4.7")]).is_ok());
    assert!(check(&policy, &till, &[ip("10.0.4.7"), ip("10.0.4.8")]).is_err());
    assert!(check(&policy, &target("https://till.local:8443/"), &[ip("10.0.4.7")]).is_err());
}

#[test]
fn a_name_exception_allows_what_it_resolves_to_at_that_port() {
    let policy = policy(&["Till.local.:8443", "pos"]);
    let allowed = |text: &str, address: &str| check(&policy, &target(text), &[ip(address)]).is_ok();
    assert!(allowed("https://till.LOCAL:8443/", "192.168.0.9"));
    assert!(allowed("https://till.local.:8443/", "fe80::9"));
    assert!(allowed("http://pos:81/", "10.0.0.1"));
    assert!(!allowed("https://till.local/", "192.168.0.9"));
    assert!(!allowed("https://a.till.local:8443/", "192.168.0.9"));
    assert!(!allowed("https://192.168.0.9:8443/", "192.168.0.9"));
}

#[test]
fn exceptions_read_back_as_written() {
    for text in [
        "10.0.4.7:8443",
        "10.0.4.7",
        "[fd00::1]:443",
        "[fd00::1]",
        "till.local:8443",
    ] {
        assert_eq!(text.parse::<Exception>().unwrap().to_string(), text);
    }
    let same = |a: &str, b: &str| assert_eq!(a.parse::<Exception>(), b.parse::<Exception>());
    same("fd00::1", "[fd00::1]");
    same(" 10.0.4.7:8443 ", "10.0.4.7:8443");
    same("::ffff:10.0.4.7", "10.0.4.7");
}

#[test]
fn malformed_exceptions_are_refused_with_a_reason() {
    for (text, part) in [
        ("", "neither"),
        (":80", "neither"),
        ("10.0.0.0/8", "not a URL or a range"),
        ("http://10.0.4.7:80", "not a URL or a range"),
        ("10.0.4.7:0", "not a port"),
        ("10.0.4.7:65536", "not a port"),
        ("10.0.4.7:", "not a port"),
        ("10.0.4.7:https", "not a port"),
        ("*.local", "neither"),
        ("till .local", "neither"),
        ("10.0.4.256", "neither"),
        ("[fd00::1", "not a port|neither"),
        ("[fd00::1]443", "not a port|neither"),
        ("a@b:80", "neither"),
        (
            "169.254.169.254:80",
            "cloud metadata address, which is never allowed",
        ),
    ] {
        let error = text.parse::<Exception>().unwrap_err().to_string();
        assert!(part.split('|').any(|part| error.contains(part)), "{error}");
    }
}

#[test]
fn localhost_exception_allows_loopback_addresses() {
    let allowed = policy(&["localhost:9000"]);
    let loopback = [ip("127.0.0.1"), ip("::1")];
    check(&allowed, &target("http://localhost:9000/"), &loopback).unwrap();
    check(&allowed, &target("http://127.0.0.1:9000/"), &loopback[..1]).unwrap();
    check(&allowed, &target("http://[::1]:9000/"), &loopback[1..]).unwrap();
    check(&allowed, &target("http://127.0.0.1:9001/"), &loopback[..1]).unwrap_err();
    check(&allowed, &target("http://10.0.0.1:9000/"), &[ip("10.0.0.1")]).unwrap_err();
    check(&allowed, &target("http://elsewhere.example:9000/"), &loopback).unwrap_err();
}

#[test]
fn the_hint_names_every_way() {
    for part in [
        "allow_private_targets = true",
        "GARSON_ALLOW_PRIVATE_TARGETS=true",
        "allow_targets = [\"10.0.4.7:8443\"]",
    ] {
        assert!(HINT.contains(part));
    }
    assert!(!HINT.contains("  "));
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

    #[test]
    fn every_spelling_of_a_v4_address_reads_as_that_address(number: u32, form in 0..8, bases: [u8; 4]) {
        let octets = Ipv4Addr::from(number).octets();
        let spell = |value: u32, base: u8| match base % 4 {
            0 => format!("{value}"),
            1 => format!("0{value:o}"),
            2 => format!("0x{value:x}"),
            _ => format!("0X{value:08X}"),
        };
        let [a, b, c, d] = octets.map(u32::from);
        let parts = match form % 4 {
            0 => vec![number],
            1 => vec![a, number & 0xff_ffff],
            2 => vec![a, b, number & 0xffff],
            _ => vec![a, b, c, d],
        };
        let spelt: Vec<_> = parts.iter().zip(bases).map(|(part, base)| spell(*part, base)).collect();
        let dot = if form < 4 { "" } else { "." };
        let target = target(&format!("http://{}{dot}/", spelt.join(".")));
        prop_assert_eq!(target.host(), &Host::V4(Ipv4Addr::from(number)));
    }

    #[test]
    fn numbers_never_pass_as_a_name(text in "((0[xX])?[0-9a-fA-F]{0,10}\\.){0,5}(0[xX][0-9a-fA-F]{0,9}|[0-9]{1,11})\\.?") {
        if let Ok(target) = Target::parse(&format!("http://{text}/")) {
            prop_assert!(target.host().literal().is_some(), "{:?}", target);
        }
    }

    #[test]
    fn what_parses_keeps_its_meaning_when_parsed_again(text in "https?://[a-z0-9.%@:\\[\\]①。-]{1,12}(/[ -~é]{0,12})?") {
        if let Ok(target) = Target::parse(&text) {
            prop_assert_eq!(Target::parse(&target.url()), Ok(target));
        }
    }

    #[test]
    fn any_text_is_read_without_panic(text in "\\PC{0,40}|https?://\\PC{0,40}") {
        let _ = call(&Policy::default(), &text);
        let _ = text.parse::<Exception>();
    }
}
