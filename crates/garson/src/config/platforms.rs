//! What an operator says about platforms: where they live, how often they are asked, and credentials that all
//! integrations share.

use garson_core::integration::Credentials;
use garson_core::platform::{Capability, Platform, Provider};
use garson_core::secret::Secret;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::time::Duration;
use url::Url;

/// The settings of one platform, as they are written.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct PlatformSettings {
    pub base_url: String,
    pub poll_seconds: u32,
    pub seconds_between_moves: u32,
    /// The rest are credentials, in snake case.
    #[serde(flatten)]
    pub credentials: BTreeMap<String, Secret<String>>,
}

/// The settings of all platforms that have any.
pub type Platforms = BTreeMap<String, PlatformSettings>;

/// Is a setting of a platform (`getir.app_secret_key`) one of its credentials?
pub fn is_secret(key: &str) -> bool {
    let name = key.rsplit('.').next().unwrap_or_default();
    !matches!(name, "base_url" | "poll_seconds" | "seconds_between_moves")
}

/// What an operator says about one platform.
#[derive(Clone, Debug, Default)]
pub struct Terms {
    pub base_url: String,
    /// Nothing: this platform is not asked for orders.
    pub poll_every: Option<Duration>,
    pub between_moves: Duration,
    pub credentials: Credentials,
}

/// The terms on which every platform of the registry is spoken with.
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

/// Is it somewhere to send a request to?
pub fn is_address(text: &str) -> bool {
    let url = Url::parse(text).ok();
    url.is_some_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
}

/// The first setting that cannot be used, with what is allowed.
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
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_those_of_credentials() {
        assert_eq!(camel_case("app_secret_key"), "appSecretKey");
        assert_eq!(camel_case("username"), "username");
    }
}
