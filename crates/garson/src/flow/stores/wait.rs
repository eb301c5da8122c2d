//! Waits until the worker of this or another node has finished the pending changes of a restaurant.

use crate::app::App;
use crate::flow::Fault;
use garson_core::id::RestaurantId;
use garson_store::Tx;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// How long a client waits for the platforms; the rest continues in the background.
pub(super) const WAIT: Duration = Duration::from_secs(10);

/// Reads until nothing is pending or the time is up; returns the last result.
pub(super) async fn wait_until<T: Send + 'static>(
    app: &App,
    restaurant: RestaurantId,
    read: impl Fn(&mut Tx<'_>) -> Result<T, Fault> + Send + Sync + 'static,
    is_pending: impl Fn(&T) -> bool,
) -> Result<T, Fault> {
    let waiter = app.store_waiters.register(restaurant);
    let until = Instant::now() + WAIT;
    let read = Arc::new(read);
    let mut pause = Duration::from_millis(100);
    loop {
        let mut changed = pin!(waiter.ended());
        changed.as_mut().enable();
        let reading = Arc::clone(&read);
        let found = app.store.read(move |tx| reading(tx)).await?;
        let left = until.saturating_duration_since(Instant::now());
        if !is_pending(&found) || left.is_zero() {
            return Ok(found);
        }
        // Another node may finish the change, and it cannot wake this waiter: the database is read again after a pause in any case.
        let _ = tokio::time::timeout(pause.min(left), changed).await;
        pause = (pause * 2).min(Duration::from_millis(500));
    }
}
