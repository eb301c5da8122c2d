//! Which messages are let in.

use super::*;

fn with_headers(headers: &[(&str, &str)]) -> HookRequest {
    HookRequest {
        headers: headers
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect(),
        ..request(CREATED, GO)
    }
}

fn let_in(registered: &str, headers: &[(&str, &str)]) -> bool {
    let credentials = secrets(&[(INBOUND_HEADERS, registered)]);
    Trendyol.verify(&with_headers(headers), &credentials).is_some()
}

#[test]
fn every_registered_header_must_be_there() {
    let registered = r#"{"X-Key":" one ","Authorization":"Basic abc"}"#;
    let (key, auth) = (("x-key", "one"), ("authorization", "Basic abc"));
    let more = ("content-type", "application/json");
    assert!(let_in(registered, &[key, auth]));
    assert!(let_in(registered, &[more, auth, key]));
    for wrong in [
        &[][..],
        &[key],
        &[auth],
        &[key, ("authorization", "Basic abx")],
        &[key, ("authorization", "")],
        &[("x-key", "one\nauthorization: Basic abc"), ("authorization", "")],
        &[("x-other", "one"), auth],
    ] {
        assert!(!let_in(registered, wrong), "{wrong:?}");
    }
}

#[test]
fn what_is_no_secret_lets_nobody_in() {
    let nothing: &[(&str, &str)] = &[("accept", "*/*"), ("x-key", ""), ("a", "1")];
    for registered in [
        "",
        "{}",
        "[]",
        "null",
        "x",
        r#"{"x-key":""}"#,
        r#"{"x-key":"  "}"#,
        r#"{"x-key":1}"#,
        r#"{"Accept":"*/*"}"#,
        r#"{"A":"1","a":"1"}"#,
    ] {
        let credentials = secrets(&[(INBOUND_HEADERS, registered)]);
        assert!(!let_in(registered, nothing), "{registered}");
        assert_eq!(Trendyol.inbound_secret(&credentials), None, "{registered}");
    }
    assert_eq!(Trendyol.inbound_secret(&Credentials::new()), None);
}

#[test]
fn the_first_registered_header_finds_the_integration() {
    let secret = |text: &str| Some(Secret::new(text.as_bytes().to_vec()));
    assert!(Trendyol.inbound_secret(&credentials()) == secret("x-agent: tgo"));
    let usual = secrets(&[(INBOUND_HEADERS, r#"{"accept":"a/b","X-Z":"1"}"#)]);
    assert!(Trendyol.inbound_secret(&usual) == secret("x-z: 1"));
}

#[test]
fn claims_leave_out_what_every_request_has() {
    let claimed = |request: &HookRequest| match Trendyol.claim(request) {
        Claim::Secrets(secrets) => secrets.len(),
        Claim::Branch(_) | Claim::Nothing => 0,
    };
    assert_eq!(claimed(&with_headers(&[("host", "x"), ("user-agent", "y")])), 0);
    assert_eq!(claimed(&with_headers(&[("host", "x"), ("x-key", "y")])), 1);
    let many: Vec<(String, String)> = (0..100).map(|n| (format!("x-{n}"), "v".to_owned())).collect();
    let flood = HookRequest {
        headers: many,
        ..HookRequest::default()
    };
    assert_eq!(claimed(&flood), 40);
}
