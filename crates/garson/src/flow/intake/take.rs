//! A message that has been understood is taken: written into its order, and kept as it came.

use super::receive::{Prepared, Ready};
use super::revise::{self, Described};
use crate::flow::intake::early_messages::{identity_of, is_known};
use crate::flow::{Fault, persist};
use garson_core::id::{InboxId, OrderId};
use garson_core::integration::Integration;
use garson_core::order::{Change, Home, Input, NewOrder, Order, ProviderSync, Status, place};
use garson_core::platform::{
    FETCHED, HookRequest, Message, News, Platform, Reception, Sighting, Unreadable, Verified, Which,
};
use garson_core::time::Timestamp;
use garson_store::tables::inbox;
use garson_store::tables::inbox::{InboxState, NewMessage, StoredMessage};
use garson_store::tables::integrations;
use garson_store::tables::orders::HashedOrder;
use garson_store::tables::{orders, restaurants};
use garson_store::{StoreError, Tx, totals};
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// What was done with a message.
pub(crate) struct Entry {
    pub reception: Reception,
    /// It brought an order that was not known.
    pub is_new_order: bool,
    /// Its platform may have to be called.
    pub may_call: bool,
    /// It had come before.
    pub is_repeat: bool,
}

impl Entry {
    pub fn kept(reception: Reception, is_repeat: bool) -> Self {
        Self {
            reception,
            is_new_order: false,
            may_call: true,
            is_repeat,
        }
    }
}

/// A message with what is needed to deal with it. What costs time is done when it is made: whoever writes has none to spare.
pub(crate) struct Letter {
    platform: &'static dyn Platform,
    request: Arc<HookRequest>,
    prepared: Prepared,
    now: Timestamp,
    params: String,
    /// By which it is known when it comes again.
    hash: [u8; 32],
    /// The order that it brings, if it does.
    described: Option<Described>,
}

impl Letter {
    pub fn new(
        platform: &'static dyn Platform,
        request: Arc<HookRequest>,
        prepared: Prepared,
        now: Timestamp,
    ) -> Result<Self, Fault> {
        let params = serde_json::to_string(&request.params).unwrap_or_default();
        let nobody = [0; 16];
        let sender = prepared.sender().map(|sender| &sender.integration);
        let hash = Sha256::new()
            .chain_update(sender.map_or(&nobody[..], |integration| integration.id.as_bytes()))
            .chain_update(request.kind)
            .chain_update(&params)
            .chain_update([0])
            .chain_update(&request.body)
            .finalize();
        let described = match &prepared {
            Prepared::Ready(ready) => match &ready.news {
                News::Order(sighting) => Some(Described::of(&sighting.order)?),
                _ => None,
            },
            _ => None,
        };
        Ok(Self {
            platform,
            request,
            prepared,
            now,
            params,
            hash: hash.into(),
            described,
        })
    }

    pub fn take(&self, tx: &mut Tx<'_>) -> Result<Entry, Fault> {
        match &self.prepared {
            Prepared::NotGenuine => Ok(Entry::kept(Reception::NotGenuine, false)),
            Prepared::Unreadable { fault, .. } => self.keep_unreadable(tx, fault),
            Prepared::UnknownBranch { branch, .. } => self.keep_unmatched(tx, branch),
            Prepared::UnknownOrder { which, among, .. } => {
                if is_known(tx, self.platform, which, among)? {
                    return Err(
                        StoreError::conflict("an order came while a message about it was read").into(),
                    );
                }
                self.keep_early(tx, which)
            }
            Prepared::ForNobody => self.note(tx),
            Prepared::Ready(ready) => match (&ready.news, &self.described) {
                (News::Order(sighting), Some(described)) => self.take_order(tx, ready, sighting, described),
                (News::Changed { order, change }, _) => self.take_change(tx, ready, order, change),
                _ => self.note(tx),
            },
        }
    }

    /// Keeps a message from which nothing follows.
    fn note(&self, tx: &mut Tx<'_>) -> Result<Entry, Fault> {
        let is_repeat = self.keep(tx, &Fate::taken(None))?;
        Ok(Entry::kept(Reception::Noted, is_repeat))
    }
}

/// What becomes of a message.
struct Fate<'a> {
    state: InboxState,
    order: Option<OrderId>,
    branch: Option<&'a str>,
    identity: Option<&'a str>,
    reason: Option<&'a str>,
    /// It brought an order that was not known.
    is_news: bool,
}

impl Fate<'_> {
    fn taken(order: Option<OrderId>) -> Self {
        Self {
            state: InboxState::Taken,
            order,
            branch: None,
            identity: None,
            reason: None,
            is_news: false,
        }
    }
}

