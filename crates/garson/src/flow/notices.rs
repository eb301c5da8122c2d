//! Operational notices: once per incident, an account is informed by its channels of what is wrong, and when it has recovered.
//!
//! What is wrong now is compared with the stored incidents, in one transaction with the messages: neither a restart nor another
//! node repeats a notice. An account gets a limited number of notices a day; then one message says so.

mod wrong;

use self::wrong::{Look, MAX_INTEGRATIONS, Wrong};
use crate::app::App;
use crate::flow::Fault;
use crate::flow::platform_trouble::{TroubleRule, has_order_since};
use garson_core::id::{AccountId, MessageId};
use garson_core::integration::Integration;
use garson_core::message::MessageContent;
use garson_core::notice::NoticeKind;
use garson_core::time::{Timestamp, Zone};
use garson_store::Tx;
use garson_store::tables::messages::NewMessage;
use garson_store::tables::notices::{Incident, NoticeSettings};
use garson_store::tables::{accounts, channels, integrations, messages, notices, restaurants};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::sleep;

/// How often accounts are checked.
const INTERVAL: Duration = Duration::from_secs(15);
/// Accounts read at once.
const PAGE: i64 = 200;

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
    let look = Look {
        account,
        rule: TroubleRule::of(app),
        now: app.now(),
    };
    let limit = app.settings.messages.notices_per_day;
    let first = look.clone();
    let is_same = app
        .store
        .read(move |tx| {
            let Some(settings) = notices::find(tx, account)? else {
                return Ok(true);
            };
            let known = notices::incidents(tx, account)?;
            let wrong = first.wrong_now(tx, &settings, &known)?;
            Ok::<_, Fault>(Plan::of(&wrong, &known).is_empty())
        })
        .await?;
    if is_same {
        return Ok(false);
    }
    app.store
        .write(account, move |tx| update(tx, &look, limit))
        .await?;
    app.wake_messages.notify_one();
    Ok(true)
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
fn update(tx: &mut Tx<'_>, look: &Look, limit: u32) -> Result<(), Fault> {
    let (account, now) = (look.account, look.now);
    accounts::lock(tx, account)?;
    let Some(settings) = notices::find(tx, account)? else {
        return Ok(());
    };
    let known = notices::incidents(tx, account)?;
    let wrong = look.wrong_now(tx, &settings, &known)?;
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
            && let Some(content) = recovered(tx, look, incident)?
        {
            outbox.send(tx, &content)?;
        }
    }
    outbox.finish(tx)
}

/// The message that an incident is over. Events that were given up stay so; a webhook that was removed has not recovered, nor has
/// an integration that was switched off.
fn recovered(tx: &mut Tx<'_>, look: &Look, incident: &Incident) -> Result<Option<MessageContent>, Fault> {
    let account = look.account;
    Ok(match incident.kind {
        NoticeKind::WebhookFailing => {
            accounts::webhook(tx, account)?.map(|_| MessageContent::WebhookRecovered)
        }
        // It was enabled or deleted by the account itself.
        NoticeKind::DeliveryGivenUp | NoticeKind::EndpointDisabled => None,
        NoticeKind::PlatformDown => {
            let all = integrations::list(tx, account, MAX_INTEGRATIONS)?;
            let works = |it: &Integration| {
                let is_well = it.health.trouble_at.is_none() || !look.rule.is_polled(it);
                it.is_active && it.provider.as_str() == incident.subject && is_well
            };
            all.iter()
                .any(|(_, it)| works(it))
                .then(|| MessageContent::PlatformRecovered {
                    platform: incident.subject.clone(),
                })
        }
        NoticeKind::StoreClosed | NoticeKind::StoreNotAsWanted => {
            let found = match incident.subject.parse().ok() {
                Some(id) => integrations::find_of_account(tx, account, id)?,
                None => None,
            };
            match found.filter(|it| it.is_active) {
                Some(it) => Some(MessageContent::StoreRecovered {
                    restaurant: restaurants::name(tx, it.restaurant_id)?,
                    platform: it.provider.to_string(),
                }),
                None => None,
            }
        }
        NoticeKind::LoginRefused => {
            let found = match incident.subject.parse().ok() {
                Some(id) => integrations::find_of_account(tx, account, id)?,
                None => None,
            };
            let works = |it: &Integration| {
                it.is_active && (it.health.trouble_at.is_none() || has_order_since(it, look.now))
            };
            match found.filter(works) {
                Some(it) => Some(MessageContent::LoginAccepted {
                    restaurant: restaurants::name(tx, it.restaurant_id)?,
                    platform: it.provider.to_string(),
                }),
                None => None,
            }
        }
    })
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
