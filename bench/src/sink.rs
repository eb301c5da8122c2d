//! The receiving side: keeps connections, answers 200, notes what came first when. A second door takes connections and
//! never says anything. The same process can send orders at fixed times (`steady`), so that one clock sees both ends.
//!
//! It is told what to do by lines on its input, and answers each with a line.

use crate::process::cpu_seconds;
use crate::{Fallible, load, steady};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::io::{BufRead, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

pub const ROLE: &str = "sink";

/// Where the doors are; on every address of the loopback network, so that each receiver can have one of its own.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub struct Doors {
    pub sink: u16,
    pub hole: u16,
}

impl Doors {
    /// Where a receiver is that answers.
    pub fn answering(self, number: usize) -> String {
        format!("http://{}:{}/", address(number), self.sink)
    }

    /// Where one is that does not.
    pub fn silent(self, number: usize) -> String {
        format!("http://{}:{}/", address(number), self.hole)
    }
}

fn address(number: usize) -> String {
    format!("127.0.{}.{}", 1 + number / 250, 1 + number % 250)
}

#[derive(Serialize, Deserialize)]
pub enum Command {
    Count,
    /// From now on, note anew when the first event comes that has not come before.
    Mark,
    /// Answer only after so many milliseconds.
    Slow(u64),
    Steady(steady::Plan),
    /// How many orders of steady sendings were acknowledged of which no event has come?
    Missing,
}

#[derive(Serialize, Deserialize)]
pub struct Count {
    pub requests: u64,
    /// Events by their id.
    pub distinct: u64,
    /// Microseconds since 1970: of the first new one since the mark, and of the last.
    pub first_micros: Option<u64>,
    pub last_micros: u64,
    pub cpu_seconds: f64,
}

/// What has come.
#[derive(Default)]
pub struct Seen {
    requests: u64,
    ids: HashSet<[u8; 36]>,
    first_micros: Option<u64>,
    last_micros: u64,
    cpu_seconds: f64,
    /// When the first event of an order came, by its number.
    pub arrivals: HashMap<u64, Instant>,
}

#[derive(Clone, Default)]
pub struct Sink {
    seen: Arc<Mutex<Seen>>,
    slow_millis: Arc<AtomicU64>,
}

impl Sink {
    pub fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, body: &[u8]) {
        let now = Instant::now();
        let mut seen = self.seen();
        seen.requests += 1;
        let id = after(body, b"\"veri\":{\"id\":\"").and_then(|rest| rest.first_chunk::<36>());
        if let Some(id) = id
            && seen.ids.insert(*id)
        {
            let micros = wall_micros();
            seen.first_micros.get_or_insert(micros);
            seen.last_micros = micros;
            let number = after(body, b"\"providerOrderId\":\"WEB-").and_then(|rest| rest.first_chunk::<10>());
            let number = number.and_then(|digits| std::str::from_utf8(digits).ok()?.parse().ok());
            if let Some(number) = number {
                seen.arrivals.entry(number).or_insert(now);
            }
        }
    }

    fn count(&self) -> Count {
        let seen = self.seen();
        Count {
            requests: seen.requests,
            distinct: seen.ids.len() as u64,
            first_micros: seen.first_micros,
            last_micros: seen.last_micros,
            cpu_seconds: seen.cpu_seconds,
        }
    }
}

pub fn wall_micros() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}

fn after<'a>(body: &'a [u8], mark: &[u8]) -> Option<&'a [u8]> {
    let at = body.windows(mark.len()).position(|part| part == mark)?;
    body.get(at + mark.len()..)
}

/// Receives and does what it is told until its input ends.
pub fn run() -> Fallible<()> {
    let sink = Sink::default();
    let (told, doors) = std::sync::mpsc::channel();
    let receiving = sink.clone();
    std::thread::spawn(move || {
        if let Err(error) = receive(&receiving, &told) {
            eprintln!("sink: {error}");
            std::process::exit(1);
        }
    });
    answer(&doors.recv()?)?;
    let mut acknowledged: Vec<u64> = Vec::new();
    for line in std::io::stdin().lock().lines() {
        match serde_json::from_str(&line?)? {
            Command::Count => answer(&sink.count())?,
            Command::Mark => {
                sink.seen().first_micros = None;
                answer(&())?;
            }
            Command::Slow(millis) => {
                sink.slow_millis.store(millis, Ordering::Relaxed);
                answer(&())?;
            }
            Command::Steady(plan) => {
                let cpu = cpu_seconds("thread-self")?;
                let (mut report, taken) = steady::send(&plan, &sink)?;
                report.sender_cpu = cpu_seconds("thread-self")? - cpu;
                acknowledged.extend(taken);
                answer(&report)?;
            }
            Command::Missing => {
                let seen = sink.seen();
                let missing = acknowledged
                    .iter()
                    .filter(|n| !seen.arrivals.contains_key(n))
                    .count();
                answer(&missing)?;
            }
        }
    }
    Ok(())
}

fn answer<T: Serialize>(value: &T) -> Fallible<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", serde_json::to_string(value)?)?;
    Ok(out.flush()?)
}

fn receive(sink: &Sink, told: &std::sync::mpsc::Sender<Doors>) -> Fallible<()> {
    load::runtime()?.block_on(async {
        let open = TcpListener::bind("0.0.0.0:0").await?;
        let hole = TcpListener::bind("0.0.0.0:0").await?;
        told.send(Doors {
            sink: open.local_addr()?.port(),
            hole: hole.local_addr()?.port(),
        })?;
        tokio::spawn(async move {
            let mut held = Vec::new();
            while let Ok((stream, _)) = hole.accept().await {
                held.push(stream);
            }
        });
        let watching = sink.clone();
        tokio::spawn(async move {
            loop {
                let used = cpu_seconds("thread-self").unwrap_or_default();
                watching.seen().cpu_seconds = used;
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        });
        loop {
            let (stream, _) = open.accept().await?;
            tokio::spawn(serve(sink.clone(), stream));
        }
    })
}

/// One connection, until the other side ends it.
async fn serve(sink: Sink, mut stream: TcpStream) -> Fallible<()> {
    const OK: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
    stream.set_nodelay(true)?;
    let mut buffer = vec![0; 16 * 1024];
    let mut filled = 0;
    loop {
        let read = stream.read(buffer.get_mut(filled..).ok_or("too long")?).await?;
        if read == 0 {
            return Ok(());
        }
        filled += read;
        let so_far = buffer.get(..filled).unwrap_or_default();
        let Some((body, end)) = load::extent(so_far)?.filter(|(_, end)| filled >= *end) else {
            continue;
        };
        sink.note(buffer.get(body..end).unwrap_or_default());
        let slow = sink.slow_millis.load(Ordering::Relaxed);
        if slow > 0 {
            tokio::time::sleep(Duration::from_millis(slow)).await;
        }
        stream.write_all(OK).await?;
        // Nobody sends the next request before this one is answered.
        filled = 0;
    }
}
