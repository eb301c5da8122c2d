//! The memory of a service with a million events for a receiver that does not answer.

use super::effort::Effort;
use crate::arrivals::Count;
use crate::client::runtime;
use crate::dataset::schema;
use crate::error::Fallible;
use crate::process::{ALL_LINES, ReceiverProcess, Server, cache_folder, fresh_folder};
use crate::sample::Sample;
use crate::server;
use crate::shop;
use crate::shop::Shop;
use crate::sink::Command;
use crate::table::{Finding, Goal, Series};
use garson::app::App;
use garson::flow::By;
use garson::flow::admin::accounts::set_webhook;
use garson_store::StoreError;
use garson_store::tables::{accounts, deliveries};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const A_JOB: u64 = 1000;
/// Receivers that answer, and what waits for each of them.
const HEALTHY: usize = 10;
const FOR_EACH: u64 = 1000;
const WATCHED: Duration = Duration::from_secs(20);

pub fn backlog(effort: Effort) -> Fallible<Vec<Finding>> {
    let data = filled(effort.many)?;
    let is_full = effort.is_full();
    let (mut most, mut notes) = (Vec::new(), Vec::new());
    for _ in 0..effort.pairs.min(3) {
        let mut partner = ReceiverProcess::start()?;
        let pending = direct(&data, &partner)?;
        let server = Server::start(server::REAL_ROLE, &data, &[ALL_LINES])?;
        let began = Instant::now();
        let watched = if is_full { WATCHED } else { WATCHED / 10 };
        let mut highest: f64 = 0.0;
        while began.elapsed() < watched {
            std::thread::sleep(Duration::from_millis(100));
            highest = highest.max(server.resident_megabytes()?);
        }
        let count: Count = partner.ask(&Command::Count)?;
        let expected = u64::try_from(HEALTHY)? * FOR_EACH;
        if is_full && count.distinct < expected {
            return Err(format!("those who answer got {} of {expected} events", count.distinct).into());
        }
        notes = vec![format!(
            "{pending} pending at the start, {} delivered to {HEALTHY} others meanwhile; server {:.2} processors",
            count.distinct,
            server.cpu_seconds()? / watched.as_secs_f64()
        )];
        most.push(highest);
    }
    let measured = Series::new(most, "MB");
    Ok(vec![Finding {
        row: "most RSS with 1,000,000 pending deliveries, in 20 s",
        ratio: measured.clone(),
        measured,
        baseline: None,
        goal: Goal::Below(150.0, "MB"),
        notes,
    }])
}

/// The folder with that many pending events of one account; made if it is not there yet.
fn filled(count: u64) -> Fallible<PathBuf> {
    let data = cache_folder()?.join(format!("{}-pending-{count}", schema()?));
    if !data.exists() {
        let draft = fresh_folder()?;
        eprintln!(
            "filling {} with {count} pending events (kept for later runs)",
            data.display()
        );
        let app = shop::open(draft.path())?;
        let shops = runtime()?.block_on(async {
            // Anywhere, for now: an event is pending if there is an address at all.
            let url = |_| Some("http://127.0.0.1:9/".to_owned());
            let shops = shop::make_many(&app, HEALTHY + 1, url).await?;
            add(&app, shops.first().ok_or("no shop")?, count).await?;
            Fallible::Ok(shops)
        })?;
        drop(app);
        std::fs::write(draft.path().join("shops.json"), serde_json::to_vec(&shops)?)?;
        std::fs::rename(draft.keep(), &data)?;
    }
    Ok(data)
}

/// Points the first account at a silent receiver and the others at one that answers, with events for each.
fn direct(data: &Path, partner: &ReceiverProcess) -> Fallible<i64> {
    let app = shop::open(data)?;
    let shops: Vec<Shop> = serde_json::from_slice(&std::fs::read(data.join("shops.json"))?)?;
    runtime()?.block_on(async {
        for (number, shop) in shops.iter().enumerate() {
            let url = match number {
                0 => partner.ports.silent(0),
                _ => partner.ports.answering(number),
            };
            set_webhook(&app, By::system(shop.account), Some(url), None, None)
                .await
                .map_err(shop::failed)?;
            if number > 0 {
                add(&app, shop, FOR_EACH).await?;
            }
        }
        let count = app
            .store
            .read(|tx| deliveries::count_pending(tx, i64::MAX))
            .await?;
        Ok(count)
    })
}

/// Adds pending events to an account.
async fn add(app: &App, shop: &Shop, count: u64) -> Fallible<()> {
    let sample = Sample::read()?;
    let branch = *shop.branches.first().ok_or("no branch")?;
    let account = shop.account;
    let mut left = count;
    while left > 0 {
        let some = left.min(A_JOB);
        let (sample, now) = (sample.clone(), app.now());
        app.store
            .write(account, move |tx| {
                let reserved = i64::try_from(some).unwrap_or(i64::MAX);
                let mut places = accounts::reserve_positions(tx, account, reserved, now)?;
                for _ in 0..some {
                    sample.write_event(tx, account, branch, &mut places)?;
                }
                Ok::<_, StoreError>(())
            })
            .await?;
        left -= some;
    }
    Ok(())
}
