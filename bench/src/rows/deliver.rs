//! Events out: how many a second reach a receiver while 64 clients post orders, and what each of them costs.

use super::effort::{CLIENTS, Effort};
use crate::arrivals::Count;
use crate::client::{self, Target};
use crate::error::Fallible;
use crate::load::{self, Limit, Plan};
use crate::measure::count_of;
use crate::postgres::{MASTER_KEY, Postgres};
use crate::process::{self, ALL_LINES, ReceiverProcess, Server, fresh_folder};
use crate::server;
use crate::shop;
use crate::sink::Command;
use crate::table::{Finding, Goal, Series};
use std::time::{Duration, Instant};

/// What the best-known webhook server delivers a second on such a machine (see docs/performance.md).
const OTHERS_RATE: f64 = 960.0;
/// How long events may take after the last order.
const PATIENCE: Duration = Duration::from_secs(60);

/// One run of many clients that post orders to a server with a fresh database.
#[derive(Default)]
struct Run {
    orders: f64,
    /// Events a second, from the first order to the last arrival.
    rate: f64,
    statements: f64,
    commits: f64,
    /// Requests to the receiver beyond one for each event.
    repeats: f64,
    /// Processors, while orders were posted and until everything had arrived.
    server: f64,
    generator: f64,
    sink: f64,
    database: f64,
    server_cpu: f64,
    peak_megabytes: f64,
    database_megabytes: f64,
}

struct Setup<'a> {
    settings: Vec<(&'a str, &'a str)>,
    has_webhook: bool,
    postgres: Option<&'a mut Postgres>,
}

fn post_orders(effort: Effort, setup: Setup<'_>) -> Fallible<Run> {
    let data = fresh_folder()?;
    let mut settings = setup.settings;
    settings.push(ALL_LINES);
    let url;
    let mut postgres = setup.postgres;
    if let Some(postgres) = &mut postgres {
        url = postgres.fresh_database()?;
        settings.extend([MASTER_KEY, ("GARSON_DATABASE_URL", &url)]);
    }
    let mut partner = ReceiverProcess::start()?;
    let target = setup.has_webhook.then(|| partner.ports.answering(0));
    {
        let app = shop::open_with(data.path(), &settings)?;
        client::runtime()?.block_on(shop::make_many(&app, 1, |_| target.clone()))?;
    }
    let server = Server::start(server::REAL_ROLE, data.path(), &settings)?;
    let used = |postgres: &Option<&mut Postgres>| match postgres {
        Some(postgres) => postgres.use_of(),
        None => Ok((0.0, 0.0)),
    };
    let (commits, statements) = counters(&server)?;
    let (cpu, (database, _)) = (server.cpu_seconds()?, used(&postgres)?);
    let began = Instant::now();
    let plan = Plan {
        targets: vec![Target::post_order(&server.address)],
        connections: CLIENTS,
        limit: Limit::Seconds(effort.seconds),
    };
    let report: load::Report = process::run(load::ROLE, &plan)?;
    let orders = report.answers;
    let count = if setup.has_webhook {
        arrive(&mut partner, orders)?
    } else {
        partner.ask(&Command::Count)?
    };
    let seconds = began.elapsed().as_secs_f64();
    let (server_cpu, (database_after, database_megabytes)) = (server.cpu_seconds()? - cpu, used(&postgres)?);
    rest(&server)?;
    let (commits_after, statements_after) = counters(&server)?;
    let until_last = count_of(count.last_micros.saturating_sub(report.began_micros)) / 1e6;
    Ok(Run {
        orders: count_of(orders),
        rate: count_of(count.distinct) / until_last.max(report.seconds),
        statements: statements_after - statements,
        commits: commits_after - commits,
        repeats: count_of(count.requests - count.distinct),
        server: server_cpu / seconds,
        generator: report.cpu_seconds / seconds,
        sink: count.cpu_seconds / seconds,
        database: (database_after - database) / seconds,
        server_cpu,
        peak_megabytes: server.peak_megabytes()?,
        database_megabytes,
    })
}

fn counters(server: &Server) -> Fallible<(f64, f64)> {
    Ok((
        server.counter("garson_commits_total")?,
        server.counter("garson_statements_total")?,
    ))
}

/// So long it is listened whether the server still works, and so many statements in that time are none.
const QUIET: Duration = Duration::from_millis(1500);
const FEW: f64 = 50.0;

/// Waits until the last results are written, and what is done behind the orders, such as making them ready for search: that belongs
/// to the orders, with events or without.
fn rest(server: &Server) -> Fallible<()> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let before = counters(server)?.1;
        std::thread::sleep(QUIET);
        if counters(server)?.1 - before < FEW {
            return Ok(());
        }
        if Instant::now() > deadline {
            return Err("the server does not come to rest".into());
        }
    }
}

