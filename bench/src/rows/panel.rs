//! The pages of the control panel beside many orders: each is made in the same time with a million of them as with a thousand.

use super::Effort;
use super::pages::Sides;
use crate::Fallible;
use crate::fill::Filled;
use crate::load::{self, Target};
use crate::shop::{self, EMAIL, failed};
use crate::table::{Finding, Goal};
use garson::flow::{accounts, sessions};
use garson_core::secret::Secret;

/// Every page with its name. The orders' numbers are those that both sides have.
const PAGES: &[(&str, &str)] = &[
    ("board", "/"),
    ("orders", "/orders"),
    ("search for an id", "/orders?q=WEB-0000000500"),
    ("search for a name that all have", "/orders?q=ipek+y%C4%B1l"),
    ("search for what thousands begin with", "/orders?q=web-00000"),
    (
        "search in a period",
        "/orders?q=ipek&from=2025-06-01&to=2025-06-30",
    ),
    ("search for a status that none has", "/orders?status=cancelled"),
    ("order", "/orders/WEB-0000000500"),
    ("restaurants", "/restaurants"),
    ("reports", "/reports"),
    ("payments", "/payments"),
    ("webhook", "/webhook"),
    ("status", "/status"),
    ("keys", "/keys"),
    ("sessions", "/sessions"),
];
const GOAL: Goal = Goal::AtMost(1.5);
/// Pages are larger and slower than answers to programs: fewer of them tell enough.
const FEWER: u64 = 5;

/// Signs somebody in, and says what the browser then holds.
fn sign_in(filled: &Filled) -> Fallible<String> {
    let app = shop::open(&filled.data)?;
    let password = || Secret::new("bench password".to_owned());
    load::runtime()?.block_on(async {
        let account = accounts::by_email(&app, EMAIL).await.map_err(failed)?;
        sessions::reset_password(&app, &account, password())
            .await
            .map_err(failed)?;
        let held = sessions::sign_in(&app, EMAIL, password(), "bench")
            .await
            .map_err(failed)?;
        Ok(held.expose().clone())
    })
}

pub fn panel(effort: Effort) -> Fallible<Vec<Finding>> {
    let mut held = Vec::new();
    let sides = Sides::start_after(effort, |filled| {
        held.push(sign_in(filled)?);
        Ok(())
    })?;
    let [of_many, of_few] = held.try_into().map_err(|_| "nobody is signed in")?;
    let visits = [
        (sides.many.0.address.as_str(), of_many),
        (sides.few.0.address.as_str(), of_few),
    ];
    let effort = Effort {
        turns: (effort.turns / FEWER).max(5),
        ..effort
    };
    let mut findings = Vec::new();
    for (name, path) in PAGES {
        let target = |(address, held): &(&str, String)| Target::page(address, held, path);
        let targets = [target(&visits[0]), target(&visits[1])];
        let row: &'static str =
            Box::leak(format!("panel: {name}, 1,000,000 orders : 1,000").into_boxed_str());
        findings.push(Sides::compare_targets(effort, row, GOAL, targets)?);
    }
    Ok(findings)
}
