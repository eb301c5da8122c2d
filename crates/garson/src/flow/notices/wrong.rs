//! What is wrong for an account now: its webhook, its platforms, its stores on them.

use crate::flow::Fault;
use crate::flow::platform_trouble::{TroubleRule, has_order_since};
use crate::net::guard;
use garson_core::explanation::Explanation;
use garson_core::id::AccountId;
use garson_core::integration::Integration;
use garson_core::message::MessageContent;
use garson_core::notice::NoticeKind;
use garson_core::store_control::StoreProblem;
use garson_core::time::Timestamp;
use garson_core::webhook_endpoint::WebhookEndpoint;
use garson_store::Tx;
use garson_store::tables::notices::{Incident, NoticeSettings};
use garson_store::tables::{
    accounts, deliveries, integrations, restaurants, store_states, webhook_endpoints,
};
use std::time::Duration;

/// Integrations of an account that are looked at.
pub(super) const MAX_INTEGRATIONS: i64 = 500;
/// A platform has to fail again after this time: a single failure is not worth a message.
const CONFIRMED_AFTER: Duration = Duration::from_secs(30);

/// Something that is wrong now.
#[derive(Clone, Debug)]
pub(super) struct Wrong {
    pub kind: NoticeKind,
    pub subject: String,
    /// When it was last seen to be wrong.
    pub at: Timestamp,
    /// Once is enough; otherwise it has to be seen again after a while.
    pub is_certain: bool,
    pub content: MessageContent,
}

impl Wrong {
    pub fn is(&self, incident: &Incident) -> bool {
        self.kind == incident.kind && self.subject == incident.subject
    }

    /// Is it certain enough for a message?
    pub fn is_confirmed(&self, opened_at: Timestamp) -> bool {
        self.is_certain || self.at >= opened_at.plus(CONFIRMED_AFTER)
    }
}

/// A look at what is wrong for an account.
#[derive(Clone)]
pub(super) struct Look {
    pub account: AccountId,
    pub rule: TroubleRule,
    pub now: Timestamp,
}

impl Look {
    /// What the account wants to know of, and is wrong now.
    pub fn wrong_now(
        &self,
        tx: &mut Tx<'_>,
        settings: &NoticeSettings,
        known: &[Incident],
    ) -> Result<Vec<Wrong>, Fault> {
        let mut wrong = wrong_deliveries(tx, self.account, self.now)?;
        wrong.extend(disabled_endpoints(tx, self.account, self.now)?);
        wrong.extend(self.wrong_platforms(tx, known)?);
        wrong.extend(wrong_stores(tx, self.account, self.now)?);
        wrong.retain(|it| settings.kinds.contains(&it.kind));
        Ok(wrong)
    }

    fn wrong_platforms(&self, tx: &mut Tx<'_>, known: &[Incident]) -> Result<Vec<Wrong>, Fault> {
        let mut found: Vec<Wrong> = Vec::new();
        let ever = Timestamp::from_millis(0);
        for it in integrations::in_trouble(tx, self.account, ever, MAX_INTEGRATIONS)? {
            let kinds = self.troubles_of(&it, known);
            let at = it.health.trouble_at.unwrap_or(self.now);
            if kinds.contains(&NoticeKind::LoginRefused) {
                found.push(Wrong {
                    kind: NoticeKind::LoginRefused,
                    subject: it.id.to_string(),
                    at,
                    is_certain: self.is_certainly_refused(&it),
                    content: MessageContent::LoginRefused {
                        restaurant: restaurants::name(tx, it.restaurant_id)?,
                        platform: it.provider.to_string(),
                    },
                });
            }
            if kinds.contains(&NoticeKind::PlatformDown) {
                add_platform_down(&mut found, &it, at);
            }
        }
        Ok(found)
    }

    /// A refused log-in is certain. A single request may be refused by something in between; where the platform is polled, the next
    /// poll shows it.
    fn is_certainly_refused(&self, it: &Integration) -> bool {
        let is_answer = |error: &Explanation| {
            matches!(
                error,
                Explanation::Answered { .. } | Explanation::NotEnlisted { .. }
            )
        };
        !self.rule.is_polled(it) || !it.health.last_error.as_ref().is_some_and(is_answer)
    }

