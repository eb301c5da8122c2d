//! What an attempt needs to know of a receiver: its address, its headers, its signature, its body and its retries.

use super::signature::Signer;
use crate::net::guard;
use garson_core::account::Webhook;
use garson_core::id::{AccountId, EventId};
use garson_core::retry::Schedule;
use garson_core::secret::Secret;
use garson_core::time::Timestamp;
use garson_core::webhook_endpoint::{
    EndpointAuthorization, EndpointState, EventBody, RetryPlan, WebhookEndpoint,
};
use garson_store::tables::webhook_endpoints::EndpointSecrets;
use garson_store::tables::{accounts, keys, webhook_endpoints};
use garson_store::vault::Vault;
use garson_store::{StoreError, Tx};
use http::{HeaderMap, HeaderValue, header};

use super::receiver::Receiver;

/// Where a receiver's events go, and how.
#[derive(Clone, Debug)]
pub struct Target {
    pub url: String,
    /// Scheme, host and port, for the log: a path or query may hold secrets.
    pub origin: String,
    headers: HeaderMap,
    signer: Option<Signer>,
    pub body: EventBody,
    retries: RetryPlan,
}

impl Target {
    /// The target of an account's webhook without further settings.
    #[must_use]
    pub fn new(webhook: &Webhook, key: Option<&Secret<String>>) -> Self {
        let value = key.map(|key| webhook.authorization.header(key));
        Self::at(&webhook.url, value.as_ref())
    }

    fn at(url: &str, authorization: Option<&Secret<String>>) -> Self {
        let mut headers = HeaderMap::new();
        if let Some(mut value) = authorization.and_then(|value| HeaderValue::from_str(value.expose()).ok()) {
            value.set_sensitive(true);
            headers.insert(header::AUTHORIZATION, value);
        }
        Self {
            origin: guard::Target::parse(url)
                .map_or_else(|_| String::new(), |target| target.origin().to_string()),
            url: url.to_owned(),
            headers,
            signer: None,
            body: EventBody::Event,
            retries: RetryPlan::Standard,
        }
    }

    /// The target of an endpoint with this address.
    fn of(
        endpoint: &WebhookEndpoint,
        url: &str,
        secrets: &EndpointSecrets,
        key: Option<&Secret<String>>,
    ) -> Result<Self, StoreError> {
        let authorization = match endpoint.authorization {
            EndpointAuthorization::Key | EndpointAuthorization::BareKey => endpoint
                .authorization
                .key_form()
                .zip(key)
                .map(|(form, key)| form.header(key)),
            EndpointAuthorization::Token => secrets
                .token
                .as_ref()
                .map(|token| Secret::new(format!("Bearer {}", token.expose()))),
            EndpointAuthorization::None => None,
        };
        let old = secrets.old_signing.as_ref().zip(endpoint.old_secret_until);
        let damaged = || StoreError::corrupt("the signing secret of an endpoint is damaged");
        let signer = secrets
            .signing
            .as_ref()
            .map(|secret| Signer::new(secret, old).ok_or_else(damaged))
            .transpose()?;
        Ok(Self {
            signer,
            body: endpoint.body,
            retries: endpoint.retries,
            ..Self::at(url, authorization.as_ref())
        })
    }

    /// The target of a receiver as it is now; none if there is nowhere to send to.
    pub fn load(tx: &mut Tx<'_>, vault: &Vault, receiver: Receiver) -> Result<Option<Self>, StoreError> {
        let Receiver { account, endpoint } = receiver;
        let stored = webhook_endpoints::find(tx, account, endpoint)?;
        if receiver.is_default() {
            let Some(webhook) = accounts::webhook(tx, account)? else {
                return Ok(None);
            };
            let key = keys::primary(tx, vault, account)?;
            let Some(mut stored) = stored else {
                return Ok(Some(Self::new(&webhook, key.as_ref())));
            };
            if stored.authorization.key_form().is_some() {
                stored.authorization = webhook.authorization.into();
            }
            let secrets = webhook_endpoints::secrets(tx, vault, endpoint)?;
            return Self::of(&stored, &webhook.url, &secrets, key.as_ref()).map(Some);
        }
        let Some(stored) = stored.filter(|it| it.state == EndpointState::Active) else {
            return Ok(None);
        };
        Self::of_stored(tx, vault, account, &stored)
    }

    /// The target of a stored endpoint, whatever its state; none if it has no address.
    pub fn of_stored(
        tx: &mut Tx<'_>,
        vault: &Vault,
        account: AccountId,
        stored: &WebhookEndpoint,
    ) -> Result<Option<Self>, StoreError> {
        let Some(url) = &stored.url else { return Ok(None) };
        let secrets = webhook_endpoints::secrets(tx, vault, stored.id)?;
        let key = match stored.authorization.key_form() {
            Some(_) => keys::primary(tx, vault, account)?,
            None => None,
        };
        Self::of(stored, url, &secrets, key.as_ref()).map(Some)
    }

    /// The headers of a request with this body.
    #[must_use]
    pub fn headers(&self, event: EventId, body: &str, now: Timestamp) -> HeaderMap {
        let mut headers = self.headers.clone();
        if let Some(signer) = &self.signer {
            signer.sign(&mut headers, &event.to_string(), body, now);
        }
        headers
    }

    /// When a failed delivery is tried again.
    #[must_use]
    pub fn schedule(&self, standard: &Schedule) -> Schedule {
        self.retries.schedule(standard)
    }
}
