//! Erases customers' data from orders that are older than the account or the installation wants.

use super::settings::Settings;
use crate::app::App;
use crate::flow::by::Recorded;
use crate::flow::{By, Fault};
use garson_core::audit::{RecordKind, Verb};
use garson_core::id::{AccountId, OrderId};
use garson_core::time::Timestamp;
use garson_store::Tx;
use garson_store::lists::customers;
use garson_store::tables::{accounts, erasures, privacy_settings};
use garson_store::upkeep::erase::{Erased, erase_order};
use serde_json::json;
use std::time::{Duration, Instant};

const DAY: u64 = 24 * 60 * 60;
/// Accounts read at once, and orders erased in one job.
const ACCOUNTS: i64 = 200;
const ERASED_AT_ONCE: i64 = 20;
/// An order that has not ended for so long never will.
const LONGEST_WAIT: Duration = Duration::from_secs(30 * DAY);

/// Erases a chunk of each account's old orders; `false` when there were none.
pub(super) async fn erase_old(app: &App) -> Result<bool, Fault> {
    let (mut after, mut has_worked) = (None, false);
    loop {
        let found = app
            .store
            .read(move |tx| privacy_settings::list(tx, after, ACCOUNTS))
            .await?;
        let Some((last, ..)) = found.last() else {
            return Ok(has_worked);
        };
        after = Some(*last);
        for (account, own_days, reached) in &found {
            let settings = Settings {
                own_days: *own_days,
                installation_days: i64::from(app.settings.privacy.anonymise_days),
            };
            if let Some(days) = settings.days() {
                has_worked |= erase_chunk(app, *account, *reached, days).await?;
            }
        }
    }
}

async fn erase_chunk(app: &App, account: AccountId, reached: i64, days: i64) -> Result<bool, Fault> {
    let now = app.now();
    let age = Duration::from_secs(u64::try_from(days).unwrap_or(0).saturating_mul(DAY));
    let oldest = now.minus(age);
    let old = app
        .store
        .read(move |tx| customers::arrived_before(tx, account, reached, oldest, ERASED_AT_ONCE))
        .await?;
    if old.is_empty() {
        return Ok(false);
    }
    let began = Instant::now();
    app.store
        .write(account, move |tx| write_chunk(tx, account, &old, now))
        .await?;
    // A pause as long as the work: other jobs get at least half of the writer's time.
    tokio::time::sleep(began.elapsed()).await;
    Ok(true)
}

/// Another node may do the same chunk: erasing twice changes nothing.
fn write_chunk(
    tx: &mut Tx<'_>,
    account: AccountId,
    old: &[(OrderId, i64)],
    now: Timestamp,
) -> Result<(), Fault> {
    accounts::lock(tx, account)?;
    let mut erased = 0;
    for (order, _) in old {
        match erase_order(tx, account, *order, now, false)? {
            Erased::Done => erased += 1,
            Erased::NothingToDo => {}
            Erased::Open => erasures::wait_for(tx, account, *order, now)?,
        }
    }
    if let Some((_, last)) = old.last() {
        privacy_settings::set_reached(tx, account, *last)?;
    }
    record_expired(tx, account, erased, now);
    Ok(())
}

fn record_expired(tx: &mut Tx<'_>, account: AccountId, orders: u32, now: Timestamp) {
    if orders > 0 {
        let action = Recorded::new(RecordKind::Customer, Verb::Expired);
        By::system(account).record(tx, action.after(json!({ "orders": orders })), now);
    }
}

/// Erases orders that were open when they should have been erased, and have ended since.
pub(super) async fn erase_ended(app: &App) -> Result<bool, Fault> {
    let now = app.now();
    let oldest = now.minus(LONGEST_WAIT);
    let ended = app
        .store
        .read(move |tx| erasures::ended(tx, oldest, ERASED_AT_ONCE))
        .await?;
    let has_worked = !ended.is_empty();
    for (account, order) in ended {
        app.store
            .write(account, move |tx| {
                accounts::lock(tx, account)?;
                if erase_order(tx, account, order, now, true)? == Erased::Done {
                    let action = Recorded::new(RecordKind::Customer, Verb::Erased);
                    By::system(account).record(tx, action.after(json!({ "orders": 1 })), now);
                }
                Ok::<_, Fault>(erasures::no_longer_waits(tx, order)?)
            })
            .await?;
    }
    Ok(has_worked)
}
