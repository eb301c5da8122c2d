//! Operational notices: once per incident, an account is informed by its channels of what is wrong, and when it has recovered.
//!
//! What is wrong now is compared with the stored incidents, in one transaction with the messages: neither a restart nor another
//! node repeats a notice. An account gets a limited number of notices a day; then one message says so.

use crate::app::App;
use crate::flow::Fault;
use crate::flow::read::board::is_in_trouble;
use garson_core::explanation::Explanation;
use garson_core::id::{AccountId, MessageId};
use garson_core::message::MessageContent;
use garson_core::notice::NoticeKind;
use garson_core::time::{Timestamp, Zone};
use garson_store::Tx;
use garson_store::tables::messages::NewMessage;
use garson_store::tables::notices::{Incident, NoticeSettings};
use garson_store::tables::{accounts, channels, deliveries, integrations, messages, notices, restaurants};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::sleep;

/// How often accounts are checked.
const INTERVAL: Duration = Duration::from_secs(15);
/// Accounts read at once.
const PAGE: i64 = 200;
/// Integrations of an account that are looked at.
const MAX_INTEGRATIONS: i64 = 500;
/// A platform counts as down when it has failed again after this time: a single failure is not worth a message.
const CONFIRMED_AFTER: Duration = Duration::from_secs(30);
/// Integrations whose platforms had trouble in this time are looked at.
const TROUBLE: Duration = Duration::from_secs(3 * 60);

/// Checks accounts until the service stops.
pub async fn run(app: Arc<App>) {
    loop {
        let turn = step(&app).await;
        app.workers.note_turn(&turn);
        if let Err(fault) = turn {
            tracing::error!(?fault, "operational notices could not be checked");
        }
        sleep(INTERVAL).await;
    }
}

/// Checks every account that wants notices; `false` when nothing has changed.
pub async fn step(app: &Arc<App>) -> Result<bool, Fault> {
    let mut after = None;
    let mut has_changed = false;
    loop {
        let page = app
            .store
            .read(move |tx| notices::accounts(tx, after, PAGE))
            .await?;
        let Some(last) = page.last().copied() else {
            return Ok(has_changed);
        };
        after = Some(last);
        for account in page {
            match check(app, account).await {
                Ok(changed) => has_changed |= changed,
                Err(fault @ Fault::Store(_)) => return Err(fault),
                Err(fault) => tracing::error!(%account, ?fault, "an account could not be checked"),
            }
        }
    }
}

async fn check(app: &Arc<App>, account: AccountId) -> Result<bool, Fault> {
    let (now, limit) = (app.now(), app.settings.messages.notices_per_day);
    let is_same = app
        .store
        .read(move |tx| {
            let Some(settings) = notices::find(tx, account)? else {
                return Ok(true);
            };
            let known = notices::incidents(tx, account)?;
            let wrong = wrong_now(tx, account, &settings, &known, now)?;
            Ok::<_, Fault>(Plan::of(&wrong, &known).is_empty())
        })
        .await?;
    if is_same {
        return Ok(false);
    }
    app.store
        .write(account, move |tx| update(tx, account, limit, now))
        .await?;
    app.wake_messages.notify_one();
    Ok(true)
}

/// Something that is wrong now.
#[derive(Clone, Debug)]
struct Wrong {
    kind: NoticeKind,
    subject: String,
    /// When it was last seen to be wrong.
    at: Timestamp,
    content: MessageContent,
}

impl Wrong {
    fn is(&self, incident: &Incident) -> bool {
        self.kind == incident.kind && self.subject == incident.subject
    }

    /// Is it certain enough for a message?
    fn is_confirmed(&self, opened_at: Timestamp) -> bool {
        self.kind != NoticeKind::PlatformDown || self.at >= opened_at.plus(CONFIRMED_AFTER)
    }
}

