//! Whether a platform is in trouble for an integration: it cannot be reached, or refuses the credentials.
//!
//! Failed polls, failed calls and unreadable credentials note the time of the trouble with the integration. Where the platform is
//! polled, the trouble lasts until a poll has succeeded, which removes that time: neither a long pause between polls nor a restart
//! ends it. Elsewhere nothing shows that it is over except an order, so it is forgotten after a while.

use crate::app::App;
use garson_core::integration::Integration;
use garson_core::platform::Provider;
use garson_core::time::Timestamp;
use std::time::Duration;

/// Trouble of a platform that is not polled is forgotten after this time. Where it is polled, a failed call counts for as long,
/// although polls succeed.
pub const FORGOTTEN_AFTER: Duration = Duration::from_secs(3 * 60);
/// The same where the platform refuses the credentials: that does not pass by itself, and some platforms are called rarely.
const REFUSAL_FORGOTTEN_AFTER: Duration = Duration::from_secs(15 * 60);
/// Trouble that was noted longer ago is not shown: polls that fail note it again earlier than this, so no node polls the platform.
pub const STALE_AFTER: Duration = Duration::from_secs(2 * 60 * 60);

/// The rule with the platforms that this service polls.
#[derive(Clone, Debug)]
pub struct TroubleRule {
    polled: Vec<Provider>,
}

impl TroubleRule {
    #[must_use]
    pub fn of(app: &App) -> Self {
        let providers = garson_platforms::all().iter().map(|platform| platform.provider());
        Self::with_polled(providers.filter(|provider| app.terms(*provider).poll_every.is_some()))
    }

    #[must_use]
    pub fn with_polled(polled: impl IntoIterator<Item = Provider>) -> Self {
        Self {
            polled: polled.into_iter().collect(),
        }
    }

    /// Is the platform polled for this integration, so that a poll ends its trouble?
    #[must_use]
    pub fn is_polled(&self, integration: &Integration) -> bool {
        integration.is_active
            && integration.remote_id.is_some()
            && self.polled.contains(&integration.provider)
    }

    /// Is the platform in trouble now?
    #[must_use]
    pub fn is_in_trouble(&self, integration: &Integration, now: Timestamp) -> bool {
        let Some(at) = integration.health.trouble_at.filter(|_| integration.is_active) else {
            return false;
        };
        // What was changed since has not failed yet.
        let is_before_change = at < integration.updated_at;
        if self.is_polled(integration) {
            return !is_before_change && at > now.minus(STALE_AFTER);
        }
        if integration.health.is_access_refused() {
            !is_before_change && at > now.minus(REFUSAL_FORGOTTEN_AFTER) && !has_order_since(integration, now)
        } else {
            at > now.minus(FORGOTTEN_AFTER) && !has_order_since(integration, now)
        }
    }
}

/// Has an order come since the trouble? One that a clock which was ahead has noted says nothing.
#[must_use]
pub fn has_order_since(integration: &Integration, now: Timestamp) -> bool {
    let health = &integration.health;
    let last_order_at = health.last_order_at.filter(|at| *at <= now);
    last_order_at > health.trouble_at
}

#[cfg(test)]
mod tests {
    use super::*;
    use garson_core::explanation::Explanation;
    use garson_core::id::{AccountId, IntegrationId, RestaurantId};
    use garson_core::integration::{BranchClaim, Health};

    const MINUTE: Duration = Duration::from_secs(60);

    fn at(minutes: u32) -> Timestamp {
        Timestamp::from_millis(1_800_000_000_000).plus(MINUTE * minutes)
    }

    /// An integration whose platform was in trouble at minute 10.
    fn troubled() -> Integration {
        Integration {
            id: IntegrationId::at(at(0)),
            account_id: AccountId::at(at(0)),
            restaurant_id: RestaurantId::at(at(0)),
            provider: Provider::new("getir"),
            is_active: true,
            remote_id: Some("branch".to_owned()),
            branch: BranchClaim::Proven,
            has_credentials: true,
            default_cancel_reason: None,
            health: Health {
                last_order_at: None,
                last_error_at: Some(at(10)),
                last_error: Some(Explanation::answered(503, None)),
                trouble_at: Some(at(10)),
            },
            created_at: at(0),
            updated_at: at(0),
        }
    }

    fn rule(polled: &[&str]) -> TroubleRule {
        TroubleRule::with_polled(polled.iter().map(|key| Provider::new(key)))
    }

    #[test]
    fn time_and_orders_do_not_end_the_trouble_of_a_polled_platform() {
        let polled = rule(&["getir"]);
        let mut it = troubled();
        it.health.last_order_at = Some(at(11));
        for minute in [10, 14, 40, 120] {
            assert!(polled.is_in_trouble(&it, at(minute)), "{minute}");
        }
        assert!(!polled.is_in_trouble(&it, at(200)), "no node polls it");
        it.health.trouble_at = None;
        assert!(!polled.is_in_trouble(&it, at(10)), "a poll has succeeded");
    }

    #[test]
    fn integration_that_is_off_or_was_changed_is_in_no_trouble() {
        let polled = rule(&["getir"]);
        let mut it = troubled();
        it.updated_at = at(11);
        assert!(!polled.is_in_trouble(&it, at(12)));
        it.updated_at = at(0);
        it.is_active = false;
        assert!(!polled.is_in_trouble(&it, at(12)));
    }

    #[test]
    fn trouble_of_a_platform_that_is_not_polled_is_forgotten() {
        let mut it = troubled();
        let mut no_branch = troubled();
        no_branch.remote_id = None;
        assert!(!rule(&["getir"]).is_in_trouble(&no_branch, at(13)));
        let unpolled = rule(&[]);
        assert!(unpolled.is_in_trouble(&it, at(12)));
        assert!(!unpolled.is_in_trouble(&it, at(13)));
        it.health.last_error = Some(Explanation::answered(401, None));
        assert!(unpolled.is_in_trouble(&it, at(24)), "credentials stay refused");
        assert!(!unpolled.is_in_trouble(&it, at(25)));
        it.health.last_order_at = Some(at(11));
        assert!(!unpolled.is_in_trouble(&it, at(12)), "an order came since");
    }
}
