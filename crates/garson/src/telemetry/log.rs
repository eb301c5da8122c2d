//! Log lines, as text or JSON, never with secrets or personal data.

use crate::config::LogSettings;
use std::fs::File;
use std::sync::Mutex;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

/// Starts logging to standard error.
pub fn start_log(settings: &LogSettings) {
    start(settings, std::io::stderr);
}

/// Starts logging to a file.
pub fn start_log_in(settings: &LogSettings, file: File) {
    start(settings, Mutex::new(file));
}

fn start<W: for<'a> MakeWriter<'a> + Send + Sync + 'static>(settings: &LogSettings, writer: W) {
    let filter = EnvFilter::new(format!(
        "warn,garson={level},garson_store={level}",
        level = settings.level
    ));
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(writer)
        .with_target(false);
    // It fails only if a log was started before, in tests; that one is kept.
    let _ = match settings.format.as_str() {
        "json" => log.json().flatten_event(true).try_init(),
        _ => log.with_ansi(false).try_init(),
    };
}
