//! Five endpoints of one account: how many deliveries a second, and what the first endpoint notices of the others, one of which never
//! answers.

use super::effort::{CLIENTS, Effort};
use crate::arrivals::Count;
use crate::client::{Target, runtime};
use crate::error::Fallible;
use crate::load::{self, Limit, Plan};
use crate::measure::count_of;
use crate::process::{self, ALL_LINES, ReceiverProcess, Server, fresh_folder};
use crate::server;
use crate::shop;
use crate::sink::Command;
use crate::steady_load;
use crate::table::{Finding, Goal, Series};
use garson::flow::By;
use garson::flow::admin::endpoints;
use garson::flow::admin::endpoints::EndpointInput;
use garson_core::id::EndpointId;
use std::time::{Duration, Instant};

/// Endpoints besides the first.
const OTHERS: usize = 4;
/// What the best-known webhook server delivers a second on such a machine (see docs/performance.md).
const OTHERS_RATE: f64 = 960.0;
const RATE: f64 = 200.0;
/// How long events may take after the last order.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server with an account whose events go to `first` and to more endpoints.
fn start(data: &tempfile::TempDir, first: String, more: &[String]) -> Fallible<Server> {
    {
        let app = shop::open(data.path())?;
        runtime()?.block_on(async {
            let made = shop::make_many(&app, 1, |_| Some(first.clone())).await?;
            for url in more {
                let input = EndpointInput {
                    url: Some(url.clone()),
                    is_signed: Some(true),
                    ..EndpointInput::default()
                };
                let id = EndpointId::at(app.now());
                for shop in &made {
                    let by = By::operator(shop.account, "bench");
                    endpoints::create(&app, by, id, input.clone())
                        .await
                        .map_err(shop::failed)?;
                }
            }
            Fallible::Ok(())
        })?;
    }
    Server::start(server::REAL_ROLE, data.path(), &[ALL_LINES])
}

pub fn endpoints(effort: Effort) -> Fallible<Vec<Finding>> {
    Ok(vec![rate(effort)?, latency(effort)?])
}

/// Deliveries a second to five endpoints that answer.
fn rate(effort: Effort) -> Fallible<Finding> {
    let (mut rates, mut peaks) = (Vec::new(), Vec::new());
    for _ in 0..effort.pairs {
        let data = fresh_folder()?;
        let mut partner = ReceiverProcess::start()?;
        let more: Vec<String> = (1..=OTHERS).map(|n| partner.ports.answering(n)).collect();
        let server = start(&data, partner.ports.answering(0), &more)?;
        let plan = Plan {
            targets: vec![Target::post_order(&server.address)],
            connections: CLIENTS,
            limit: Limit::Seconds(effort.seconds),
        };
        let report: load::Report = process::run(load::ROLE, &plan)?;
        let wanted = report.answers * (1 + OTHERS as u64);
        let deadline = Instant::now() + PATIENCE;
        let count = loop {
            let count: Count = partner.ask(&Command::Count)?;
            if count.requests >= wanted {
                break count;
            }
            if Instant::now() > deadline {
                return Err(format!("of {wanted} deliveries only {} came", count.requests).into());
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        let until_last = count_of(count.last_micros.saturating_sub(report.began_micros)) / 1e6;
        rates.push(count_of(wanted) / until_last.max(report.seconds));
        peaks.push(server.peak_megabytes()?);
    }
    let others = vec![OTHERS_RATE; rates.len()];
    Ok(Finding {
        row: "deliveries to five endpoints, 64 clients, SQLite, of Svix' rate",
        ratio: Series::ratio(&rates, &others),
        measured: Series::new(rates, "deliveries/s"),
        baseline: Some(Series::new(others, "deliveries/s")),
        goal: Goal::AtLeast(10.0),
        notes: vec![format!("at most {:.1} MB", Series::new(peaks, "").median())],
    })
}

/// The time from an order to its event at the first endpoint, alone and beside four others, one of which hangs.
fn latency(effort: Effort) -> Fallible<Finding> {
    let seconds = effort.seconds * 4.0 / 3.0;
    let (mut partner, others) = (ReceiverProcess::start()?, ReceiverProcess::start()?);
    let mut more: Vec<String> = (1..OTHERS).map(|n| others.ports.answering(n)).collect();
    more.push(others.ports.silent(OTHERS));
    let (with, without) = (fresh_folder()?, fresh_folder()?);
    let servers = [
        start(&with, partner.ports.answering(0), &more)?,
        start(&without, partner.ports.answering(1), &[])?,
    ];
    let mut p99 = [Vec::new(), Vec::new()];
    let mut number = 0;
    for pair in 0..=effort.pairs {
        for (server, p99) in servers.iter().zip(&mut p99) {
            let plan = steady_load::Plan {
                targets: vec![Target::post_order(&server.address)],
                first_measured: 0,
                rate: RATE,
                seconds: if pair == 0 { 1.0 } else { seconds },
                first_number: number,
                patience: 10.0,
                may_break: false,
            };
            let report: steady_load::Report = partner.ask(&Command::Steady(plan))?;
            number += report.sent;
            if report.missing > 0 {
                return Err(format!("{} events did not come", report.missing).into());
            }
            // The first pair warms up.
            if pair > 0 {
                p99.push(report.p99_millis);
            }
        }
    }
    let [beside, alone] = p99;
    Ok(Finding {
        row: "p99 from order to the first endpoint beside four others, one hanging, of the p99 without them",
        ratio: Series::beyond(&beside, &alone, 1.2, "ms"),
        measured: Series::new(beside, "ms"),
        baseline: Some(Series::new(alone, "ms")),
        goal: Goal::Within {
            times: 1.2,
            plus: 1.0,
            unit: "ms",
        },
        notes: vec![format!(
            "{RATE} orders/s; server with five endpoints at most {:.1} MB",
            servers[0].peak_megabytes()?
        )],
    })
}
