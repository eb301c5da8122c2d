//! Orders in: how many share a commit, and how near the rate comes to the bare engine's.

use super::effort::{CLIENTS, Effort};
use crate::baseline_intake;
use crate::client::Target;
use crate::error::Fallible;
use crate::load::{self, Limit, Plan};
use crate::measure::count_of;
use crate::process::{self, Server, fresh_folder};
use crate::server;
use crate::shop;
use crate::table::{Finding, Goal, Series};

/// One run of many clients that post orders to a server with a fresh database.
struct Run {
    rate: f64,
    commits_per_order: f64,
    generator_share: f64,
    server_share: f64,
}

fn post_orders(effort: Effort, settings: &[(&str, &str)]) -> Fallible<Run> {
    let data = fresh_folder()?;
    shop::make_fresh(data.path())?;
    let server = Server::start(server::REAL_ROLE, data.path(), settings)?;
    let (commits_before, cpu_before) = (count_commits(&server)?, server.cpu_seconds()?);
    let plan = Plan {
        targets: vec![Target::post_order(&server.address)],
        connections: CLIENTS,
        limit: Limit::Seconds(effort.seconds),
    };
    let report: load::Report = process::run(load::ROLE, &plan)?;
    let commits = count_commits(&server)? - commits_before;
    Ok(Run {
        rate: count_of(report.answers) / report.seconds,
        commits_per_order: commits / count_of(report.answers),
        generator_share: report.cpu_seconds / report.seconds,
        server_share: (server.cpu_seconds()? - cpu_before) / report.seconds,
    })
}

fn count_commits(server: &Server) -> Fallible<f64> {
    server.counter("garson_commits_total")
}

/// Commits for each order while a commit takes four milliseconds.
pub fn commits(effort: Effort) -> Fallible<Vec<Finding>> {
    let delay = [("GARSON_STORAGE__COMMIT_DELAY_MS", "4")];
    let (mut per_order, mut rates) = (Vec::new(), Vec::new());
    for _ in 0..effort.pairs {
        let run = post_orders(effort, &delay)?;
        per_order.push(run.commits_per_order);
        rates.push(run.rate);
    }
    let measured = Series::new(per_order, "commits/order");
    Ok(vec![Finding {
        row: "commits per order, 64 clients, 4 ms commit",
        ratio: measured.clone(),
        measured,
        baseline: None,
        goal: Goal::AtMost(0.1),
        notes: vec![format!("{:.0} orders/s", Series::new(rates, "").median())],
    }])
}

/// The rate over HTTP beside that of the bare loop.
pub fn rate(effort: Effort) -> Fallible<Vec<Finding>> {
    let (mut served, mut bare_rates) = (Vec::new(), Vec::new());
    let (mut generator, mut server, mut bare_cpu) = (Vec::new(), Vec::new(), Vec::new());
    let mut batches = Vec::new();
    for _ in 0..effort.pairs {
        let run = post_orders(effort, &[])?;
        served.push(run.rate);
        generator.push(run.generator_share);
        server.push(run.server_share);
        batches.push(1.0 / run.commits_per_order);
        let data = fresh_folder()?;
        let shop = shop::make_fresh(data.path())?;
        let plan = baseline_intake::Plan {
            data: data.path().to_owned(),
            shop,
            tasks: CLIENTS,
            seconds: effort.seconds,
        };
        let report: baseline_intake::Report = process::run(baseline_intake::ROLE, &plan)?;
        bare_rates.push(count_of(report.orders) / report.seconds);
        bare_cpu.push(report.cpu_seconds / report.seconds);
    }
    let median = |values: Vec<f64>| Series::new(values, "").median();
    Ok(vec![Finding {
        row: "order intake over HTTP, of the bare engine's",
        ratio: Series::ratio(&served, &bare_rates),
        measured: Series::new(served, "orders/s"),
        baseline: Some(Series::new(bare_rates, "orders/s")),
        goal: Goal::AtLeast(0.5),
        notes: vec![format!(
            "processors used: server {:.2}, generator {:.2}; bare loop {:.2}; {:.0} orders to a commit",
            median(server),
            median(generator),
            median(bare_cpu),
            median(batches)
        )],
    }])
}
