//! The orders of a customer.

use super::query::recorded;
use crate::app::App;
use crate::flow::record_action::record_action;
use crate::flow::{By, Fault};
use garson_core::audit::Verb;
use garson_core::order::{Order, OrderContent};
use garson_core::privacy::CustomerQuery;
use garson_store::lists::customers;
use garson_store::tables::{accounts, orders};

/// Orders examined in one read, and in one search.
const EXAMINED_AT_ONCE: i64 = 200;
const MOST_EXAMINED: usize = 25;

pub struct CustomerOrder {
    pub order: Order,
    pub content: OrderContent,
}

/// Orders of a customer, oldest first.
pub struct CustomerOrders {
    pub orders: Vec<CustomerOrder>,
    /// Where to continue; none when all orders were examined.
    pub next: Option<i64>,
}

/// Finds the orders of a customer after a position. A search ends after so many orders, or after some thousand that were examined.
pub async fn search(
    app: &App,
    by: By,
    query: CustomerQuery,
    after: Option<i64>,
    limit: usize,
) -> Result<CustomerOrders, Fault> {
    let account = by.account;
    record_action(app, by, recorded(app, Verb::Searched, &query)).await?;
    let last = app
        .store
        .read(move |tx| Ok::<_, Fault>(accounts::last_position(tx, account)?))
        .await?;
    let (mut after, mut found) = (after.unwrap_or(0), Vec::new());
    for _ in 0..MOST_EXAMINED {
        let wanted = query.clone();
        let step = app
            .store
            .read(move |tx| {
                let step = customers::step(tx, account, &wanted, (after, last), EXAMINED_AT_ONCE)?;
                let mut orders_of = Vec::new();
                for it in step.found {
                    if let Some(order) = orders::by_id(tx, it.id)? {
                        let content = it.content;
                        orders_of.push((it.position, CustomerOrder { order, content }));
                    }
                }
                Ok::<_, Fault>((orders_of, step.reached, step.is_end))
            })
            .await?;
        let (some, reached, is_end) = step;
        for (position, order) in some {
            found.push(order);
            if found.len() == limit {
                return Ok(CustomerOrders {
                    orders: found,
                    next: (!is_end || position < reached).then_some(position),
                });
            }
        }
        after = reached;
        if is_end {
            return Ok(CustomerOrders {
                orders: found,
                next: None,
            });
        }
    }
    Ok(CustomerOrders {
        orders: found,
        next: Some(after),
    })
}
