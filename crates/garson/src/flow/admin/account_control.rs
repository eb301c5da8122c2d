//! What operators decide about an account: disable and enable it, its quotas, and its removal.

use crate::app::App;
use crate::flow::by::Recorded;
use crate::flow::{By, Fault};
use garson_core::account_state::{AccountState, QuotaKind, Quotas};
use garson_core::audit::{RecordKind, Verb};
use garson_core::id::AccountId;
use garson_store::tables::account_states::StateRow;
use garson_store::tables::{account_states, accounts, audit};
use garson_store::upkeep::account_removal;
use serde_json::{Map, Value, json};

/// The state and the own quotas of an account.
pub async fn state(app: &App, account: AccountId) -> Result<StateRow, Fault> {
    app.store
        .read(move |tx| Ok(account_states::find(tx, account)?))
        .await
}

/// Disables an account: keys and sessions are refused, and its events wait. Orders of platforms are still recorded.
pub async fn disable(app: &App, account: AccountId, reason: Option<String>) -> Result<(), Fault> {
    let by = By::operator(account, "account disable");
    set(app, by, AccountState::Disabled, reason).await
}

/// Enables an account: everything goes on, and the events that have waited are sent.
pub async fn enable(app: &App, account: AccountId) -> Result<(), Fault> {
    let by = By::operator(account, "account enable");
    set(app, by, AccountState::Active, None).await
}

fn changed(account: AccountId) -> Recorded {
    Recorded::new(RecordKind::Account, Verb::Changed).id(account)
}

async fn set(app: &App, by: By, state: AccountState, reason: Option<String>) -> Result<(), Fault> {
    let (account, now) = (by.account, app.now());
    app.store
        .write(account, move |tx| {
            accounts::lock(tx, account)?;
            let before = account_states::find(tx, account)?;
            if before.state == AccountState::Deleting {
                return Err(Fault::AccountDeleting);
            }
            account_states::set_state(tx, account, state, reason.as_deref(), now)?;
            let fields = |state: AccountState, reason: Option<&str>| json!({ "state": state.as_str(), "reason": reason });
            let before = fields(before.state, before.reason.as_deref());
            by.record(tx, changed(account).change(before, fields(state, reason.as_deref())), now);
            Ok(())
        })
        .await
}

/// Changes the account's own quotas, and returns them.
pub async fn change_quotas(
    app: &App,
    account: AccountId,
    change: impl Fn(&mut Quotas) + Send + 'static,
) -> Result<Quotas, Fault> {
    let (by, now) = (By::operator(account, "account quota"), app.now());
    app.store
        .write(account, move |tx| {
            accounts::lock(tx, account)?;
            let before = account_states::find(tx, account)?.quotas;
            let mut quotas = before;
            change(&mut quotas);
            account_states::set_quotas(tx, account, &quotas, now)?;
            by.record(tx, changed(account).change(shown(&before), shown(&quotas)), now);
            Ok(quotas)
        })
        .await
}

/// The account's own quotas for the audit log; one that is not set is missing.
fn shown(quotas: &Quotas) -> Value {
    let quota = |kind: QuotaKind| (format!("quota.{}", kind.as_str()), json!(quotas.get(kind)));
    Value::Object(QuotaKind::ALL.into_iter().map(quota).collect::<Map<_, _>>())
}

/// Deletes an account. From the first step on it cannot be used; the rest is removed in chunks, and after an interruption by a
/// running server or by the same command. Returns the number of rows. The account's audit log is removed too, so the installation's
/// own has the entry.
pub async fn delete(app: &App, account: AccountId, progress: impl FnMut(u64)) -> Result<u64, Fault> {
    let (by, now) = (By::operator(audit::INSTALLATION, "account delete"), app.now());
    app.store
        .write(account, move |tx| {
            accounts::lock(tx, account)?;
            let is_repeated = account_states::find(tx, account)?.state == AccountState::Deleting;
            account_removal::begin(tx, account, now)?;
            if !is_repeated {
                let action = Recorded::new(RecordKind::Account, Verb::Deleted).id(account);
                by.record(tx, action, now);
            }
            Ok::<_, Fault>(())
        })
        .await?;
    Ok(account_removal::finish(&app.store, account, progress).await?)
}
