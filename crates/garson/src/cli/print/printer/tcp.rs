//! Printers with a network port, usually 9100.

use super::condition::{Condition, Observer, PrintError};
use super::status::{ACKNOWLEDGE, QUERIES, condition, is_acknowledgement, is_status};
use garson_core::printer::PrinterState;
use std::io::ErrorKind;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};

const CONNECT: Duration = Duration::from_secs(5);
/// How long a printer may take to answer `DLE EOT`. One that has never answered is not waited for longer.
const ANSWER: Duration = Duration::from_millis(1_500);
/// A printer that takes no byte for this long has a problem, which is reported.
const STALL: Duration = Duration::from_secs(10);
/// How long a ticket may take in all, including a change of paper.
const TICKET: Duration = Duration::from_secs(15 * 60);
/// How long the other side may take to close the connection.
const CLOSE: Duration = Duration::from_secs(3);
/// Bytes that are written at a time.
const CHUNK: usize = 1_024;
/// A printer that is ready so many times in a row without an acknowledgement does not know `GS r`.
const READY_WITHOUT_ACKNOWLEDGEMENT: u32 = 3;

/// What is learnt of a printer while the agent runs.
#[derive(Default)]
pub struct Memory {
    /// It has answered `DLE EOT`, so that silence is a problem.
    answers: bool,
    /// It answers `DLE EOT`, but not `GS r`.
    lacks_acknowledgement: bool,
    /// The last connection was reset after the whole ticket. A printer that does so twice in a row does it always.
    was_reset_at_end: bool,
}

impl Memory {
    pub fn new(answers: bool) -> Self {
        Self {
            answers,
            ..Self::default()
        }
    }

    pub fn answers(&self) -> bool {
        self.answers
    }
}

async fn connect(host: &str) -> Result<TcpStream, Condition> {
    let unreachable = |message: String| Condition::new(PrinterState::Unreachable, message);
    match timeout(CONNECT, TcpStream::connect(host)).await {
        Ok(Ok(stream)) => {
            // Ignored: it only delays small writes.
            let _ = stream.set_nodelay(true);
            Ok(stream)
        }
        Ok(Err(error)) => Err(unreachable(error.kind().to_string())),
        Err(_) => Err(unreachable("no answer".to_owned())),
    }
}

/// Asks for the condition; `None` when the printer does not answer.
async fn query(stream: &mut TcpStream) -> std::io::Result<Option<Condition>> {
    let mut answers = [0; 3];
    for (answer, query) in answers.iter_mut().zip(QUERIES) {
        match timeout(ANSWER, ask(stream, query)).await {
            Ok(byte) => *answer = byte?,
            Err(_) => return Ok(None),
        }
    }
    Ok(Some(condition(answers)))
}

async fn ask(stream: &mut TcpStream, query: [u8; 3]) -> std::io::Result<u8> {
    stream.write_all(&query).await?;
    loop {
        let byte = stream.read_u8().await?;
        if is_status(byte) {
            return Ok(byte);
        }
    }
}

/// The condition of a printer that may not answer at all: one that never has is taken for ready.
async fn condition_of(stream: &mut TcpStream, memory: &mut Memory) -> Condition {
    match query(stream).await {
        Ok(Some(condition)) => {
            memory.answers = true;
            condition
        }
        Ok(None) if memory.answers => Condition::new(PrinterState::Offline, "does not answer"),
        Ok(None) => Condition::default(),
        Err(error) => Condition::new(PrinterState::Unreachable, error.kind()),
    }
}

/// Looks whether the printer could print now.
pub async fn check(host: &str, memory: &mut Memory) -> Condition {
    match connect(host).await {
        Ok(mut stream) => condition_of(&mut stream, memory).await,
        Err(condition) => condition,
    }
}

