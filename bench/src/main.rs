//! The benchmark: each row measures the service beside a baseline, in interleaved pairs, and judges the ratio.
//!
//! `bench` runs every row, `bench NAME …` some of them, `bench --quick` all of them briefly and without judgement.
//! `--against OTHER` compares with the bench program of another commit, in `--rounds` turns.
//! Each run is added to a history in `target/bench`, with a chart of each row over all runs; `--history FOLDER` is another place.
//! `--pairs` and `--seconds` change how often and how long each is measured, for instance while a profile is taken.
//! Servers, load generator and baselines are processes of their own (this program in another role), so that the
//! processor time of each is known.

mod arrivals;
mod baseline_intake;
mod chart;
mod client;
mod compare;
mod dataset;
mod error;
mod fsync;
mod history;
mod hostile;
mod item_platform;
mod load;
mod measure;
mod order_body;
mod platform;
mod postgres;
mod process;
mod rows;
mod sample;
mod server;
mod shop;
mod sink;
mod steady_load;
mod table;

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let first = arguments.next().unwrap_or_default();
    let plan = || std::env::args().nth(2).unwrap_or_default();
    let done = match first.as_str() {
        server::ROLE => server::run(),
        server::REAL_ROLE => return server::run_real(),
        load::ROLE => load::run(&plan()),
        baseline_intake::ROLE => baseline_intake::run(&plan()),
        platform::ROLE => platform::run(),
        item_platform::ROLE => item_platform::run(),
        hostile::ROLE => hostile::run(&plan()),
        sink::ROLE => sink::run(),
        _ => rows::run(std::env::args().skip(1)),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}
