//! The time from when an order is due to be pushed until its card is at an open board, with many boards open.

use super::effort::Effort;
use super::panel::{BOARDS, sign_in_to};
use crate::client::{self, Connection, Target};
use crate::error::Fallible;
use crate::measure::count_of;
use crate::process::{Server, fresh_folder};
use crate::server;
use crate::shop;
use crate::table::{Finding, Goal};
use hdrhistogram::Histogram;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

/// Orders a second.
const RATE: u32 = 50;
/// So many of the boards measure. The others only take what comes, like browsers on other machines.
const MEASURED: usize = 20;
/// A card that is not there by then does not come.
const PATIENCE: Duration = Duration::from_secs(10);
/// How a card begins.
const MARK: &[u8] = b"<article class=\"order\" id=\"o-";

pub fn board(effort: Effort) -> Fallible<Vec<Finding>> {
    let data = fresh_folder()?;
    shop::make_fresh(data.path())?;
    let session = sign_in_to(data.path())?;
    let server = Server::start(server::REAL_ROLE, data.path(), &[])?;
    let seconds = Duration::from_secs_f64(effort.seconds).as_secs().max(1);
    let orders = u64::from(RATE) * seconds;
    let (mut median, mut most, mut processors, mut first) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for _ in 0..effort.pairs.min(5) {
        let cpu = server.cpu_seconds()?;
        let began = Instant::now();
        let run = Run {
            address: server.address.clone(),
            session: session.clone(),
            first,
            orders,
        };
        let times = client::runtime()?.block_on(run.measure())?;
        first += orders;
        processors.push((server.cpu_seconds()? - cpu) / began.elapsed().as_secs_f64());
        median.push(count_of(times.value_at_quantile(0.5)) / 1000.0);
        most.push(count_of(times.value_at_quantile(0.99)) / 1000.0);
    }
    let goal = Goal::Below(300.0, "ms");
    let mut p99 = Finding::alone(
        "order due to its card at a board, p99, 50 orders/s, 200 open boards",
        most,
        "ms",
        goal,
    );
    let used: f64 = processors.iter().sum::<f64>() / count_of(processors.len() as u64);
    p99.notes
        .push(format!("processors used by the server: {used:.2}"));
    Ok(vec![p99, Finding::alone("the same, p50", median, "ms", goal)])
}

struct Run {
    address: String,
    session: String,
    first: u64,
    orders: u64,
}

impl Run {
    /// The microseconds from due to seen, of every order at every measured board.
    async fn measure(self) -> Fallible<Histogram<u64>> {
        let (mut measured, mut others) = (JoinSet::new(), JoinSet::new());
        let (epoch, orders) = (Instant::now(), usize::try_from(self.orders)?);
        for number in 0..BOARDS {
            let target = Target::page(&self.address, &self.session, "/board/stream");
            let mut stream = TcpStream::connect(&target.address).await?;
            stream.write_all(target.request.as_bytes()).await?;
            if number < MEASURED {
                measured.spawn(async move { arrivals(&mut stream, orders, epoch).await });
            } else {
                others.spawn(async move { tokio::io::copy(&mut stream, &mut tokio::io::sink()).await });
            }
        }
        // Until every board is open.
        tokio::time::sleep(Duration::from_secs(1)).await;
        let step = Duration::from_secs(1) / RATE;
        let begin = epoch.elapsed() + step;
        let mut till = Connection::open(&Target::post_order(&self.address)).await?;
        for number in 0..self.orders {
            let due = begin + step * u32::try_from(number)?;
            tokio::time::sleep(due.saturating_sub(epoch.elapsed())).await;
            till.ask(self.first + number).await?;
        }
        let mut times = Histogram::<u64>::new(3)?;
        while let Some(seen) = measured.join_next().await {
            // One card for each order; those that come together were due in any order.
            for (number, at) in seen??.into_iter().enumerate() {
                let due = begin + step * u32::try_from(number)?;
                let late = u64::try_from(at.saturating_sub(due).as_micros())?;
                times.record(late.max(1))?;
            }
        }
        Ok(times)
    }
}

/// When each card came, since `epoch`.
async fn arrivals(stream: &mut TcpStream, orders: usize, epoch: Instant) -> Fallible<Vec<Duration>> {
    let (mut seen, mut rest, mut buffer) = (Vec::new(), Vec::new(), vec![0; 64 * 1024]);
    while seen.len() < orders {
        let read = tokio::time::timeout(PATIENCE, stream.read(&mut buffer)).await??;
        if read == 0 {
            return Err("a board's stream has ended".into());
        }
        let at = epoch.elapsed();
        rest.extend_from_slice(buffer.get(..read).unwrap_or_default());
        while let Some(found) = rest.windows(MARK.len()).position(|part| part == MARK) {
            seen.push(at);
            rest.drain(..found + MARK.len());
        }
        // What may be the beginning of the next mark.
        let keep = rest.len().saturating_sub(MARK.len());
        rest.drain(..keep);
    }
    Ok(seen)
}
