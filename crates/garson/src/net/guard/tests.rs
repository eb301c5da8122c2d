//! Tests the guard with every known trick for spelling a host.

mod addresses;
mod exceptions;
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
