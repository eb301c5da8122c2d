//! A platform under test, with samples of its messages.

use crate::id::{AccountId, IntegrationId, OrderId, RestaurantId};
use crate::integration::Credentials;
use crate::order::{Order, OrderOwner, Status, place};
use crate::platform::{HookRequest, Link, News, Platform, PlatformError, Sighting, Unreadable};
use crate::secret::Secret;
use crate::time::Timestamp;
use uuid::Uuid;

/// What the suite needs of a platform: credentials, a genuine message of a new order for each kind of courier that the
/// platform knows, and where the first says what.
pub struct PlatformCase<'a> {
    pub platform: &'a dyn Platform,
    pub credentials: Credentials,
    /// One for each courier of the capability, in that order.
    pub new_orders: Vec<HookRequest>,
    /// Every other kind of message, genuine too.
    pub others: Vec<HookRequest>,
    pub branch: &'a str,
    pub provider_order_id: &'a str,
    /// Answers that refuse in the platform's words: the body, with a word that must be handed on.
    pub refusals: Vec<(u16, &'a str, &'a str)>,
}

pub(super) fn ensure(holds: bool, what: impl Into<String>) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what.into()) }
}

pub(super) const BASE: &str = "https://platform.example/base";

impl<'a> PlatformCase<'a> {
    pub(super) fn first(&self) -> Result<&HookRequest, String> {
        self.new_orders.first().ok_or_else(|| "no sample".to_owned())
    }

    pub(super) fn link<'b>(&'b self, token: &'b Secret<String>) -> Link<'b> {
        Link {
            base: BASE,
            branch: self.branch,
            credentials: &self.credentials,
            token: Some(token),
            callback_hosts: &[],
        }
    }

    pub(super) fn sighting(&self, request: &HookRequest) -> Result<Sighting, String> {
        let verified = self
            .platform
            .verify(request, &self.credentials)
            .ok_or("a genuine message is refused")?;
        let message = self.platform.read(&verified).map_err(|e| explain(&e))?;
        ensure(
            message.branch.as_deref() == Some(self.branch),
            "the branch is read wrongly",
        )?;
        match message.news {
            News::Order(sighting) => Ok(*sighting),
            _ => Err("a new order is not read as one".to_owned()),
        }
    }

    /// The orders of the samples, at that status.
    pub(super) fn orders(&self, status: Status) -> Result<Vec<Order>, String> {
        let nil = Uuid::nil();
        let home = OrderOwner {
            account_id: AccountId(nil),
            restaurant_id: RestaurantId(nil),
            integration_id: IntegrationId(nil),
            provider: self.platform.provider(),
        };
        let order = |request| {
            let new = self.sighting(request)?.order;
            let mut order = place(OrderId(nil), home, &new, Timestamp::default(), true, false).order;
            order.status = status;
            Ok(order)
        };
        self.new_orders.iter().map(order).collect()
    }
}

pub(super) fn explain(unreadable: &Unreadable) -> String {
    format!("{}: {}", unreadable.path, unreadable.message)
}

pub(super) fn unsupported<T>(result: &Result<T, PlatformError>) -> bool {
    matches!(result, Err(PlatformError::Unsupported { .. }))
}
