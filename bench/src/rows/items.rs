//! Very many items are switched off in many branches, within the platform's limit, while the server is killed once.

use super::effort::Effort;
use super::polling::{Chain, connect};
use crate::client::{self, Target};
use crate::error::Fallible;
use crate::item_platform::{self, Report};
use crate::measure::count_of;
use crate::process::{Server, fresh_folder};
use crate::server;
use crate::shop;
use crate::table::{Finding, Goal};
use garson::flow::By;
use garson::flow::products::availability::{ProductSwitch, Switch, SwitchTo, set_within};
use garson_core::id::RestaurantId;
use garson_core::store_control::Requester;
use garson_store::tables::{desired_items, products};
use serde_json::Value;
use std::path::Path;
use std::time::{Duration, Instant};

const KEY: &str = "trendyol";
const BRANCHES: usize = 100;
const ITEMS: usize = 1_000;
/// Items of a branch in a brief run.
const FEW_ITEMS: usize = 20;
/// Items that are requested in one transaction, as many as a request may have.
const AT_ONCE: usize = 500;
/// How long nothing has to happen before it is taken for the end, and how long that may take.
const QUIET: Duration = Duration::from_secs(5);
const PATIENCE: Duration = Duration::from_secs(900);

pub fn items(effort: Effort) -> Fallible<Vec<Finding>> {
    let folder = fresh_folder()?;
    let credentials = [("apiKey", "bench-api-key"), ("apiSecret", "bench-api-secret")];
    let branches = effort.posts.min(BRANCHES);
    let items = if effort.is_full() { ITEMS } else { FEW_ITEMS };
    let chain = connect(folder.path(), KEY, &credentials, branches)?;
    let count = items.to_string();
    let platform = Server::start(
        item_platform::ROLE,
        folder.path(),
        &[(item_platform::ITEMS_VARIABLE, &count)],
    )?;
    let start = || start(folder.path(), &platform);
    let server = start()?;
    for restaurant in &chain.restaurants {
        read_menu(&server, &chain.api_key, *restaurant)?;
    }
    drop(server);
    let total = u64::try_from(request_off(folder.path(), &chain)?)?;
    if total != u64::try_from(branches * items)? {
        return Err(format!("{total} items were read of {branches} branches").into());
    }
    let began = Instant::now();
    let server = start()?;
    wait_for(&platform, |report| report.done >= total / 2)?;
    let mut cpu = server.cpu_seconds()?;
    // Being dropped, it is killed.
    drop(server);
    let server = start()?;
    wait_for(&platform, |report| report.done >= total)?;
    let seconds = began.elapsed().as_secs_f64();
    let report = wait_for_quiet(&platform)?;
    cpu += server.cpu_seconds()?;
    drop(server);
    all_are_settled(folder.path())?;
    Ok(findings(report, total, seconds, cpu))
}

fn findings(report: Report, total: u64, seconds: f64, cpu: f64) -> Vec<Finding> {
    let of_items = |count: u64| vec![count_of(count) / count_of(total)];
    let mut made = Finding::alone(
        "requests that switch an item off, for each, with a kill -9",
        of_items(report.done + report.again),
        "",
        Goal::AtMost(1.0),
    );
    made.notes = vec![format!(
        "{total} items in {seconds:.0} s, {:.0} a second; {cpu:.1} s of the processors",
        count_of(total) / seconds
    )];
    let mut refused = Finding::alone(
        "requests beyond the platform's limit, for each item",
        of_items(report.refused),
        "",
        Goal::AtMost(0.01),
    );
    refused.notes = vec![format!(
        "{} were refused: the platform counted what the killed server had sent",
        report.refused
    )];
    vec![made, refused]
}

fn start(data: &Path, platform: &Server) -> Fallible<Server> {
    let name = KEY.to_uppercase();
    Server::start(
        server::REAL_ROLE,
        data,
        &[
            (
                &format!("GARSON_PLATFORMS__{name}__BASE_URL"),
                &format!("http://{}/{KEY}", platform.address),
            ),
            (&format!("GARSON_PLATFORMS__{name}__POLL_SECONDS"), "0"),
            ("GARSON_STORES__READ_SECONDS", "0"),
            ("GARSON_MENUS__READ_HOURS", "0"),
        ],
    )
}

/// Has a menu read.
fn read_menu(server: &Server, key: &str, restaurant: RestaurantId) -> Fallible<()> {
    let target = Target {
        address: server.address.clone(),
        request: format!(
            "POST /web-api/v1/restaurants/{restaurant}/menus/read HTTP/1.1\r\nhost: bench\r\n\
             authorization: Bearer {key}\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{{}}"
        ),
        number_at: None,
    };
    let deadline = Instant::now() + PATIENCE;
    while Instant::now() < deadline {
        let answer: Value = serde_json::from_slice(&client::ask_once(&target)?)?;
        let menus = answer
            .pointer("/data")
            .and_then(Value::as_array)
            .ok_or("no menus")?;
        let is_read = |menu: &Value| menu.get("isDue") == Some(&Value::Bool(false));
        if menus.iter().all(is_read) {
            return Ok(());
        }
    }
    Err(format!("the menu of {restaurant} was not read").into())
}

/// Requests all products to be off, which a server then carries out; returns how many.
fn request_off(data: &Path, chain: &Chain) -> Fallible<usize> {
    let app = shop::open(data)?;
    client::runtime()?.block_on(async {
        let mut count = 0;
        for restaurant in chain.restaurants.iter().copied() {
            let found = app
                .store
                .read(move |tx| products::of_restaurant(tx, restaurant))
                .await?;
            for some in found.chunks(AT_ONCE) {
                let off = |product: &products::Product| ProductSwitch {
                    product: product.id,
                    to: SwitchTo::Off,
                };
                let switch = Switch {
                    restaurant,
                    products: some.iter().map(off).collect(),
                    providers: Vec::new(),
                    requester: Requester::Panel,
                };
                set_within(&app, By::system(chain.account), switch, Duration::ZERO)
                    .await
                    .map_err(shop::failed)?;
            }
            count += found.len();
        }
        Ok(count)
    })
}

fn ask(platform: &Server) -> Fallible<Report> {
    let body = client::ask_once(&Target::get(&platform.address, "", "/report"))?;
    Ok(serde_json::from_slice(&body)?)
}

fn wait_for(platform: &Server, is_so: impl Fn(&Report) -> bool) -> Fallible<()> {
    let deadline = Instant::now() + PATIENCE;
    while !is_so(&ask(platform)?) {
        if Instant::now() > deadline {
            return Err("items are not switched off".into());
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    Ok(())
}

/// Waits until no more requests come.
fn wait_for_quiet(platform: &Server) -> Fallible<Report> {
    let sum = |report: &Report| report.done + report.again + report.refused;
    let mut last = ask(platform)?;
    let mut since = Instant::now();
    while since.elapsed() < QUIET {
        std::thread::sleep(Duration::from_millis(100));
        let now = ask(platform)?;
        if sum(&now) != sum(&last) {
            (last, since) = (now, Instant::now());
        }
    }
    Ok(last)
}

/// Nothing is left to be done.
fn all_are_settled(data: &Path) -> Fallible<()> {
    let app = shop::open(data)?;
    let due = client::runtime()?.block_on(app.store.read(desired_items::next_due))?;
    match due {
        None => Ok(()),
        Some(at) => Err(format!("an item is to be switched at {at}").into()),
    }
}
