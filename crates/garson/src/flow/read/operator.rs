//! What operators read by the command line, across accounts.

use crate::app::App;
use crate::flow::Fault;
use garson_core::id::{AccountId, RestaurantId};
use garson_core::order::Order;
use garson_store::tables::{accounts, inbox, integrations, nodes, orders};
use std::net::SocketAddr;

pub use garson_store::tables::inbox::OpenMessage;

pub async fn has_accounts(app: &App) -> Result<bool, Fault> {
    Ok(app.store.read(accounts::any_exists).await?)
}

/// Is any server of this database running?
pub async fn has_server(app: &App) -> Result<bool, Fault> {
    Ok(!app.store.read(nodes::list).await?.is_empty())
}

/// The addresses on which the running servers of this database listen.
pub async fn server_addresses(app: &App) -> Result<Vec<SocketAddr>, Fault> {
    let nodes = app.store.read(nodes::list).await?;
    // A node's name contains its address.
    let addresses = nodes
        .iter()
        .filter_map(|node| node.name.split_whitespace().find_map(|word| word.parse().ok()));
    Ok(addresses.collect())
}

/// Messages of platforms that were stored but not processed, newest first.
pub async fn open_messages(app: &App, limit: i64) -> Result<Vec<OpenMessage>, Fault> {
    Ok(app.store.read(move |tx| inbox::list_open(tx, limit)).await?)
}

/// The open orders of a restaurant.
pub async fn open_orders(
    app: &App,
    account: AccountId,
    restaurant: RestaurantId,
) -> Result<Vec<Order>, Fault> {
    app.store
        .read(move |tx| {
            let mut open = Vec::new();
            for integration in integrations::of_restaurant(tx, restaurant)? {
                open.extend(orders::open_of_integration(tx, account, integration.id, 200)?);
            }
            Ok(open)
        })
        .await
}
