//! An order as lists return it, stored ready to send: lists are the most frequent request of a POS, and a page has hundreds of
//! fields.
//!
//! Fields that hardly ever change are stored as JSON, written with the order and with each later version of its content. The
//! others (status, report timestamp) are columns. The JSON is two objects, the fields before the status and those after it,
//! separated by a line break, which neither contains.

use crate::tables::row::Cells;
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

/// The fields after it.
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

/// The stored form of an order's line.
pub fn encode(order: &Order) -> Result<String> {
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
    let encoded = || {
        Ok(format!(
            "{}\n{}",
            serde_json::to_string(&head)?,
            serde_json::to_string(&tail)?
        ))
    };
    encoded().map_err(|error: serde_json::Error| {
        StoreError::internal(format!("an order does not serialise: {error}"))
    })
}

/// What [`OrderLine::read`] reads; without and with the id before it.
pub(crate) const COLUMNS: &str = "status, reported_at, line";
pub(crate) const COLUMNS_WITH_ID: &str = "id, status, reported_at, line";

/// An order as lists return it, borrowed from its row.
pub struct OrderLine<'a> {
    /// The fields before the status, as an object.
    pub head: &'a str,
    pub status: Status,
    pub is_report: bool,
    /// The fields after the status, as an object.
    pub tail: &'a str,
}

impl<'a> OrderLine<'a> {
    /// From the stored form and the columns beside it; `None` when it is damaged.
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

    /// Reads `status`, `reported_at` and `line`.
    pub(crate) fn read(cells: &mut Cells<'a, '_>) -> Result<Self> {
        let status = cells.read()?;
        Self::read_after_status(cells, status)
    }

    /// Reads `reported_at` and `line`.
    pub(crate) fn read_after_status(cells: &mut Cells<'a, '_>, status: Status) -> Result<Self> {
        let is_report = cells.read::<Option<i64>>()?.is_some();
        Self::new(cells.text()?, status, is_report)
            .ok_or_else(|| StoreError::corrupt("the line of a stored order is damaged"))
    }
}
