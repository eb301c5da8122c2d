//! The content of orders: what the platform sent, as one JSON document for each order.

use crate::engine::Param;
use crate::engine::in_list::{filled, marks};
use crate::tables::json::from_json;
use crate::tables::row::{each, tuple, value};
use crate::{Result, StoreError, Tx, params};
use garson_core::id::OrderId;
use garson_core::order::{Amount, Customer, Fulfilment, OrderContent, Payment};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// How many orders one statement reads.
const PER_STATEMENT: usize = 32;

pub fn content(tx: &mut Tx<'_>, id: OrderId) -> Result<OrderContent> {
    let sql = "SELECT body FROM order_contents WHERE order_id = ?1";
    let body = tx.query_opt(sql, params![&id], value::<String>)?;
    parse(&body.ok_or_else(|| StoreError::corrupt("an order has no content"))?)
}

pub(crate) fn parse(body: &str) -> Result<OrderContent> {
    from_json("order content", body)
}

/// The sizes of the contents of these orders in characters, unsorted.
pub fn content_sizes(tx: &mut Tx<'_>, ids: &[OrderId]) -> Result<Vec<(OrderId, i64)>> {
    let sql = format!(
        "SELECT order_id, CAST(LENGTH(body) AS BIGINT) FROM order_contents WHERE order_id IN ({})",
        marks(1, PER_STATEMENT)
    );
    let mut sizes = Vec::with_capacity(ids.len());
    for chunk in ids.chunks(PER_STATEMENT) {
        let params: Vec<Param<'_>> = filled(chunk, PER_STATEMENT).map(Param::from).collect();
        sizes.extend(tx.query(&sql, &params, tuple::<(OrderId, i64)>)?);
    }
    Ok(sizes)
}

/// The amount of an order and how it is paid.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Charge {
    pub amount: Amount,
    pub payment: Payment,
}

/// What accounting wants to know about an order.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Billing {
    pub customer: Customer,
    pub fulfilment: Fulfilment,
    pub amount: Amount,
}

/// The charges of these orders, unsorted.
pub fn charges(tx: &mut Tx<'_>, ids: &[OrderId]) -> Result<Vec<(OrderId, Charge)>> {
    parts(tx, ids)
}

/// What accounting wants to know about these orders, unsorted.
pub fn billings(tx: &mut Tx<'_>, ids: &[OrderId]) -> Result<Vec<(OrderId, Billing)>> {
    parts(tx, ids)
}

/// A part of the contents of these orders.
fn parts<T: DeserializeOwned>(tx: &mut Tx<'_>, ids: &[OrderId]) -> Result<Vec<(OrderId, T)>> {
    let sql = format!(
        "SELECT order_id, body FROM order_contents WHERE order_id IN ({})",
        marks(1, PER_STATEMENT)
    );
    let mut found = Vec::with_capacity(ids.len());
    for chunk in ids.chunks(PER_STATEMENT) {
        let params: Vec<Param<'_>> = filled(chunk, PER_STATEMENT).map(Param::from).collect();
        let read = each(|cells| Ok((cells.read()?, from_json("order content", cells.text()?)?)));
        found.extend(tx.query(&sql, &params, read)?);
    }
    Ok(found)
}
