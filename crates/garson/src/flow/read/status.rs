//! How things stand for one account: its platforms, what waits to be sent or told, what went wrong in the last day.

use crate::app::App;
use crate::flow::Fault;
use crate::flow::admin::accounts::Delivery;
use crate::flow::platform_trouble::TroubleRule;
use crate::flow::presence;
use crate::flow::presence::NamedPresence;
use crate::flow::upkeep::health;
use garson_core::delivery::DeliveryState;
use garson_core::id::AccountId;
use garson_core::integration::Integration;
use garson_core::time::Timestamp;
use garson_store::Tx;
use garson_store::lists;
use garson_store::lists::feed::{Direction, PageRequest};
use garson_store::tables::calls;
use garson_store::tables::calls::FailedCall;
use garson_store::tables::inbox;
use garson_store::tables::inbox::OpenMessage;
use garson_store::tables::{accounts, deliveries, integrations, nodes, restaurants};
use std::time::Duration;

/// How far rows are counted, so that looking stays cheap whatever has piled up.
pub const MOST: i64 = 1_000;
/// How many are shown of each kind.
const SHOWN: i64 = 10;
const SHOWN_INTEGRATIONS: i64 = 200;
const SHOWN_WATCHERS: usize = 50;
/// What is called lately.
const LATELY: Duration = Duration::from_secs(24 * 60 * 60);

/// An integration and how it does.
pub struct Connection {
    pub restaurant: String,
    pub integration: Integration,
    /// Its platform could not be reached just now, or refuses.
    pub is_in_trouble: bool,
    /// It had an error in the last day.
    pub has_recent_error: bool,
}

/// Something that waits: how many (counted up to [`MOST`]), and for how long the first of it has.
#[derive(Clone, Copy, Debug, Default)]
pub struct Queue {
    pub count: i64,
    pub lag: Option<Duration>,
}

/// Things that went wrong lately: how many (counted up to [`MOST`]), and the newest of them.
pub struct Errors<T> {
    pub count: i64,
    pub newest: Vec<T>,
}

pub struct Status {
    /// Why the service cannot take orders now, if it cannot.
    pub not_ready: Option<health::NotReady>,
    pub nodes: i64,
    pub connections: Vec<Connection>,
    /// There are more connections than are shown.
    pub has_more_connections: bool,
    pub has_webhook: bool,
    pub undelivered: Queue,
    pub open_calls: Queue,
    pub failed_deliveries: Errors<Delivery>,
    pub failed_calls: Errors<FailedCall>,
    pub kept_messages: Errors<OpenMessage>,
    /// What is connected, on all nodes, with the name of its restaurant.
    pub watching: Vec<(NamedPresence, Option<String>)>,
}

/// How things stand for an account.
pub async fn status(app: &App, account: AccountId) -> Result<Status, Fault> {
    let (now, rule) = (app.now(), TroubleRule::of(app));
    let not_ready = health::check(app).await.err();
    let mut connected = presence::of_account(app, account).await?;
    connected.truncate(SHOWN_WATCHERS);
    let connected = presence::named(app, account, connected).await?;
    app.store
        .read(move |tx| {
            let mut found = integrations::list(tx, account, SHOWN_INTEGRATIONS + 1)?;
            let has_more_connections =
                found.len() > usize::try_from(SHOWN_INTEGRATIONS).unwrap_or(usize::MAX);
            found.truncate(usize::try_from(SHOWN_INTEGRATIONS).unwrap_or(usize::MAX));
            let connections = found.into_iter().map(|(restaurant, integration)| Connection {
                is_in_trouble: rule.is_in_trouble(&integration, now),
                has_recent_error: integration
                    .health
                    .last_error_at
                    .is_some_and(|at| integration.is_active && at > now.minus(LATELY)),
                restaurant,
                integration,
            });
            Ok::<_, Fault>(Status {
                not_ready: not_ready.clone(),
                nodes: nodes::count(tx)?,
                connections: connections.collect(),
                has_more_connections,
                has_webhook: accounts::webhook(tx, account)?.is_some(),
                undelivered: queue(deliveries::count_pending_of(tx, account, MOST)?, now),
                open_calls: queue(calls::count_open_of(tx, account, MOST)?, now),
                failed_deliveries: failed_deliveries(tx, account, now)?,
                failed_calls: failed_calls(tx, account, now)?,
                kept_messages: kept_messages(tx, account, now)?,
                watching: watching(tx, &connected)?,
            })
        })
        .await
}

fn watching(
    tx: &mut Tx<'_>,
    connected: &[NamedPresence],
) -> Result<Vec<(NamedPresence, Option<String>)>, Fault> {
    let with_name = |it: &NamedPresence| {
        let restaurant = it.presence.restaurant;
        let name = restaurant.map(|id| restaurants::name(tx, id)).transpose()?;
        Ok((it.clone(), name))
    };
    connected.iter().map(with_name).collect()
}

fn queue((count, first_at): (i64, Option<Timestamp>), now: Timestamp) -> Queue {
    Queue {
        count,
        lag: first_at.map(|at| now.since(at)),
    }
}

fn failed_deliveries(tx: &mut Tx<'_>, account: AccountId, now: Timestamp) -> Result<Errors<Delivery>, Fault> {
    let since = now.minus(LATELY);
    let request = PageRequest {
        limit: usize::try_from(SHOWN).unwrap_or_default(),
        cursor: None,
        direction: Direction::Older,
    };
    let newest = lists::events::of_account(tx, account, Some(DeliveryState::Failed), request)?;
    let newest = newest.items.into_iter().filter(|event| event.created_at >= since);
    Ok(Errors {
        count: deliveries::count_failed(tx, account, since, MOST)?,
        newest: newest
            .map(|event| crate::flow::admin::accounts::with_attempts(tx, event))
            .collect::<Result<_, _>>()?,
    })
}

fn failed_calls(tx: &mut Tx<'_>, account: AccountId, now: Timestamp) -> Result<Errors<FailedCall>, Fault> {
    let since = now.minus(LATELY);
    Ok(Errors {
        count: calls::count_failed(tx, account, since, MOST)?,
        newest: calls::newest_failed(tx, account, since, SHOWN)?,
    })
}

fn kept_messages(tx: &mut Tx<'_>, account: AccountId, now: Timestamp) -> Result<Errors<OpenMessage>, Fault> {
    let since = now.minus(LATELY);
    Ok(Errors {
        count: inbox::count_open_of(tx, account, since, MOST)?,
        newest: inbox::list_open_of(tx, account, since, SHOWN)?,
    })
}
