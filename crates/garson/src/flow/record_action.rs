//! Records an action that changes nothing in the database: what was read, exported or sent.

use crate::app::App;
use crate::flow::by::Recorded;
use crate::flow::{By, Fault};

/// Writes an action to the audit log. Call it before data leaves: what could not be recorded is not given out.
pub(crate) async fn record_action(app: &App, by: By, action: Recorded) -> Result<(), Fault> {
    let now = app.now();
    app.store
        .write(by.account, move |tx| {
            by.record(tx, action.clone(), now);
            Ok(())
        })
        .await
}