/// What an account wants to know of, and is wrong now.
fn wrong_now(
    tx: &mut Tx<'_>,
    account: AccountId,
    settings: &NoticeSettings,
    known: &[Incident],
    now: Timestamp,
) -> Result<Vec<Wrong>, Fault> {
    let mut wrong = wrong_deliveries(tx, account, now)?;
    wrong.extend(wrong_platforms(tx, account, now)?);
    for incident in known.iter().filter(|it| it.kind == NoticeKind::LoginRefused) {
        if !wrong.iter().any(|it| it.is(incident)) {
            wrong.extend(still_refused(tx, account, incident, now)?);
        }
    }
    wrong.retain(|it| settings.kinds.contains(&it.kind));
    Ok(wrong)
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

fn wrong_platforms(tx: &mut Tx<'_>, account: AccountId, now: Timestamp) -> Result<Vec<Wrong>, Fault> {
    let mut found: Vec<Wrong> = Vec::new();
    for it in integrations::in_trouble(tx, account, now.minus(TROUBLE), MAX_INTEGRATIONS)? {
        if !is_in_trouble(&it, now) {
            continue;
        }
        let at = it.health.trouble_at.unwrap_or(now);
        let platform = platform_name(it.provider.as_str());
        if matches!(it.health.last_error, Some(Explanation::LoginRefused { .. })) {
            found.push(Wrong {
                kind: NoticeKind::LoginRefused,
                subject: it.id.to_string(),
                at,
                content: MessageContent::LoginRefused {
                    restaurant: restaurants::name(tx, it.restaurant_id)?,
                    platform,
                },
            });
            continue;
        }
        let subject = it.provider.to_string();
        let is_known =
            |known: &&mut Wrong| known.kind == NoticeKind::PlatformDown && known.subject == subject;
        match found.iter_mut().find(is_known) {
            Some(known) => known.at = known.at.max(at),
            None => found.push(Wrong {
                kind: NoticeKind::PlatformDown,
                subject,
                at,
                content: MessageContent::PlatformDown { platform },
            }),
        }
    }
    Ok(found)
}

/// The difference between what is wrong now and the stored incidents.
struct Plan<'a> {
    opened: Vec<&'a Wrong>,
    /// Stored without a notice, and worth one now.
    to_notify: Vec<(&'a Wrong, &'a Incident)>,
    closed: Vec<&'a Incident>,
}

impl<'a> Plan<'a> {
    fn of(wrong: &'a [Wrong], known: &'a [Incident]) -> Self {
        let is_known = |it: &&Wrong| known.iter().any(|incident| it.is(incident));
        let pairs = known.iter().filter_map(|incident| {
            let found = wrong.iter().find(|it| it.is(incident))?;
            (!incident.is_notified && found.is_confirmed(incident.opened_at)).then_some((found, incident))
        });
        Self {
            opened: wrong.iter().filter(|it| !is_known(it)).collect(),
            to_notify: pairs.collect(),
            closed: known
                .iter()
                .filter(|incident| !wrong.iter().any(|it| it.is(incident)))
                .collect(),
        }
    }

    fn is_empty(&self) -> bool {
        self.opened.is_empty() && self.to_notify.is_empty() && self.closed.is_empty()
    }
}

/// Stores the difference and writes the messages about it.
fn update(tx: &mut Tx<'_>, account: AccountId, limit: u32, now: Timestamp) -> Result<(), Fault> {
    accounts::lock(tx, account)?;
    let Some(settings) = notices::find(tx, account)? else {
        return Ok(());
    };
    let known = notices::incidents(tx, account)?;
    let wrong = wrong_now(tx, account, &settings, &known, now)?;
    let plan = Plan::of(&wrong, &known);
    let mut outbox = Outbox::new(account, settings, limit, now);
    for it in plan.opened {
        let is_notified = it.is_confirmed(now) && outbox.send(tx, &it.content)?;
        let incident = Incident {
            kind: it.kind,
            subject: it.subject.clone(),
            opened_at: now,
            is_notified,
        };
        notices::open(tx, account, &incident)?;
    }
    for (it, incident) in plan.to_notify {
        if outbox.send(tx, &it.content)? {
            notices::close(tx, account, incident)?;
            let notified = Incident {
                is_notified: true,
                ..incident.clone()
            };
            notices::open(tx, account, &notified)?;
        }
    }
    for incident in plan.closed {
        notices::close(tx, account, incident)?;
        // What the account does not want to know of any more ends silently.
        if incident.is_notified
            && outbox.settings.kinds.contains(&incident.kind)
            && let Some(content) = recovered(tx, account, incident)?
        {
            outbox.send(tx, &content)?;
        }
    }
    outbox.finish(tx)
}

