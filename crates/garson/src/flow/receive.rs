//! A platform's message comes in: checked, understood, made durable, and only then answered.

use super::{Fault, persist};
use crate::app::App;
use garson_core::id::{InboxId, OrderId};
use garson_core::order::{Flag, Home, Input, NewOrder, place};
use garson_core::platform::{Claim, HookRequest, Message, News, Platform, Reception, Unreadable};
use garson_core::restaurant::Config;
use garson_core::time::Timestamp;
use garson_store::inbox::{InboxState, MessageToKeep, keep};
use garson_store::integrations::{self, Connected};
use garson_store::{StoreError, Tx, Vault, orders, packages, restaurants, totals};
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// A message that has been understood as far as it can be without writing.
#[derive(Clone)]
enum Prepared {
    NotGenuine,
    Unreadable { sender: Connected, fault: Unreadable },
    UnknownBranch { sender: Connected, branch: String },
    Ready(Box<Ready>),
}

#[derive(Clone)]
struct Ready {
    connected: Connected,
    auto_verify: bool,
    flag: Option<Flag>,
    news: News,
}

/// Takes a message in; what it became says how to answer.
pub async fn receive(
    app: &App,
    platform: &'static dyn Platform,
    request: HookRequest,
) -> Result<Reception, Fault> {
    let request = Arc::new(request);
    let now = app.now();
    let (vault, asked) = (Arc::clone(&app.vault), Arc::clone(&request));
    let prepared = app
        .store
        .read(move |tx| prepare(tx, &vault, platform, &asked, now))
        .await?;
    let account = match &prepared {
        Prepared::NotGenuine => return Ok(Reception::NotGenuine),
        Prepared::Unreadable { sender, .. } | Prepared::UnknownBranch { sender, .. } => {
            sender.integration.account_id
        }
        Prepared::Ready(ready) => ready.connected.integration.account_id,
    };
    let taken = app
        .store
        .write(account, move |tx| take(tx, platform, &request, &prepared, now))
        .await?;
    if !matches!(taken, Reception::Taken { .. }) {
        tracing::warn!(provider = %platform.provider(), outcome = outcome_word(&taken), "a platform's message was kept, not taken");
    }
    app.wake_calls.notify_one();
    Ok(taken)
}

/// Does the message present a secret, or name a branch, that is known? Asked before its body is there.
pub async fn may_be_genuine(
    app: &App,
    platform: &'static dyn Platform,
    head: &HookRequest,
) -> Result<bool, Fault> {
    let (vault, claim) = (Arc::clone(&app.vault), platform.claim(head));
    app.store
        .read(move |tx| Ok(!candidates(tx, &vault, platform, &claim)?.is_empty()))
        .await
}

/// The integrations whose credentials can check a claim.
fn candidates(
    tx: &mut Tx<'_>,
    vault: &Vault,
    platform: &dyn Platform,
    claim: &Claim,
) -> Result<Vec<Connected>, Fault> {
    let provider = platform.provider();
    Ok(match claim {
        Claim::Nothing => Vec::new(),
        Claim::Secret(secret) => integrations::by_secret(tx, vault, provider, secret.expose())?,
        Claim::Branch(branch) => integrations::by_branch(tx, vault, provider, branch)?
            .into_iter()
            .collect(),
    })
}

fn outcome_word(reception: &Reception) -> &'static str {
    match reception {
        Reception::Taken { .. } => "taken",
        Reception::Conflict { .. } => "conflict",
        Reception::UnknownBranch { .. } => "unknown branch",
        Reception::UnknownOrder { .. } => "unknown order",
        Reception::Unreadable(_) => "unreadable",
        Reception::NotGenuine => "not genuine",
    }
}

