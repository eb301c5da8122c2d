//! The owner of a branch: the integration whose own credentials have worked on the platform, or that the operator has chosen.
//! Orders that are sent or listed with the operator's credentials go only to the owner of their branch.

use super::integrations as flow_integrations;
use crate::app::App;
use crate::flow::by::Recorded;
use crate::flow::fault::Thing;
use crate::flow::platform_client;
use crate::flow::platform_client::Contact;
use crate::flow::{By, Fault};
use garson_core::audit::{RecordKind, Verb};
use garson_core::id::{AccountId, RestaurantId};
use garson_core::integration::{BranchClaim, Credentials};
use garson_core::platform::{Platform, Provider};
use garson_core::time::Timestamp;
use garson_store::tables::branches;
use garson_store::tables::branches::NamedBranch;
use garson_store::tables::integrations::Connected;
use garson_store::{Partition, StoreErrorKind, Tx};
use serde_json::json;

const LIST_BATCH: i64 = 500;

/// Do an integration's own credentials, if they work, prove that it owns its branch?
pub(crate) fn can_prove(platform: &dyn Platform, own: &Credentials) -> bool {
    let needed = platform.branch_credentials();
    !needed.is_empty() && needed.iter().all(|name| own.contains_key(*name))
}

/// May the platform be asked for the orders of this branch? The operator's credentials open the branches of all accounts, so
/// they are used only for the owner.
pub(crate) fn may_ask(platform: &dyn Platform, connected: &Connected) -> bool {
    connected.integration.branch == BranchClaim::Proven || can_prove(platform, &connected.credentials)
}

/// Notes that an integration's credentials have worked, if that proves that it owns its branch.
pub(crate) async fn note_success(app: &App, connected: &Connected, contact: &Contact) -> Result<(), Fault> {
    let integration = &connected.integration;
    let Some(branch) = integration.remote_id.clone() else {
        return Ok(());
    };
    if integration.branch == BranchClaim::Proven || !can_prove(contact.platform, &connected.credentials) {
        return Ok(());
    }
    // Credentials of another branch would work too, but prove nothing about this one.
    if platform_client::session_branch(app, contact)
        .await
        .is_some_and(|session| session != branch)
    {
        return Ok(());
    }
    let (id, account, now) = (integration.id, integration.account_id, app.now());
    let write = move |tx: &mut Tx<'_>| branches::prove(tx, id, &branch, now);
    match app.store.write(account, write).await {
        // Another node has saved another owner at the same time; the next proof finds it.
        Err(error) if error.kind == StoreErrorKind::Constraint => Ok(()),
        other => Ok(other?),
    }
}

/// Calls `visit` for each branch that an integration names.
pub async fn list(app: &App, mut visit: impl FnMut(&NamedBranch)) -> Result<(), Fault> {
    let mut after: Option<NamedBranch> = None;
    loop {
        let from = after.clone();
        let batch = app
            .store
            .read(move |tx| branches::list(tx, from.as_ref(), LIST_BATCH))
            .await?;
        batch.iter().for_each(&mut visit);
        match batch.into_iter().next_back() {
            Some(last) => after = Some(last),
            None => return Ok(()),
        }
    }
}

/// Assigns a branch to an account, which must have an integration that names it.
pub async fn assign(app: &App, account: AccountId, key: &str, branch: &str) -> Result<(), Fault> {
    let provider = provider(key)?;
    let (name, now) = (branch.to_owned(), app.now());
    let assigned = app
        .store
        .write(Partition::COMMON, move |tx| {
            let before = branches::owner_ids(tx, provider, &name)?;
            let is_assigned = branches::assign(tx, account, provider, &name, now)?;
            let after = branches::owner_ids(tx, provider, &name)?;
            if is_assigned && before != after {
                record(
                    tx,
                    before,
                    (Verb::Released, "branch assign"),
                    (provider, &name),
                    now,
                );
                record(
                    tx,
                    after,
                    (Verb::Assigned, "branch assign"),
                    (provider, &name),
                    now,
                );
            }
            Ok::<_, Fault>(is_assigned)
        })
        .await?;
    if assigned {
        Ok(())
    } else {
        Err(Fault::not_found(Thing::Integration, branch))
    }
}

/// Removes the owner of a branch, until an integration proves that it owns it.
pub async fn release(app: &App, key: &str, branch: &str) -> Result<(), Fault> {
    let provider = provider(key)?;
    let (name, now) = (branch.to_owned(), app.now());
    let released = app
        .store
        .write(Partition::COMMON, move |tx| {
            let before = branches::owner_ids(tx, provider, &name)?;
            let is_released = branches::release(tx, provider, &name)?;
            record(
                tx,
                before,
                (Verb::Released, "branch release"),
                (provider, &name),
                now,
            );
            Ok::<_, Fault>(is_released)
        })
        .await?;
    if released {
        Ok(())
    } else {
        Err(Fault::not_found(Thing::BranchOwner, branch))
    }
}

/// Records in the log of a branch's owner what the operator did.
fn record(
    tx: &mut Tx<'_>,
    owner: Option<(AccountId, RestaurantId)>,
    (verb, command): (Verb, &'static str),
    (provider, branch): (Provider, &str),
    now: Timestamp,
) {
    if let Some((account, restaurant)) = owner {
        let action = Recorded::new(RecordKind::Branch, verb)
            .id(branch)
            .restaurant(restaurant);
        By::operator(account, command).record(tx, action.after(json!({ "provider": provider })), now);
    }
}

fn provider(key: &str) -> Result<Provider, Fault> {
    Ok(flow_integrations::platform(key)?.provider())
}
