//! The time from when an order is due to be sent until its event arrives at the receiver, beside one fsync.

use super::effort::Effort;
use crate::arrivals::Count;
use crate::client::{Target, runtime};
use crate::error::Fallible;
use crate::fsync;
use crate::measure::count_of;
use crate::process::{ALL_LINES, ReceiverProcess, Server, fresh_folder};
use crate::server;
use crate::shop;
use crate::sink::Command;
use crate::steady_load;
use crate::table::{Finding, Goal, Series};
use hdrhistogram::Histogram;

const RATE: f64 = 200.0;

pub fn latency(effort: Effort) -> Fallible<Vec<Finding>> {
    let data = fresh_folder()?;
    let mut partner = ReceiverProcess::start()?;
    let url = partner.ports.answering(0);
    {
        let app = shop::open(data.path())?;
        runtime()?.block_on(shop::make_many(&app, 1, |_| Some(url.clone())))?;
    }
    let server = Server::start(server::REAL_ROLE, data.path(), &[ALL_LINES])?;
    let seconds = effort.seconds * 5.0 / 3.0;
    let mut number = 0;
    let mut send = |seconds: f64, partner: &mut ReceiverProcess| -> Fallible<steady_load::Report> {
        let plan = steady_load::Plan {
            targets: vec![Target::post_order(&server.address)],
            first_measured: 0,
            rate: RATE,
            seconds,
            first_number: number,
            patience: 10.0,
            may_break: false,
        };
        let report: steady_load::Report = partner.ask(&Command::Steady(plan))?;
        number += report.sent;
        match report.missing {
            0 => Ok(report),
            missing => Err(format!("{missing} events did not come").into()),
        }
    };
    send(1.0, &mut partner)?;
    let (mut p50, mut p99, mut sync50, mut sync99) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut servers, mut senders, mut sinks) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..effort.pairs {
        let mut syncs = Histogram::<u64>::new(3)?;
        fsync::measure(data.path(), RATE, seconds / 2.0, &mut syncs)?;
        let before: Count = partner.ask(&Command::Count)?;
        let cpu = server.cpu_seconds()?;
        let report = send(seconds, &mut partner)?;
        servers.push((server.cpu_seconds()? - cpu) / report.seconds);
        let after: Count = partner.ask(&Command::Count)?;
        fsync::measure(data.path(), RATE, seconds / 2.0, &mut syncs)?;
        sinks.push((after.cpu_seconds - before.cpu_seconds) / report.seconds);
        senders.push(report.sender_cpu / report.seconds);
        p50.push(report.p50_millis);
        p99.push(report.p99_millis);
        sync50.push(count_of(syncs.value_at_quantile(0.5)) / 1000.0);
        sync99.push(count_of(syncs.value_at_quantile(0.99)) / 1000.0);
    }
    let median = |values: Vec<f64>| Series::new(values, "").median();
    let notes = vec![format!(
        "processors used: server {:.3}, generator {:.3}, sink {:.3}; {:.1} MB",
        median(servers),
        median(senders),
        median(sinks),
        server.resident_megabytes()?,
    )];
    let finding = |row, measured: Vec<f64>, baseline: Vec<f64>, plus, notes| Finding {
        row,
        ratio: Series::beyond(&measured, &baseline, 1.0, "ms"),
        measured: Series::new(measured, "ms"),
        baseline: Some(Series::new(baseline, "ms")),
        goal: Goal::Within {
            times: 1.0,
            plus,
            unit: "ms",
        },
        notes,
    };
    Ok(vec![
        finding(
            "order due to event delivered, p50 at 200/s, beside a bare fsync",
            p50,
            sync50,
            1.0,
            notes,
        ),
        finding("the same, p99", p99, sync99, 5.0, Vec::new()),
    ])
}
