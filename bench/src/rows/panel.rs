//! The pages of the control panel beside many orders: each is made in the same time with a million of them as with a thousand.
//! And what boards cost that are left open.

use super::effort::Effort;
use super::pages::{More, Sides};
use crate::client::{self, Connection, Stream, Target};
use crate::dataset::{Filled, filled};
use crate::error::Fallible;
use crate::measure::{self, wall_micros};
use crate::postgres::Postgres;
use crate::process::Server;
use crate::server;
use crate::shop::{self, EMAIL, failed};
use crate::table::{Finding, Goal, Series};
use garson::flow::admin::sign_in::{self as entrance, Origin, SignIn};
use garson::flow::admin::{accounts, user_passwords};
use garson_core::secret::Secret;
use garson_store::engine::WorkProgress;
use garson_store::upkeep::copy;
use garson_store::{Engine, Location, Options};
use std::collections::BTreeSet;
use std::path::Path;

/// Every page with its name. The orders' numbers are those that both sides have; `{restaurant}`, `{event}` and `{oldest}` are
/// each side's own.
const PAGES: &[(&str, &str)] = &[
    ("board", "/"),
    ("board of a restaurant", "/?restaurant={restaurant}"),
    ("board of a platform", "/?platform=direct"),
    ("kitchen", "/kitchen"),
    ("cancelling an order", "/board/orders/WEB-0000000500/cancel"),
    ("orders", "/orders"),
    ("the oldest orders", "/orders?{oldest}"),
    ("search for an id", "/orders?q=WEB-0000000500"),
    ("search for a name that all have", "/orders?q=ipek+y%C4%B1l"),
    (
        "search for a name and an id",
        "/orders?q=%C4%B0PEK+web-0000000500",
    ),
    ("search for what thousands begin with", "/orders?q=web-00000"),
    ("search for nobody", "/orders?q=kimse"),
    (
        "search in a period",
        "/orders?q=ipek&from=2025-06-01&to=2025-06-30",
    ),
    ("search in a restaurant", "/orders?q=ipek&restaurant={restaurant}"),
    ("search for a status that none has", "/orders?status=cancelled"),
    ("order", "/orders/WEB-0000000500"),
    ("businesses", "/businesses"),
    ("a new business", "/businesses/new"),
    ("restaurants", "/restaurants"),
    ("a restaurant", "/restaurants/{restaurant}"),
    ("integrations", "/restaurants/{restaurant}/integrations"),
    ("an integration", "/restaurants/{restaurant}/integrations/getir"),
    ("packages", "/restaurants/{restaurant}/packages"),
    ("payment matching", "/restaurants/{restaurant}/payments"),
    ("menu", "/restaurants/{restaurant}/menu"),
    ("escalation", "/restaurants/{restaurant}/escalation"),
    ("ticket", "/orders/WEB-0000000500/ticket?kind=kitchen"),
    ("reports", "/reports"),
    ("reports of a restaurant", "/reports?restaurant={restaurant}"),
    ("reports of a month", "/reports?from=2025-06-01&to=2025-06-30"),
    ("today", "/today"),
    ("a day of last year", "/today?day=2025-06-15"),
    ("today of a restaurant", "/today?restaurant={restaurant}"),
    ("payments", "/payments"),
    (
        "payments of a month and a restaurant",
        "/payments?from=2025-06-01&to=2025-06-30&restaurant={restaurant}",
    ),
    ("webhook", "/webhook"),
    ("deliveries that failed", "/webhook?state=failed"),
    ("a delivery", "/webhook/deliveries/{event}"),
    ("status", "/status"),
    ("notices", "/notices"),
    ("keys", "/keys"),
    ("sessions", "/sessions"),
];
/// The number of an order that comes when the servers run.
const JUST_COME: u64 = 9_000_000_000;
const GOAL: Goal = Goal::AtMost(1.5);
/// Pages are larger and slower than answers to programs: fewer of them tell enough.
const FEWER: u64 = 10;

/// Signs a user in and returns the session cookie.
fn sign_in(filled: &Filled) -> Fallible<String> {
    sign_in_to(&filled.data)
}

/// The same for any data folder.
pub fn sign_in_to(data: &Path) -> Fallible<String> {
    let app = shop::open(data)?;
    let password = || Secret::new("bench password".to_owned());
    client::runtime()?.block_on(async {
        let account = accounts::by_email(&app, EMAIL).await.map_err(failed)?;
        user_passwords::reset_of_account(&app, &account, password())
            .await
            .map_err(failed)?;
        let held = entrance::sign_in(&app, EMAIL, password(), Origin::default())
            .await
            .map_err(failed)?;
        match held {
            SignIn::Done(held) => Ok(held.session.expose().clone()),
            SignIn::NeedsCode(_) => Err("the user has a second factor".into()),
        }
    })
}

/// One of the sides for a signed-in user.
struct Visit {
    address: String,
    held: String,
    restaurant: String,
    event: String,
    /// The cursor of the last page of orders.
    oldest: String,
}

