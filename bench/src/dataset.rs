//! Accounts with many orders, cached between runs because writing a million takes minutes.

use crate::client;
use crate::error::Fallible;
use crate::process::{cache_folder, fresh_folder};
use crate::sample::Sample;
use crate::shop::{self, Shop};
use garson_core::payment::PaymentType;
use garson_core::time::Timestamp;
use garson_store::lists::search;
use garson_store::params;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Raised when the data that is made here changes.
const FORM: u32 = 6;
const BRANCHES: usize = 10;
const A_JOB: u64 = 1000;
/// The orders are spread evenly over the year 2025.
const FIRST_AT: i64 = 1_735_689_600_000;
const YEAR: i64 = 365 * 24 * 60 * 60 * 1000;
const PAYMENTS: [&str; 4] = ["cash", "card_on_delivery", "online_card", "meal_card_on_delivery"];

/// A data folder with its shop.
pub struct Filled {
    pub data: PathBuf,
    pub shop: Shop,
}

/// The data folder of an account with this many orders; made if it is not there yet.
pub fn filled(count: u64) -> Fallible<Filled> {
    let data = cache_folder()?.join(format!("{}-{count}", schema()?));
    let about = data.join("shop.json");
    if !about.exists() {
        let draft = fresh_folder()?;
        eprintln!(
            "filling {} with {count} orders (kept for later runs)",
            data.display()
        );
        make(draft.path(), count)?;
        std::fs::rename(draft.keep(), &data)?;
    }
    let shop = serde_json::from_slice(&std::fs::read(about)?)?;
    Ok(Filled { data, shop })
}

/// A name for the form of the data: the migrations' checksums, and our own number.
pub fn schema() -> Fallible<String> {
    let folder = fresh_folder()?;
    let app = shop::open(folder.path())?;
    let runtime = client::runtime()?;
    let sql = "SELECT checksum FROM schema_migrations ORDER BY number";
    let checksums = runtime.block_on(
        app.store
            .read(move |tx| tx.query(sql, params![], |row| row.get::<String>(0))),
    )?;
    let heads: Vec<&str> = checksums.iter().filter_map(|sum| sum.get(..8)).collect();
    Ok(format!("{FORM}-{}", heads.join("-")))
}

fn make(data: &Path, count: u64) -> Fallible<()> {
    let app = shop::open_at(data, Timestamp::from_millis(FIRST_AT))?;
    let runtime = client::runtime()?;
    let shop = runtime.block_on(async {
        let shop = shop::make(&app, BRANCHES).await?;
        let sample = Arc::new(Sample::read()?);
        let mut from = 0;
        while from < count {
            let until = count.min(from + A_JOB);
            let (job_shop, sample) = (shop.clone(), Arc::clone(&sample));
            app.store
                .write(shop.account, move |tx| {
                    for number in from..until {
                        let at = moment(number, count);
                        let (branch, payment) = choices(&job_shop, number)?;
                        sample
                            .numbered(number, Some(payment))
                            .write(tx, job_shop.account, branch, at)?;
                    }
                    Ok::<_, garson_store::StoreError>(())
                })
                .await?;
            from = until;
        }
        // What the service does behind the orders is done as well.
        let account = shop.account;
        while app
            .store
            .write(account, move |tx| search::index(tx, account, 1_000))
            .await?
            > 0
        {}
        Fallible::Ok(shop)
    })?;
    std::fs::write(data.join("shop.json"), serde_json::to_vec(&shop)?)?;
    Ok(())
}

fn moment(number: u64, count: u64) -> Timestamp {
    let step = YEAR / i64::try_from(count.max(1)).unwrap_or(1);
    Timestamp::from_millis(FIRST_AT + i64::try_from(number).unwrap_or(0) * step)
}

fn choices(shop: &Shop, number: u64) -> Result<(shop::Branch, PaymentType), garson_store::StoreError> {
    let missing = || garson_store::StoreError::internal("nothing to choose from");
    let index = usize::try_from(number).unwrap_or(0);
    // Every other order is the last branch's: its pages are full also where the account has few.
    let place = match index % 2 {
        0 => BRANCHES - 1,
        _ => index / 2 % BRANCHES,
    };
    let branch = shop.branches.get(place).ok_or_else(missing)?;
    // Not in step with the branches, so that each sees every way of paying.
    let name = PAYMENTS
        .get((index + index / (2 * BRANCHES)) % PAYMENTS.len())
        .ok_or_else(missing)?;
    Ok((*branch, PaymentType::named(name).ok_or_else(missing)?))
}