/// The message that an incident is over. Events that were given up stay so.
fn recovered(
    tx: &mut Tx<'_>,
    account: AccountId,
    incident: &Incident,
) -> Result<Option<MessageContent>, Fault> {
    Ok(match incident.kind {
        NoticeKind::WebhookFailing => {
            // A webhook that was removed has not recovered.
            accounts::webhook(tx, account)?.map(|_| MessageContent::WebhookRecovered)
        }
        NoticeKind::DeliveryGivenUp => None,
        NoticeKind::PlatformDown => Some(MessageContent::PlatformRecovered {
            platform: platform_name(&incident.subject),
        }),
        NoticeKind::LoginRefused => {
            let id = incident.subject.parse().ok();
            let found = match id {
                Some(id) => integrations::find_health(tx, account, id)?,
                None => None,
            };
            match found {
                // One that was switched off has not recovered.
                Some((it, _)) if it.is_active => Some(MessageContent::LoginAccepted {
                    restaurant: restaurants::name(tx, it.restaurant_id)?,
                    platform: platform_name(it.provider.as_str()),
                }),
                _ => None,
            }
        }
    })
}

/// A refused log-in stays one until something has worked since, or the credentials were changed: a platform that is not polled is
/// not asked again for a long time.
fn still_refused(
    tx: &mut Tx<'_>,
    account: AccountId,
    incident: &Incident,
    now: Timestamp,
) -> Result<Option<Wrong>, Fault> {
    let found = match incident.subject.parse().ok() {
        Some(id) => integrations::find_health(tx, account, id)?,
        None => None,
    };
    let Some((it, polled_at)) = found else {
        return Ok(None);
    };
    let health = &it.health;
    let worked_at = health.last_order_at.max(polled_at).max(Some(it.updated_at));
    let has_worked = worked_at >= health.last_error_at;
    let is_refused = matches!(health.last_error, Some(Explanation::LoginRefused { .. }));
    if !it.is_active || !is_refused || has_worked {
        return Ok(None);
    }
    Ok(Some(Wrong {
        kind: NoticeKind::LoginRefused,
        subject: incident.subject.clone(),
        at: health.last_error_at.unwrap_or(now),
        content: MessageContent::LoginRefused {
            restaurant: restaurants::name(tx, it.restaurant_id)?,
            platform: platform_name(it.provider.as_str()),
        },
    }))
}

fn platform_name(provider: &str) -> String {
    let known = provider.parse().ok().and_then(garson_platforms::of);
    known.map_or_else(|| provider.to_owned(), |platform| platform.name().to_owned())
}

/// Writes notices within the daily limit.
struct Outbox {
    account: AccountId,
    settings: NoticeSettings,
    limit: i64,
    now: Timestamp,
}

impl Outbox {
    fn new(account: AccountId, mut settings: NoticeSettings, limit: u32, now: Timestamp) -> Self {
        let today = Zone::istanbul().write(now, "%Y-%m-%d");
        if settings.day != today {
            settings.day = today;
            settings.sent = 0;
        }
        Self {
            account,
            settings,
            limit: i64::from(limit),
            now,
        }
    }

    /// Writes a notice to every channel; `false` when the limit is reached.
    fn send(&mut self, tx: &mut Tx<'_>, content: &MessageContent) -> Result<bool, Fault> {
        if self.settings.sent < self.limit {
            self.settings.sent += 1;
            self.write(tx, content)?;
            return Ok(true);
        }
        if self.settings.sent == self.limit {
            self.settings.sent += 1;
            let limit = u32::try_from(self.limit).unwrap_or(u32::MAX);
            self.write(tx, &MessageContent::Muted { limit })?;
        }
        Ok(false)
    }

    fn write(&self, tx: &mut Tx<'_>, content: &MessageContent) -> Result<(), Fault> {
        for channel_id in self.settings.channels.iter().copied() {
            if !channels::exists(tx, self.account, channel_id)? {
                continue;
            }
            let message = NewMessage {
                id: MessageId::at(self.now),
                account_id: self.account,
                channel_id,
                order_id: None,
                content,
                at: self.now,
            };
            messages::create(tx, &message)?;
        }
        Ok(())
    }

    fn finish(self, tx: &mut Tx<'_>) -> Result<(), Fault> {
        let Self {
            account, settings, ..
        } = self;
        Ok(notices::set_sent(tx, account, &settings.day, settings.sent)?)
    }
}
