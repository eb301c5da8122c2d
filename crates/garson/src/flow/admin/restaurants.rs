//! Restaurants: create, read, change, link, delete, and what they have booked.

use super::{integrations, quotas, recorded_fields};
use crate::app::App;
use crate::flow::by::Recorded;
use crate::flow::fault::Thing;
use crate::flow::{By, Fault};
use garson_core::audit::{RecordKind, Verb};
use garson_core::id::{AccountId, BusinessId, PackageId, RestaurantId};
use garson_core::restaurant::{Config, Package, Restaurant, RestaurantFields};
use garson_store::tables::{accounts, businesses, packages, restaurants};
use garson_store::{StoreErrorKind, Tx, Vault};
use serde_json::json;
use std::sync::Arc;

fn check(app: &App, fields: &RestaurantFields) -> Result<(), Fault> {
    Config::read(fields.config.as_deref())
        .map_err(|error| Fault::invalid(format!("config.{}", error.key), error.problem))?;
    if let Some(url) = &fields.payment_matching_url {
        app.net
            .check_address(url)
            .map_err(|refusal| Fault::target("paymentMatchingUrl", refusal))?;
    }
    Ok(())
}

fn check_business(tx: &mut Tx<'_>, account: AccountId, id: Option<BusinessId>) -> Result<(), Fault> {
    match id {
        Some(id) if !businesses::lock(tx, account, id)? => Err(Fault::not_found(Thing::Business, id)),
        _ => Ok(()),
    }
}

fn find(tx: &mut Tx<'_>, vault: &Vault, account: AccountId, id: RestaurantId) -> Result<Restaurant, Fault> {
    restaurants::find(tx, vault, account, id)?.ok_or_else(|| Fault::not_found(Thing::Restaurant, id))
}

/// The names of an account's restaurants, to choose from.
pub async fn names(app: &App, account: AccountId) -> Result<Vec<(RestaurantId, String)>, Fault> {
    app.store
        .read(move |tx| Ok(restaurants::names(tx, account)?))
        .await
}

fn recorded(verb: Verb, id: RestaurantId) -> Recorded {
    Recorded::new(RecordKind::Restaurant, verb).id(id).restaurant(id)
}

pub async fn create(
    app: &App,
    by: By,
    id: RestaurantId,
    fields: RestaurantFields,
) -> Result<Restaurant, Fault> {
    check(app, &fields)?;
    let (account, now, defaults) = (by.account, app.now(), app.settings.quotas);
    let vault = Arc::clone(&app.vault);
    let restaurant = Restaurant {
        id,
        fields,
        created_at: now,
        updated_at: now,
        integrations: Vec::new(),
        packages: Vec::new(),
    };
    app.store
        .write(account, move |tx| {
            check_business(tx, account, restaurant.fields.business_id)?;
            if restaurants::find(tx, &vault, account, id)?.is_none() {
                accounts::lock(tx, account)?;
                quotas::check_restaurants(tx, account, &defaults)?;
                restaurants::save(tx, &vault, account, &restaurant)?;
                packages::replace(tx, id, &[Package::open_ended(PackageId::at(now), now)])?;
                let fields = recorded_fields::restaurant(&vault, &restaurant.fields);
                by.record(tx, recorded(Verb::Created, id).after(fields), now);
            }
            find(tx, &vault, account, id)
        })
        .await
}

/// All restaurants, or those of one business.
pub async fn list(
    app: &App,
    account: AccountId,
    business: Option<BusinessId>,
) -> Result<Vec<Restaurant>, Fault> {
    let vault = Arc::clone(&app.vault);
    app.store
        .read(move |tx| {
            if let Some(id) = business
                && businesses::find(tx, account, id)?.is_none()
            {
                return Err(Fault::not_found(Thing::Business, id));
            }
            Ok(restaurants::list(tx, &vault, account, business)?)
        })
        .await
}

pub async fn get(app: &App, account: AccountId, id: RestaurantId) -> Result<Restaurant, Fault> {
    let vault = Arc::clone(&app.vault);
    app.store.read(move |tx| find(tx, &vault, account, id)).await
}