impl Letter {
    fn take_order(
        &self,
        tx: &mut Tx<'_>,
        ready: &Ready,
        sighting: &Sighting,
        described: &Described,
    ) -> Result<Entry, Fault> {
        let integration = &ready.connected.integration;
        let new = &sighting.order;
        // Touching its row first makes a deletion that runs at the same time wait, or be noticed.
        if !integrations::record_order(tx, integration.id, ready.recalled, self.now)? {
            if ready.recalled.is_some() {
                return Err(StoreError::conflict("an integration is not as it was remembered").into());
            }
            let branch = integration.remote_id.clone().unwrap_or_default();
            return self.keep_unmatched(tx, &branch);
        }
        // What is shown as it begins is new as a rule; what has gone further may be an old one.
        let is_likely_new = sighting.change.is_none();
        let known = orders::lock_by_identity(
            tx,
            integration.account_id,
            integration.id,
            &new.identity,
            is_likely_new,
        )?;
        let is_new_order = known.is_none();
        let order = match known {
            None => self.place(tx, ready, sighting, described)?,
            Some(known) if self.is_conflict(&known, new, described) => {
                let order_id = known.order.id;
                let fate = Fate {
                    state: InboxState::Conflicting,
                    reason: Some("the order is known with other content"),
                    ..Fate::taken(Some(order_id))
                };
                let is_repeat = self.keep(tx, &fate)?;
                return Ok(Entry::kept(Reception::Conflict { order_id }, is_repeat));
            }
            Some(known) => revise::write(tx, known, sighting, described, self.now)?,
        };
        if let Some(change) = &sighting.change {
            self.report(tx, ready, &order, change)?;
        }
        let fate = Fate {
            is_news: is_new_order,
            ..Fate::taken(Some(order.id))
        };
        let is_repeat = self.keep(tx, &fate)?;
        // A new one that stands as it came says itself whether something is open.
        let is_plain = is_new_order && sighting.change.is_none() && order.sequence == 1;
        Ok(Entry {
            reception: Reception::Taken { order_id: order.id },
            is_new_order,
            may_call: !is_plain || matches!(order.sync, ProviderSync::Pending { .. }),
            is_repeat,
        })
    }

    /// Whoever gives orders their ids may give one twice; a later version says that it is one.
    fn is_conflict(&self, known: &HashedOrder, new: &NewOrder, described: &Described) -> bool {
        self.platform.capability().own_ids
            && known.content_hash != described.fingerprint
            && new.version.number().unwrap_or(1) == known.order.content_version.unwrap_or(1)
    }

    fn report(&self, tx: &mut Tx<'_>, ready: &Ready, order: &Order, change: &Change) -> Result<Order, Fault> {
        let input = Input::Report(change.clone());
        persist::apply_and_write(tx, &ready.contact, order, &input, None, self.now)
    }

    /// Writes an order that is new, with what had come of it before it.
    fn place(
        &self,
        tx: &mut Tx<'_>,
        ready: &Ready,
        sighting: &Sighting,
        described: &Described,
    ) -> Result<Order, Fault> {
        let integration = &ready.connected.integration;
        let mut early = inbox::early_messages(
            tx,
            integration.provider,
            &sighting.order.identity,
            integration.account_id,
            integration.restaurant_id,
        )?;
        // Whoever spoke with the operator's secret does not speak for an integration with its own.
        let has_own = self
            .platform
            .inbound_secret(&ready.connected.credentials)
            .is_some();
        early.retain(|message| message.account_id.is_some() || !has_own);
        let mut places = persist::reserve_places(tx, integration.account_id, self.now)?;
        let home = Home {
            account_id: integration.account_id,
            restaurant_id: integration.restaurant_id,
            integration_id: integration.id,
            provider: integration.provider,
        };
        let id = OrderId::at(places.at);
        let asks = self.platform.capability().asks;
        let mut new = sighting.order.clone();
        let is_due = matches!(sighting.change, Some(Change::Moved { to: Status::New, .. }));
        if is_due {
            // It was for later, and is due when we hear of it first.
            new.status = Status::New;
        }
        // What has gone further already needs no yes from us.
        let is_open = sighting.change.is_none() || is_due;
        let auto_verify = ready.auto_verify && is_open && early.is_empty();
        let mut decision = place(id, home, &new, places.at, asks, auto_verify);
        decision.order.flag = ready.flag;
        persist::write_calls(tx, &ready.contact, &mut decision, self.now)?;
        let Described { content, fingerprint } = described;
        if !orders::insert(tx, &decision.order, content, fingerprint, places.take())? {
            // Its integration's row is locked, so nobody can have taken it since we looked.
            return Err(StoreError::internal("an order appeared while it was taken").into());
        }
        persist::write_history(tx, &decision, true, &mut places)?;
        totals::add_order(tx, &decision.order)?;
        let mut order = decision.order;
        for message in early {
            order = self.take_early(tx, ready, order, &message)?;
        }
        Ok(order)
    }

