//! The load generator: one thread, plain HTTP/1.1 on kept connections, requests made beforehand, little parsing.

use crate::Fallible;
use crate::process::cpu_seconds;
use crate::sink::wall_micros;
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

pub const ROLE: &str = "load";

/// What to send and for how long.
#[derive(Serialize, Deserialize)]
pub struct Plan {
    pub targets: Vec<Target>,
    pub connections: usize,
    pub limit: Limit,
}

/// A server and a request to it.
#[derive(Clone, Serialize, Deserialize)]
pub struct Target {
    pub address: String,
    pub request: String,
    /// Where in the request its number goes (ten digits), if it has one.
    pub number_at: Option<usize>,
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

impl Target {
    pub fn get(address: &str, key: &str, path: &str) -> Self {
        let request = format!("GET {path} HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer {key}\r\n\r\n");
        Self {
            address: address.to_owned(),
            request,
            number_at: None,
        }
    }

    /// A page of the control panel for somebody who is signed in, pressed as browsers have it.
    pub fn page(address: &str, session: &str, path: &str) -> Self {
        let request = format!(
            "GET {path} HTTP/1.1\r\nhost: bench\r\naccept-encoding: gzip\r\n\
             cookie: garson_session={session}\r\n\r\n"
        );
        Self {
            address: address.to_owned(),
            request,
            number_at: None,
        }
    }

    pub fn post_order(address: &str) -> Self {
        Self::post_order_of(address, 0)
    }

    /// An order of one branch among many.
    pub fn post_order_of(address: &str, branch: usize) -> Self {
        let (body, key) = (crate::sample::body_of(branch), crate::shop::key(branch));
        let request = format!(
            "POST /hooks/direct/orders HTTP/1.1\r\nhost: bench\r\nx-api-key: {key}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        Self {
            address: address.to_owned(),
            number_at: request.find(crate::sample::NUMBER),
            request,
        }
    }
}

/// A kept connection and its request.
pub struct Connection {
    stream: TcpStream,
    request: Vec<u8>,
    number_at: Option<usize>,
    buffer: Vec<u8>,
}

impl Connection {
    pub async fn open(target: &Target) -> Fallible<Self> {
        let stream = TcpStream::connect(&target.address).await?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            request: target.request.clone().into_bytes(),
            number_at: target.number_at,
            buffer: vec![0; 2 * 1024 * 1024],
        })
    }

    /// Sends the request under a number and reads the answer's body to its end.
    pub async fn ask(&mut self, number: u64) -> Fallible<&[u8]> {
        put_number(&mut self.request, self.number_at, number);
        self.stream.write_all(&self.request).await?;
        let mut filled = 0;
        loop {
            let room = self.buffer.get_mut(filled..).filter(|room| !room.is_empty());
            let read = self.stream.read(room.ok_or("an answer is too long")?).await?;
            if read == 0 {
                return Err("a connection was closed".into());
            }
            filled += read;
            let so_far = self.buffer.get(..filled).unwrap_or_default();
            if let Some((body, end)) = extent(so_far)?
                && filled >= end
            {
                if !so_far.starts_with(b"HTTP/1.1 2") {
                    return Err(format!("refused: {}", String::from_utf8_lossy(so_far)).into());
                }
                return Ok(self.buffer.get(body..end).unwrap_or_default());
            }
        }
    }
}

/// A kept connection on which the answer has no end.
pub struct Stream {
    stream: TcpStream,
    heard: String,
}

impl Stream {
    /// Asks, and waits for the beginning of the answer.
    pub async fn open(target: &Target) -> Fallible<Self> {
        let mut stream = TcpStream::connect(&target.address).await?;
        stream.write_all(target.request.as_bytes()).await?;
        let heard = String::new();
        let mut opened = Self { stream, heard };
        opened.hear("\r\n\r\n", 1).await?;
        if !opened.heard.starts_with("HTTP/1.1 200") {
            return Err(format!("refused: {}", opened.heard).into());
        }
        Ok(opened)
    }

    /// Listens until a word has been said so many times.
    pub async fn hear(&mut self, word: &str, times: usize) -> Fallible<()> {
        let mut buffer = vec![0; 16 * 1024];
        while self.heard.matches(word).count() < times {
            let read = self.stream.read(&mut buffer).await?;
            if read == 0 {
                return Err("a stream has ended".into());
            }
            let part = String::from_utf8_lossy(buffer.get(..read).unwrap_or_default());
            self.heard.push_str(&part);
        }
        Ok(())
    }
}

/// Puts its number into a request.
pub fn put_number(request: &mut [u8], at: Option<usize>, number: u64) {
    if let Some(place) = at.and_then(|at| request.get_mut(at..at + 10)) {
        place.copy_from_slice(format!("{number:010}").as_bytes());
    }
}

/// Where a message's body begins and ends, once its head is there.
pub fn extent(message: &[u8]) -> Fallible<Option<(usize, usize)>> {
    let Some(head) = message.windows(4).position(|four| four == b"\r\n\r\n") else {
        return Ok(None);
    };
    // Names of headers have no case.
    let text = std::str::from_utf8(message.get(..head).unwrap_or_default())?.to_ascii_lowercase();
    let length = text.split_once("content-length: ").map_or("", |(_, rest)| rest);
    let length: usize = length.split('\r').next().unwrap_or_default().parse()?;
    Ok(Some((head + 4, head + 4 + length)))
}

/// Asks once and gives the body.
pub fn ask_once(target: &Target) -> Fallible<Vec<u8>> {
    runtime()?.block_on(async { Ok(Connection::open(target).await?.ask(0).await?.to_vec()) })
}

pub fn runtime() -> Fallible<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?)
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

/// A count as a number to divide; those here are far below the limit of exactness.
#[allow(clippy::cast_precision_loss)]
pub fn count_of(count: u64) -> f64 {
    count as f64
}