impl Visit {
    fn new((server, filled): &(Server, Filled), held: String) -> Fallible<Self> {
        let ask = |path: &str| {
            let answer = client::ask_once(&Target::get(&server.address, &filled.shop.api_key, path))?;
            Fallible::Ok(serde_json::from_slice::<serde_json::Value>(&answer)?)
        };
        let text = |value: &serde_json::Value, place: &str| {
            let found = value.pointer(place).and_then(|found| found.as_str());
            found.map(str::to_owned).ok_or_else(|| format!("no {place}"))
        };
        // Not the one that gets the orders of other rows.
        let restaurant = filled.shop.branches.last().ok_or("no restaurant")?.restaurant;
        let oldest = ask(&format!("/web-api/v1/orders?limit=50&dir=prev&cursor={:016x}", 0))?;
        let newest_of_them = text(&oldest, "/paging/prev")?;
        let place = i64::from_str_radix(&newest_of_them, 16)?;
        // A new one, so that there is an event even if the data was used before.
        client::runtime()?.block_on(async {
            let mut till = Connection::open(&Target::post_order(&server.address)).await?;
            till.ask(JUST_COME).await.map(drop)
        })?;
        Ok(Self {
            address: server.address.clone(),
            held,
            restaurant: restaurant.to_string(),
            event: text(&ask("/web-api/v1/events?limit=1")?, "/data/0/veri/id")?,
            oldest: format!("cursor={:016x}", place + 1),
        })
    }

    fn target(&self, path: &str) -> Target {
        let path = path
            .replace("{restaurant}", &self.restaurant)
            .replace("{event}", &self.event)
            .replace("{oldest}", &self.oldest);
        Target::page(&self.address, &self.held, &path)
    }
}

pub fn panel(effort: Effort) -> Fallible<Vec<Finding>> {
    pages(effort, "panel", |_| Ok(Vec::new()))
}

/// The same on PostgreSQL. Needs minutes more, since a million orders are copied first.
pub fn panel_postgres(effort: Effort) -> Fallible<Vec<Finding>> {
    let mut postgres = Postgres::start()?;
    pages(effort, "panel on PostgreSQL", |filled| {
        let url = postgres.fresh_database()?;
        let target = Location::Postgres(Secret::new(url.clone()));
        let (app, engine) = (
            shop::open(&filled.data)?,
            Engine::open(&target, &Options::default())?,
        );
        client::runtime()?.block_on(copy::copy_all(&app.store, &engine, &WorkProgress::default()))?;
        Postgres::settle(&url)?;
        let key = std::fs::read_to_string(filled.data.join("master.key"))?;
        Ok(vec![
            ("GARSON_DATABASE_URL", url),
            ("GARSON_MASTER_KEY", key.trim().to_owned()),
        ])
    })
}

/// Every page, asked for in turns.
fn pages(
    effort: Effort,
    place: &str,
    mut move_in: impl FnMut(&Filled) -> Fallible<More>,
) -> Fallible<Vec<Finding>> {
    let mut held = Vec::new();
    let sides = Sides::start_after(effort, |filled| {
        held.push(sign_in(filled)?);
        move_in(filled)
    })?;
    let [of_many, of_few] = held.try_into().map_err(|_| "nobody is signed in")?;
    let visits = [Visit::new(&sides.many, of_many)?, Visit::new(&sides.few, of_few)?];
    let effort = Effort {
        turns: (effort.turns / FEWER).max(5),
        ..effort
    };
    let mut findings = Vec::new();
    for (name, path) in PAGES {
        let targets = [visits[0].target(path), visits[1].target(path)];
        let row: &'static str =
            Box::leak(format!("{place}: {name}, 1,000,000 orders : 1,000").into_boxed_str());
        findings.push(Sides::compare_targets(effort, row, GOAL, targets)?);
    }
    Ok(findings)
}

/// So many boards are open.
pub const BOARDS: usize = 200;
/// So many orders come meanwhile.
const ORDERS: usize = 50;

/// What boards cost: the memory of a server that has many of them open while orders come, and the bytes of the first sight of one.
pub fn boards(effort: Effort) -> Fallible<Vec<Finding>> {
    let few = filled(effort.few)?;
    let held = sign_in(&few)?;
    let (mut before, mut megabytes, mut kilobytes) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..effort.pairs.min(3) {
        let server = Server::start(server::REAL_ROLE, &few.data, &[])?;
        let target = |path: &str| Target::page(&server.address, &held, path);
        kilobytes.push(first_sight(&target)?);
        before.push(server.resident_megabytes()?);
        client::runtime()?.block_on(async {
            let mut open = Vec::new();
            for _ in 0..BOARDS {
                open.push(Stream::open(&target("/board/stream")).await?);
            }
            let mut till = Connection::open(&Target::post_order(&server.address)).await?;
            // Others than in any run before.
            let first = effort.many + wall_micros() / 1000 % JUST_COME;
            for number in first..first + ORDERS as u64 {
                till.ask(number).await?;
            }
            for board in &mut open {
                board.hear("event: card", ORDERS).await?;
            }
            megabytes.push(server.peak_megabytes()?);
            Fallible::Ok(())
        })?;
    }
    let idle = Series::new(before, "MB");
    let mut memory = Finding::alone(
        "most memory with 200 open boards, while 50 orders come",
        megabytes,
        "MB",
        Goal::Below(100.0, "MB"),
    );
    memory.notes.push(format!("{} before the first", idle.text()));
    let sight = "first sight of the live board, over the wire";
    Ok(vec![
        memory,
        Finding::alone(sight, kilobytes, "kB", Goal::Below(60.0, "kB")),
    ])
}

/// The bytes of the board's page and of everything that it wants to be shown with.
fn first_sight(target: &impl Fn(&str) -> Target) -> Fallible<f64> {
    let mut plain = target("/");
    plain.request = plain.request.replace("accept-encoding: gzip\r\n", "");
    let page = String::from_utf8(client::ask_once(&plain)?)?;
    let wanted: BTreeSet<&str> = page
        .split('"')
        .filter(|part| part.starts_with("/assets/"))
        .collect();
    let mut bytes = client::ask_once(&target("/"))?.len();
    for path in wanted {
        bytes += client::ask_once(&target(path))?.len();
    }
    Ok(measure::count_of(bytes as u64) / 1000.0)
}
