//! List pages a second, beside what the same server gives for a constant body of the same size.

use super::effort::{CLIENTS, Effort};
use crate::client::{self, Target};
use crate::dataset::filled;
use crate::error::Fallible;
use crate::load::{self, Limit, Plan};
use crate::measure::count_of;
use crate::process::{self, Server};
use crate::server;
use crate::table::{Finding, Goal, Series};

/// One kind of request: its rates, and the processors that it took.
#[derive(Default)]
struct Side {
    rates: Vec<f64>,
    server: Vec<f64>,
    generator: Vec<f64>,
}

impl Side {
    fn run(&mut self, server: &Server, target: &Target, seconds: f64) -> Fallible<()> {
        let plan = Plan {
            targets: vec![target.clone()],
            connections: CLIENTS,
            limit: Limit::Seconds(seconds),
        };
        let before = server.cpu_seconds()?;
        let report: load::Report = process::run(load::ROLE, &plan)?;
        let used = server.cpu_seconds()? - before;
        let answers = count_of(report.answers);
        self.rates.push(answers / report.seconds);
        self.server.push(used / report.seconds);
        self.generator.push(report.cpu_seconds / report.seconds);
        Ok(())
    }

    fn processors(&self, name: &str) -> String {
        let median = |values: &[f64]| Series::new(values.to_vec(), "").median();
        format!(
            "{name}: processors used: server {:.2}, generator {:.2}",
            median(&self.server),
            median(&self.generator)
        )
    }
}

/// Pages beside constant bodies.
pub fn pages(effort: Effort) -> Fallible<Vec<Finding>> {
    let few = filled(effort.few)?;
    let path = "/web-api/v1/orders?limit=50";
    let start = |bytes: usize| {
        Server::start(
            server::ROLE,
            &few.data,
            &[(server::CONSTANT_VARIABLE, &bytes.to_string())],
        )
    };
    let page_of = |server: &Server| Target::get(&server.address, &few.shop.api_key, path);
    let size = {
        let server = start(0)?;
        client::ask_once(&page_of(&server))?.len()
    };
    let server = start(size)?;
    let page = page_of(&server);
    let target = |path| Target::get(&server.address, &few.shop.api_key, path);
    let (constant, bare) = (target(server::CONSTANT_PATH), target(server::BARE_PATH));
    for other in [&constant, &bare] {
        if client::ask_once(other)?.len() != size {
            return Err("the constant body has another size".into());
        }
    }
    let mut sides: [Side; 3] = Default::default();
    Side::default().run(&server, &page, effort.seconds / 2.0)?;
    for _ in 0..effort.pairs {
        for (side, target) in sides.iter_mut().zip([&page, &constant, &bare]) {
            side.run(&server, target, effort.seconds)?;
        }
    }
    let [pages, constants, bares] = sides;
    let finding = |row, other: &Side, goal, notes| Finding {
        row,
        ratio: Series::ratio(&pages.rates, &other.rates),
        notes,
        measured: Series::new(pages.rates.clone(), "pages/s"),
        baseline: Some(Series::new(other.rates.clone(), "answers/s")),
        goal,
    };
    let notes = vec![
        format!("a page has {size} bytes"),
        pages.processors("pages"),
        constants.processors("constant"),
        bares.processors("past all layers"),
    ];
    Ok(vec![
        finding(
            "pages of 50 a second, 64 connections, of a constant body's",
            &constants,
            Goal::AtLeast(0.3),
            notes,
        ),
        finding(
            "the same, of a constant body's past all layers",
            &bares,
            Goal::AtLeast(0.3),
            Vec::new(),
        ),
    ])
}
