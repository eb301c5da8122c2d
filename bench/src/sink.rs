//! The receiving process: keeps connections open, answers 200 and records arrivals. A second port accepts connections and
//! never answers. The same process can send orders at fixed times (`steady_load`), so that one clock sees both ends.
//!
//! It reads commands as lines of its input and answers each with a line.

use crate::arrivals::Arrivals;
use crate::client;
use crate::error::Fallible;
use crate::measure::cpu_seconds;
use crate::steady_load;
use serde::{Deserialize, Serialize};
use std::io::{BufRead, Write};
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

pub const ROLE: &str = "sink";

/// Its ports, on every address of the loopback network, so that each receiver can have an address of its own.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub struct Ports {
    pub answering: u16,
    pub silent: u16,
}

impl Ports {
    /// The URL of a receiver that answers.
    pub fn answering(self, number: usize) -> String {
        format!("http://{}:{}/", address(number), self.answering)
    }

    /// The URL of a receiver that does not answer.
    pub fn silent(self, number: usize) -> String {
        format!("http://{}:{}/", address(number), self.silent)
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
    /// Answer only after this many milliseconds.
    Slow(u64),
    Steady(steady_load::Plan),
    /// How many orders of steady sendings were acknowledged of which no event has come?
    Missing,
}

/// Receives events and executes commands until its input ends.
pub fn run() -> Fallible<()> {
    let arrivals = Arrivals::default();
    let (told, ports) = std::sync::mpsc::channel();
    let receiving = arrivals.clone();
    std::thread::spawn(move || {
        if let Err(error) = receive(&receiving, &told) {
            eprintln!("sink: {error}");
            std::process::exit(1);
        }
    });
    answer(&ports.recv()?)?;
    let mut acknowledged: Vec<u64> = Vec::new();
    for line in std::io::stdin().lock().lines() {
        match serde_json::from_str(&line?)? {
            Command::Count => answer(&arrivals.count())?,
            Command::Mark => {
                arrivals.seen().first_micros = None;
                answer(&())?;
            }
            Command::Slow(millis) => {
                arrivals.slow_millis.store(millis, Ordering::Relaxed);
                answer(&())?;
            }
            Command::Steady(plan) => {
                let cpu = cpu_seconds("thread-self")?;
                let (mut report, taken) = steady_load::send(&plan, &arrivals)?;
                report.sender_cpu = cpu_seconds("thread-self")? - cpu;
                acknowledged.extend(taken);
                answer(&report)?;
            }
            Command::Missing => {
                let seen = arrivals.seen();
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

fn receive(arrivals: &Arrivals, told: &std::sync::mpsc::Sender<Ports>) -> Fallible<()> {
    client::runtime()?.block_on(async {
        let open = TcpListener::bind("0.0.0.0:0").await?;
        let silent = TcpListener::bind("0.0.0.0:0").await?;
        told.send(Ports {
            answering: open.local_addr()?.port(),
            silent: silent.local_addr()?.port(),
        })?;
        tokio::spawn(async move {
            let mut held = Vec::new();
            while let Ok((stream, _)) = silent.accept().await {
                held.push(stream);
            }
        });
        let watching = arrivals.clone();
        tokio::spawn(async move {
            loop {
                let used = cpu_seconds("thread-self").unwrap_or_default();
                watching.seen().cpu_seconds = used;
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        });
        loop {
            let (stream, _) = open.accept().await?;
            tokio::spawn(serve(arrivals.clone(), stream));
        }
    })
}

/// One connection, until the other side ends it.
async fn serve(arrivals: Arrivals, mut stream: TcpStream) -> Fallible<()> {
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
        let Some((body, end)) = client::extent(so_far)?.filter(|(_, end)| filled >= *end) else {
            continue;
        };
        arrivals.note(buffer.get(body..end).unwrap_or_default());
        let slow = arrivals.slow_millis.load(Ordering::Relaxed);
        if slow > 0 {
            tokio::time::sleep(Duration::from_millis(slow)).await;
        }
        stream.write_all(OK).await?;
        // Clients do not send the next request before this one is answered.
        filled = 0;
    }
}
