//! Which layer wins, and how a wrong setting is named.

use super::*;

fn load(
    file: Option<&str>,
    variables: &[(&str, &str)],
    flags: Vec<(&'static str, &str)>,
) -> Result<Settings, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("garson.toml");
    std::fs::write(&path, file.unwrap_or("")).unwrap();
    let variables = variables
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let flags = flags
        .into_iter()
        .map(|(key, value)| (key, value.to_owned()))
        .collect();
    Settings::load(Some(&path), variables, flags).map_err(|error| {
        error
            .to_string()
            .replace(&path.display().to_string(), "garson.toml")
    })
}

#[test]
fn the_defaults_are_complete() {
    let settings = load(None, &[], vec![]).unwrap();
    assert_eq!(settings.listen, "127.0.0.1:8080");
    assert_eq!(settings.webhook.retry_seconds, [10, 60, 240]);
    assert_eq!(
        settings.rate_limit().unwrap().map(|limit| limit.per_second.get()),
        Some(1000)
    );
    assert!(!settings.allow_private_targets);
}

#[test]
fn flags_win_over_variables_and_those_over_the_file() {
    let file = "listen = \"127.0.0.1:1\"\ndata = \"file\"\n[webhook]\nretry_seconds = [1]\n";
    let variables = [
        ("GARSON_LISTEN", "127.0.0.1:2"),
        ("GARSON_WEBHOOK__RETRY_SECONDS", "3, 4"),
        ("HOME", "x"),
    ];
    let settings = load(Some(file), &variables, vec![("listen", "127.0.0.1:3")]).unwrap();
    assert_eq!(settings.listen, "127.0.0.1:3");
    assert_eq!(settings.data, Path::new("file"));
    assert_eq!(settings.webhook.retry_seconds, [3, 4]);
}

#[test]
fn a_wrong_setting_is_named_with_its_place_and_what_is_allowed() {
    for (file, wanted) in [
        (
            "listn = \"x\"",
            "garson.toml: there is no setting listn. Settings are: ",
        ),
        (
            "[webhook]\nretry = 1",
            "garson.toml: there is no setting webhook.retry.",
        ),
        ("listen = 8080", "garson.toml: listen must be a text"),
        (
            "trusted_certificates = \"/nowhere/till.pem\"",
            "garson.toml: trusted_certificates must be empty, or a PEM file with certificates: \
             /nowhere/till.pem cannot be read: No such file",
        ),
        (
            "listen = \"8080\"",
            "garson.toml: listen must be an address with a port",
        ),
        (
            "allow_private_targets = \"yes\"",
            "garson.toml: allow_private_targets must be true or false",
        ),
        (
            "[storage]\nreaders = -1",
            "garson.toml: storage.readers must be a whole number, not negative",
        ),
        (
            "[storage]\nreaders = 0",
            "garson.toml: storage.readers must be 1 to 64",
        ),
        (
            "[webhook]\nretry_seconds = [\"a\"]",
            "garson.toml: webhook.retry_seconds must be a list of whole numbers",
        ),
        ("rate_limit = \"lots\"", "garson.toml: rate_limit must be \"off\""),
        ("\n\nlisten = ", "garson.toml, line 3: "),
        ("storage = 1", "garson.toml: there is no setting storage."),
    ] {
        let error = load(Some(file), &[], vec![]).unwrap_err();
        assert!(error.starts_with(wanted), "{file:?} gave {error:?}");
    }
    let error = load(None, &[("GARSON_STORAGE__READERS", "many")], vec![]).unwrap_err();
    assert_eq!(
        error,
        "the variable GARSON_STORAGE__READERS: storage.readers must be a whole number, not negative"
    );
    let error = load(None, &[], vec![("listen", "nowhere")]).unwrap_err();
    assert!(error.starts_with("the flag --listen: listen must be"), "{error}");
}

#[test]
fn secrets_are_not_repeated() {
    let settings = load(None, &[("GARSON_MASTER_KEY", &"ab".repeat(32))], vec![]).unwrap();
    assert!(!format!("{settings:?}").contains("abab"));
    let error = load(None, &[("GARSON_MASTER_KEY", "hunter2")], vec![]).unwrap_err();
    assert!(
        error.contains("64 hexadecimal digits") && !error.contains("hunter2"),
        "{error}"
    );
}

