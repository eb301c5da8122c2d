//! Businesses: create, read, change, delete.

use super::recorded_fields;
use crate::app::App;
use crate::flow::by::Recorded;
use crate::flow::fault::Thing;
use crate::flow::{By, Fault};
use garson_core::audit::{RecordKind, Verb};
use garson_core::business::{Business, BusinessFields};
use garson_core::id::{AccountId, BusinessId};
use garson_store::tables::businesses;

pub async fn create(app: &App, by: By, id: BusinessId, fields: BusinessFields) -> Result<Business, Fault> {
    let (account, now) = (by.account, app.now());
    let business = Business {
        id,
        fields,
        created_at: now,
        updated_at: now,
    };
    app.store
        .write(account, move |tx| {
            // The id exists if an earlier run of the same idempotent request got this far.
            if businesses::find(tx, account, business.id)?.is_none() {
                businesses::save(tx, account, &business)?;
                let fields = recorded_fields::business(&business.fields);
                by.record(
                    tx,
                    Recorded::new(RecordKind::Business, Verb::Created)
                        .id(id)
                        .after(fields),
                    now,
                );
            }
            find(tx, account, business.id)
        })
        .await
}

fn find(tx: &mut garson_store::Tx<'_>, account: AccountId, id: BusinessId) -> Result<Business, Fault> {
    businesses::find(tx, account, id)?.ok_or_else(|| Fault::not_found(Thing::Business, id))
}

pub async fn list(app: &App, account: AccountId) -> Result<Vec<Business>, Fault> {
    app.store.read(move |tx| Ok(businesses::list(tx, account)?)).await
}

pub async fn get(app: &App, account: AccountId, id: BusinessId) -> Result<Business, Fault> {
    app.store.read(move |tx| find(tx, account, id)).await
}

pub async fn update(
    app: &App,
    by: By,
    id: BusinessId,
    change: impl Fn(&mut BusinessFields) + Send + 'static,
) -> Result<Business, Fault> {
    let (account, now) = (by.account, app.now());
    app.store
        .write(account, move |tx| {
            businesses::lock(tx, account, id)?;
            let mut business = find(tx, account, id)?;
            let before = recorded_fields::business(&business.fields);
            change(&mut business.fields);
            business.updated_at = now;
            businesses::save(tx, account, &business)?;
            let after = recorded_fields::business(&business.fields);
            let action = Recorded::new(RecordKind::Business, Verb::Changed).id(id);
            by.record(tx, action.change(before, after), now);
            Ok(business)
        })
        .await
}

/// Deletes a business with everything below it; what hangs on its restaurants is swept afterwards.
pub async fn delete(app: &App, by: By, id: BusinessId) -> Result<(), Fault> {
    let (account, now) = (by.account, app.now());
    app.store
        .write(account, move |tx| {
            let business = find(tx, account, id)?;
            if !businesses::delete(tx, account, id, now)? {
                return Err(Fault::not_found(Thing::Business, id));
            }
            let fields = recorded_fields::business(&business.fields);
            by.record(
                tx,
                Recorded::new(RecordKind::Business, Verb::Deleted)
                    .id(id)
                    .before(fields),
                now,
            );
            Ok(())
        })
        .await?;
    app.wake_sweep.notify_one();
    Ok(())
}
