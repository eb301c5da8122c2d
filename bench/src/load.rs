//! The load generator: one thread, plain HTTP/1.1 on persistent connections, requests made in advance, little parsing.

use crate::client::{Connection, Target, runtime};
use crate::error::Fallible;
use crate::measure::{count_of, cpu_seconds, wall_micros};
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

pub const ROLE: &str = "load";

/// What to send and for how long.
#[derive(Serialize, Deserialize)]
pub struct Plan {
    pub targets: Vec<Target>,
    pub connections: usize,
    pub limit: Limit,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
pub enum Limit {
    /// All connections at once, each as fast as it is answered.
    Seconds(f64),
    /// One connection to each target, which take turns: this many requests to each.
    Turns(u64),
}

/// What came of it; one for each target.
#[derive(Serialize, Deserialize)]
pub struct Report {
    pub answers: u64,
    /// When it began, in microseconds since 1970.
    pub began_micros: u64,
    pub seconds: f64,
    pub cpu_seconds: f64,
    pub median_micros: Vec<f64>,
    /// Of the last answer.
    pub body_bytes: usize,
}

pub fn run(plan: &str) -> Fallible<()> {
    let plan: Plan = serde_json::from_str(plan)?;
    let mut report = runtime()?.block_on(async {
        match plan.limit {
            Limit::Seconds(seconds) => all_at_once(&plan, Duration::from_secs_f64(seconds)).await,
            Limit::Turns(turns) => in_turns(&plan, turns).await,
        }
    })?;
    report.cpu_seconds = cpu_seconds("self")?;
    println!("{}", serde_json::to_string(&report)?);
    Ok(())
}

async fn all_at_once(plan: &Plan, time: Duration) -> Fallible<Report> {
    let target = plan.targets.first().ok_or("no target")?;
    let mut connections = Vec::new();
    for _ in 0..plan.connections {
        connections.push(Connection::open(target).await?);
    }
    let (started, began_micros) = (Instant::now(), wall_micros());
    let deadline = started + time;
    let mut tasks = Vec::new();
    // One count for all, as a shop has it.
    let numbers = Arc::new(AtomicU64::new(0));
    for mut connection in connections {
        let numbers = Arc::clone(&numbers);
        tasks.push(tokio::spawn(async move {
            let mut micros = Vec::new();
            let mut size = 0;
            while Instant::now() < deadline {
                let asked = Instant::now();
                let number = numbers.fetch_add(1, Ordering::Relaxed);
                size = connection.ask(number).await?.len();
                micros.push(u64::try_from(asked.elapsed().as_micros())?);
            }
            Fallible::Ok((micros, size))
        }));
    }
    let mut times = Histogram::<u64>::new(3)?;
    let (mut answers, mut body_bytes) = (0, 0);
    for task in tasks {
        let (micros, size) = task.await??;
        answers += micros.len() as u64;
        body_bytes = size;
        for time in micros {
            times.record(time)?;
        }
    }
    Ok(Report {
        answers,
        began_micros,
        seconds: started.elapsed().as_secs_f64(),
        cpu_seconds: 0.0,
        median_micros: vec![count_of(times.value_at_quantile(0.5))],
        body_bytes,
    })
}

async fn in_turns(plan: &Plan, turns: u64) -> Fallible<Report> {
    let mut sides = Vec::new();
    for target in &plan.targets {
        sides.push((Connection::open(target).await?, Histogram::<u64>::new(3)?));
    }
    let (started, began_micros) = (Instant::now(), wall_micros());
    let (mut answers, mut body_bytes) = (0, 0);
    for turn in 0..turns {
        for (connection, times) in &mut sides {
            let asked = Instant::now();
            body_bytes = connection.ask(turn).await?.len();
            times.record(u64::try_from(asked.elapsed().as_nanos())?)?;
            answers += 1;
        }
    }
    let median = |times: &Histogram<u64>| count_of(times.value_at_quantile(0.5)) / 1000.0;
    Ok(Report {
        answers,
        began_micros,
        seconds: started.elapsed().as_secs_f64(),
        cpu_seconds: 0.0,
        median_micros: sides.iter().map(|(_, times)| median(times)).collect(),
        body_bytes,
    })
}
