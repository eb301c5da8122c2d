//! Printers with a network port, usually 9100.

use super::condition::{Condition, Observer, PrintError};
use super::status::{ACKNOWLEDGE, QUERIES, Received, StatusParser, condition};
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

/// A connection, and what the printer has said on it.
struct Connection {
    stream: TcpStream,
    parser: StatusParser,
    /// What the printer has said unasked.
    automatic: Option<Condition>,
}

impl Connection {
    async fn open(host: &str) -> Result<Self, Condition> {
        let unreachable = |message: String| Condition::new(PrinterState::Unreachable, message);
        match timeout(CONNECT, TcpStream::connect(host)).await {
            Ok(Ok(stream)) => {
                // Ignored: it only delays small writes.
                let _ = stream.set_nodelay(true);
                Ok(Self {
                    stream,
                    parser: StatusParser::default(),
                    automatic: None,
                })
            }
            Ok(Err(error)) => Err(unreachable(error.kind().to_string())),
            Err(_) => Err(unreachable("no answer".to_owned())),
        }
    }

    /// The next answer, or the next condition that the printer reports unasked.
    async fn receive(&mut self) -> std::io::Result<Received> {
        loop {
            let byte = self.stream.read_u8().await?;
            if let Some(received) = self.understand(byte) {
                return Ok(received);
            }
        }
    }

    fn understand(&mut self, byte: u8) -> Option<Received> {
        let received = self.parser.take(byte);
        if let Some(Received::Automatic(condition)) = &received {
            self.automatic = Some(condition.clone());
        }
        received
    }

    /// Reads what has come already: it cannot be an answer to what is asked next.
    fn read_past(&mut self) {
        let mut bytes = [0; 64];
        // An error shows when the next answer is read.
        while let Ok(count @ 1..) = self.stream.try_read(&mut bytes) {
            for byte in bytes.into_iter().take(count) {
                self.understand(byte);
            }
        }
    }

    /// Asks for the condition; `None` when the printer does not answer.
    async fn query(&mut self) -> std::io::Result<Option<Condition>> {
        let mut answers = [0; 3];
        for (answer, query) in answers.iter_mut().zip(QUERIES) {
            match timeout(ANSWER, self.ask(query)).await {
                Ok(byte) => *answer = byte?,
                Err(_) => return Ok(None),
            }
        }
        Ok(Some(condition(answers)))
    }

    async fn ask(&mut self, query: [u8; 3]) -> std::io::Result<u8> {
        self.stream.write_all(&query).await?;
        loop {
            if let Received::Status(byte) = self.receive().await? {
                return Ok(byte);
            }
        }
    }

    /// The condition of a printer that may not answer at all: one that never has is taken for ready, unless it has said
    /// something unasked.
    async fn condition(&mut self, memory: &mut Memory) -> Condition {
        match self.query().await {
            Ok(Some(condition)) => {
                memory.answers = true;
                condition
            }
            Ok(None) => match &self.automatic {
                Some(condition) if !memory.answers || !condition.state.can_print() => condition.clone(),
                _ if memory.answers => Condition::new(PrinterState::Offline, "does not answer"),
                _ => Condition::default(),
            },
            Err(error) => Condition::new(PrinterState::Unreachable, error.kind()),
        }
    }
}

/// Looks whether the printer could print now.
pub async fn check(host: &str, memory: &mut Memory) -> Condition {
    match Connection::open(host).await {
        Ok(mut connection) => connection.condition(memory).await,
        Err(condition) => condition,
    }
}

pub async fn print(
    host: &str,
    ticket: &[u8],
    memory: &mut Memory,
    observer: &Observer<'_>,
) -> Result<(), PrintError> {
    let mut connection = Connection::open(host).await.map_err(PrintError::NotSent)?;
    let condition = connection.condition(memory).await;
    if !condition.state.can_print() {
        return Err(PrintError::NotSent(condition));
    }
    observer(&condition);
    let uncertain = |error: std::io::Error| {
        PrintError::Uncertain(Condition::new(PrinterState::Unreachable, error.kind()))
    };
    let sending = async {
        write(&mut connection.stream, ticket, observer).await?;
        if memory.answers && !memory.lacks_acknowledgement {
            let is_acknowledged = wait_for_acknowledgement(&mut connection, observer).await?;
            memory.lacks_acknowledgement = !is_acknowledged;
            if is_acknowledged {
                // It is printed, however the connection ends.
                let _ = close(&mut connection.stream).await;
                return Ok(());
            }
        }
        let closed = close(&mut connection.stream).await;
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
async fn wait_for_acknowledgement(
    connection: &mut Connection,
    observer: &Observer<'_>,
) -> std::io::Result<bool> {
    connection.read_past();
    connection.stream.write_all(&ACKNOWLEDGE).await?;
    let (mut ready, mut answers, mut count) = (0, [0x12; 3], 0);
    let mut ask_at = Instant::now() + ANSWER;
    loop {
        match tokio::time::timeout_at(ask_at, connection.receive()).await {
            Ok(received) => match received? {
                Received::Acknowledgement => return Ok(true),
                Received::Status(byte) => {
                    if let Some(answer) = answers.get_mut(count) {
                        *answer = byte;
                        count += 1;
                    }
                }
                Received::Automatic(condition) => {
                    if !condition.state.can_print() {
                        ready = 0;
                        observer(&condition);
                    }
                }
            },
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
                    connection.stream.write_all(&query).await?;
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
