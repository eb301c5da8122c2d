//! Calls to platforms that were written down are made: at once, again after a pause, and after every restart.

use super::Fault;
use crate::app::App;
use crate::net::{Outgoing, SendError};
use bytes::Bytes;
use garson_core::id::{CallId, IntegrationId, OrderId};
use garson_core::integration::Credentials;
use garson_core::order::{Order, ProviderSync};
use garson_core::platform::{HttpRequest, HttpResponse, Outcome, Platform};
use garson_core::retry::backoff;
use garson_core::time::Timestamp;
use garson_store::calls::{self, CallEnd, DueCall};
use garson_store::{Lane, Tx, integrations, orders};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::{JoinError, JoinSet};

/// How long a call may take; the lease on it lasts longer, so that nobody else makes it meanwhile.
const DEADLINE: Duration = Duration::from_secs(10);
const LEASE: Duration = Duration::from_secs(15);
/// After so many tries, about a day, a platform that stays away is given up on.
const MAX_ATTEMPTS: i64 = 300;
/// Calls leased at once, running at once, and running at once for one integration.
const BATCH: usize = 32;
const MAX_RUNNING: usize = 512;
const MAX_FOR_ONE: usize = 16;
/// When a call is tried again whose target is busy enough.
const BUSY_PAUSE: Duration = Duration::from_secs(1);
/// A row may have been written by another process; nothing wakes us for that.
const LOOK_AGAIN: Duration = Duration::from_secs(5);

/// Makes calls until the service ends.
pub async fn run(app: Arc<App>) {
    let mut desk = Desk::default();
    loop {
        match desk.start_due(&app).await {
            Ok(true) => continue,
            Ok(false) => {}
            Err(fault) => tracing::error!(?fault, "platform calls cannot be made"),
        }
        let pause = pause(&app).await;
        tokio::select! {
            Some(ended) = desk.running.join_next(), if !desk.running.is_empty() => desk.note_end(ended),
            () = app.wake_calls.notified() => {}
            () = tokio::time::sleep(pause) => {}
        }
    }
}

/// How long until the next call is due.
async fn pause(app: &App) -> Duration {
    let next = app.store.read(calls::next_due_at).await;
    match next {
        Ok(Some(due_at)) => due_at
            .since(app.now())
            .clamp(Duration::from_millis(50), LOOK_AGAIN),
        _ => LOOK_AGAIN,
    }
}

/// Makes the calls that are due and waits for them; `false` when there were none.
pub async fn step(app: &Arc<App>) -> Result<bool, Fault> {
    let mut desk = Desk::default();
    let any = desk.start_due(app).await?;
    while desk.running.join_next().await.is_some() {}
    Ok(any)
}

/// The calls that are being made. None waits for another's target.
#[derive(Default)]
struct Desk {
    running: JoinSet<IntegrationId>,
    busy: HashMap<IntegrationId, usize>,
}

impl Desk {
    /// Leases the calls that are due and starts them; `false` when there were none, or no room.
    async fn start_due(&mut self, app: &Arc<App>) -> Result<bool, Fault> {
        let room = MAX_RUNNING.saturating_sub(self.running.len()).min(BATCH);
        let now = app.now();
        // Looking costs the writer nothing; only what is really due is leased.
        let is_due = app
            .store
            .read(calls::next_due_at)
            .await?
            .is_some_and(|due_at| due_at <= now);
        if room == 0 || !is_due {
            return Ok(false);
        }
        let limit = i64::try_from(room).unwrap_or(1);
        let lease = move |tx: &mut Tx<'_>| calls::lease_due(tx, now, now.plus(LEASE), limit);
        let due = app.store.write(Lane::COMMON, lease).await?;
        let any = !due.is_empty();
        for call in due {
            let busy = self.busy.entry(call.integration_id).or_default();
            if *busy >= MAX_FOR_ONE {
                let (id, later) = (call.id, now.plus(BUSY_PAUSE));
                app.store
                    .write(call.account_id, move |tx| calls::give_back(tx, id, later))
                    .await?;
                continue;
            }
            *busy += 1;
            let app = Arc::clone(app);
            self.running.spawn(async move {
                if let Err(fault) = make(&app, &call).await {
                    // The lease runs out, and the call is made again.
                    tracing::error!(call = %call.id, ?fault, "a platform call could not be made");
                }
                call.integration_id
            });
        }
        Ok(any)
    }

    fn note_end(&mut self, ended: Result<IntegrationId, JoinError>) {
        match ended {
            Ok(integration) => {
                if let Some(busy) = self.busy.get_mut(&integration) {
                    *busy = busy.saturating_sub(1);
                }
                self.busy.retain(|_, busy| *busy > 0);
            }
            Err(error) => tracing::error!(%error, "a platform call ended badly"),
        }
    }
}

