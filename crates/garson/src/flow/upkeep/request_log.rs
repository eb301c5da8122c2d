//! Stores API calls in batches: one job for many accounts.

use crate::app::App;
use crate::app::request_log::WaitingCalls;
use garson_core::id::AccountId;
use garson_store::tables::request_log::{self, LoggedCall};
use garson_store::{Partition, StoreError};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

/// How often calls are stored.
const INTERVAL: Duration = Duration::from_secs(1);
/// Rows in one job: a few milliseconds of the writer's time.
const ROWS: usize = 250;
/// After how many calls an account's old ones are removed. Looking for them costs more than storing a call.
const TRIMMED_AFTER: usize = 100;
/// Accounts whose calls are counted until then. Counting anew only removes old calls earlier.
const MAX_COUNTED: usize = 50_000;

/// Calls of an account that are written together.
struct Chunk {
    account: AccountId,
    calls: Vec<LoggedCall>,
    /// Are old calls of the account removed now?
    trims: bool,
}

/// Calls of accounts that were stored since old ones were removed.
#[derive(Default)]
struct Untrimmed(HashMap<AccountId, usize>);

impl Untrimmed {
    /// Counts calls that are stored; `true` when old ones should be removed. That is so for the first ones after a start as well.
    fn count(&mut self, account: AccountId, calls: usize) -> bool {
        if self.0.len() >= MAX_COUNTED {
            self.0.clear();
        }
        let count = self.0.entry(account).or_insert(TRIMMED_AFTER);
        *count += calls;
        let is_due = *count >= TRIMMED_AFTER;
        if is_due {
            *count = 0;
        }
        is_due
    }
}

/// Stores calls until the service stops.
pub async fn run(app: Arc<App>) {
    let mut untrimmed = Untrimmed::default();
    loop {
        tokio::time::sleep(INTERVAL).await;
        let turn = store(&app, &mut untrimmed).await;
        app.workers.note_turn(&turn);
        // Unavailable storage is logged where it is noticed.
        if let Err(error) = turn.as_ref()
            && !error.is_temporary()
        {
            tracing::warn!(%error, "API calls could not be logged");
        }
    }
}

/// Stores what waits at the end of the service, if storage is available.
pub async fn store_last(app: &App) {
    if let Err(error) = store(app, &mut Untrimmed::default()).await {
        tracing::warn!(%error, "the last API calls could not be logged");
    }
}

/// Stores what waits. While storage is unavailable, it waits for the next turn.
async fn store(app: &App, untrimmed: &mut Untrimmed) -> Result<(), StoreError> {
    let mut chunks = chunks(app.request_log.take(), untrimmed);
    let mut result = Ok(());
    while !chunks.is_empty() {
        let batch = Arc::new(next_batch(&mut chunks));
        if let Err(error) = write(app, Arc::clone(&batch)).await {
            if !error.is_temporary() {
                // What can never be written must not hold up the rest.
                let lost = batch.iter().map(|chunk| chunk.calls.len()).sum();
                app.metrics.requests.count_unlogged(lost);
                result = Err(error);
                continue;
            }
            // The last first, because each is put before what waits.
            for chunk in chunks.iter().rev().chain(batch.iter().rev()) {
                let calls = chunk.calls.iter().cloned().collect();
                let dropped = app.request_log.put_back(chunk.account, calls);
                app.metrics.requests.count_unlogged(dropped);
            }
            return Err(error);
        }
    }
    result
}

fn chunks(waiting: Vec<WaitingCalls>, untrimmed: &mut Untrimmed) -> VecDeque<Chunk> {
    let mut chunks = VecDeque::new();
    for WaitingCalls { account, calls } in waiting {
        let mut calls = calls.into_iter().peekable();
        while calls.peek().is_some() {
            let calls: Vec<LoggedCall> = calls.by_ref().take(ROWS).collect();
            chunks.push_back(Chunk {
                account,
                trims: untrimmed.count(account, calls.len()),
                calls,
            });
        }
    }
    chunks
}

/// Chunks with so many rows that another one has to wait.
fn next_batch(chunks: &mut VecDeque<Chunk>) -> Vec<Chunk> {
    let (mut batch, mut rows) = (Vec::new(), 0);
    while rows < ROWS
        && let Some(chunk) = chunks.pop_front()
    {
        rows += chunk.calls.len();
        batch.push(chunk);
    }
    batch
}

async fn write(app: &App, batch: Arc<Vec<Chunk>>) -> Result<(), StoreError> {
    app.store
        .write(Partition::COMMON, move |tx| {
            let accounts: Vec<AccountId> = batch.iter().map(|chunk| chunk.account).collect();
            let staying = request_log::staying(tx, &accounts)?;
            let written = || batch.iter().filter(|chunk| staying.contains(&chunk.account));
            for chunk in written() {
                request_log::add(tx, chunk.account, &chunk.calls)?;
            }
            for chunk in written().filter(|chunk| chunk.trims) {
                request_log::trim(tx, chunk.account)?;
            }
            Ok::<_, StoreError>(())
        })
        .await
}
