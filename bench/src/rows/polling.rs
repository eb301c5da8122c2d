//! What it costs to ask a platform for the orders of thousands of integrations, when there are none.

use super::effort::Effort;
use crate::client::{self, Target};
use crate::error::Fallible;
use crate::measure::count_of;
use crate::platform;
use crate::process::{Server, fresh_folder};
use crate::server;
use crate::shop;
use crate::table::{Finding, Goal, Series};
use garson::app::App;
use garson::flow::By;
use garson::flow::admin::integrations::IntegrationChange;
use garson::flow::admin::{accounts, integrations, restaurants};
use garson_core::id::{AccountId, RestaurantId};
use garson_core::restaurant::RestaurantFields;
use garson_core::secret::Secret;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

const EVERY_SECONDS: u64 = 15;
/// How many are set up at the same time.
const AT_ONCE: usize = 64;

/// Names and values.
type Given = &'static [(&'static str, &'static str)];

/// The row, the platform, and the credentials that a branch of it needs.
const PLATFORMS: [(&str, &str, Given); 3] = [
    (
        "processors to poll 5,000 idle integrations of trendyol",
        "trendyol",
        &[("apiKey", "bench-api-key"), ("apiSecret", "bench-api-secret")],
    ),
    (
        "processors to poll 5,000 idle integrations of migros",
        "migros",
        &[
            ("apiKey", "bench-api-key"),
            ("secretKey", "bench-secret-of-thirty-two-bytes"),
        ],
    ),
    (
        "processors to poll 5,000 idle integrations of getir",
        "getir",
        &[
            ("appSecretKey", "bench-app-secret"),
            ("restaurantSecretKey", "bench-restaurant"),
            ("inboundKey", "bench-inbound"),
        ],
    ),
];

pub fn polling(effort: Effort) -> Fallible<Vec<Finding>> {
    PLATFORMS
        .into_iter()
        .map(|(row, key, credentials)| idle(effort, row, key, credentials))
        .collect()
}

fn idle(effort: Effort, row: &'static str, key: &str, credentials: &[(&str, &str)]) -> Fallible<Finding> {
    let folder = fresh_folder()?;
    connect(folder.path(), key, credentials, effort.posts)?;
    let quiet = Server::start(platform::ROLE, folder.path(), &[])?;
    let name = key.to_uppercase();
    let base = format!("http://{}/{key}", quiet.address);
    let every = EVERY_SECONDS.to_string();
    let server = Server::start(
        server::REAL_ROLE,
        folder.path(),
        &[
            (&format!("GARSON_PLATFORMS__{name}__BASE_URL"), &base),
            (&format!("GARSON_PLATFORMS__{name}__POLL_SECONDS"), &every),
            ("GARSON_STORES__READ_SECONDS", "0"),
        ],
    )?;
    let asked = || -> Fallible<f64> {
        let body = client::ask_once(&Target::get(&quiet.address, "", "/count"))?;
        Ok(count_of(String::from_utf8(body)?.trim().parse()?))
    };
    // Every integration has been polled once and has a session and a connection when the measurement starts.
    let round = Duration::from_secs(EVERY_SECONDS);
    std::thread::sleep(if effort.posts > 1000 { round * 2 } else { round / 5 });
    let (mut processors, mut rates) = (Vec::new(), Vec::new());
    for _ in 0..effort.pairs.min(3) {
        let (cpu, count, started) = (server.cpu_seconds()?, asked()?, Instant::now());
        std::thread::sleep(if effort.posts > 1000 { round } else { round / 5 });
        let seconds = started.elapsed().as_secs_f64();
        processors.push((server.cpu_seconds()? - cpu) / seconds);
        rates.push((asked()? - count) / seconds);
    }
    let rate = Series::new(rates, "").median();
    let expected = count_of(u64::try_from(effort.posts)?) / count_of(EVERY_SECONDS) * 0.8;
    if effort.posts > 1000 && rate < expected {
        return Err(format!("{key} was asked {rate:.0} times a second, not {expected:.0}").into());
    }
    let measured = Series::new(processors, "");
    Ok(Finding {
        row,
        ratio: measured.clone(),
        measured,
        baseline: None,
        goal: Goal::AtMost(0.15),
        notes: vec![format!(
            "{} integrations, each asked every {EVERY_SECONDS} s: {rate:.0} requests a second; {:.1} MB",
            effort.posts,
            server.resident_megabytes()?
        )],
    })
}

/// An account with restaurants on a platform.
pub struct Chain {
    pub account: AccountId,
    pub api_key: String,
    pub restaurants: Vec<RestaurantId>,
}

/// An account with this many restaurants on a platform.
pub fn connect(data: &Path, key: &str, credentials: &[(&str, &str)], posts: usize) -> Fallible<Chain> {
    let app = shop::open(data)?;
    client::runtime()?.block_on(async {
        let name = "Bench".to_owned();
        let (account, api_key) = accounts::create(&app, name, "bench@example.com", None)
            .await
            .map_err(shop::failed)?;
        let mut running = tokio::task::JoinSet::new();
        let mut restaurants = Vec::with_capacity(posts);
        for number in 0..posts {
            if running.len() >= AT_ONCE {
                restaurants.push(running.join_next().await.ok_or("nobody works")???);
            }
            let given = credentials
                .iter()
                .map(|(name, value)| {
                    // Each restaurant has a session of its own.
                    let value = match *name {
                        "restaurantSecretKey" => format!("{value}-{number}"),
                        _ => (*value).to_owned(),
                    };
                    ((*name).to_owned(), Some(Secret::new(value)))
                })
                .collect();
            let change = IntegrationChange {
                is_active: Some(true),
                remote_id: Some(Some(format!("{number}:{number}"))),
                credentials: Some(given),
                default_cancel_reason: None,
            };
            running.spawn(connect_one(
                Arc::clone(&app),
                account.id,
                key.to_owned(),
                number,
                change,
            ));
        }
        while let Some(done) = running.join_next().await {
            restaurants.push(done??);
        }
        Ok(Chain {
            account: account.id,
            api_key: api_key.secret.expose().clone(),
            restaurants,
        })
    })
}

async fn connect_one(
    app: Arc<App>,
    account: AccountId,
    key: String,
    number: usize,
    change: IntegrationChange,
) -> Fallible<RestaurantId> {
    let fields = RestaurantFields {
        name: format!("Branch {number}"),
        ..RestaurantFields::default()
    };
    let id = RestaurantId::at(app.now());
    let made = restaurants::create(&app, By::system(account), id, fields)
        .await
        .map_err(shop::failed)?;
    integrations::put(&app, By::system(account), made.id, &key, change)
        .await
        .map_err(shop::failed)?;
    Ok(made.id)
}