pub async fn print(
    host: &str,
    ticket: &[u8],
    memory: &mut Memory,
    observer: &Observer<'_>,
) -> Result<(), PrintError> {
    let mut stream = connect(host).await.map_err(PrintError::NotSent)?;
    let condition = condition_of(&mut stream, memory).await;
    if !condition.state.can_print() {
        return Err(PrintError::NotSent(condition));
    }
    observer(&condition);
    let uncertain = |error: std::io::Error| {
        PrintError::Uncertain(Condition::new(PrinterState::Unreachable, error.kind()))
    };
    let sending = async {
        write(&mut stream, ticket, observer).await?;
        if memory.answers && !memory.lacks_acknowledgement {
            let is_acknowledged = wait_for_acknowledgement(&mut stream, observer).await?;
            memory.lacks_acknowledgement = !is_acknowledged;
            if is_acknowledged {
                // It is printed, however the connection ends.
                let _ = close(&mut stream).await;
                return Ok(());
            }
        }
        let closed = close(&mut stream).await;
        let was_reset_before = std::mem::replace(&mut memory.was_reset_at_end, closed.is_err());
        if was_reset_before { Ok(()) } else { closed }
    };
    match timeout(TICKET, sending).await {
        Ok(sent) => sent.map_err(uncertain),
        Err(_) => Err(PrintError::Uncertain(Condition::of(PrinterState::Offline))),
    }
}

/// Writes the ticket, and reports a printer that takes no more of it.
async fn write(stream: &mut TcpStream, ticket: &[u8], observer: &Observer<'_>) -> std::io::Result<()> {
    for chunk in ticket.chunks(CHUNK) {
        let mut rest = chunk;
        while !rest.is_empty() {
            match timeout(STALL, stream.write(rest)).await {
                Ok(Ok(0)) => return Err(ErrorKind::WriteZero.into()),
                Ok(Ok(count)) => rest = rest.get(count..).unwrap_or_default(),
                Ok(Err(error)) => return Err(error),
                Err(_) => observer(&Condition::of(PrinterState::Offline)),
            }
        }
    }
    Ok(())
}

/// Waits until the printer has processed the ticket; `false` when it does not know the command. While it is out of paper, it is
/// waited for: it continues where it stopped.
async fn wait_for_acknowledgement(stream: &mut TcpStream, observer: &Observer<'_>) -> std::io::Result<bool> {
    stream.write_all(&ACKNOWLEDGE).await?;
    let (mut ready, mut answers, mut count) = (0, [0x12; 3], 0);
    let mut ask_at = Instant::now() + ANSWER;
    loop {
        match tokio::time::timeout_at(ask_at, stream.read_u8()).await {
            Ok(byte) => {
                let byte = byte?;
                if is_acknowledgement(byte) {
                    return Ok(true);
                }
                if is_status(byte)
                    && let Some(answer) = answers.get_mut(count)
                {
                    *answer = byte;
                    count += 1;
                }
            }
            Err(_) => {
                // A ticket may be long: a printer that prints does not answer `GS r` yet, but is ready all the while.
                if count == answers.len() {
                    let found = condition(answers);
                    ready = if found.state.can_print() { ready + 1 } else { 0 };
                    if !found.state.can_print() {
                        observer(&found);
                    }
                }
                if ready >= READY_WITHOUT_ACKNOWLEDGEMENT {
                    return Ok(false);
                }
                count = 0;
                for query in QUERIES {
                    stream.write_all(&query).await?;
                }
                ask_at = Instant::now() + ANSWER;
            }
        }
    }
}

/// Says that nothing follows, and waits until the other side has read everything and closes too.
async fn close(stream: &mut TcpStream) -> std::io::Result<()> {
    stream.shutdown().await?;
    let mut rest = [0; 64];
    let read = async {
        loop {
            match stream.read(&mut rest).await {
                Ok(0) => return Ok(()),
                Ok(_) => {}
                Err(error) => return Err(error),
            }
        }
    };
    match timeout(CLOSE, read).await {
        Ok(closed) => closed,
        // Many printers keep the connection for a while.
        Err(_) => Ok(()),
    }
}
