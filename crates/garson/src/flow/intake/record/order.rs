//! Writing a message into its order: a new order, another version of a known one, or a change.

use super::job::{IntakeJob, Recorded};
use crate::flow::intake::inbox::stored_request;
use crate::flow::intake::message::Addressed;
use crate::flow::intake::order_lookup;
use crate::flow::intake::revise::{self, SerializedContent};
use crate::flow::{Fault, persist};
use garson_core::id::OrderId;
use garson_core::order::{Change, Input, NewOrder, Order, OrderOwner, ProviderSync, Status, place};
use garson_core::platform::{IntakeOutcome, Message, News, Sighting, Verified, Which};
use garson_store::tables::inbox::{self, InboxState, StoredMessage};
use garson_store::tables::orders::HashedOrder;
use garson_store::tables::{integrations, orders};
use garson_store::{StoreError, Tx, totals};

impl IntakeJob {
    pub(super) fn record_order(
        &self,
        tx: &mut Tx<'_>,
        addressed: &Addressed,
        sighting: &Sighting,
        content: &SerializedContent,
    ) -> Result<Recorded, Fault> {
        let integration = &addressed.connected.integration;
        // Touching its row first makes a concurrent deletion wait, or be noticed.
        if !integrations::record_order(tx, integration.id, addressed.cached_version, self.now)? {
            if addressed.cached_version.is_some() {
                return Err(StoreError::conflict("a cached integration has changed").into());
            }
            let branch = integration.remote_id.clone().unwrap_or_default();
            return self.finish(tx, IntakeOutcome::UnknownBranch { branch });
        }
        // An order without changes is usually new; one that has changed may be known.
        let is_likely_new = sighting.change.is_none();
        let known = orders::lock_by_identity(
            tx,
            integration.account_id,
            integration.id,
            &sighting.order.identity,
            is_likely_new,
        )?;
        let is_new_order = known.is_none();
        let order = match known {
            None => self.place(tx, addressed, sighting, content)?,
            Some(known) if self.is_conflict(&known, &sighting.order, content) => {
                let order_id = known.order.id;
                return self.finish(tx, IntakeOutcome::Conflict { order_id });
            }
            Some(known) => revise::write(tx, known, sighting, content, self.now)?,
        };
        if let Some(change) = &sighting.change {
            self.report(tx, addressed, &order, change)?;
        }
        let outcome = IntakeOutcome::Taken { order_id: order.id };
        if !is_new_order {
            return self.finish(tx, outcome);
        }
        // An unchanged new order says itself whether a call is open.
        let is_unchanged = sighting.change.is_none() && order.sequence == 1;
        Ok(Recorded {
            may_call: !is_unchanged || matches!(order.sync, ProviderSync::Pending { .. }),
            ..self.finish_new_order(tx, outcome)?
        })
    }

    pub(super) fn record_change(
        &self,
        tx: &mut Tx<'_>,
        addressed: &Addressed,
        which: &Which,
        change: &Change,
    ) -> Result<Recorded, Fault> {
        let Some(order) = order_lookup::lock(tx, &addressed.connected.integration, which)? else {
            return self.finish_without_order(tx, which);
        };
        self.report(tx, addressed, &order, change)?;
        self.finish(tx, IntakeOutcome::Taken { order_id: order.id })
    }

    /// Stores a message whose order has not come yet; it is applied when the order comes.
    pub(super) fn finish_without_order(&self, tx: &mut Tx<'_>, which: &Which) -> Result<Recorded, Fault> {
        let identity = order_lookup::identity_of(which);
        self.finish(tx, IntakeOutcome::UnknownOrder { identity })
    }

    /// Where senders choose the ids, they may use one twice. A later version of an order has a higher version number.
    fn is_conflict(&self, known: &HashedOrder, new: &NewOrder, content: &SerializedContent) -> bool {
        self.platform.capability().own_ids
            && known.content_hash != content.fingerprint
            && new.version.number().unwrap_or(1) == known.order.content_version.unwrap_or(1)
    }

    fn report(
        &self,
        tx: &mut Tx<'_>,
        addressed: &Addressed,
        order: &Order,
        change: &Change,
    ) -> Result<Order, Fault> {
        let input = Input::Report(change.clone());
        persist::apply_and_write(tx, &addressed.contact, order, &input, None, self.now)
    }

    /// Writes a new order, and applies the messages about it that came before it.
    fn place(
        &self,
        tx: &mut Tx<'_>,
        addressed: &Addressed,
        sighting: &Sighting,
        content: &SerializedContent,
    ) -> Result<Order, Fault> {
        let integration = &addressed.connected.integration;
        let early = self.early_messages(tx, addressed, &sighting.order)?;
        let mut places = persist::reserve_places(tx, integration.account_id, self.now)?;
        let home = OrderOwner {
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
            // It was scheduled, and is already due when it reaches us.
            new.status = Status::New;
        }
        // An order that has moved on needs no verification.
        let is_open = sighting.change.is_none() || is_due;
        let auto_verify = addressed.auto_verify && is_open && early.is_empty();
        let mut decision = place(id, home, &new, places.at, asks, auto_verify);
        decision.order.flag = addressed.flag;
        persist::write_calls(tx, &addressed.contact, &mut decision, self.now)?;
        let SerializedContent { json, fingerprint } = content;
        if !orders::insert(tx, &decision.order, json, fingerprint, places.take())? {
            // The integration's row is locked, so the order cannot have been written since we looked.
            return Err(StoreError::internal("an order appeared while it was written").into());
        }
        persist::write_history(tx, &decision, true, &mut places)?;
        persist::plan_escalation(tx, &decision.order, &addressed.escalation)?;
        totals::add_order(tx, &decision.order)?;
        let mut order = decision.order;
        for message in early {
            order = self.apply_early(tx, addressed, order, &message)?;
        }
        Ok(order)
    }

    fn early_messages(
        &self,
        tx: &mut Tx<'_>,
        addressed: &Addressed,
        new: &NewOrder,
    ) -> Result<Vec<StoredMessage>, Fault> {
        let integration = &addressed.connected.integration;
        let mut early = inbox::early_messages(
            tx,
            integration.provider,
            &new.identity,
            integration.account_id,
            integration.restaurant_id,
        )?;
        // A message with the operator's secret does not count for an integration that has its own.
        let has_own_secret = self
            .platform
            .inbound_secret(&addressed.connected.credentials)
            .is_some();
        early.retain(|message| message.account_id.is_some() || !has_own_secret);
        Ok(early)
    }

    fn apply_early(
        &self,
        tx: &mut Tx<'_>,
        addressed: &Addressed,
        order: Order,
        message: &StoredMessage,
    ) -> Result<Order, Fault> {
        let Some(request) = stored_request(self.platform, message) else {
            return Ok(order);
        };
        let Ok(Message {
            news: News::Changed { change, .. },
            ..
        }) = self.platform.read(&Verified::ours(&request))
        else {
            return Ok(order);
        };
        let after = self.report(tx, addressed, &order, &change)?;
        inbox::set_state(tx, message.id, InboxState::Taken, Some(order.id), None)?;
        Ok(after)
    }
}
