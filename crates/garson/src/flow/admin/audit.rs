//! The audit log of an account: read, verified, and its old entries removed.

use crate::app::App;
use crate::flow::by::Recorded;
use crate::flow::record_action::record_action;
use crate::flow::{By, Fault};
use garson_core::audit::{AuditEntry, RecordKind, Verb};
use garson_core::id::{AccountId, KeyId, RestaurantId};
use garson_store::lists::audit::{AuditFilter, page};
use garson_store::lists::feed::{Page, PageRequest};
use garson_store::tables::audit::{self, ChainPoint, Finding};
use garson_store::tables::{accounts, keys};
use serde_json::json;
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// Rows verified in one read.
const VERIFIED_AT_ONCE: i64 = 1_000;
/// Chains read at once, and rows removed in one job: a few milliseconds of the writer's time.
const CHAINS: i64 = 500;
const REMOVED_AT_ONCE: i64 = 100;
/// Chunks in one step; then the other sweeps get their turn.
const CHUNKS_IN_A_STEP: usize = 50;
/// Entries of a file that are read at once.
const FILE_PAGE: usize = 500;

/// A page of the log, newest first.
pub async fn list(
    app: &App,
    account: AccountId,
    filter: AuditFilter,
    request: PageRequest,
) -> Result<Page<AuditEntry>, Fault> {
    app.store
        .read(move |tx| Ok(page(tx, account, &filter, request)?))
        .await
}

/// The labels of the account's keys, to name actors by.
pub async fn key_labels(app: &App, account: AccountId) -> Result<HashMap<KeyId, String>, Fault> {
    let keys = app.store.read(move |tx| keys::list(tx, account)).await?;
    Ok(keys.into_iter().map(|key| (key.id, key.name())).collect())
}

/// Records that somebody takes a file with the account's data.
pub async fn record_export(
    app: &App,
    by: By,
    what: &'static str,
    restaurant: Option<RestaurantId>,
    (from, to): (&str, &str),
) -> Result<(), Fault> {
    let given = |day: &str| (!day.is_empty()).then(|| day.to_owned());
    let action = Recorded::new(RecordKind::Export, Verb::Exported)
        .id(what)
        .after(json!({ "from": given(from), "to": given(to) }));
    let action = match restaurant {
        Some(restaurant) => action.restaurant(restaurant),
        None => action,
    };
    record_action(app, by, action).await
}

/// Records a command of the operator that concerns no account, in the installation's own log.
pub async fn record_command(
    app: &App,
    command: &'static str,
    (record, verb): (RecordKind, Verb),
    id: &str,
) -> Result<(), Fault> {
    let by = By::operator(audit::INSTALLATION, command);
    record_action(app, by, Recorded::new(record, verb).id(id)).await
}

/// Reads a log from its newest entry on, page by page, for a file.
pub struct LogReader {
    account: AccountId,
    filter: AuditFilter,
    cursor: Option<i64>,
    is_done: bool,
}

impl LogReader {
    #[must_use]
    pub fn new(account: AccountId, filter: AuditFilter) -> Self {
        Self {
            account,
            filter,
            cursor: None,
            is_done: false,
        }
    }

    /// Was the oldest entry read?
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.is_done
    }

    /// The next entries; none at the end.
    pub async fn next(&mut self, app: &App) -> Result<Option<Vec<AuditEntry>>, Fault> {
        if self.is_done {
            return Ok(None);
        }
        let request = PageRequest {
            limit: FILE_PAGE,
            cursor: self.cursor,
            direction: garson_store::lists::feed::Direction::Older,
        };
        let page = list(app, self.account, self.filter.clone(), request).await?;
        self.cursor = page.next;
        self.is_done = page.next.is_none();
        Ok(Some(page.items))
    }
}

/// What verifying a chain has shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    pub rows: u64,
    pub findings: Vec<Finding>,
    /// The last entry: what a later verification can be compared with.
    pub last: ChainPoint,
}

/// Verifies the chain of an account, in chunks, while others go on writing. With a known entry, also that this one is the same still.
pub async fn verify(app: &App, account: AccountId, known: Option<ChainPoint>) -> Result<Verified, Fault> {
    let (mut after, mut rows, mut findings) = (None, 0, Vec::new());
    loop {
        let chunk = app
            .store
            .read(move |tx| audit::verify_chunk(tx, account, after, VERIFIED_AT_ONCE))
            .await?;
        rows += chunk.rows;
        findings.extend(chunk.findings);
        if chunk.is_end {
            if let Some(known) = known {
                findings.extend(compare(app, account, known).await?);
            }
            return Ok(Verified {
                rows,
                findings,
                last: chunk.last,
            });
        }
        after = Some(chunk.last);
    }
}

/// Compares an entry whose hash was noted outside of the database: whoever can write to the database could compute all hashes anew.
async fn compare(app: &App, account: AccountId, known: ChainPoint) -> Result<Option<Finding>, Fault> {
    app.store
        .read(move |tx| {
            let ends = audit::chain(tx, account)?;
            let stored = match audit::find_hash(tx, account, known.number)? {
                Some(hash) => Some(hash),
                None => {
                    ends.and_then(|(removed, _)| (removed.number == known.number).then_some(removed.hash))
                }
            };
            let number = known.number;
            let is_removed = ends.is_some_and(|(removed, _)| (1..removed.number).contains(&number));
            Ok(match stored {
                Some(hash) if hash == known.hash && number > 0 => None,
                None if is_removed => Some(Finding::Removed { number }),
                _ => Some(Finding::OtherEnd { number }),
            })
        })
        .await
}

/// The next account that there is, or that has a log, after another one; and whether there is such an account.
pub async fn next_log(app: &App, after: Option<AccountId>) -> Result<Option<(AccountId, bool)>, Fault> {
    app.store
        .read(move |tx| {
            let Some(next) = audit::next_log(tx, after)? else {
                return Ok(None);
            };
            let is_known = next == audit::INSTALLATION || accounts::by_id(tx, next)?.is_some();
            Ok::<_, Fault>(Some((next, is_known)))
        })
        .await
}

/// Removes a chunk of each log's old entries; `false` when there were none.
pub async fn remove_old(app: &App) -> Result<bool, Fault> {
    let kept = Duration::from_secs(u64::from(app.settings.audit.keep_days) * 24 * 60 * 60);
    let oldest = app.now().minus(kept);
    let (mut after, mut chunks, mut has_removed) = (None, 0, false);
    while chunks < CHUNKS_IN_A_STEP {
        let found = app
            .store
            .read(move |tx| audit::chains_by_age(tx, after, oldest, CHAINS))
            .await?;
        for (account, _) in found.iter().filter(|(_, is_old)| *is_old) {
            let (account, began) = (*account, Instant::now());
            chunks += 1;
            let removed = app
                .store
                .write(account, move |tx| {
                    audit::remove_before(tx, account, oldest, REMOVED_AT_ONCE)
                })
                .await?;
            has_removed |= removed > 0;
            // A pause as long as the work: other jobs get at least half of the writer's time.
            tokio::time::sleep(began.elapsed()).await;
        }
        match found.last() {
            Some((last, _)) => after = Some(*last),
            None => break,
        }
    }
    Ok(has_removed)
}
