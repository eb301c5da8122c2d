//! What receivers that answer notice of those that never do.
//!
//! Two servers with the same accounts: at one of them every fifth receiver takes connections and says nothing. Both get
//! the same orders, in turns. Before the first turn they get them for longer than an attempt may take, so that the silent
//! receivers have been narrowed by then; what is measured is the state that lasts.

use super::effort::Effort;
use crate::client::{Target, runtime};
use crate::error::Fallible;
use crate::process::{ALL_LINES, ReceiverProcess, Server, fresh_folder};
use crate::server;
use crate::shop;
use crate::sink::Command;
use crate::steady_load;
use crate::table::{Finding, Goal, Series};

/// Orders a second, over all accounts.
const RATE: f64 = 400.0;
const PAIRS: usize = 10;
/// Longer than the ten seconds that an attempt may take.
const WARM_UP: f64 = 15.0;

struct Side {
    server: Server,
    _data: tempfile::TempDir,
    next: u64,
    p50: Vec<f64>,
    p99: Vec<f64>,
    processors: Vec<f64>,
}

impl Side {
    fn start(partner: &ReceiverProcess, accounts: usize, silent: usize) -> Fallible<Self> {
        let data = fresh_folder()?;
        {
            let app = shop::open(data.path())?;
            let url = |number| {
                Some(if number < silent {
                    partner.ports.silent(number)
                } else {
                    partner.ports.answering(number)
                })
            };
            runtime()?.block_on(shop::make_many(&app, accounts, url))?;
        }
        let next = match silent {
            0 => 0,
            // The receiver must be able to distinguish the two.
            _ => 1_000_000_000,
        };
        Ok(Self {
            server: Server::start(server::REAL_ROLE, data.path(), &[ALL_LINES])?,
            _data: data,
            next,
            p50: Vec::new(),
            p99: Vec::new(),
            processors: Vec::new(),
        })
    }

    fn send(
        &mut self,
        partner: &mut ReceiverProcess,
        accounts: usize,
        seconds: f64,
    ) -> Fallible<(steady_load::Report, f64)> {
        let plan = steady_load::Plan {
            targets: (0..accounts)
                .map(|number| Target::post_order_of(&self.server.address, number))
                .collect(),
            first_measured: accounts / 5,
            rate: RATE,
            seconds,
            first_number: self.next,
            patience: 10.0,
            may_break: false,
        };
        let cpu = self.server.cpu_seconds()?;
        let report: steady_load::Report = partner.ask(&Command::Steady(plan))?;
        self.next += report.sent;
        match report.missing {
            0 => Ok((report, self.server.cpu_seconds()? - cpu)),
            missing => Err(format!("{missing} events of receivers that answer did not come").into()),
        }
    }

    fn measure(&mut self, partner: &mut ReceiverProcess, accounts: usize, seconds: f64) -> Fallible<()> {
        let (report, cpu) = self.send(partner, accounts, seconds)?;
        self.p50.push(report.p50_millis);
        self.p99.push(report.p99_millis);
        self.processors.push(cpu / report.seconds);
        Ok(())
    }
}

pub fn neighbours(effort: Effort) -> Fallible<Vec<Finding>> {
    let accounts = effort.accounts;
    let is_full = effort.is_full();
    let mut partner = ReceiverProcess::start()?;
    let mut with = Side::start(&partner, accounts, accounts / 5)?;
    let mut without = Side::start(&partner, accounts, 0)?;
    for side in [&mut with, &mut without] {
        side.send(&mut partner, accounts, if is_full { WARM_UP } else { 0.5 })?;
    }
    for _ in 0..if is_full { PAIRS } else { 1 } {
        for side in [&mut with, &mut without] {
            side.measure(&mut partner, accounts, effort.seconds * 4.0 / 3.0)?;
        }
    }
    let median = |values: &[f64]| Series::new(values.to_vec(), "").median();
    Ok(vec![Finding {
        row: "p99 of 160 receivers beside 40 that never answer, of the p99 without those",
        ratio: Series::beyond(&with.p99, &without.p99, 1.2, "ms"),
        notes: vec![format!(
            "{RATE} orders/s over all; p50 {:.2} ms with, {:.2} ms without; processors used: server {:.2} with, {:.2} \
             without; {:.1} MB and {:.1} MB",
            median(&with.p50),
            median(&without.p50),
            median(&with.processors),
            median(&without.processors),
            with.server.resident_megabytes()?,
            without.server.resident_megabytes()?,
        )],
        measured: Series::new(with.p99, "ms"),
        baseline: Some(Series::new(without.p99, "ms")),
        goal: Goal::Within {
            times: 1.2,
            plus: 5.0,
            unit: "ms",
        },
    }])
}