#[test]
fn variables_that_container_platforms_add_are_no_settings() {
    let injected = [
        ("GARSON_PORT", "tcp://10.0.0.1:8080"),
        ("GARSON_SERVICE_HOST", "10.0.0.1"),
        ("GARSON_SERVICE_PORT", "8080"),
        ("GARSON_SERVICE_PORT_HTTP", "8080"),
        ("GARSON_SERVICE_PORT_HTTP_METRICS", "8081"),
        ("GARSON_PORT_8080_TCP", "tcp://10.0.0.1:8080"),
        ("GARSON_PORT_8080_TCP_ADDR", "10.0.0.1"),
        ("GARSON_PORT_8080_TCP_PORT", "8080"),
        ("GARSON_PORT_8080_TCP_PROTO", "tcp"),
        ("GARSON_PORT_53_UDP", "udp://10.0.0.1:53"),
        // Of a service that is named garson-database.
        ("GARSON_DATABASE_PORT", "tcp://10.0.0.1:5432"),
        ("GARSON_DATABASE_SERVICE_HOST", "10.0.0.1"),
        ("GARSON_DATABASE_PORT_5432_TCP_ADDR", "10.0.0.1"),
    ];
    let settings = load(None, &injected, vec![]).unwrap();
    assert_eq!(settings.listen, "127.0.0.1:8080");
    for unknown in [
        "GARSON_PORTS",
        "GARSON_SERVICE",
        "GARSON_SERVICE_NAME",
        "GARSON_PORT_HTTP",
        "GARSON_PORT_8080",
        "GARSON_PORT_8080_TCP_HOST",
        "GARSON_PORT_8080_TCP_ADDR_MORE",
        "GARSON_PORT_99999_TCP",
        "GARSON_LISTN",
        "GARSON_DATABASE_PORT",
    ] {
        let error = load(None, &[(unknown, "1")], vec![]).unwrap_err();
        assert!(error.contains("there is no setting"), "{unknown}: {error}");
    }
}

#[test]
fn proxies_are_addresses_or_networks() {
    let named = [("GARSON_SERVER__TRUSTED_PROXIES", "10.0.0.0/8, ::1")];
    let settings = load(None, &named, vec![]).unwrap();
    assert!(
        settings
            .proxies()
            .unwrap()
            .are_trusted("10.1.2.3".parse().unwrap())
    );
    let wrong = load(None, &[("GARSON_SERVER__TRUSTED_PROXIES", "proxy.local")], vec![]).unwrap_err();
    assert!(
        wrong.contains("server.trusted_proxies must be a list of addresses"),
        "{wrong}"
    );
    let wrong = load(None, &[("GARSON_SERVER__PROXY_HEADER", "X-Real-IP")], vec![]).unwrap_err();
    assert!(wrong.contains("X-Forwarded-For or Forwarded"), "{wrong}");
}

#[test]
fn openid_needs_a_safe_issuer_a_client_and_a_public_address() {
    let file = |issuer: &str, more: &str, public: &str| {
        format!("public_url = \"{public}\"\n[openid]\nissuer = \"{issuer}\"\n{more}\n")
    };
    const PUBLIC: &str = "https://orders.example.com";
    const CLIENT: &str = "client_id = \"garson\"";
    for issuer in [
        "https://login.example.com/realms/x",
        "http://127.0.0.1:8080",
        "http://localhost:1/",
        "http://[::1]:1",
    ] {
        let settings = load(Some(&file(issuer, CLIENT, PUBLIC)), &[], vec![]).unwrap();
        let provider = settings.openid.provider(&settings.public_url).unwrap();
        assert_eq!(provider.issuer, issuer);
        assert_eq!(
            provider.redirect,
            "https://orders.example.com/sign-in/openid/callback"
        );
        assert!(provider.client_secret.is_none());
    }
    for (issuer, more, public, key) in [
        ("http://login.example.com", CLIENT, PUBLIC, "openid.issuer"),
        ("http://10.0.0.1", CLIENT, PUBLIC, "openid.issuer"),
        ("https://login.example.com/?a=b", CLIENT, PUBLIC, "openid.issuer"),
        ("login.example.com", CLIENT, PUBLIC, "openid.issuer"),
        ("https://a:b@login.example.com", CLIENT, PUBLIC, "openid.issuer"),
        ("https://login.example.com", "", PUBLIC, "openid.client_id"),
        (
            "https://login.example.com",
            "client_id = \"a\"\nlabel = \" \"",
            PUBLIC,
            "openid.label",
        ),
        ("https://login.example.com", CLIENT, "", "public_url"),
    ] {
        let error = load(Some(&file(issuer, more, public)), &[], vec![]).unwrap_err();
        assert!(error.contains(key), "{issuer}: {error}");
    }
    let secret = [("GARSON_OPENID__CLIENT_SECRET".to_owned(), "hidden".to_owned())];
    let shown = Settings::effective(None, secret, Vec::new()).unwrap();
    assert!(
        shown.contains("client_secret") && !shown.contains("hidden"),
        "{shown}"
    );
}
