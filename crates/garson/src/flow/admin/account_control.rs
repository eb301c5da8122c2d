//! What operators decide about an account: disable and enable it, its quotas, and its removal.

use crate::app::App;
use crate::flow::Fault;
use garson_core::account_state::{AccountState, Quotas};
use garson_core::id::AccountId;
use garson_store::tables::account_states::StateRow;
use garson_store::tables::{account_states, accounts};
use garson_store::upkeep::account_removal;

/// The state and the own quotas of an account.
pub async fn state(app: &App, account: AccountId) -> Result<StateRow, Fault> {
    app.store
        .read(move |tx| Ok(account_states::find(tx, account)?))
        .await
}

/// Disables an account: keys and sessions are refused, and its events wait. Orders of platforms are still recorded.
pub async fn disable(app: &App, account: AccountId, reason: Option<String>) -> Result<(), Fault> {
    set(app, account, AccountState::Disabled, reason).await
}

/// Enables an account: everything goes on, and the events that have waited are sent.
pub async fn enable(app: &App, account: AccountId) -> Result<(), Fault> {
    set(app, account, AccountState::Active, None).await
}

async fn set(
    app: &App,
    account: AccountId,
    state: AccountState,
    reason: Option<String>,
) -> Result<(), Fault> {
    let now = app.now();
    app.store
        .write(account, move |tx| {
            accounts::lock(tx, account)?;
            if account_states::find(tx, account)?.state == AccountState::Deleting {
                return Err(Fault::AccountDeleting);
            }
            Ok(account_states::set_state(
                tx,
                account,
                state,
                reason.as_deref(),
                now,
            )?)
        })
        .await
}

/// Changes the account's own quotas, and returns them.
pub async fn change_quotas(
    app: &App,
    account: AccountId,
    change: impl Fn(&mut Quotas) + Send + 'static,
) -> Result<Quotas, Fault> {
    let now = app.now();
    app.store
        .write(account, move |tx| {
            accounts::lock(tx, account)?;
            let mut quotas = account_states::find(tx, account)?.quotas;
            change(&mut quotas);
            account_states::set_quotas(tx, account, &quotas, now)?;
            Ok(quotas)
        })
        .await
}

/// Deletes an account. From the first step on it cannot be used; the rest is removed in chunks, and after an interruption by a
/// running server or by the same command. Returns the number of rows.
pub async fn delete(app: &App, account: AccountId, progress: impl FnMut(u64)) -> Result<u64, Fault> {
    let now = app.now();
    app.store
        .write(account, move |tx| {
            accounts::lock(tx, account)?;
            account_removal::begin(tx, account, now)
        })
        .await?;
    Ok(account_removal::finish(&app.store, account, progress).await?)
}
