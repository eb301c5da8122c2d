//! Reading beside many orders: the same answer takes the same time with a million of them as with a thousand.

use super::effort::Effort;
use crate::client::{self, Target};
use crate::dataset::{Filled, filled};
use crate::error::Fallible;
use crate::load::{self, Limit, Plan};
use crate::process::{self, Server};
use crate::server;
use crate::table::{Finding, Goal, Series};

/// Settings of a server.
pub type More = Vec<(&'static str, String)>;

/// Two servers, one beside many orders, one beside few.
pub struct Sides {
    pub many: (Server, Filled),
    pub few: (Server, Filled),
}

impl Sides {
    fn start(effort: Effort) -> Fallible<Self> {
        Self::start_after(effort, |_| Ok(Vec::new()))
    }

    /// Does something to the data before it is served, and says with which settings it is.
    pub fn start_after(effort: Effort, mut prepare: impl FnMut(&Filled) -> Fallible<More>) -> Fallible<Self> {
        let mut side = |count| {
            let filled = filled(count)?;
            let more = prepare(&filled)?;
            let more: Vec<(&str, &str)> = more.iter().map(|(name, value)| (*name, value.as_str())).collect();
            let server = Server::start(server::REAL_ROLE, &filled.data, &more)?;
            Fallible::Ok((server, filled))
        };
        Ok(Self {
            many: side(effort.many)?,
            few: side(effort.few)?,
        })
    }

    /// Asks both in turns over one connection each.
    fn compare(
        &self,
        effort: Effort,
        row: &'static str,
        path: impl Fn(&Filled) -> String,
    ) -> Fallible<Finding> {
        let target = |(server, filled): &(Server, Filled)| {
            Target::get(&server.address, &filled.shop.api_key, &path(filled))
        };
        let targets = [target(&self.many), target(&self.few)];
        Self::compare_targets(effort, row, Goal::AtMost(1.3), targets)
    }

    /// Asks two in turns, the one beside many orders first.
    pub fn compare_targets(
        effort: Effort,
        row: &'static str,
        goal: Goal,
        targets: [Target; 2],
    ) -> Fallible<Finding> {
        let plan = |turns| Plan {
            targets: targets.to_vec(),
            connections: 2,
            limit: Limit::Turns(turns),
        };
        let _warm: load::Report = process::run(load::ROLE, &plan(effort.turns / 4))?;
        let (mut many, mut few) = (Vec::new(), Vec::new());
        for _ in 0..effort.pairs {
            let report: load::Report = process::run(load::ROLE, &plan(effort.turns))?;
            let median = |side: usize| report.median_micros.get(side).copied().unwrap_or(f64::NAN);
            many.push(median(0));
            few.push(median(1));
        }
        Ok(Finding {
            row,
            ratio: Series::ratio(&many, &few),
            measured: Series::new(many, "µs"),
            baseline: Some(Series::new(few, "µs")),
            goal,
            notes: Vec::new(),
        })
    }
}

const LIST: &str = "/web-api/v1/orders?limit=50";
const PAYMENTS: &str = "/web-api/v1/orders/grouped-payments";

/// What a list is narrowed to: what most orders have, what none has, and what has changed lately.
const FILTERED: [(&str, &str); 4] = [
    ("open orders, 50 of 1,000,000 : 1,000", "open=true"),
    (
        "orders in a status that none has, 1,000,000 : 1,000",
        "status=1600",
    ),
    (
        "orders of a platform that has none, 1,000,000 : 1,000",
        "provider=migros",
    ),
    (
        "orders by their last change, 50 of 1,000,000 : 1,000",
        "updatedSince=2025-01-01T00:00:00Z",
    ),
];

/// The newest and the oldest page of a list of orders, and pages of lists that are narrowed.
pub fn list(effort: Effort) -> Fallible<Vec<Finding>> {
    let sides = Sides::start(effort)?;
    let (of_many, of_few) = (deepest(&sides.many)?, deepest(&sides.few)?);
    let many = sides.many.1.data.clone();
    let mut findings = vec![
        sides.compare(effort, "first page of 50, 1,000,000 orders : 1,000", |_| {
            LIST.to_owned()
        })?,
        sides.compare(effort, "deepest page of 50, 1,000,000 orders : 1,000", |side| {
            if side.data == many {
                of_many.clone()
            } else {
                of_few.clone()
            }
        })?,
    ];
    for (row, filter) in FILTERED {
        findings.push(sides.compare(effort, row, |_| format!("{LIST}&{filter}"))?);
    }
    Ok(findings)
}

/// The path of a list's last page, found from its end.
fn deepest((server, filled): &(Server, Filled)) -> Fallible<String> {
    let ask = |path: &str| {
        let answer = client::ask_once(&Target::get(&server.address, &filled.shop.api_key, path))?;
        Fallible::Ok(serde_json::from_slice::<serde_json::Value>(&answer)?)
    };
    let oldest = ask(&format!("{LIST}&dir=prev&cursor={:016x}", 0))?;
    let newest_of_them = oldest.pointer("/paging/prev").and_then(|cursor| cursor.as_str());
    let place = i64::from_str_radix(newest_of_them.ok_or("no cursor")?, 16)?;
    let path = format!("{LIST}&cursor={:016x}", place + 1);
    let page = ask(&path)?;
    let is_last = page
        .pointer("/paging/next")
        .is_some_and(serde_json::Value::is_null);
    if page.get("data") != oldest.get("data") || !is_last {
        return Err("the deepest page is another one".into());
    }
    Ok(path)
}

/// The sums by payment type, of all time and of a month between odd moments.
pub fn payments(effort: Effort) -> Fallible<Vec<Finding>> {
    let sides = Sides::start(effort)?;
    let month = format!("{PAYMENTS}?from=2025-06-01T07:07:07.007Z&to=2025-07-01T19:22:33.444Z");
    Ok(vec![
        sides.compare(effort, "grouped payments of all time, 1,000,000 : 1,000", |_| {
            PAYMENTS.to_owned()
        })?,
        sides.compare(
            effort,
            "grouped payments of an odd month, 1,000,000 : 1,000",
            |_| month.clone(),
        )?,
    ])
}