pub async fn update(
    app: &App,
    by: By,
    id: RestaurantId,
    change: impl Fn(&mut RestaurantFields) + Send + 'static,
) -> Result<Restaurant, Fault> {
    // What is given is checked before anything is written; what is already there was checked when it came.
    let mut given = RestaurantFields::default();
    change(&mut given);
    check(app, &given)?;
    let (account, now) = (by.account, app.now());
    let vault = Arc::clone(&app.vault);
    app.store
        .write(account, move |tx| {
            // The business first, as everybody does who holds both.
            check_business(tx, account, given.business_id)?;
            restaurants::lock(tx, account, id)?;
            let mut restaurant = find(tx, &vault, account, id)?;
            let before = recorded_fields::restaurant(&vault, &restaurant.fields);
            change(&mut restaurant.fields);
            restaurant.updated_at = now;
            restaurants::save(tx, &vault, account, &restaurant)?;
            let after = recorded_fields::restaurant(&vault, &restaurant.fields);
            by.record(tx, recorded(Verb::Changed, id).change(before, after), now);
            Ok(restaurant)
        })
        .await
}

/// Moves a restaurant to a business.
pub async fn link(app: &App, by: By, business: BusinessId, id: RestaurantId) -> Result<Restaurant, Fault> {
    let (account, now) = (by.account, app.now());
    let vault = Arc::clone(&app.vault);
    app.store
        .write(account, move |tx| {
            check_business(tx, account, Some(business))?;
            if !restaurants::lock(tx, account, id)? {
                return Err(Fault::not_found(Thing::Restaurant, id));
            }
            let before = find(tx, &vault, account, id)?.fields.business_id;
            restaurants::set_business(tx, id, business, now)?;
            let (before, after) = (json!({ "businessId": before }), json!({ "businessId": business }));
            by.record(tx, recorded(Verb::Changed, id).change(before, after), now);
            find(tx, &vault, account, id)
        })
        .await
}

pub async fn delete(app: &App, by: By, id: RestaurantId) -> Result<(), Fault> {
    let (account, now) = (by.account, app.now());
    let vault = Arc::clone(&app.vault);
    app.store
        .write(account, move |tx| {
            let fields = match restaurants::find(tx, &vault, account, id) {
                Ok(Some(restaurant)) => recorded_fields::restaurant(&vault, &restaurant.fields),
                // What cannot be read can be deleted.
                Err(error) if error.kind == StoreErrorKind::Corrupt => json!({}),
                Ok(None) => return Err(Fault::not_found(Thing::Restaurant, id)),
                Err(error) => return Err(error.into()),
            };
            if !restaurants::delete(tx, account, id, now)? {
                return Err(Fault::not_found(Thing::Restaurant, id));
            }
            by.record(tx, recorded(Verb::Deleted, id).before(fields), now);
            Ok(())
        })
        .await?;
    app.wake_sweep.notify_one();
    Ok(())
}

/// Replaces a restaurant's packages; integrations that none of them covers now are switched off.
pub async fn set_packages(
    app: &App,
    by: By,
    id: RestaurantId,
    wanted: Vec<Package>,
) -> Result<Vec<Package>, Fault> {
    let (account, now) = (by.account, app.now());
    app.store
        .write(account, move |tx| {
            if !restaurants::lock(tx, account, id)? {
                return Err(Fault::not_found(Thing::Restaurant, id));
            }
            let before = recorded_fields::packages(&packages::of_restaurant(tx, id)?);
            packages::replace(tx, id, &wanted)?;
            integrations::switch_off_uncovered(tx, &by, id, now)?;
            let packages = packages::of_restaurant(tx, id)?;
            let action = Recorded::new(RecordKind::Package, Verb::Changed)
                .id(id)
                .restaurant(id);
            by.record(
                tx,
                action.change(before, recorded_fields::packages(&packages)),
                now,
            );
            Ok(packages)
        })
        .await
}
