//! Sends orders at fixed times, independent of responses, and measures how long after its time the event of each arrived.

use crate::arrivals::Arrivals;
use crate::client::{Target, extent, put_number};
use crate::error::Fallible;
use crate::measure::count_of;
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

#[derive(Serialize, Deserialize)]
pub struct Plan {
    /// Requests to one server, which take turns.
    pub targets: Vec<Target>,
    /// Those before this one are sent, but not measured.
    pub first_measured: usize,
    pub rate: f64,
    pub seconds: f64,
    /// The number of the first order; all numbers of a run differ.
    pub first_number: u64,
    /// How long to wait for events after the last order was sent.
    pub patience: f64,
    /// The server may go away: then nothing more is sent.
    pub may_break: bool,
}

#[derive(Serialize, Deserialize)]
pub struct Report {
    pub sent: u64,
    pub acknowledged: u64,
    /// Measured orders of which no event came in time.
    pub missing: u64,
    /// From the time when an order was due to be sent until its event arrived.
    pub p50_millis: f64,
    pub p99_millis: f64,
    pub seconds: f64,
    pub sender_cpu: f64,
}

/// A connection and what has come of the answer.
struct Busy {
    stream: TcpStream,
    number: u64,
    answer: Vec<u8>,
}

/// Sends as planned; answers the numbers that were acknowledged too.
pub fn send(plan: &Plan, arrivals: &Arrivals) -> Fallible<(Report, Vec<u64>)> {
    let mut connections = Connections::default();
    let every = 1.0 / plan.rate;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let count = (plan.rate * plan.seconds) as u64;
    let mut due_times = Vec::new();
    let began = Instant::now();
    for turn in 0..count {
        let due = began + Duration::from_secs_f64(every * count_of(turn));
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        let index = usize::try_from(turn)? % plan.targets.len();
        let target = plan.targets.get(index).ok_or("no target")?;
        let number = plan.first_number + turn;
        match connections.send(target, number) {
            Ok(()) => {}
            Err(_) if plan.may_break => break,
            Err(error) => return Err(error),
        }
        if index >= plan.first_measured {
            due_times.push((number, due));
        }
    }
    let last = Instant::now();
    let sent = connections.sent;
    let deadline = last + Duration::from_secs_f64(plan.patience);
    loop {
        match connections.read_responses() {
            Ok(()) => {}
            Err(_) if plan.may_break => break,
            Err(error) => return Err(error),
        }
        let seen = arrivals.seen();
        let all_came = due_times
            .iter()
            .all(|(number, _)| seen.arrivals.contains_key(number));
        drop(seen);
        if (all_came && connections.busy.is_empty()) || Instant::now() >= deadline {
            break;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let mut times = Histogram::<u64>::new(3)?;
    let mut missing = 0;
    let seen = arrivals.seen();
    for (number, due) in &due_times {
        let arrived = seen.arrivals.get(number).copied();
        missing += u64::from(arrived.is_none());
        let took = arrived.unwrap_or(deadline).saturating_duration_since(*due);
        times.record(u64::try_from(took.as_micros())?)?;
    }
    let millis = |quantile| count_of(times.value_at_quantile(quantile)) / 1000.0;
    let report = Report {
        sent,
        acknowledged: connections.acknowledged.len() as u64,
        missing,
        p50_millis: millis(0.5),
        p99_millis: millis(0.99),
        seconds: last.duration_since(began).as_secs_f64(),
        sender_cpu: 0.0,
    };
    Ok((report, connections.acknowledged))
}

/// Connections to the server: as many as there are orders without an answer.
#[derive(Default)]
struct Connections {
    idle: Vec<TcpStream>,
    busy: VecDeque<Busy>,
    acknowledged: Vec<u64>,
    sent: u64,
}

impl Connections {
    fn send(&mut self, target: &Target, number: u64) -> Fallible<()> {
        self.read_responses()?;
        let mut stream = match self.idle.pop() {
            Some(stream) => stream,
            None => {
                let stream = TcpStream::connect(&target.address)?;
                stream.set_nodelay(true)?;
                stream.set_nonblocking(true)?;
                stream
            }
        };
        let mut request = target.request.clone().into_bytes();
        put_number(&mut request, target.number_at, number);
        // A request is smaller than what a socket takes at once.
        stream.write_all(&request)?;
        self.sent += 1;
        self.busy.push_back(Busy {
            stream,
            number,
            answer: Vec::new(),
        });
        Ok(())
    }

    /// Reads what has come.
    fn read_responses(&mut self) -> Fallible<()> {
        for _ in 0..self.busy.len() {
            let Some(mut busy) = self.busy.pop_front() else {
                break;
            };
            let mut buffer = [0; 4096];
            match busy.stream.read(&mut buffer) {
                Ok(0) => return Err("a connection was closed".into()),
                Ok(read) => busy
                    .answer
                    .extend_from_slice(buffer.get(..read).unwrap_or_default()),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Err(error.into()),
            }
            match extent(&busy.answer)? {
                Some((_, end)) if busy.answer.len() >= end => {
                    if !busy.answer.starts_with(b"HTTP/1.1 2") {
                        return Err(format!("refused: {}", String::from_utf8_lossy(&busy.answer)).into());
                    }
                    self.acknowledged.push(busy.number);
                    self.idle.push(busy.stream);
                }
                _ => self.busy.push_back(busy),
            }
        }
        Ok(())
    }
}
