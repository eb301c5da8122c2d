//! What the operator allows: private targets, single addresses and names.

use super::*;

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