fn prepare(
    tx: &mut Tx<'_>,
    vault: &Vault,
    platform: &dyn Platform,
    request: &HookRequest,
    now: Timestamp,
) -> Result<Prepared, Fault> {
    let provider = platform.provider();
    let candidates = candidates(tx, vault, platform, &platform.claim(request))?;
    let checked = candidates
        .iter()
        .find_map(|c| platform.verify(request, &c.credentials).map(|v| (c, v)));
    let Some((sender, verified)) = checked else {
        return Ok(Prepared::NotGenuine);
    };
    let Message { branch, news } = match platform.read(&verified) {
        Ok(message) => message,
        Err(fault) => {
            return Ok(Prepared::Unreadable {
                sender: sender.clone(),
                fault,
            });
        }
    };
    let meant = candidates
        .iter()
        .find(|c| c.integration.remote_id.as_deref() == Some(branch.as_str()));
    let Some(connected) = meant else {
        return Ok(Prepared::UnknownBranch {
            sender: sender.clone(),
            branch,
        });
    };
    let restaurant = connected.integration.restaurant_id;
    let config = Config::read(restaurants::config(tx, restaurant)?.as_deref()).unwrap_or_default();
    let covered = packages::of_restaurant(tx, restaurant)?
        .iter()
        .any(|package| package.covers(provider, now));
    let flag = match (connected.integration.is_active, covered) {
        (_, false) => Some(Flag::PackageExpired),
        (false, true) => Some(Flag::IntegrationOff),
        (true, true) => None,
    };
    let ready = Ready {
        connected: connected.clone(),
        auto_verify: config.auto_verify,
        flag,
        news,
    };
    Ok(Prepared::Ready(Box::new(ready)))
}

fn take(
    tx: &mut Tx<'_>,
    platform: &dyn Platform,
    request: &HookRequest,
    prepared: &Prepared,
    now: Timestamp,
) -> Result<Reception, Fault> {
    let letter = Letter {
        platform,
        request,
        now,
    };
    match prepared {
        Prepared::NotGenuine => Ok(Reception::NotGenuine),
        Prepared::Unreadable { sender, fault } => {
            let reason = format!("{} {}", fault.path, fault.message);
            letter.keep(tx, sender, InboxState::Unreadable, None, None, Some(&reason))?;
            Ok(Reception::Unreadable(fault.clone()))
        }
        Prepared::UnknownBranch { sender, branch } => {
            letter.keep(
                tx,
                sender,
                InboxState::Unmatched,
                None,
                Some(branch),
                Some("no integration has this branch"),
            )?;
            Ok(Reception::UnknownBranch {
                branch: branch.clone(),
            })
        }
        Prepared::Ready(ready) => match &ready.news {
            News::Arrived(new) => letter.take_new(tx, ready, new),
            News::Changed { identity, change } => {
                let input = Input::Report(change.clone());
                letter.take_change(tx, ready, identity, &input)
            }
        },
    }
}

/// A message with what is needed to deal with it.
struct Letter<'a> {
    platform: &'a dyn Platform,
    request: &'a HookRequest,
    now: Timestamp,
}

