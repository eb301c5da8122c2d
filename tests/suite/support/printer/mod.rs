//! A receipt printer with a network port: executes what it receives, answers status requests, and can run out of paper, hang,
//! or close the connection.

mod font;
pub mod image;
mod paper;

pub use paper::PrintedTicket;
use paper::{Executed, Paper};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// How the printer behaves.
#[derive(Clone, Copy, Debug)]
pub struct Behaviour {
    pub has_paper: bool,
    pub is_cover_open: bool,
    /// Answers `DLE EOT`.
    pub answers: bool,
    /// Answers `GS r`.
    pub acknowledges: bool,
    /// Sends its status unasked when it changes, whatever it is told.
    pub reports_unasked: bool,
    /// Reads nothing at all.
    pub hangs: bool,
    /// Closes the connection after this many bytes of a ticket.
    pub closes_after: Option<usize>,
    /// Resets the connection when the whole ticket is printed.
    pub resets_at_end: bool,
    /// The paper ends after this many commands.
    pub paper_ends_after: Option<usize>,
}

impl Default for Behaviour {
    fn default() -> Self {
        Self {
            has_paper: true,
            is_cover_open: false,
            answers: true,
            acknowledges: true,
            reports_unasked: false,
            hangs: false,
            closes_after: None,
            resets_at_end: false,
            paper_ends_after: None,
        }
    }
}

struct Inner {
    behaviour: Mutex<Behaviour>,
    paper: Mutex<Paper>,
}

/// A printer on this machine.
pub struct SocketPrinter {
    pub addr: SocketAddr,
    inner: Arc<Inner>,
    serving: Mutex<Option<JoinHandle<()>>>,
}

impl SocketPrinter {
    /// A printer for paper of so many columns.
    pub async fn start(columns: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let inner = Arc::new(Inner {
            behaviour: Mutex::default(),
            paper: Mutex::new(Paper::new(columns)),
        });
        let serving = tokio::spawn(serve(listener, Arc::clone(&inner)));
        Self {
            addr,
            inner,
            serving: Mutex::new(Some(serving)),
        }
    }

    pub fn url(&self) -> String {
        format!("tcp://{}", self.addr)
    }

    pub fn behave(&self, change: impl FnOnce(&mut Behaviour)) {
        change(&mut self.inner.behaviour.lock().unwrap());
    }

    /// Switches the printer off: nothing listens any more, and connections are closed.
    pub fn switch_off(&self) {
        if let Some(serving) = self.serving.lock().unwrap().take() {
            serving.abort();
        }
    }

    pub async fn switch_on(&self) {
        let listener = loop {
            // The port may still be in use by the connection that was just closed.
            match TcpListener::bind(self.addr).await {
                Ok(listener) => break listener,
                Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        };
        let serving = tokio::spawn(serve(listener, Arc::clone(&self.inner)));
        *self.serving.lock().unwrap() = Some(serving);
    }

    pub fn tickets(&self) -> Vec<PrintedTicket> {
        self.inner.paper.lock().unwrap().tickets.clone()
    }

    /// How many tickets mention this.
    pub fn count(&self, text: &str) -> usize {
        self.tickets()
            .iter()
            .filter(|ticket| ticket.text.contains(text))
            .count()
    }
}

impl Drop for SocketPrinter {
    fn drop(&mut self) {
        self.switch_off();
    }
}

/// Takes one connection at a time, as printers do.
async fn serve(listener: TcpListener, inner: Arc<Inner>) {
    loop {
        if let Ok((stream, _)) = listener.accept().await {
            // A broken connection is the agent's business.
            let _ = connection(stream, &inner).await;
        }
    }
}

async fn connection(mut stream: TcpStream, inner: &Inner) -> std::io::Result<()> {
    inner.paper.lock().unwrap().forget_input();
    let (mut buffer, mut received, mut reported) = ([0; 512], 0, None);
    loop {
        while inner.behaviour.lock().unwrap().hangs {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        print_all(&mut stream, inner).await?;
        let behaviour = *inner.behaviour.lock().unwrap();
        if behaviour.reports_unasked && reported != Some(automatic_status(behaviour)) {
            reported = Some(automatic_status(behaviour));
            stream.write_all(&automatic_status(behaviour)).await?;
        }
        // While it waits for paper, it has to look again.
        let read = tokio::time::timeout(Duration::from_millis(20), stream.read(&mut buffer)).await;
        let Ok(count) = read else { continue };
        let count = count?;
        if count == 0 {
            print_all(&mut stream, inner).await?;
            if inner.behaviour.lock().unwrap().resets_at_end {
                stream.set_zero_linger()?;
            }
            return Ok(());
        }
        let data = answer_status(&mut stream, inner, &buffer[..count]).await?;
        received += data.len();
        let closes_after = inner.behaviour.lock().unwrap().closes_after;
        let close = closes_after.is_some_and(|limit| received > limit);
        let kept = if close {
            &data[..closes_after.unwrap().min(data.len())]
        } else {
            &data[..]
        };
        inner.paper.lock().unwrap().feed(kept);
        if close {
            print_all(&mut stream, inner).await?;
            return Ok(());
        }
    }
}

/// The four bytes of automatic status back.
fn automatic_status(behaviour: Behaviour) -> [u8; 4] {
    let bit = |is_set: bool, bits: u8| if is_set { bits } else { 0 };
    let is_offline = !behaviour.has_paper || behaviour.is_cover_open;
    let printer = 0x10 | bit(is_offline, 0x08) | bit(behaviour.is_cover_open, 0x20);
    [printer, 0, bit(!behaviour.has_paper, 0x0c), 0x0f]
}

/// Answers `DLE EOT` at once, and returns the rest.
async fn answer_status(stream: &mut TcpStream, inner: &Inner, bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let (mut rest, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        if bytes[at] == 0x10 {
            // The agent writes each query at once.
            assert_eq!(bytes.get(at + 1), Some(&0x04), "a status request in pieces");
            let behaviour = *inner.behaviour.lock().unwrap();
            let is_offline = !behaviour.has_paper || behaviour.is_cover_open;
            let bit = |is_set: bool, bits: u8| if is_set { bits } else { 0 };
            let answer = 0x12
                | match bytes.get(at + 2) {
                    Some(1) => bit(is_offline, 0x08),
                    Some(2) => bit(behaviour.is_cover_open, 0x04) | bit(!behaviour.has_paper, 0x20),
                    Some(4) => bit(!behaviour.has_paper, 0x60),
                    other => panic!("status {other:?}"),
                };
            if behaviour.answers {
                stream.write_all(&[answer]).await?;
            }
            at += 3;
        } else {
            rest.push(bytes[at]);
            at += 1;
        }
    }
    Ok(rest)
}

/// Executes what it has, as long as there is paper.
async fn print_all(stream: &mut TcpStream, inner: &Inner) -> std::io::Result<()> {
    loop {
        let is_asked = {
            let mut behaviour = inner.behaviour.lock().unwrap();
            if !behaviour.has_paper || behaviour.is_cover_open {
                return Ok(());
            }
            match inner.paper.lock().unwrap().step() {
                Executed::Nothing => return Ok(()),
                Executed::Something => {
                    if let Some(left) = &mut behaviour.paper_ends_after {
                        *left = left.saturating_sub(1);
                        if *left == 0 {
                            behaviour.has_paper = false;
                            behaviour.paper_ends_after = None;
                        }
                    }
                    false
                }
                Executed::Asked => behaviour.acknowledges,
            }
        };
        if is_asked {
            stream.write_all(&[0]).await?;
        }
    }
}