async fn make(app: &App, call: &DueCall) -> Result<(), Fault> {
    let vault = Arc::clone(&app.vault);
    let (order_id, integration_id) = (call.order_id, call.integration_id);
    let found = app
        .store
        .read(move |tx| {
            let order = orders::by_id(tx, order_id)?;
            let connected = integrations::by_id(tx, &vault, integration_id)?;
            Ok::<_, Fault>(order.zip(connected))
        })
        .await?;
    let Some((order, connected)) = found else {
        return finish(
            app,
            call,
            CallEnd::Abandoned,
            Some("the integration was removed".to_owned()),
        )
        .await;
    };
    let outcome = match garson_platforms::of(order.provider) {
        Some(platform) => exchange(app, platform, call, &order, &connected.credentials).await,
        None => Outcome::Refused {
            message: format!("{} is not a platform of this version", order.provider),
        },
    };
    match outcome {
        Outcome::Done => finish(app, call, CallEnd::Done, None).await,
        Outcome::Refused { message } => finish(app, call, CallEnd::Failed, Some(message)).await,
        Outcome::Later { message } if call.attempts >= MAX_ATTEMPTS => {
            finish(app, call, CallEnd::Failed, Some(message)).await
        }
        Outcome::Later { message } => postpone(app, call, message).await,
    }
}

async fn exchange(
    app: &App,
    platform: &dyn Platform,
    call: &DueCall,
    order: &Order,
    credentials: &Credentials,
) -> Outcome {
    let outgoing = match platform.write(call.kind, order, credentials).map(outgoing) {
        Ok(Some(outgoing)) => outgoing,
        Ok(None) => {
            return Outcome::Refused {
                message: "the request has headers that cannot be sent".to_owned(),
            };
        }
        Err(error) => {
            return Outcome::Refused {
                message: error.to_string(),
            };
        }
    };
    match app.net.send(outgoing).await {
        Ok(answer) => platform.outcome(
            call.kind,
            &HttpResponse {
                status: answer.status,
                body: answer.body,
            },
        ),
        Err(SendError::NotAllowed(refusal)) => Outcome::Refused {
            message: format!("the target is not allowed: {refusal}"),
        },
        Err(error) => Outcome::Later {
            message: error.to_string(),
        },
    }
}

fn outgoing(request: HttpRequest) -> Option<Outgoing> {
    let mut headers = HeaderMap::new();
    for (name, value) in &request.headers {
        let mut value = HeaderValue::from_str(value.expose()).ok()?;
        value.set_sensitive(true);
        headers.insert(HeaderName::from_bytes(name.as_bytes()).ok()?, value);
    }
    Some(Outgoing {
        method: Method::from_bytes(request.method.as_bytes()).ok()?,
        url: request.url,
        headers,
        body: request.body.map(Bytes::from).unwrap_or_default(),
        trust: request.trust,
        deadline: DEADLINE,
        keep_body: 65_536,
    })
}

async fn finish(app: &App, call: &DueCall, end: CallEnd, message: Option<String>) -> Result<(), Fault> {
    let (id, order, integration, now) = (call.id, call.order_id, call.integration_id, app.now());
    app.store
        .write(call.account_id, move |tx| {
            // The integration first, then the order, as everybody else does who changes both.
            if let (CallEnd::Failed, Some(message)) = (end, &message) {
                integrations::note_error(tx, integration, message, now)?;
            }
            orders::lock(tx, order)?;
            if !calls::finish(tx, id, end, message.as_deref(), now)? {
                // The order was cancelled meanwhile, and this call dropped.
                return Ok(());
            }
            let sync = match (end, &message) {
                (CallEnd::Failed, Some(message)) => ProviderSync::Failed {
                    message: message.clone(),
                },
                _ if calls::open_of_order(tx, order)? > 0 => return Ok(()),
                (CallEnd::Abandoned, _) => ProviderSync::NotNeeded,
                _ => ProviderSync::Done,
            };
            Ok(orders::set_sync(tx, order, &sync)?)
        })
        .await
}

async fn postpone(app: &App, call: &DueCall, message: String) -> Result<(), Fault> {
    let (id, order, now) = (call.id, call.order_id, app.now());
    let due_at = next_try(call.id, call.attempts, now);
    let write = move |tx: &mut Tx<'_>| postpone_in(tx, id, order, due_at, &message);
    app.store.write(call.account_id, write).await
}

fn postpone_in(
    tx: &mut Tx<'_>,
    id: CallId,
    order: OrderId,
    due_at: Timestamp,
    message: &str,
) -> Result<(), Fault> {
    orders::lock(tx, order)?;
    if calls::postpone(tx, id, due_at, message)? {
        orders::set_sync(tx, order, &ProviderSync::Pending { due_at })?;
    }
    Ok(())
}

fn next_try(id: CallId, attempts: i64, now: Timestamp) -> Timestamp {
    // The random part of the call's id is jitter enough, and the same on every node.
    let draw = id.0.as_u128() as u32;
    now.plus(backoff(u32::try_from(attempts).unwrap_or(u32::MAX), draw))
}
