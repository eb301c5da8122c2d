//! The order of all measurements, and the rows that it becomes.

use crate::error::Fallible;
use crate::order_body::{NUMBER, SHOP_KEY, body};
use crate::shop::Branch;
use garson_core::event::order_body;
use garson_core::id::{AccountId, EventId, InboxId, OrderId};
use garson_core::integration::Credentials;
use garson_core::order::{Decision, NewOrder, OrderOwner, place};
use garson_core::payment::PaymentType;
use garson_core::platform::{HookRequest, Message, News, Platform};
use garson_core::secret::Secret;
use garson_core::time::Timestamp;
use garson_store::tables::accounts::Positions;
use garson_store::tables::events::NewEvent;
use garson_store::tables::inbox::{InboxState, NewMessage};
use garson_store::tables::{accounts, events, inbox, integrations, orders};
use garson_store::{StoreError, Tx, totals};
use sha2::{Digest, Sha256};

/// Places that the service reserves for an order and its events.
const PLACES: i64 = 4;

/// The order as the connector reads it from that body, with its stored form made in advance.
#[derive(Clone)]
pub struct Sample {
    new: NewOrder,
    content: String,
    fingerprint: [u8; 32],
}

impl Sample {
    pub fn read() -> Fallible<Self> {
        let direct: &dyn Platform = garson_platforms::find("direct").ok_or("no direct platform")?;
        let request = HookRequest {
            kind: direct.hooks().first().ok_or("no hook")?.kind,
            headers: vec![("x-api-key".to_owned(), SHOP_KEY.to_owned())],
            body: body().into_bytes(),
            ..HookRequest::default()
        };
        let mut credentials = Credentials::new();
        credentials.insert("inboundKey".to_owned(), Secret::new(SHOP_KEY.to_owned()));
        let verified = direct
            .verify(&request, &credentials)
            .ok_or("the sample is refused")?;
        let read = direct.read(&verified).map_err(|fault| format!("{fault:?}"))?;
        let Message {
            news: News::Order(sighting),
            ..
        } = read
        else {
            return Err("the sample is not an order".into());
        };
        let new = sighting.order;
        let content = serde_json::to_string(&new.content)?;
        let fingerprint = Sha256::digest(&content).into();
        Ok(Self {
            new,
            content,
            fingerprint,
        })
    }

    /// The same under another number, paid in another way.
    pub fn numbered(&self, number: u64, payment: Option<PaymentType>) -> Self {
        let mut other = self.clone();
        other.new.identity = format!("WEB-{number:010}");
        other.new.provider_order_id = other.new.identity.clone();
        if let Some(payment) = payment {
            other.new.content.payment.kind = payment;
        }
        other
    }

    /// Writes the rows of a taken order, with the statements that the service uses for it.
    pub fn write(
        &self,
        tx: &mut Tx<'_>,
        account_id: AccountId,
        branch: Branch,
        now: Timestamp,
    ) -> Result<OrderId, StoreError> {
        integrations::record_order(tx, branch.integration, None, now)?;
        if orders::lock_by_identity(tx, account_id, branch.integration, &self.new.identity, true)?.is_some() {
            return Err(StoreError::internal("a number was used twice"));
        }
        let mut places = accounts::reserve_positions(tx, account_id, PLACES, now)?;
        let decision = self.decide(account_id, branch, places.at);
        let order = &decision.order;
        orders::insert(tx, order, &self.content, &self.fingerprint, places.take())?;
        orders::add_timeline(tx, order.id, 1, &decision.timeline)?;
        write_events(tx, &decision, &mut places)?;
        totals::add_order(tx, order)?;
        Ok(order.id)
    }

    /// Writes nothing but the event of a new order into a place that was reserved for it.
    pub fn write_event(
        &self,
        tx: &mut Tx<'_>,
        account: AccountId,
        branch: Branch,
        places: &mut Positions,
    ) -> Result<(), StoreError> {
        write_events(tx, &self.decide(account, branch, places.at), places)
    }

    fn decide(&self, account_id: AccountId, branch: Branch, at: Timestamp) -> Decision {
        let home = OrderOwner {
            account_id,
            restaurant_id: branch.restaurant,
            integration_id: branch.integration,
            provider: garson_platforms::direct::Direct.provider(),
        };
        place(OrderId::at(at), home, &self.new, at, false, false)
    }
}

fn write_events(tx: &mut Tx<'_>, decision: &Decision, places: &mut Positions) -> Result<(), StoreError> {
    let order = &decision.order;
    for event in &decision.events {
        let event_id = EventId::at(places.at);
        let to_write = NewEvent {
            id: event_id,
            account_id: order.account_id,
            restaurant_id: order.restaurant_id,
            order_id: Some(order.id),
            sequence: Some(event.sequence),
            name: event.kind.name(),
            body: &order_body(event_id, order, event, places.at),
        };
        events::write(tx, &to_write, places)?;
    }
    Ok(())
}

/// Keeps the message that brought an order, as the service does.
pub fn keep_message(
    tx: &mut Tx<'_>,
    account: AccountId,
    branch: Branch,
    order: OrderId,
    message: &InboxMessage,
    now: Timestamp,
) -> Result<(), StoreError> {
    let to_keep = NewMessage {
        id: InboxId::at(now),
        hash: message.hash,
        account_id: Some(account),
        restaurant_id: Some(branch.restaurant),
        order_id: Some(order),
        provider: garson_platforms::direct::Direct.provider(),
        kind: "order",
        params: "[]",
        branch: Some("branch-0"),
        identity: None,
        body: &message.body,
        state: InboxState::Taken,
        reason: None,
        received_at: now,
    };
    inbox::store_first(tx, &to_keep)?;
    Ok(())
}

/// A message and its hash.
pub struct InboxMessage {
    body: Vec<u8>,
    hash: [u8; 32],
}

impl InboxMessage {
    pub fn numbered(template: &str, number: u64) -> Self {
        let body = template.replace(NUMBER, &format!("{number:010}")).into_bytes();
        let hash = Sha256::digest(&body).into();
        Self { body, hash }
    }
}
