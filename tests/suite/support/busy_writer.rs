//! Keeps a database writer busy, so that a test controls which jobs are waiting.

use super::wait_until;
use garson::app::App;
use garson_core::id::AccountId;
use garson_store::{StoreError, Tx};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::task::JoinHandle;

/// A job that keeps the writer of an account busy until [`BusyWriter::end`].
pub struct BusyWriter {
    has_begun: Arc<AtomicBool>,
    is_over: Arc<AtomicBool>,
    job: JoinHandle<Result<(), StoreError>>,
}

impl BusyWriter {
    pub fn submit(app: &Arc<App>, account: AccountId) -> Self {
        Self::submit_with(app, account, |_| Ok(()))
    }

    /// The same with work at the end.
    pub fn submit_with(
        app: &Arc<App>,
        account: AccountId,
        at_the_end: impl Fn(&mut Tx<'_>) -> Result<(), StoreError> + Send + 'static,
    ) -> Self {
        let (has_begun, is_over) = (Arc::<AtomicBool>::default(), Arc::<AtomicBool>::default());
        let (begun, over, app) = (Arc::clone(&has_begun), Arc::clone(&is_over), Arc::clone(app));
        let job = move |tx: &mut Tx<'_>| {
            begun.store(true, Ordering::SeqCst);
            while !over.load(Ordering::SeqCst) {
                // PostgreSQL ends a transaction whose client is silent for some seconds.
                tx.query_one("SELECT CAST(1 AS BIGINT)", &[], |row| row.get::<i64>(0))?;
                std::thread::sleep(Duration::from_millis(10));
            }
            at_the_end(tx)
        };
        Self {
            has_begun,
            is_over,
            job: tokio::spawn(async move { app.store.write(account, job).await }),
        }
    }

    pub async fn begun(&self) {
        wait_until("the writer is occupied", async || {
            self.has_begun.load(Ordering::SeqCst)
        })
        .await;
    }

    /// Ends the job. It may have exceeded the deadline of jobs, so its result is ignored.
    pub fn end(&self) {
        self.is_over.store(true, Ordering::SeqCst);
    }

    /// Lets it go on, and waits until it is committed.
    pub async fn commit(self) {
        self.end();
        self.job.await.unwrap().unwrap();
    }
}
