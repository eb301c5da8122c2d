//! A server is killed under load with events that are still to be delivered, and started again.

use super::effort::Effort;
use crate::arrivals::Count;
use crate::client::{Target, runtime};
use crate::error::Fallible;
use crate::measure::count_of;
use crate::measure::wall_micros;
use crate::process::{ALL_LINES, ReceiverProcess, Server, fresh_folder};
use crate::server;
use crate::shop;
use crate::sink::Command;
use crate::steady_load;
use crate::table::{Finding, Goal, Series};
use std::time::{Duration, Instant};

/// Orders a second, and how long the receiver takes for each event: it falls behind, so that something is pending.
const RATE: f64 = 600.0;
const SLOW_MILLIS: u64 = 50;
/// How long everything that was acknowledged may take to arrive.
const PATIENCE: Duration = Duration::from_secs(60);

pub fn resume(effort: Effort) -> Fallible<Vec<Finding>> {
    let (mut seconds, mut left) = (Vec::new(), Vec::new());
    for _ in 0..effort.pairs {
        let (first, pending) = kill_and_start(effort)?;
        seconds.push(first);
        left.push(pending);
    }
    let measured = Series::new(seconds, "s");
    Ok(vec![Finding {
        row: "kill -9 under load: from listening again to the first event that was left",
        ratio: measured.clone(),
        measured,
        baseline: None,
        goal: Goal::AtMost(2.0),
        notes: vec![format!(
            "{:.0} acknowledged orders were untold when it was killed; none was lost",
            Series::new(left, "").median()
        )],
    }])
}

fn kill_and_start(effort: Effort) -> Fallible<(f64, f64)> {
    let data = fresh_folder()?;
    let mut partner = ReceiverProcess::start()?;
    let url = partner.ports.answering(0);
    {
        let app = shop::open(data.path())?;
        runtime()?.block_on(shop::make_many(&app, 1, |_| Some(url.clone())))?;
    }
    let server = Server::start(server::REAL_ROLE, data.path(), &[ALL_LINES])?;
    partner.ask::<()>(&Command::Slow(SLOW_MILLIS))?;
    let plan = steady_load::Plan {
        targets: vec![Target::post_order(&server.address)],
        first_measured: 0,
        rate: RATE,
        seconds: effort.seconds * 2.0,
        first_number: 0,
        patience: 0.0,
        may_break: true,
    };
    partner.send(&Command::Steady(plan))?;
    std::thread::sleep(Duration::from_secs_f64(effort.seconds));
    // Being dropped, it is killed.
    drop(server);
    let report: steady_load::Report = partner.receive()?;
    if report.acknowledged == 0 {
        return Err("nothing was acknowledged before the end".into());
    }
    let pending: usize = partner.ask(&Command::Missing)?;
    partner.ask::<()>(&Command::Mark)?;
    let _server = Server::start(server::REAL_ROLE, data.path(), &[ALL_LINES])?;
    let listening = wall_micros();
    partner.ask::<()>(&Command::Slow(0))?;
    let deadline = Instant::now() + PATIENCE;
    while partner.ask::<usize>(&Command::Missing)? > 0 {
        if Instant::now() > deadline {
            return Err("something that was acknowledged did not arrive".into());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let count: Count = partner.ask(&Command::Count)?;
    let first = count.first_micros.ok_or("nothing was left to be delivered")?;
    let seconds = count_of(first.saturating_sub(listening)) / 1e6;
    Ok((seconds, count_of(pending as u64)))
}
