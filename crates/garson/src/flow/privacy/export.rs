//! Everything that is stored about a customer, order by order, for a file.

use super::query::recorded;
use crate::app::App;
use crate::flow::record_action::record_action;
use crate::flow::{By, Fault};
use garson_core::audit::Verb;
use garson_core::id::{AccountId, OrderId};
use garson_core::order::TimelineLine;
use garson_core::privacy::CustomerQuery;
use garson_store::lists::customers;
use garson_store::tables::inbox;
use garson_store::tables::{accounts, events, orders};
use garson_store::{StoreError, Tx};
use serde_json::{Value, json};

/// Orders examined for a part of the file.
const EXAMINED_AT_ONCE: i64 = 50;
/// Messages of one order.
const MAX_MESSAGES: i64 = 200;

/// A running export.
pub struct CustomerExport {
    account: AccountId,
    query: CustomerQuery,
    after: i64,
    last: i64,
    is_done: bool,
}

impl CustomerExport {
    /// Begins an export of the orders that are there now.
    pub async fn begin(app: &App, by: By, query: CustomerQuery) -> Result<Self, Fault> {
        let account = by.account;
        record_action(app, by, recorded(app, Verb::Exported, &query)).await?;
        let last = app
            .store
            .read(move |tx| Ok::<_, Fault>(accounts::last_position(tx, account)?))
            .await?;
        Ok(Self {
            account,
            query,
            after: 0,
            last,
            is_done: false,
        })
    }

    /// The next orders; none at the end.
    pub async fn next(&mut self, app: &App) -> Result<Option<Vec<Value>>, Fault> {
        if self.is_done {
            return Ok(None);
        }
        let (account, query, range) = (self.account, self.query.clone(), (self.after, self.last));
        let (found, reached, is_end) = app
            .store
            .read(move |tx| {
                let step = customers::step(tx, account, &query, range, EXAMINED_AT_ONCE)?;
                let mut shown = Vec::new();
                for it in &step.found {
                    let content = serde_json::to_value(&it.content)
                        .map_err(|_| StoreError::internal("an order cannot be serialized"))?;
                    shown.extend(order(tx, it.id, content)?);
                }
                Ok::<_, Fault>((shown, step.reached, step.is_end))
            })
            .await?;
        self.after = reached;
        self.is_done = is_end;
        Ok(Some(found))
    }
}

/// An order with all that is stored about it.
fn order(tx: &mut Tx<'_>, id: OrderId, content: Value) -> Result<Option<Value>, Fault> {
    let Some(order) = orders::by_id(tx, id)? else {
        return Ok(None);
    };
    let timeline: Vec<Value> = orders::timeline(tx, id)?.iter().map(line).collect();
    let parsed = |text: &str| serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()));
    let events: Vec<Value> = events::of_order(tx, id)?
        .iter()
        .rev()
        .map(|it| parsed(&it.body))
        .collect();
    let messages: Vec<Value> = inbox::of_order(tx, id, MAX_MESSAGES)?
        .iter()
        .map(|it| {
            let body = String::from_utf8_lossy(&it.body);
            json!({ "receivedAt": it.received_at, "kind": it.kind, "times": it.times, "body": parsed(&body) })
        })
        .collect();
    Ok(Some(json!({
        "id": order.id, "provider": order.provider, "providerOrderId": order.provider_order_id,
        "shortCode": order.short_code, "restaurantId": order.restaurant_id, "status": order.status.code(),
        "placedAt": order.placed_at, "createdAt": order.created_at, "updatedAt": order.updated_at,
        "scheduledFor": order.scheduled_for, "cancellation": order.cancellation, "content": content,
        "timeline": timeline, "events": events, "platformMessages": messages,
    })))
}

fn line(it: &TimelineLine) -> Value {
    json!({
        "at": it.at, "from": it.from.map(garson_core::order::Status::code), "to": it.to.code(), "by": it.by,
        "reason": it.why.as_ref().map(ToString::to_string),
        "changes": it.revision.as_ref().map(|revision| &revision.changes),
    })
}
