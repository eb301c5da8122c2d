//! An integration's platform with everything that is needed to call it.

use crate::app::App;
use crate::config::Terms;
use crate::fair_slots::{FairSlots, Permit};
use crate::net::Log;
use garson_core::explanation::PlatformFailure;
use garson_core::id::AccountId;
use garson_core::integration::Credentials;
use garson_core::platform::{CallError, Link, Platform};
use garson_core::secret::Secret;
use garson_store::tables::integrations::Connected;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// How much of a platform's answer is read.
const MAX_ANSWER: usize = 4 * 1024 * 1024;
/// The same for menus: five thousand products with their options.
const MAX_MENU: usize = 24 * 1024 * 1024;

#[derive(Clone)]
pub struct Contact {
    pub platform: &'static dyn Platform,
    /// The account of the integration; addresses that the operator does not set come from it.
    pub account: Option<AccountId>,
    pub terms: Arc<Terms>,
    pub branch: String,
    /// The integration's credentials, completed with the operator's.
    pub credentials: Credentials,
    /// Frequent calls of little interest do not log each success.
    pub log: Log,
    /// How much of an answer is read, in bytes.
    pub max_answer: usize,
    /// The slots that requests in the background wait for; none for requests that a client waits for.
    pub share: Option<Share>,
    /// How long a request waits for room within the platform's limits; none: until its deadline.
    pub limit_wait: Option<Duration>,
    /// Many more requests of the kind wait to be sent: when the platform says that it gets too many, they wait longer.
    pub has_more: bool,
}

/// An account's share of the requests that are made in the background.
#[derive(Clone)]
pub struct Share {
    pub slots: Arc<FairSlots>,
    pub account: AccountId,
    /// The last request failed.
    pub is_failing: bool,
    /// How long a request may hold a slot.
    pub request_deadline: Duration,
}

impl Contact {
    /// The platform of an order and its integration. Without an integration it cannot be called, but the order's next steps
    /// can still be decided.
    #[must_use]
    pub fn new(app: &App, platform: &'static dyn Platform, connected: Option<&Connected>) -> Self {
        let provider = platform.provider();
        let own = connected.map(|connected| &connected.credentials);
        Self {
            platform,
            account: connected.map(|connected| connected.integration.account_id),
            terms: app.terms(provider),
            branch: connected
                .and_then(|connected| connected.integration.remote_id.clone())
                .unwrap_or_default(),
            credentials: app.credentials(provider, own.unwrap_or(&Credentials::new())),
            log: Log::Every,
            max_answer: MAX_ANSWER,
            share: None,
            limit_wait: None,
            has_more: false,
        }
    }

    /// The same for reading a menu, which may be large.
    #[must_use]
    pub fn for_menus(mut self) -> Self {
        self.max_answer = MAX_MENU;
        self
    }

    /// Waits for a slot for one request, if requests of this contact need one.
    pub(super) async fn slot(&self, until: Instant) -> Result<Option<Permit>, CallError> {
        let Some(share) = &self.share else {
            return Ok(None);
        };
        let acquired = share.slots.acquire(share.account, share.is_failing);
        match tokio::time::timeout_at(until, acquired).await {
            Ok(permit) => Ok(Some(permit)),
            Err(_) => Err(CallError::later(PlatformFailure::NoFreeSlot)),
        }
    }

    pub(super) fn link<'a>(&'a self, token: Option<&'a Secret<String>>) -> Link<'a> {
        Link {
            base: &self.terms.base_url,
            branch: &self.branch,
            credentials: &self.credentials,
            token,
            callback_hosts: &self.terms.callback_hosts,
        }
    }
}

impl App {
    /// The platform of an integration; none when this version does not support it.
    #[must_use]
    pub fn contact(&self, connected: &Connected) -> Option<Contact> {
        let platform = garson_platforms::of(connected.integration.provider)?;
        Some(Contact::new(self, platform, Some(connected)))
    }
}
