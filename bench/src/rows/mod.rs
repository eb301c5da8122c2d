//! The rows, which of them to run, and how long.

mod backlog;
mod board;
mod deliver;
mod effort;
mod endpoints;
mod intake;
mod isolation;
mod items;
mod latency;
mod memory;
mod neighbours;
mod pages;
mod panel;
mod polling;
mod reading;
mod resume;
mod stores;
mod throughput;

use self::effort::{Effort, FULL, QUICK};
use crate::error::Fallible;
use crate::history;
use crate::table::{Finding, print};
use std::path::PathBuf;
use std::time::Instant;

type Row = fn(Effort) -> Fallible<Vec<Finding>>;

const ROWS: [(&str, Row); 22] = [
    ("commits", intake::commits),
    ("intake", intake::rate),
    ("list", pages::list),
    ("payments", pages::payments),
    ("pages", throughput::pages),
    ("panel", panel::panel),
    ("panel-postgres", panel::panel_postgres),
    ("boards", panel::boards),
    ("board", board::board),
    ("memory", memory::idle),
    ("reading", reading::reading),
    ("polling", polling::polling),
    ("stores", stores::stores),
    ("items", items::items),
    ("deliver", deliver::deliver),
    ("deliver-postgres", deliver::deliver_postgres),
    ("endpoints", endpoints::endpoints),
    ("latency", latency::latency),
    ("neighbours", neighbours::neighbours),
    ("isolation", isolation::isolation),
    ("backlog", backlog::backlog),
    ("resume", resume::resume),
];

pub fn run(mut arguments: impl Iterator<Item = String>) -> Fallible<()> {
    let (mut effort, mut wanted, mut judge) = (FULL, Vec::new(), true);
    let (mut other, mut rounds, mut passed_on) = (None, 5, Vec::new());
    let mut history = PathBuf::from("target/bench");
    while let Some(argument) = arguments.next() {
        let mut value = || -> String {
            let value = arguments.next().unwrap_or_default();
            passed_on.extend([argument.clone(), value.clone()]);
            value
        };
        match argument.as_str() {
            "--against" => other = arguments.next(),
            "--rounds" => rounds = arguments.next().unwrap_or_default().parse()?,
            "--quick" => {
                (effort, judge) = (QUICK, false);
                passed_on.push(argument);
            }
            "--history" => history = PathBuf::from(arguments.next().unwrap_or_default()),
            "--pairs" => effort.pairs = value().parse()?,
            "--seconds" => effort.seconds = value().parse()?,
            name if ROWS.iter().any(|(row, _)| *row == name) => wanted.push(argument),
            _ => {
                let names: Vec<&str> = ROWS.iter().map(|(name, _)| *name).collect();
                let usage = "usage: bench [--quick] [--pairs N] [--seconds N] [--history FOLDER] [--against OTHER [--rounds N]] [ROW …]; rows:";
                return Err(format!("{usage} {}", names.join(", ")).into());
            }
        }
    }
    if let Some(other) = other {
        passed_on.extend(wanted);
        return crate::compare::compare(&other, rounds, &passed_on);
    }
    let mut findings = Vec::new();
    for (name, row) in ROWS {
        if wanted.is_empty() || wanted.iter().any(|w| w == name) {
            let started = Instant::now();
            findings.extend(row(effort)?);
            eprintln!("{name}: {:.0} s", started.elapsed().as_secs_f64());
        }
    }
    let all_met = print(&findings, judge);
    history::add(&history, &findings, !judge)?;
    if all_met {
        Ok(())
    } else {
        Err("a goal is missed".into())
    }
}
