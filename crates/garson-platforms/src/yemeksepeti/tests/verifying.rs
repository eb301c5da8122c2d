//! Only the platform's own tokens open the door.

use super::*;
use garson_core::platform::Claim;

const HEADER: &str = r#"{"typ":"JWT","alg":"HS512"}"#;
const CLAIMS: &str = r#"{"service":"middleware"}"#;

fn lets_in(authorization: &str, credentials: &Credentials) -> bool {
    let mut request = request(ORDER, LEAST);
    request.headers = vec![("authorization".to_owned(), authorization.to_owned())];
    Yemeksepeti.verify(&request, credentials).is_some()
}

/// Signed by another implementation.
#[test]
fn a_token_made_elsewhere_is_understood() {
    let signed = "eyJ0eXAiOiJKV1QiLCJhbGciOiJIUzUxMiJ9.eyJzZXJ2aWNlIjoibWlkZGxld2FyZSJ9";
    let signature = "WeFuou97x_EVZBa2DTZWDHh39MlpyidBvxXmUG3Ldzjja4Zbxv0kA-G-WwEe6bGusUPrcpoXBnvFF9ktq6o6jw";
    assert_eq!(jwt(HEADER, CLAIMS, SECRET), format!("{signed}.{signature}"));
    assert!(lets_in(&format!("Bearer {signed}.{signature}"), &credentials()));
    assert!(lets_in(&format!("bearer {signed}.{signature}"), &credentials()));
}

#[test]
fn another_algorithm_service_or_secret_is_refused() {
    for (header, claims, secret, genuine) in [
        (HEADER, CLAIMS, SECRET, true),
        (
            r#"{"alg":"HS512"}"#,
            r#"{"service":"middleware","iat":1,"x":[]}"#,
            SECRET,
            true,
        ),
        (HEADER, CLAIMS, "plugin-secret-2", false),
        (HEADER, CLAIMS, "", false),
        (r#"{"alg":"HS256"}"#, CLAIMS, SECRET, false),
        (r#"{"alg":"hs512"}"#, CLAIMS, SECRET, false),
        (r#"{"alg":"none"}"#, CLAIMS, SECRET, false),
        (r#"{"alg":null}"#, CLAIMS, SECRET, false),
        (r#"{"typ":"JWT"}"#, CLAIMS, SECRET, false),
        (HEADER, r#"{"service":"Middleware"}"#, SECRET, false),
        (HEADER, r#"{"service":"other"}"#, SECRET, false),
        (HEADER, r#"{"service":["middleware"]}"#, SECRET, false),
        (HEADER, "{}", SECRET, false),
        (HEADER, "middleware", SECRET, false),
        ("", "", SECRET, false),
    ] {
        let token = jwt(header, claims, secret);
        assert_eq!(
            lets_in(&format!("Bearer {token}"), &credentials()),
            genuine,
            "{header} {claims}"
        );
    }
}

#[test]
fn an_expired_token_is_refused_after_a_minute_of_grace() {
    let now = request(ORDER, LEAST).received_at.as_millis() / 1_000;
    let max = u64::MAX.to_string();
    for (exp, genuine) in [
        ((now + 1).to_string(), true),
        ((now - 60).to_string(), true),
        ((now - 61).to_string(), false),
        (format!("{}.5", now + 1), true),
        ("0".to_owned(), false),
        ("-1".to_owned(), false),
        (max, true),
        ("null".to_owned(), true),
        ("\"soon\"".to_owned(), false),
    ] {
        let token = jwt(
            HEADER,
            &format!(r#"{{"service":"middleware","exp":{exp}}}"#),
            SECRET,
        );
        assert_eq!(
            lets_in(&format!("Bearer {token}"), &credentials()),
            genuine,
            "{exp}"
        );
    }
}

#[test]
fn what_is_no_token_is_refused() {
    let good = jwt(HEADER, CLAIMS, SECRET);
    let (signed, signature) = good.rsplit_once('.').unwrap();
    let (head, claims) = signed.split_once('.').unwrap();
    for wrong in [
        String::new(),
        "Bearer".to_owned(),
        "Bearer ".to_owned(),
        "Bearer ..".to_owned(),
        good.clone(),
        format!("Basic {good}"),
        format!("Bearer {signed}."),
        format!("Bearer {signed}"),
        format!("Bearer {good}="),
        format!("Bearer  {good}"),
        format!("Bearer {good}."),
        format!("Bearer {claims}.{head}.{signature}"),
    ] {
        assert!(!lets_in(&wrong, &credentials()), "{wrong}");
    }
}

#[test]
fn an_empty_secret_opens_nothing() {
    let mut credentials = credentials();
    credentials.insert(PLUGIN_SECRET.to_owned(), Secret::new(String::new()));
    assert!(!lets_in(
        &format!("Bearer {}", jwt(HEADER, CLAIMS, "")),
        &credentials
    ));
}

#[test]
fn the_path_names_the_branch() {
    let claimed = |request: &HookRequest| match Yemeksepeti.claim(request) {
        Claim::Branch(branch) => Some(branch),
        _ => None,
    };
    let mut sample = request(ORDER, LEAST);
    assert_eq!(claimed(&sample).as_deref(), Some(BRANCH));
    sample.headers.clear();
    assert_eq!(claimed(&sample), None);
    let mut sample = request(ORDER, LEAST);
    sample.params.clear();
    assert_eq!(claimed(&sample), None);
    assert!(Yemeksepeti.inbound_secret(&credentials()).is_none());
}
