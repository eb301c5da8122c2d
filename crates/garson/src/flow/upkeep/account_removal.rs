//! Finishes the removal of accounts whose command was interrupted.

use crate::app::App;
use garson_core::account_state::AccountState;
use garson_store::StoreError;
use garson_store::tables::account_states;
use garson_store::upkeep::account_removal;
use std::sync::Arc;
use std::time::Duration;

const INTERVAL: Duration = Duration::from_secs(30);

/// Looks for such accounts until the service stops. A command that is still running removes the same rows; that does no harm.
pub async fn run(app: Arc<App>) {
    loop {
        tokio::time::sleep(INTERVAL).await;
        let turn = step(&app).await;
        app.workers.note_turn(&turn);
        if let Err(error) = turn {
            tracing::warn!(%error, "an account could not be removed");
        }
    }
}

/// Removes every account that is being deleted.
pub async fn step(app: &App) -> Result<(), StoreError> {
    let deleting = app
        .store
        .read(|tx| account_states::in_state(tx, AccountState::Deleting))
        .await?;
    for account in deleting {
        let rows = account_removal::finish(&app.store, account, |_| {}).await?;
        tracing::info!(%account, rows, "an account was removed");
    }
    Ok(())
}
