//! The baseline of order intake: a loop of tasks that write an order's rows through the same engine, without HTTP.
//!
//! What can be made before the transaction (content, fingerprint, message, hash) is made before it.

use crate::error::Fallible;
use crate::measure::cpu_seconds;
use crate::order_body;
use crate::sample::{self, InboxMessage, Sample};
use crate::shop::{self, Shop};
use garson_store::StoreError;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

pub const ROLE: &str = "bare";

#[derive(Serialize, Deserialize)]
pub struct Plan {
    pub data: PathBuf,
    pub shop: Shop,
    pub tasks: usize,
    pub seconds: f64,
}

#[derive(Serialize, Deserialize)]
pub struct Report {
    pub orders: u64,
    pub seconds: f64,
    pub cpu_seconds: f64,
    pub commits: u64,
}

pub fn run(plan: &str) -> Fallible<()> {
    let plan: Plan = serde_json::from_str(plan)?;
    let app = shop::open(&plan.data)?;
    let branch = *plan.shop.branches.first().ok_or("a shop without a branch")?;
    let account = plan.shop.account;
    let template: Arc<str> = order_body::body().into();
    let order = Arc::new(Sample::read()?);
    let next = Arc::new(AtomicU64::new(1));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let started = Instant::now();
    let deadline = started + Duration::from_secs_f64(plan.seconds);
    let written = runtime.block_on(async {
        let mut tasks = Vec::new();
        for _ in 0..plan.tasks {
            let (app, template) = (Arc::clone(&app), Arc::clone(&template));
            let (order, next) = (Arc::clone(&order), Arc::clone(&next));
            tasks.push(tokio::spawn(async move {
                let mut written = 0;
                while Instant::now() < deadline {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let message = InboxMessage::numbered(&template, number);
                    let (order, now) = (order.numbered(number, None), app.now());
                    app.store
                        .write(account, move |tx| {
                            let id = order.write(tx, account, branch, now)?;
                            sample::keep_message(tx, account, branch, id, &message, now)
                        })
                        .await?;
                    written += 1;
                }
                Ok::<u64, StoreError>(written)
            }));
        }
        let mut all = 0;
        for task in tasks {
            all += task.await??;
        }
        Fallible::Ok(all)
    })?;
    let report = Report {
        orders: written,
        seconds: started.elapsed().as_secs_f64(),
        cpu_seconds: cpu_seconds("self")?,
        commits: app.store.stats().commits.load(Ordering::Relaxed),
    };
    println!("{}", serde_json::to_string(&report)?);
    Ok(())
}
