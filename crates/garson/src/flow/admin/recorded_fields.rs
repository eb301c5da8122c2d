//! Records as the audit log shows them: field by field, secrets as fingerprints.

use crate::flow::by::fingerprint;
use garson_core::account::{ApiKey, Webhook};
use garson_core::business::BusinessFields;
use garson_core::channel::{Channel, Target};
use garson_core::integration::{Credentials, Integration};
use garson_core::permission::RestaurantScope;
use garson_core::restaurant::{Package, RestaurantFields};
use garson_core::secret::Secret;
use garson_core::user::User;
use garson_core::webhook_endpoint::WebhookEndpoint;
use garson_store::Vault;
use garson_store::tables::webhook_endpoints::EndpointSecrets;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use url::Url;

/// A `config` that is longer is recorded as a fingerprint.
const LONGEST_CONFIG: usize = 4_000;

pub(super) fn key(key: &ApiKey) -> Value {
    let restaurants = match &key.access.restaurants {
        RestaurantScope::All => None,
        RestaurantScope::Only(ids) => Some(ids),
    };
    let networks = Some(&key.access.networks).filter(|it| !it.is_empty());
    json!({
        "label": key.label, "hint": key.hint, "isPrimary": key.is_primary, "scopes": key.access.scopes,
        "restaurants": restaurants, "networks": networks, "expiresAt": key.expires_at, "replacedBy": key.replaced_by,
    })
}

pub(super) fn user(user: &User) -> Value {
    let restaurants = match &user.restaurants {
        RestaurantScope::All => None,
        RestaurantScope::Only(ids) => Some(ids),
    };
    json!({
        "email": user.email, "name": user.name, "language": user.language, "role": user.role.as_str(),
        "restaurants": restaurants, "isDisabled": user.is_disabled,
    })
}

/// Where events go; what a URL may hold a secret in is a fingerprint.
pub(super) fn webhook(vault: &Vault, webhook: Option<&Webhook>, updates: bool) -> Value {
    json!({
        "url": webhook.map(|it| shown_url(vault, &it.url)),
        "authorization": webhook.map(|it| it.authorization.as_str()),
        "orderUpdates": updates,
    })
}

/// An endpoint; its token and its signing secrets are fingerprints.
pub(super) fn endpoint(vault: &Vault, endpoint: &WebhookEndpoint, secrets: &EndpointSecrets) -> Value {
    let secret = |it: &Option<Secret<String>>| it.as_ref().map(|it| fingerprint(vault, it.expose()));
    json!({
        "label": endpoint.label, "url": endpoint.url.as_deref().map(|url| shown_url(vault, url)),
        "state": endpoint.state.as_str(), "events": endpoint.filter.events,
        "restaurants": endpoint.filter.restaurants, "platforms": endpoint.filter.platforms,
        "authorization": endpoint.authorization.as_str(), "body": endpoint.body.as_str(),
        "retries": endpoint.retries.as_str(), "token": secret(&secrets.token),
        "signingSecret": secret(&secrets.signing), "oldSigningSecret": secret(&secrets.old_signing),
    })
}

/// A URL without what may be secret in it: the user information, the query and the fragment.
pub(crate) fn shown_url(vault: &Vault, url: &str) -> String {
    let Ok(mut parsed) = Url::parse(url) else {
        return fingerprint(vault, url);
    };
    let has_secret = !parsed.username().is_empty()
        || parsed.password().is_some()
        || parsed.query().is_some()
        || parsed.fragment().is_some();
    if !has_secret {
        return url.to_owned();
    }
    // These fail only for URLs without a host.
    let _ = parsed.set_username("");
    let _ = parsed.set_password(None);
    parsed.set_query(None);
    parsed.set_fragment(None);
    format!("{parsed} {}", fingerprint(vault, url))
}