    /// What is wrong with the platform of an integration whose trouble is not known to be over.
    fn troubles_of(&self, it: &Integration, known: &[Incident]) -> Vec<NoticeKind> {
        let is_known = |kind, subject: &str| {
            known
                .iter()
                .any(|incident| incident.kind == kind && incident.subject == subject)
        };
        let was_refused = is_known(NoticeKind::LoginRefused, &it.id.to_string());
        let was_down = is_known(NoticeKind::PlatformDown, it.provider.as_str());
        // An error of a single order may have replaced that of the platform.
        let is_refused = if it.health.last_error_at == it.health.trouble_at {
            it.health.is_access_refused()
        } else {
            was_refused
        };
        let is_in_trouble = self.rule.is_in_trouble(it, self.now);
        // Where the platform is polled, an incident ends when a poll succeeds. Elsewhere a refusal lasts until an order has come, or
        // the credentials were changed: such a platform is not asked again for a long time.
        let is_polled = self.rule.is_polled(it);
        let is_changed = it.health.trouble_at < Some(it.updated_at);
        let stays_refused = was_refused && !is_changed && !has_order_since(it, self.now);
        let mut kinds = Vec::new();
        if is_refused && is_in_trouble || was_refused && is_polled || is_refused && stays_refused {
            kinds.push(NoticeKind::LoginRefused);
        }
        if !is_refused && (is_in_trouble || was_down && is_polled) {
            kinds.push(NoticeKind::PlatformDown);
        }
        kinds
    }
}

fn add_platform_down(found: &mut Vec<Wrong>, it: &Integration, at: Timestamp) {
    let subject = it.provider.to_string();
    let is_known = |known: &&mut Wrong| known.kind == NoticeKind::PlatformDown && known.subject == subject;
    match found.iter_mut().find(is_known) {
        Some(known) => known.at = known.at.max(at),
        None => found.push(Wrong {
            kind: NoticeKind::PlatformDown,
            content: MessageContent::PlatformDown {
                platform: subject.clone(),
            },
            subject,
            at,
            is_certain: false,
        }),
    }
}

fn wrong_deliveries(tx: &mut Tx<'_>, account: AccountId, now: Timestamp) -> Result<Vec<Wrong>, Fault> {
    if accounts::webhook(tx, account)?.is_none() {
        return Ok(Vec::new());
    }
    let recent = deliveries::recent(tx, account)?;
    let wrong = |kind, content| Wrong {
        kind,
        subject: String::new(),
        at: now,
        is_certain: true,
        content,
    };
    let mut found = Vec::new();
    if recent.keeps_failing || recent.gave_up_last {
        found.push(wrong(NoticeKind::WebhookFailing, MessageContent::WebhookFailing));
    }
    if recent.gave_up_last {
        found.push(wrong(
            NoticeKind::DeliveryGivenUp,
            MessageContent::DeliveryGivenUp,
        ));
    }
    Ok(found)
}

fn disabled_endpoints(tx: &mut Tx<'_>, account: AccountId, now: Timestamp) -> Result<Vec<Wrong>, Fault> {
    let disabled = webhook_endpoints::disabled(tx, account)?;
    let wrong = |endpoint: WebhookEndpoint| Wrong {
        kind: NoticeKind::EndpointDisabled,
        subject: endpoint.id.to_string(),
        at: now,
        is_certain: true,
        content: MessageContent::EndpointDisabled {
            endpoint: endpoint_name(endpoint),
        },
    };
    Ok(disabled.into_iter().map(wrong).collect())
}

/// What people know an endpoint by: its label, or its host. The rest of its address may hold secrets.
fn endpoint_name(endpoint: WebhookEndpoint) -> String {
    if !endpoint.label.is_empty() {
        return endpoint.label;
    }
    let target = endpoint.url.as_deref().map(guard::Target::parse);
    match target {
        Some(Ok(target)) => target.origin().to_string(),
        Some(Err(_)) | None => endpoint.id.to_string(),
    }
}