    /// Takes a message that came before the order that it is about.
    fn take_early(
        &self,
        tx: &mut Tx<'_>,
        ready: &Ready,
        order: Order,
        message: &StoredMessage,
    ) -> Result<Order, Fault> {
        let Some(request) = kept_request(self.platform, message) else {
            return Ok(order);
        };
        let Ok(Message {
            news: News::Changed { change, .. },
            ..
        }) = self.platform.read(&Verified::ours(&request))
        else {
            return Ok(order);
        };
        let after = self.report(tx, ready, &order, &change)?;
        inbox::set_state(tx, message.id, InboxState::Taken, Some(order.id), None)?;
        Ok(after)
    }

    fn take_change(
        &self,
        tx: &mut Tx<'_>,
        ready: &Ready,
        which: &Which,
        change: &Change,
    ) -> Result<Entry, Fault> {
        let Some(order) = lock(tx, &ready.connected.integration, which)? else {
            return self.keep_early(tx, which);
        };
        self.report(tx, ready, &order, change)?;
        let is_repeat = self.keep(tx, &Fate::taken(Some(order.id)))?;
        Ok(Entry::kept(Reception::Taken { order_id: order.id }, is_repeat))
    }

    fn keep_unreadable(&self, tx: &mut Tx<'_>, fault: &Unreadable) -> Result<Entry, Fault> {
        let reason = format!("{} {}", fault.path, fault.message);
        let fate = Fate {
            state: InboxState::Unreadable,
            reason: Some(&reason),
            ..Fate::taken(None)
        };
        let is_repeat = self.keep(tx, &fate)?;
        Ok(Entry::kept(Reception::Unreadable(fault.clone()), is_repeat))
    }

    fn keep_unmatched(&self, tx: &mut Tx<'_>, branch: &str) -> Result<Entry, Fault> {
        let fate = Fate {
            state: InboxState::Unmatched,
            branch: Some(branch),
            reason: Some("no integration has this branch"),
            ..Fate::taken(None)
        };
        let is_repeat = self.keep(tx, &fate)?;
        let branch = branch.to_owned();
        Ok(Entry::kept(Reception::UnknownBranch { branch }, is_repeat))
    }

    /// Keeps a message whose order has not come yet; it is taken when the order comes.
    fn keep_early(&self, tx: &mut Tx<'_>, which: &Which) -> Result<Entry, Fault> {
        let identity = identity_of(which);
        let fate = Fate {
            state: InboxState::Unmatched,
            identity: Some(&identity),
            reason: Some("the order is not known"),
            ..Fate::taken(None)
        };
        let is_repeat = self.keep(tx, &fate)?;
        Ok(Entry::kept(Reception::UnknownOrder { identity }, is_repeat))
    }

    /// Keeps the message; had it come before?
    fn keep(&self, tx: &mut Tx<'_>, fate: &Fate<'_>) -> Result<bool, Fault> {
        let integration = self.prepared.sender().map(|sender| &sender.integration);
        if let (Some(sender), None) = (integration, fate.order)
            && !restaurants::exists(tx, sender.account_id, sender.restaurant_id)?
        {
            // No sweep would find the row any more. Judged anew, the message is for another of those that share its secret,
            // or for none.
            return Err(
                StoreError::conflict("a restaurant was deleted while a message to it was read").into(),
            );
        }
        let message = NewMessage {
            id: InboxId::at(self.now),
            hash: self.hash,
            account_id: integration.map(|i| i.account_id),
            restaurant_id: integration.map(|i| i.restaurant_id),
            order_id: fate.order,
            provider: self.platform.provider(),
            kind: self.request.kind,
            params: &self.params,
            branch: fate.branch.or_else(|| match self.prepared {
                // It named none: its order may be that of any integration with the same secret.
                Prepared::UnknownOrder { .. } => None,
                _ => integration.and_then(|i| i.remote_id.as_deref()),
            }),
            identity: fate.identity,
            body: &self.request.body,
            state: fate.state,
            reason: fate.reason,
            received_at: self.now,
        };
        Ok(match fate.is_news {
            true => inbox::store_first(tx, &message)?,
            false => inbox::store(tx, &message)?,
        })
    }
}

fn lock(tx: &mut Tx<'_>, integration: &Integration, which: &Which) -> Result<Option<Order>, Fault> {
    Ok(match which {
        Which::Identity(identity) => {
            orders::lock_by_identity(tx, integration.account_id, integration.id, identity, false)?
                .map(|known| known.order)
        }
        Which::Ours(id) => orders::lock(tx, *id)?.filter(|order| order.integration_id == integration.id),
    })
}

/// A message that was kept, as it came; nothing when this version has no such route.
pub(crate) fn kept_request(platform: &dyn Platform, message: &StoredMessage) -> Option<HookRequest> {
    let mut kinds = platform.hooks().iter().map(|route| route.kind).chain([FETCHED]);
    Some(HookRequest {
        kind: kinds.find(|kind| *kind == message.kind)?,
        params: serde_json::from_str(&message.params).ok()?,
        headers: Vec::new(),
        body: message.body.clone(),
        received_at: message.received_at,
    })
}
