//! Who owns a branch. What a platform sends with the operator's credentials, or shows for them, belongs to the owner of the
//! branch only: an integration whose own credentials have worked on the platform, or that the operator has chosen.

use super::integrations as flow_integrations;
use crate::app::App;
use crate::flow::Fault;
use crate::flow::admin::connection_test;
use crate::flow::intake::fetch::is_polled;
use crate::flow::platform_client;
use crate::flow::platform_client::Contact;
use garson_core::id::{AccountId, IntegrationId};
use garson_core::integration::{BranchClaim, Credentials};
use garson_core::platform::{Platform, Provider};
use garson_store::tables::branches;
use garson_store::tables::branches::NamedBranch;
use garson_store::tables::integrations;
use garson_store::tables::integrations::Connected;
use garson_store::{Lane, StoreErrorKind, Tx};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;

/// How often integrations that do not own their branches are tried, on platforms that are not asked for orders anyway.
const TRY_EVERY: Duration = Duration::from_secs(60);
/// After a change they are tried earlier, but not more often than that.
const TRY_AGAIN: Duration = Duration::from_millis(500);
/// How many of a platform are read at once, and how many are tried at the same time.
const CHUNK: i64 = 100;
const AT_ONCE: usize = 8;
const LISTED_AT_ONCE: i64 = 500;

/// Do these credentials of an integration's own prove, when they work, that its branch is its own?
fn can_prove(platform: &dyn Platform, own: &Credentials) -> bool {
    let needed = platform.branch_credentials();
    !needed.is_empty() && needed.iter().all(|name| own.contains_key(*name))
}

/// May the platform be asked for the orders of this branch? With the operator's credentials only for its owner: they open
/// everybody's branches.
pub(crate) fn may_ask(platform: &dyn Platform, connected: &Connected) -> bool {
    connected.integration.branch == BranchClaim::Proven || can_prove(platform, &connected.credentials)
}

/// Notes that an integration's credentials have worked, if they prove something about its branch.
pub(crate) async fn note_success(app: &App, connected: &Connected, contact: &Contact) -> Result<(), Fault> {
    let integration = &connected.integration;
    let Some(branch) = integration.remote_id.clone() else {
        return Ok(());
    };
    if integration.branch == BranchClaim::Proven || !can_prove(contact.platform, &connected.credentials) {
        return Ok(());
    }
    // Credentials of another branch work too, but prove nothing about this one.
    if platform_client::session_branch(app, contact)
        .await
        .is_some_and(|session| session != branch)
    {
        return Ok(());
    }
    let (id, account, now) = (integration.id, integration.account_id, app.now());
    let write = move |tx: &mut Tx<'_>| branches::prove(tx, id, &branch, now);
    match app.store.write(account, write).await {
        // Another node has written down another owner at this moment; the next proof finds it.
        Err(error) if error.kind == StoreErrorKind::Constraint => Ok(()),
        other => Ok(other?),
    }
}

/// Tries the integrations that do not own their branches, until the service ends. Only where it matters: a platform for which
/// the operator has credentials, and which is not asked for orders, since an answer to that proves the same.
pub async fn run(app: Arc<App>) {
    loop {
        let mut turn = Ok(());
        for platform in garson_platforms::all() {
            let terms = app.terms(platform.provider());
            if terms.credentials.is_empty() || is_polled(&app, *platform) {
                continue;
            }
            if let Err(fault) = try_all(&app, *platform).await {
                tracing::error!(?fault, provider = %platform.provider(), "branches could not be looked up");
                turn = Err(fault);
            }
        }
        app.workers.note_turn(&turn);
        let began = tokio::time::Instant::now();
        tokio::select! {
            () = app.branch_claims_changed.notified() => tokio::time::sleep_until(began + TRY_AGAIN).await,
            () = tokio::time::sleep(TRY_EVERY) => {}
        }
    }
}

async fn try_all(app: &Arc<App>, platform: &'static dyn Platform) -> Result<(), Fault> {
    let mut after = None;
    loop {
        let provider = platform.provider();
        let found = app
            .store
            .read(move |tx| branches::without_ownership(tx, provider, after, CHUNK))
            .await?;
        for some in found.chunks(AT_ONCE) {
            let mut running: JoinSet<()> = some
                .iter()
                .map(|id| try_one(Arc::clone(app), platform, *id))
                .collect();
            while running.join_next().await.is_some() {}
        }
        match found.last() {
            Some(last) => after = Some(*last),
            None => return Ok(()),
        }
    }
}

/// Tries one. What comes of it is shown where the integration is tried by hand; a failure here changes nothing.
async fn try_one(app: Arc<App>, platform: &'static dyn Platform, id: IntegrationId) {
    let vault = Arc::clone(&app.vault);
    let found = app
        .store
        .read(move |tx| integrations::by_id(tx, &vault, id))
        .await;
    match found {
        Ok(Some(connected)) if can_prove(platform, &connected.credentials) => {
            if let Err(fault) = connection_test::try_quietly(&app, &connected).await {
                tracing::debug!(?fault, integration = %id, "an integration's branch could not be proven");
            }
        }
        Ok(_) => {}
        Err(error) => tracing::error!(%error, "an integration could not be read"),
    }
}

/// Shows all branches that integrations name, one after the other.
pub async fn list(app: &App, mut show: impl FnMut(&NamedBranch)) -> Result<(), Fault> {
    let mut after: Option<NamedBranch> = None;
    loop {
        let from = after.clone();
        let part = app
            .store
            .read(move |tx| branches::list(tx, from.as_ref(), LISTED_AT_ONCE))
            .await?;
        part.iter().for_each(&mut show);
        match part.into_iter().next_back() {
            Some(last) => after = Some(last),
            None => return Ok(()),
        }
    }
}

/// The operator's decision that a branch belongs to an account, which must have an integration that names it.
pub async fn assign(app: &App, account: AccountId, key: &str, branch: &str) -> Result<(), Fault> {
    let provider = provider(key)?;
    let (name, now) = (branch.to_owned(), app.now());
    let assigned = app
        .store
        .write(Lane::COMMON, move |tx| {
            branches::assign(tx, account, provider, &name, now)
        })
        .await?;
    match assigned {
        true => Ok(()),
        false => Err(Fault::not_found("integration", branch)),
    }
}

/// The operator's decision that a branch belongs to nobody until somebody proves it.
pub async fn release(app: &App, key: &str, branch: &str) -> Result<(), Fault> {
    let provider = provider(key)?;
    let name = branch.to_owned();
    let released = app
        .store
        .write(Lane::COMMON, move |tx| branches::release(tx, provider, &name))
        .await?;
    match released {
        true => Ok(()),
        false => Err(Fault::not_found("owner", branch)),
    }
}

fn provider(key: &str) -> Result<Provider, Fault> {
    Ok(flow_integrations::platform(key)?.provider())
}
