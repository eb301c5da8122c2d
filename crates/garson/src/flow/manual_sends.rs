//! Requests to an account's own addresses that a client waits for.

use crate::app::App;
use crate::fair_slots::Permit;
use crate::flow::Fault;
use garson_core::id::AccountId;

/// A slot for a request that a client waits for. A slow target holds a connection and a task, so an account has only a few.
pub(crate) fn slot(app: &App, account: AccountId) -> Result<Permit, Fault> {
    app.manual_sends.try_acquire(account).ok_or(Fault::TooManySends)
}
