//! Shows how far a long command is: on a terminal a line that is redrawn, elsewhere a line every few seconds. What takes less than a
//! second shows nothing. On standard error, because standard output is for results.

use garson_store::engine::WorkProgress;
use std::fmt;
use std::io::{IsTerminal, Write, stderr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::runtime::Builder;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;

const FIRST: Duration = Duration::from_secs(1);
const REDRAWN: Duration = Duration::from_millis(200);
const REPEATED: Duration = Duration::from_secs(10);
const BAR: u64 = 30;

/// A line is drawn on the terminal, and the next output would be written behind it.
static IS_DRAWN: AtomicBool = AtomicBool::new(false);

/// Removes the line that is drawn, if there is one. It is drawn again at its time.
pub fn clear() {
    if IS_DRAWN.swap(false, Ordering::Relaxed) {
        // A terminal that is gone shows nothing anyway.
        let _ = write!(stderr(), "\r\x1b[K");
    }
}

/// What is counted.
#[derive(Clone, Copy)]
pub enum Unit {
    Bytes,
    Rows,
    Orders,
    Events,
    Messages,
}

/// What Ctrl-C and SIGTERM do meanwhile.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Interrupt {
    /// They stop the work in an orderly way, and end the process the second time.
    StopsWork,
    /// They end the process, as usual.
    EndsProcess,
}

/// Shows progress until it is dropped.
pub struct ShownProgress {
    ended: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl ShownProgress {
    /// Shows progress of work that can be interrupted at any time.
    pub fn start(what: &'static str, unit: Unit, progress: &Arc<WorkProgress>) -> Self {
        Self::begin(what, unit, progress, Interrupt::EndsProcess)
    }

    /// The same for work that stops in an orderly way when `progress` says so.
    pub fn start_stoppable(what: &'static str, unit: Unit, progress: &Arc<WorkProgress>) -> Self {
        Self::begin(what, unit, progress, Interrupt::StopsWork)
    }

    fn begin(what: &'static str, unit: Unit, progress: &Arc<WorkProgress>, interrupt: Interrupt) -> Self {
        let (ended, until) = oneshot::channel();
        let progress = Arc::clone(progress);
        let thread = std::thread::spawn(move || {
            // Without it, the work goes on all the same.
            if let Ok(runtime) = Builder::new_current_thread().enable_all().build() {
                let _ = runtime.block_on(show(what, unit, &progress, interrupt, until));
            }
        });
        Self {
            ended: Some(ended),
            thread: Some(thread),
        }
    }
}

async fn show(
    what: &str,
    unit: Unit,
    progress: &WorkProgress,
    interrupt: Interrupt,
    mut until: oneshot::Receiver<()>,
) -> std::io::Result<()> {
    let mut signals = match interrupt {
        Interrupt::StopsWork => Some([signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?]),
        Interrupt::EndsProcess => None,
    };
    let (on_terminal, began, mut pause) = (stderr().is_terminal(), Instant::now(), FIRST);
    loop {
        tokio::select! {
            biased;
            _ = &mut until => break,
            () = interrupted(&mut signals) => stop(progress),
            () = tokio::time::sleep(pause) => {
                let line = line(what, unit, progress.get(), began.elapsed(), on_terminal);
                if on_terminal {
                    write!(stderr(), "\r\x1b[K{line}")?;
                    IS_DRAWN.store(true, Ordering::Relaxed);
                } else {
                    writeln!(stderr(), "{line}")?;
                }
                stderr().flush()?;
                pause = if on_terminal { REDRAWN } else { REPEATED };
            }
        }
    }
    clear();
    Ok(())
}

async fn interrupted(signals: &mut Option<[Signal; 2]>) {
    match signals {
        Some([interrupt, terminate]) => tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        },
        None => std::future::pending().await,
    }
}

fn stop(progress: &WorkProgress) {
    if progress.is_stopping() {
        std::process::exit(130);
    }
    progress.stop();
}

/// Shows the progress of work on this thread, which can be stopped.
pub fn with_progress<T>(what: &'static str, unit: Unit, work: impl FnOnce(&WorkProgress) -> T) -> T {
    let progress = Arc::default();
    let _shown = ShownProgress::start_stoppable(what, unit, &progress);
    work(&progress)
}

impl Drop for ShownProgress {
    fn drop(&mut self) {
        drop(self.ended.take());
        if let Some(thread) = self.thread.take() {
            // It has shown nothing more, which is all.
            let _ = thread.join();
        }
    }
}

fn line(what: &str, unit: Unit, (done, total): (u64, Option<u64>), took: Duration, with_bar: bool) -> String {
    let took = Took(took);
    let Some(total) = total else {
        return match done {
            0 => format!("{what}: {took}"),
            _ => format!("{what}: {} in {took}", amount(done, unit)),
        };
    };
    let done = done.min(total);
    let percent = u128::from(done) * 100 / u128::from(total.max(1));
    let amounts = format!(
        "{percent} %, {} of {}, {took}",
        amount(done, unit),
        amount(total, unit)
    );
    if !with_bar {
        return format!("{what}: {amounts}");
    }
    let full = usize::try_from(percent * u128::from(BAR) / 100).unwrap_or_default();
    let bar = "█".repeat(full) + &"·".repeat(BAR as usize - full);
    format!("{what}: {bar} {amounts}")
}

fn amount(count: u64, unit: Unit) -> String {
    match unit {
        Unit::Bytes if count < 10_000_000 => format!("{} kB", count / 1_000),
        Unit::Bytes => format!("{} MB", count / 1_000_000),
        Unit::Rows => format!("{count} rows"),
        Unit::Orders => format!("{count} orders"),
        Unit::Events => format!("{count} events"),
        Unit::Messages => format!("{count} messages"),
    }
}

struct Took(Duration);

impl fmt::Display for Took {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.as_secs();
        match seconds {
            0..120 => write!(f, "{seconds} s"),
            _ => write!(f, "{} min {} s", seconds / 60, seconds % 60),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_shows_how_far_it_is() {
        let second = Duration::from_secs(1);
        assert_eq!(
            line("backup", Unit::Bytes, (0, None), second, true),
            "backup: 1 s"
        );
        assert_eq!(
            line("copy", Unit::Rows, (7, None), second * 130, false),
            "copy: 7 rows in 2 min 10 s"
        );
        let half = line(
            "backup",
            Unit::Bytes,
            (50_000_000, Some(100_000_000)),
            second,
            false,
        );
        assert_eq!(half, "backup: 50 %, 50 MB of 100 MB, 1 s");
        for done in [0, 1, 99, 100, 250] {
            let line = line("x", Unit::Rows, (done, Some(100)), second, true);
            assert_eq!(line.matches(['█', '·']).count(), 30, "{line}");
        }
    }
}
