//! Log lines, as text or JSON, never with secrets or personal data.

use crate::config::LogSettings;
use tracing_subscriber::EnvFilter;

/// Starts logging to standard error.
pub fn start_log(settings: &LogSettings) {
    let filter = EnvFilter::new(format!(
        "warn,garson={level},garson_store={level}",
        level = settings.level
    ));
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_target(false);
    // It fails only if a log was started before, in tests; that one is kept.
    let _ = match settings.format.as_str() {
        "json" => log.json().flatten_event(true).try_init(),
        _ => log.with_ansi(false).try_init(),
    };
}
