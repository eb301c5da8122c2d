//! Catalogs that were sent, as shown to clients.

use crate::app::App;
use crate::flow::Fault;
use crate::flow::fault::Thing;
use garson_core::id::{AccountId, CatalogPushId, RestaurantId};
use garson_store::tables::catalogs::PushedCatalog;
use garson_store::tables::{catalogs, restaurants};

/// A page of a restaurant's catalogs, newest first.
#[derive(Clone, Debug)]
pub struct CatalogPage {
    pub catalogs: Vec<PushedCatalog>,
    /// The last catalog of this page; none if there is no next page.
    pub next: Option<CatalogPushId>,
}

pub async fn get(
    app: &App,
    account: AccountId,
    restaurant: RestaurantId,
    id: CatalogPushId,
) -> Result<PushedCatalog, Fault> {
    app.store
        .read(move |tx| {
            let found = catalogs::find(tx, account, restaurant, id)?;
            found.ok_or_else(|| Fault::not_found(Thing::CatalogPush, id))
        })
        .await
}

pub async fn list(
    app: &App,
    account: AccountId,
    restaurant: RestaurantId,
    before: Option<CatalogPushId>,
    limit: usize,
) -> Result<CatalogPage, Fault> {
    let with_next = i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1);
    let mut found = app
        .store
        .read(move |tx| {
            if !restaurants::exists(tx, account, restaurant)? {
                return Err(Fault::not_found(Thing::Restaurant, restaurant));
            }
            Ok(catalogs::page(tx, restaurant, before, with_next)?)
        })
        .await?;
    let has_more = found.len() > limit;
    found.truncate(limit);
    Ok(CatalogPage {
        next: found.last().map(|it| it.id).filter(|_| has_more),
        catalogs: found,
    })
}
