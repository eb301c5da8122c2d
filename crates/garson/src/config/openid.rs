//! Settings of sign-in with OpenID Connect.

use crate::net::{OpenIdSettings, is_on_this_machine};
use garson_core::secret::Secret;
use serde::Deserialize;
use url::Url;

#[derive(Clone, Debug, Deserialize)]
pub struct OpenIdConfig {
    pub issuer: String,
    pub client_id: String,
    pub client_secret: Secret<String>,
    pub label: String,
    pub trust_email: bool,
}

impl OpenIdConfig {
    #[must_use]
    pub fn is_on(&self) -> bool {
        !self.issuer.is_empty()
    }

    /// The first wrong setting, and what it may be.
    pub(super) fn first_wrong(&self, public_url: &str) -> Option<(&'static str, &'static str)> {
        if !self.is_on() {
            return None;
        }
        if !is_safe(&self.issuer) {
            let allowed = "empty, or an address that starts with https://; with http:// only on this machine";
            return Some(("openid.issuer", allowed));
        }
        if self.client_id.is_empty() {
            return Some((
                "openid.client_id",
                "the id that the provider has given this service",
            ));
        }
        if self.label.trim().is_empty() || self.label.chars().count() > 50 {
            return Some(("openid.label", "a name of 1 to 50 characters"));
        }
        public_url.is_empty().then_some((
            "public_url",
            "set if openid.issuer is: the provider sends people back to it",
        ))
    }

    /// The provider's settings, if one is configured.
    #[must_use]
    pub fn provider(&self, public_url: &str) -> Option<OpenIdSettings> {
        let secret = &self.client_secret;
        self.is_on().then(|| OpenIdSettings {
            issuer: self.issuer.clone(),
            client_id: self.client_id.clone(),
            client_secret: (!secret.expose().is_empty()).then(|| secret.clone()),
            redirect: format!("{}/sign-in/openid/callback", public_url.trim_end_matches('/')),
            label: self.label.trim().to_owned(),
            trusts_email: self.trust_email,
        })
    }
}

/// The client's secret must not travel in clear text.
fn is_safe(issuer: &str) -> bool {
    let Ok(url) = Url::parse(issuer) else {
        return false;
    };
    if !url.username().is_empty() || url.password().is_some() {
        return false;
    }
    url.query().is_none()
        && url.fragment().is_none()
        && (url.scheme() == "https" || (url.scheme() == "http" && is_on_this_machine(&url)))
}
