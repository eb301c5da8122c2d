//! The memory that a server holds while it has nothing to do.

use super::effort::Effort;
use crate::client::Target;
use crate::dataset::filled;
use crate::error::Fallible;
use crate::load::{self, Limit, Plan};
use crate::process::{self, Server};
use crate::server;
use crate::table::{Finding, Goal};
use std::time::Duration;

/// Requests before the second look.
const REQUESTS: u64 = 1000;

pub fn idle(effort: Effort) -> Fallible<Vec<Finding>> {
    let few = filled(effort.few)?;
    let (mut fresh, mut used) = (Vec::new(), Vec::new());
    for _ in 0..effort.pairs {
        let server = Server::start(server::REAL_ROLE, &few.data, &[])?;
        std::thread::sleep(Duration::from_millis(300));
        fresh.push(server.resident_megabytes()?);
        let target = Target::get(&server.address, &few.shop.api_key, "/web-api/v1/orders?limit=50");
        let plan = Plan {
            targets: vec![target],
            connections: 1,
            limit: Limit::Turns(REQUESTS),
        };
        let _done: load::Report = process::run(load::ROLE, &plan)?;
        std::thread::sleep(Duration::from_millis(300));
        used.push(server.resident_megabytes()?);
    }
    let finding = |row, values| Finding::alone(row, values, "MB", Goal::Below(40.0, "MB"));
    Ok(vec![
        finding("idle RSS after the start", fresh),
        finding("idle RSS after 1,000 requests", used),
    ])
}