impl Letter<'_> {
    fn take_new(&self, tx: &mut Tx<'_>, ready: &Ready, new: &NewOrder) -> Result<Reception, Fault> {
        let integration = &ready.connected.integration;
        // Touching its row first makes a deletion that runs at the same time wait, or be noticed.
        if !integrations::note_order(tx, integration.id, self.now)? {
            let branch = integration.remote_id.clone().unwrap_or_default();
            let reason = "the integration was removed";
            self.keep(
                tx,
                &ready.connected,
                InboxState::Unmatched,
                None,
                Some(&branch),
                Some(reason),
            )?;
            return Ok(Reception::UnknownBranch { branch });
        }
        let (content, fingerprint) = describe(new)?;
        if let Some(known) = orders::lock_by_identity(tx, integration.id, &new.identity)? {
            let order_id = known.order.id;
            let same = known.content_hash == fingerprint;
            let (state, reason) = match same {
                true => (InboxState::Taken, None),
                false => (
                    InboxState::Conflicting,
                    Some("the order is known with other content"),
                ),
            };
            self.keep(tx, &ready.connected, state, Some(order_id), None, reason)?;
            return Ok(if same {
                Reception::Taken { order_id }
            } else {
                Reception::Conflict { order_id }
            });
        }
        let mut places = persist::reserve_places(tx, integration.account_id, self.now)?;
        let home = Home {
            account_id: integration.account_id,
            restaurant_id: integration.restaurant_id,
            integration_id: integration.id,
            provider: integration.provider,
        };
        let id = OrderId::at(places.at);
        let asks = self.platform.capability().asks;
        let mut decision = place(id, home, new, places.at, asks, ready.auto_verify);
        decision.order.flag = ready.flag;
        persist::write_calls(tx, self.platform, &ready.connected.credentials, &mut decision)?;
        if !orders::insert(tx, &decision.order, &content, &fingerprint, places.take())? {
            // Its integration's row is locked, so nobody can have taken it since we looked.
            return Err(StoreError::internal("an order appeared while it was taken").into());
        }
        persist::write_history(tx, &decision, 0, &mut places)?;
        totals::add_new(tx, &decision.order)?;
        self.keep(tx, &ready.connected, InboxState::Taken, Some(id), None, None)?;
        Ok(Reception::Taken { order_id: id })
    }

    fn take_change(
        &self,
        tx: &mut Tx<'_>,
        ready: &Ready,
        identity: &str,
        input: &Input,
    ) -> Result<Reception, Fault> {
        let connected = &ready.connected;
        let Some(known) = orders::lock_by_identity(tx, connected.integration.id, identity)? else {
            self.keep(
                tx,
                connected,
                InboxState::Unmatched,
                None,
                None,
                Some("the order is not known"),
            )?;
            return Ok(Reception::UnknownOrder {
                identity: identity.to_owned(),
            });
        };
        let order_id = known.order.id;
        persist::apply_and_write(
            tx,
            self.platform,
            &connected.credentials,
            &known.order,
            input,
            self.now,
        )?;
        self.keep(tx, connected, InboxState::Taken, Some(order_id), None, None)?;
        Ok(Reception::Taken { order_id })
    }

    fn keep(
        &self,
        tx: &mut Tx<'_>,
        sender: &Connected,
        state: InboxState,
        order_id: Option<OrderId>,
        branch: Option<&str>,
        reason: Option<&str>,
    ) -> Result<(), Fault> {
        let params = serde_json::to_string(&self.request.params).unwrap_or_default();
        let integration = &sender.integration;
        let hash = Sha256::new()
            .chain_update(integration.id.as_bytes())
            .chain_update(self.request.kind)
            .chain_update(&params)
            .chain_update([0])
            .chain_update(&self.request.body)
            .finalize();
        let message = MessageToKeep {
            id: InboxId::at(self.now),
            hash: hash.into(),
            account_id: Some(integration.account_id),
            restaurant_id: Some(integration.restaurant_id),
            order_id,
            provider: integration.provider,
            kind: self.request.kind,
            params: &params,
            branch: branch.or(integration.remote_id.as_deref()),
            body: &self.request.body,
            state,
            reason,
            received_at: self.now,
        };
        keep(tx, &message)?;
        Ok(())
    }
}

/// The content as it is stored, and the fingerprint by which a repeat is told from another order.
fn describe(new: &NewOrder) -> Result<(String, [u8; 32]), Fault> {
    let content = serde_json::to_string(&new.content)
        .map_err(|_| Fault::Store(StoreError::internal("an order does not serialise")))?;
    let moments = format!("{:?} {:?} {:?}", new.placed_at, new.scheduled_for, new.short_code);
    let fingerprint = Sha256::new()
        .chain_update(&content)
        .chain_update(moments)
        .finalize();
    Ok((content, fingerprint.into()))
}