pub(super) fn business(fields: &BusinessFields) -> Value {
    json!({
        "name": fields.name, "description": fields.description, "vatNumber": fields.vat_number,
        "taxOffice": fields.tax_office, "address": fields.address, "city": fields.city,
        "country": fields.country, "zipCode": fields.zip_code, "phone": fields.phone, "email": fields.email,
    })
}

pub(super) fn restaurant(vault: &Vault, fields: &RestaurantFields) -> Value {
    let config = fields.config.as_deref().map(|config| {
        let parsed = (config.len() <= LONGEST_CONFIG).then(|| serde_json::from_str(config).ok());
        parsed
            .flatten()
            .unwrap_or_else(|| Value::String(fingerprint(vault, config)))
    });
    json!({
        "businessId": fields.business_id, "name": fields.name, "description": fields.description,
        "address": fields.address, "lat": fields.lat, "lon": fields.lon, "config": config,
        "paymentMatchingUrl": fields.payment_matching_url.as_deref().map(|url| shown_url(vault, url)),
        "paymentMatchingHeaders": fields.payment_matching_headers.as_ref().map(|it| fingerprint(vault, it.expose())),
    })
}

pub(super) fn packages(packages: &[Package]) -> Value {
    let package = |it: &Package| json!({ "name": it.name, "providers": it.providers, "startsAt": it.starts_at, "endsAt": it.ends_at });
    json!({ "packages": packages.iter().map(package).collect::<Vec<_>>() })
}

pub(super) fn integration(vault: &Vault, integration: &Integration, credentials: &Credentials) -> Value {
    let secrets = credentials.iter().map(|(name, value)| (name.as_str(), value));
    let mut fields = json!({
        "isActive": integration.is_active, "remoteId": integration.remote_id,
        "defaultCancelReason": integration.default_cancel_reason,
    });
    if let Value::Object(fields) = &mut fields {
        for (name, value) in fingerprints(vault, secrets) {
            fields.insert(format!("credentials.{name}"), value);
        }
    }
    fields
}

/// A channel's address may contain a token in any part, so that only its host is shown.
pub(super) fn channel(vault: &Vault, channel: &Channel) -> Value {
    let mut fields = match &channel.target {
        Target::Email { recipients } => json!({ "recipients": recipients }),
        Target::Http(template) => {
            let url = Url::parse(&template.url).ok();
            let secrets = |all: &BTreeMap<String, Secret<String>>| {
                let pairs = all.iter().map(|(name, value)| (name.as_str(), value));
                fingerprints(vault, pairs)
            };
            json!({
                "method": template.method, "host": url.as_ref().and_then(Url::host_str),
                "url": fingerprint(vault, &template.url), "body": fingerprint(vault, &template.body),
                "headers": secrets(&template.headers), "secrets": secrets(&template.secrets),
            })
        }
    };
    if let Value::Object(fields) = &mut fields {
        fields.insert("name".to_owned(), json!(channel.name));
        fields.insert("kind".to_owned(), json!(channel.target.kind().as_str()));
        fields.insert("language".to_owned(), json!(channel.language));
    }
    fields
}

fn fingerprints<'a>(
    vault: &Vault,
    secrets: impl Iterator<Item = (&'a str, &'a Secret<String>)>,
) -> Map<String, Value> {
    secrets
        .map(|(name, value)| (name.to_owned(), Value::String(fingerprint(vault, value.expose()))))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn url_shows_no_secret() {
        let vault = Vault::new(&Secret::new([1; 32]));
        let plain = "https://pos.example/hook/path";
        assert_eq!(shown_url(&vault, plain), plain);
        for url in [
            "https://u:p4ss@pos.example/hook",
            "https://pos.example/hook?p4ss=1",
            "https://pos.example/hook#p4ss",
        ] {
            let shown = shown_url(&vault, url);
            assert!(shown.starts_with("https://pos.example/hook #"), "{shown}");
            assert!(!shown.contains("p4ss"), "{shown}");
        }
        assert!(!shown_url(&vault, "not a url p4ss").contains("p4ss"));
    }
}
