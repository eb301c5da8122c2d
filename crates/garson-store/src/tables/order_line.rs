//! An order as lists show it, ready to be sent: lists are what a busy POS asks for, and a page has hundreds of fields.
//!
//! What hardly ever changes is kept as JSON, written with the order and with each later version of its content; what does
//! (status, the stamp of the report) lies in columns of its own. The two parts are whole objects, with a line break between them, which JSON has none of.

use crate::engine::Row;
use crate::{Result, StoreError};
use garson_core::id::{OrderId, RestaurantId};
use garson_core::money::{Currency, Minor};
use garson_core::order::{Order, Status};
use garson_core::payment::PaymentType;
use garson_core::platform::Provider;
use garson_core::time::Timestamp;
use serde::Serialize;

/// The fields before the status.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Head<'a> {
    id: OrderId,
    provider_order_id: &'a str,
    restaurant_id: RestaurantId,
    provider: &'a Provider,
    short_code: Option<&'a str>,
}

/// The fields behind it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tail {
    total: Minor,
    currency: Currency,
    payment_type: PaymentType,
    placed_at: Timestamp,
    accept_by: Option<Timestamp>,
    created_at: Timestamp,
}

/// What is stored with an order.
pub fn of(order: &Order) -> Result<String> {
    let head = Head {
        id: order.id,
        provider_order_id: &order.provider_order_id,
        restaurant_id: order.restaurant_id,
        provider: &order.provider,
        short_code: order.short_code.as_deref(),
    };
    let tail = Tail {
        total: order.total,
        currency: order.currency,
        payment_type: order.payment_type,
        placed_at: order.placed_at,
        accept_by: order.accept_by,
        created_at: order.created_at,
    };
    let written = || {
        Ok(format!(
            "{}\n{}",
            serde_json::to_string(&head)?,
            serde_json::to_string(&tail)?
        ))
    };
    written().map_err(|error: serde_json::Error| {
        StoreError::internal(format!("an order does not serialise: {error}"))
    })
}

pub(crate) const SELECT: &str = "SELECT position, status, reported_at, line FROM orders";
pub(crate) const SELECT_WITH_ID: &str = "SELECT position, status, reported_at, line, id FROM orders";

/// An order as lists show it, read where it lies.
pub struct OrderLine<'a> {
    /// The fields before the status, as an object.
    pub head: &'a str,
    pub status: Status,
    pub is_report: bool,
    /// The fields behind it, as an object.
    pub tail: &'a str,
}

impl<'a> OrderLine<'a> {
    /// What is stored and the columns beside it; `None` when it is damaged.
    #[must_use]
    pub fn new(stored: &'a str, status: Status, is_report: bool) -> Option<Self> {
        let (head, tail) = stored.split_once('\n')?;
        Some(Self {
            head,
            status,
            is_report,
            tail,
        })
    }

    pub(crate) fn read(row: &'a Row<'_>) -> Result<Self> {
        let is_report = row.get::<Option<i64>>(2)?.is_some();
        Self::new(row.text(3)?, row.get(1)?, is_report)
            .ok_or_else(|| StoreError::corrupt("the line of a stored order is damaged"))
    }
}
