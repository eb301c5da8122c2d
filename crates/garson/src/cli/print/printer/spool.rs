//! Printers behind a device file or the system's print service, which both take data without a word about paper.

use super::condition::{Condition, Observer, PrintError};
use garson_core::printer::PrinterState;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// A device that takes no data for this long has a problem, which is reported.
const STALL: Duration = Duration::from_secs(10);
/// How long the print service may take.
const QUEUE: Duration = Duration::from_secs(60);

/// Could the device be opened?
pub fn check_device(path: &Path) -> Condition {
    match std::fs::metadata(path) {
        Ok(_) => Condition::default(),
        Err(error) => Condition::new(PrinterState::Unreachable, error.kind()),
    }
}

/// Writes to a device. While it takes no data (no paper, cover open), it is waited for: what is written cannot be taken back.
pub async fn write_device(path: PathBuf, ticket: Vec<u8>, observer: &Observer<'_>) -> Result<(), PrintError> {
    let work = move || {
        let opened = OpenOptions::new().append(true).open(&path);
        let mut device = opened
            .map_err(|error| PrintError::NotSent(Condition::new(PrinterState::Unreachable, error.kind())))?;
        device
            .write_all(&ticket)
            .and_then(|()| device.flush())
            .map_err(|error| PrintError::Uncertain(Condition::new(PrinterState::Offline, error.kind())))
    };
    on_thread(work, observer).await
}

/// Hands a ticket to the print service.
pub async fn queue(name: String, ticket: Vec<u8>, observer: &Observer<'_>) -> Result<(), PrintError> {
    let work = move || {
        let child = Command::new("lp")
            .args(["-d", &name, "-o", "raw", "-s"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let child = child.map_err(|error| {
            let message = format!("lp cannot be started: {}", error.kind());
            PrintError::NotSent(Condition::new(PrinterState::Unreachable, message))
        })?;
        hand_over(child, &ticket)
    };
    on_thread(work, observer).await
}

fn hand_over(mut child: Child, ticket: &[u8]) -> Result<(), PrintError> {
    // A failure shows in how the program ends.
    let written = child.stdin.take().map(|mut stdin| stdin.write_all(ticket));
    let deadline = Instant::now() + QUEUE;
    let unclear = |message: &str| PrintError::Uncertain(Condition::new(PrinterState::Offline, message));
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() && matches!(written, Some(Ok(()))) => return Ok(()),
            // The service has refused the ticket as a whole.
            Ok(Some(status)) => {
                let message = format!("lp ended with {}", status.code().unwrap_or(-1));
                return Err(PrintError::NotSent(Condition::new(PrinterState::Fault, message)));
            }
            Ok(None) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(20)),
            Ok(None) => {
                // Ignored: it may have ended in this moment.
                let _ = child.kill();
                let _ = child.wait();
                return Err(unclear("lp did not end"));
            }
            Err(_) => return Err(unclear("lp was lost")),
        }
    }
}

/// Runs blocking work on a thread of its own, which may hang as long as the device does, and reports that it hangs.
async fn on_thread(
    work: impl FnOnce() -> Result<(), PrintError> + Send + 'static,
    observer: &Observer<'_>,
) -> Result<(), PrintError> {
    let (send, mut done) = oneshot::channel();
    std::thread::spawn(move || {
        // Ignored: the agent may be ending.
        let _ = send.send(work());
    });
    loop {
        match tokio::time::timeout(STALL, &mut done).await {
            Ok(Ok(result)) => return result,
            Ok(Err(_)) => return Err(PrintError::Uncertain(Condition::of(PrinterState::Fault))),
            Err(_) => observer(&Condition::new(PrinterState::Offline, "takes no data")),
        }
    }
}