fn wrong_stores(tx: &mut Tx<'_>, account: AccountId, now: Timestamp) -> Result<Vec<Wrong>, Fault> {
    let mut found = Vec::new();
    for store in store_states::with_problem(tx, account, MAX_INTEGRATIONS)? {
        let Some(problem) = store.problem else { continue };
        let restaurant = restaurants::name(tx, store.restaurant_id)?;
        let platform = store.provider.to_string();
        let (kind, content) = match problem {
            StoreProblem::ClosedByPlatform => (
                NoticeKind::StoreClosed,
                MessageContent::StoreClosed {
                    restaurant,
                    platform,
                    reason: store.actual.reason.map(|reason| reason.code),
                },
            ),
            StoreProblem::NotReopened => (
                NoticeKind::StoreNotAsWanted,
                MessageContent::StoreNotReopened { restaurant, platform },
            ),
            StoreProblem::NotClosed => (
                NoticeKind::StoreNotAsWanted,
                MessageContent::StoreNotClosed { restaurant, platform },
            ),
        };
        found.push(Wrong {
            kind,
            subject: store.integration_id.to_string(),
            at: now,
            is_certain: true,
            content,
        });
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use garson_core::id::{IntegrationId, RestaurantId};
    use garson_core::integration::{BranchClaim, Health};
    use garson_core::platform::Provider;

    const POLLED: Provider = Provider::new("getir");
    const NOT_POLLED: Provider = Provider::new("direct");

    fn at(minutes: u32) -> Timestamp {
        Timestamp::from_millis(1_800_000_000_000).plus(Duration::from_secs(60) * minutes)
    }

    /// An integration whose platform gave this answer at minute 10.
    fn answered(provider: Provider, status: u16) -> Integration {
        Integration {
            id: IntegrationId::at(at(0)),
            account_id: AccountId::at(at(0)),
            restaurant_id: RestaurantId::at(at(0)),
            provider,
            is_active: true,
            remote_id: Some("branch".to_owned()),
            branch: BranchClaim::Proven,
            has_credentials: true,
            default_cancel_reason: None,
            health: Health {
                last_order_at: None,
                last_error_at: Some(at(10)),
                last_error: Some(Explanation::answered(status, None)),
                trouble_at: Some(at(10)),
            },
            created_at: at(0),
            updated_at: at(0),
        }
    }

    fn incident(kind: NoticeKind, it: &Integration) -> Incident {
        Incident {
            kind,
            subject: match kind {
                NoticeKind::LoginRefused => it.id.to_string(),
                _ => it.provider.to_string(),
            },
            opened_at: at(10),
            is_notified: true,
        }
    }

    fn troubles(it: &Integration, known: &[Incident], minute: u32) -> Vec<NoticeKind> {
        let look = Look {
            account: it.account_id,
            rule: TroubleRule::with_polled([POLLED]),
            now: at(minute),
        };
        look.troubles_of(it, known)
    }

    #[test]
    fn refused_requests_are_refused_log_ins() {
        for status in [401, 403] {
            for provider in [POLLED, NOT_POLLED] {
                let it = answered(provider, status);
                assert_eq!(troubles(&it, &[], 11), [NoticeKind::LoginRefused], "{status}");
            }
        }
        let down = answered(POLLED, 503);
        assert_eq!(troubles(&down, &[], 11), [NoticeKind::PlatformDown]);
    }

    #[test]
    fn incident_of_a_polled_platform_does_not_end_with_time() {
        for (status, kind) in [(401, NoticeKind::LoginRefused), (503, NoticeKind::PlatformDown)] {
            let mut it = answered(POLLED, status);
            let known = [incident(kind, &it)];
            for minute in [14, 60, 24 * 60] {
                assert_eq!(troubles(&it, &known, minute), [kind], "{minute}");
            }
            // Orders that the platform pushes do not show that it can be called.
            it.health.last_order_at = Some(at(12));
            assert_eq!(troubles(&it, &known, 14), [kind]);
            // New incidents need a recent failure.
            assert!(troubles(&it, &[], 24 * 60).is_empty());
        }
    }

    #[test]
    fn refused_log_in_lasts_while_nothing_has_shown_that_it_is_accepted() {
        let mut it = answered(POLLED, 401);
        let known = [incident(NoticeKind::LoginRefused, &it)];
        // New credentials have not worked yet.
        it.updated_at = at(11);
        assert_eq!(troubles(&it, &known, 12), [NoticeKind::LoginRefused]);
        // Then the platform is down: whether it accepts them is not known.
        it.health.last_error = Some(Explanation::answered(503, None));
        it.health.last_error_at = Some(at(12));
        it.health.trouble_at = Some(at(12));
        assert_eq!(
            troubles(&it, &known, 13),
            [NoticeKind::LoginRefused, NoticeKind::PlatformDown]
        );
    }

    #[test]
    fn error_of_an_order_does_not_change_what_is_wrong() {
        let mut it = answered(POLLED, 401);
        let known = [incident(NoticeKind::LoginRefused, &it)];
        it.health.last_error = Some(Explanation::answered(409, None));
        it.health.last_error_at = Some(at(11));
        assert_eq!(troubles(&it, &known, 12), [NoticeKind::LoginRefused]);
    }

    #[test]
    fn refusal_of_a_platform_that_is_not_polled_ends_with_an_order_or_new_credentials() {
        let it = answered(NOT_POLLED, 401);
        let known = [incident(NoticeKind::LoginRefused, &it)];
        assert_eq!(troubles(&it, &known, 60), [NoticeKind::LoginRefused]);
        let mut changed = it.clone();
        changed.updated_at = at(11);
        assert!(troubles(&changed, &known, 60).is_empty());
        let mut ordered = it;
        ordered.health.last_order_at = Some(at(11));
        assert!(troubles(&ordered, &known, 60).is_empty());
    }
}
