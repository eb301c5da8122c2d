//! One message to record, with everything that is prepared outside of the transaction.

use crate::flow::Fault;
use crate::flow::intake::inbox::InboxEntry;
use crate::flow::intake::message::Understood;
use crate::flow::intake::revise::SerializedContent;
use garson_core::id::{InboxId, OrderId};
use garson_core::platform::{HookRequest, IntakeOutcome, News, Platform};
use garson_core::time::Timestamp;
use garson_store::tables::inbox::{self, NewMessage};
use garson_store::tables::restaurants;
use garson_store::upkeep::erase;
use garson_store::{StoreError, Tx};
use sha2::{Digest, Sha256};
use std::sync::Arc;
use std::time::Duration;

/// What was done with a message.
pub(crate) struct Recorded {
    pub outcome: IntakeOutcome,
    /// It brought an order that was not known.
    pub is_new_order: bool,
    /// The same message had come before.
    pub is_repeat: bool,
    /// Its platform may have to be called.
    pub may_call: bool,
    /// How long its transaction took, with the wait for it.
    pub commit: Duration,
}

impl Recorded {
    /// The order that it is about.
    pub fn order(&self) -> Option<OrderId> {
        match &self.outcome {
            IntakeOutcome::Taken { order_id } | IntakeOutcome::Conflict { order_id } => Some(*order_id),
            _ => None,
        }
    }

    pub fn not_genuine() -> Self {
        Self {
            outcome: IntakeOutcome::NotGenuine,
            is_new_order: false,
            is_repeat: false,
            may_call: false,
            commit: Duration::ZERO,
        }
    }
}

/// Hashing and serializing happen when the job is made, because the writer's time is scarce.
pub(super) struct IntakeJob {
    pub platform: &'static dyn Platform,
    pub request: Arc<HookRequest>,
    pub message: Understood,
    pub now: Timestamp,
    /// The content of the order that the message brings.
    pub content: Option<SerializedContent>,
    params: String,
    /// Identifies the message when it comes again.
    hash: [u8; 32],
}

impl IntakeJob {
    pub fn new(
        platform: &'static dyn Platform,
        request: Arc<HookRequest>,
        message: Understood,
        now: Timestamp,
    ) -> Result<Self, Fault> {
        let params = serde_json::to_string(&request.params).unwrap_or_default();
        let no_sender = [0; 16];
        let hash = Sha256::new()
            .chain_update(
                message
                    .integration()
                    .map_or(&no_sender[..], |it| it.id.as_bytes()),
            )
            .chain_update(request.kind)
            .chain_update(&params)
            .chain_update([0])
            .chain_update(&request.body)
            .finalize();
        let content = match &message {
            Understood::Addressed(addressed) => match &addressed.news {
                News::Order(sighting) => Some(SerializedContent::of(&sighting.order)?),
                _ => None,
            },
            _ => None,
        };
        Ok(Self {
            platform,
            request,
            message,
            now,
            content,
            params,
            hash: hash.into(),
        })
    }

    /// Stores the message in the inbox with its outcome.
    pub fn finish(&self, tx: &mut Tx<'_>, outcome: IntakeOutcome) -> Result<Recorded, Fault> {
        let order = InboxEntry::of(&outcome).and_then(|entry| entry.order);
        let recorded = self.finish_with(tx, outcome, inbox::store)?;
        if let (Some(order), Some(integration)) = (order, self.message.integration()) {
            // What was erased must not come back with a late message.
            erase::erase_again(tx, integration.account_id, order)?;
        }
        Ok(recorded)
    }

    /// The same for a message that brought a new order, which is hardly ever a repeat.
    pub fn finish_new_order(&self, tx: &mut Tx<'_>, outcome: IntakeOutcome) -> Result<Recorded, Fault> {
        let recorded = self.finish_with(tx, outcome, inbox::store_first)?;
        Ok(Recorded {
            is_new_order: true,
            ..recorded
        })
    }

    fn finish_with(
        &self,
        tx: &mut Tx<'_>,
        outcome: IntakeOutcome,
        store: fn(&mut Tx<'_>, &NewMessage<'_>) -> Result<bool, StoreError>,
    ) -> Result<Recorded, Fault> {
        let Some(entry) = InboxEntry::of(&outcome) else {
            return Ok(Recorded::not_genuine());
        };
        let integration = self.message.integration();
        if let (Some(sender), None) = (integration, entry.order)
            && !restaurants::exists(tx, sender.account_id, sender.restaurant_id)?
        {
            // No sweep would find the row. The retry finds another integration with the same secret, or none.
            return Err(
                StoreError::conflict("a restaurant was deleted while a message to it was read").into(),
            );
        }
        let own_branch = match self.message {
            // It named no branch: its order may belong to any integration with the same secret.
            Understood::UnknownOrder { .. } => None,
            _ => integration.and_then(|it| it.remote_id.as_deref()),
        };
        let message = NewMessage {
            id: InboxId::at(self.now),
            hash: self.hash,
            account_id: integration.map(|it| it.account_id),
            restaurant_id: integration.map(|it| it.restaurant_id),
            order_id: entry.order,
            provider: self.platform.provider(),
            kind: self.request.kind,
            params: &self.params,
            branch: entry.branch.or(own_branch),
            identity: entry.identity,
            body: &self.request.body,
            state: entry.state,
            reason: entry.reason.as_deref(),
            received_at: self.now,
        };
        let is_repeat = store(tx, &message)?;
        Ok(Recorded {
            outcome,
            is_new_order: false,
            is_repeat,
            may_call: true,
            commit: Duration::ZERO,
        })
    }
}