/// Waits until an event of every order has come.
fn arrive(partner: &mut ReceiverProcess, orders: u64) -> Fallible<Count> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let count: Count = partner.ask(&Command::Count)?;
        if count.distinct >= orders {
            return Ok(count);
        }
        if Instant::now() > deadline {
            return Err(format!("of {orders} events only {} came", count.distinct).into());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Figures of several runs.
struct Runs(Vec<Run>);

impl Runs {
    fn values(&self, figure: impl Fn(&Run) -> f64) -> Vec<f64> {
        self.0.iter().map(figure).collect()
    }

    fn median(&self, figure: impl Fn(&Run) -> f64) -> f64 {
        Series::new(self.values(figure), "").median()
    }

    fn notes(&self) -> Vec<String> {
        vec![format!(
            "processors used: server {:.2}, generator {:.2}, sink {:.2}, database {:.2}; {:.0} µs of the server for each \
             event; at most {:.1} MB; {:.0} events came twice",
            self.median(|run| run.server),
            self.median(|run| run.generator),
            self.median(|run| run.sink),
            self.median(|run| run.database),
            self.median(|run| run.server_cpu / run.orders * 1e6),
            self.median(|run| run.peak_megabytes),
            self.median(|run| run.repeats),
        )]
    }

    fn rate(&self, row: &'static str, times: f64, mut more: Vec<String>) -> Finding {
        let rates = self.values(|run| run.rate);
        let others = vec![OTHERS_RATE; rates.len()];
        let mut notes = self.notes();
        notes.append(&mut more);
        Finding {
            row,
            ratio: Series::ratio(&rates, &others),
            measured: Series::new(rates, "events/s"),
            baseline: Some(Series::new(others, "events/s")),
            goal: Goal::AtLeast(times),
            notes,
        }
    }
}

/// On SQLite.
pub fn deliver(effort: Effort) -> Fallible<Vec<Finding>> {
    let setup = |has_webhook, settings| Setup {
        settings,
        has_webhook,
        postgres: None,
    };
    let (mut told, mut untold, mut slow) = (Runs(Vec::new()), Runs(Vec::new()), Runs(Vec::new()));
    for _ in 0..effort.pairs {
        told.0.push(post_orders(effort, setup(true, vec![]))?);
        untold.0.push(post_orders(effort, setup(false, vec![]))?);
        let delay = vec![("GARSON_STORAGE__COMMIT_DELAY_MS", "4")];
        slow.0.push(post_orders(effort, setup(true, delay))?);
    }
    let (with, without) = (
        told.values(|run| run.statements / run.orders),
        untold.values(|run| run.statements / run.orders),
    );
    let cost = |runs: &Runs| runs.median(|run| run.server_cpu / run.orders * 1e6);
    let cost = format!(
        "without a webhook {:.0} µs of the server for each order",
        cost(&untold)
    );
    let mut commits = Finding::alone(
        "commits for each delivered event, its order's among them, 4 ms commit",
        slow.values(|run| run.commits / run.orders),
        "",
        Goal::AtMost(0.2),
    );
    commits
        .notes
        .push(format!("{:.0} events/s", slow.median(|run| run.rate)));
    Ok(vec![
        told.rate(
            "events delivered, 64 clients, SQLite, of Svix' rate",
            10.0,
            vec![cost],
        ),
        Finding {
            row: "statements for each delivered event, beyond its order's",
            ratio: Series::beyond(&with, &without, 1.0, ""),
            measured: Series::new(with, ""),
            baseline: Some(Series::new(without, "")),
            goal: Goal::Within {
                times: 1.0,
                plus: 3.0,
                unit: "",
            },
            notes: Vec::new(),
        },
        commits,
        Finding::alone(
            "most memory while delivering",
            told.values(|run| run.peak_megabytes),
            "MB",
            Goal::Below(80.0, "MB"),
        ),
    ])
}

/// On PostgreSQL.
pub fn deliver_postgres(effort: Effort) -> Fallible<Vec<Finding>> {
    let row = "events delivered, 64 clients, PostgreSQL, of Svix' rate";
    let mut runs = Runs(Vec::new());
    let mut postgres = match Postgres::start() {
        Ok(postgres) => postgres,
        Err(error) => return Ok(vec![runs.rate(row, 3.0, vec![error.to_string()])]),
    };
    for _ in 0..effort.pairs {
        let setup = Setup {
            settings: vec![],
            has_webhook: true,
            postgres: Some(&mut postgres),
        };
        runs.0.push(post_orders(effort, setup)?);
    }
    let memory = format!(
        "{:.0} MB for PostgreSQL; {:.2} commits for each event",
        runs.median(|run| run.database_megabytes),
        runs.median(|run| run.commits / run.orders),
    );
    Ok(vec![runs.rate(row, 3.0, vec![memory])])
}
