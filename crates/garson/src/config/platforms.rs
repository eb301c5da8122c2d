//! Settings of platforms: addresses, polling intervals, and credentials that all integrations share.

use garson_core::integration::Credentials;
use garson_core::platform::{Capability, Platform, Provider};
use garson_core::secret::Secret;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::time::Duration;
use url::Url;

/// The settings of one platform as they are written.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct PlatformSettings {
    pub base_url: String,
    pub poll_seconds: u32,
    pub seconds_between_moves: u32,
    /// Hosts besides that of `base_url` that may be called when the platform returns an address there.
    pub callback_hosts: Vec<String>,
    /// All other keys are credentials, in snake case.
    #[serde(flatten)]
    pub credentials: BTreeMap<String, Secret<String>>,
}

/// The settings of all platforms that have any.
pub type Platforms = BTreeMap<String, PlatformSettings>;

/// Is a setting of a platform (`getir.app_secret_key`) one of its credentials?
pub fn is_secret(key: &str) -> bool {
    let name = key.rsplit('.').next().unwrap_or_default();
    !matches!(
        name,
        "base_url" | "poll_seconds" | "seconds_between_moves" | "callback_hosts"
    )
}

/// The checked settings of one platform.
#[derive(Clone, Debug, Default)]
pub struct Terms {
    pub base_url: String,
    /// `None`: the platform is not polled for orders.
    pub poll_every: Option<Duration>,
    pub between_moves: Duration,
    pub callback_hosts: Vec<String>,
    pub credentials: Credentials,
}

/// The checked settings of every platform in the registry.
#[must_use]
pub fn terms(settings: &Platforms) -> BTreeMap<Provider, Terms> {
    garson_platforms::all()
        .iter()
        .map(|platform| (platform.provider(), terms_of(*platform, settings)))
        .collect()
}

fn terms_of(platform: &dyn Platform, settings: &Platforms) -> Terms {
    let Some(found) = settings.get(platform.provider().as_str()) else {
        return Terms::default();
    };
    let Capability { polling, .. } = platform.capability();
    let seconds = |seconds: u32| Duration::from_secs(u64::from(seconds));
    let given = found
        .credentials
        .iter()
        .filter(|(_, value)| !value.expose().is_empty());
    Terms {
        base_url: found.base_url.trim_end_matches('/').to_owned(),
        poll_every: polling
            .filter(|_| found.poll_seconds > 0)
            .map(|_| seconds(found.poll_seconds)),
        between_moves: seconds(found.seconds_between_moves),
        callback_hosts: found.callback_hosts.clone(),
        credentials: given
            .map(|(name, value)| (camel_case(name), value.clone()))
            .collect(),
    }
}

fn camel_case(name: &str) -> String {
    let mut parts = name.split('_');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |mut written, part| {
        let mut letters = part.chars();
        written.extend(letters.next().map(|c| c.to_ascii_uppercase()));
        written.push_str(letters.as_str());
        written
    })
}

/// Can a request be sent there?
pub fn is_address(text: &str) -> bool {
    let url = Url::parse(text).ok();
    url.is_some_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
}

/// Is it an address to which a path can be appended?
pub fn is_plain_address(text: &str) -> bool {
    let url = Url::parse(text).ok().filter(|_| is_address(text));
    url.is_some_and(|url| url.query().is_none() && url.fragment().is_none() && url.password().is_none())
}

/// Is it only a host, with or without a port?
fn is_host(text: &str) -> bool {
    let url = Url::parse(&format!("https://{text}/")).ok();
    let is_plain = text
        .bytes()
        .all(|b| b.is_ascii_alphanumeric() || b".-:".contains(&b));
    is_plain && url.is_some_and(|url| url.host_str().is_some_and(|host| !host.is_empty()))
}

/// The first invalid setting, with what is allowed.
pub fn first_wrong(settings: &Platforms) -> Option<(String, &'static str)> {
    settings.iter().find_map(|(name, platform)| {
        if !is_address(&platform.base_url) {
            return Some((
                format!("platforms.{name}.base_url"),
                "an address that starts with https:// or http://",
            ));
        }
        if platform.poll_seconds > 3_600 {
            return Some((format!("platforms.{name}.poll_seconds"), "0 (never) to 3600"));
        }
        if platform.seconds_between_moves > 3_600 {
            return Some((format!("platforms.{name}.seconds_between_moves"), "0 to 3600"));
        }
        if !platform.callback_hosts.iter().all(|host| is_host(host)) {
            return Some((
                format!("platforms.{name}.callback_hosts"),
                "a list of hosts such as \"callbacks.example.com\" or \"callbacks.example.com:8443\"",
            ));
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_told_from_other_texts() {
        for host in ["a.example", "a-b.example:8443", "10.0.0.7:80"] {
            assert!(is_host(host), "{host}");
        }
        for other in [
            "",
            "https://a.example",
            "a.example/x",
            "u@a.example",
            "*.example",
            "a.example:x",
        ] {
            assert!(!is_host(other), "{other}");
        }
    }

    #[test]
    fn names_become_those_of_credentials() {
        assert_eq!(camel_case("app_secret_key"), "appSecretKey");
        assert_eq!(camel_case("username"), "username");
    }
}
