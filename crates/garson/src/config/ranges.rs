//! Settings that are numbers, with their smallest and largest values.

use super::Settings;

/// The first setting that is out of its range, and the range.
pub(super) fn first_wrong(settings: &Settings) -> Option<(&'static str, String)> {
    let (webhook, storage, server) = (&settings.webhook, &settings.storage, &settings.server);
    let ranges = [
        (
            "webhook.attempt_seconds",
            webhook.attempt_seconds as usize,
            1..=60,
        ),
        ("webhook.max_per_endpoint", webhook.max_per_endpoint, 1..=256),
        ("webhook.max_in_flight", webhook.max_in_flight, 4..=20_000),
        ("webhook.keep_days", webhook.keep_days as usize, 1..=3_650),
        (
            "webhook.disable_after_hours",
            webhook.disable_after_hours as usize,
            1..=8_760,
        ),
        ("storage.readers", storage.readers, 1..=64),
        ("storage.writers", storage.writers, 1..=64),
        ("storage.answer_seconds", storage.answer_seconds as usize, 1..=300),
        ("storage.start_seconds", storage.start_seconds as usize, 0..=3_600),
        ("server.max_connections", server.max_connections, 1..=100_000),
        (
            "server.max_connections_per_address",
            server.max_connections_per_address,
            1..=100_000,
        ),
        (
            "messages.notices_per_day",
            settings.messages.notices_per_day as usize,
            1..=1_000,
        ),
        ("server.max_streams", server.max_streams, 1..=100_000),
        (
            "stores.history_days",
            settings.stores.history_days as usize,
            1..=3_650,
        ),
        ("menus.read_hours", settings.menus.read_hours as usize, 0..=168),
        (
            "menus.keep_versions",
            settings.menus.keep_versions as usize,
            2..=1_000,
        ),
        ("menus.keep_days", settings.menus.keep_days as usize, 2..=3_650),
        ("audit.keep_days", settings.audit.keep_days as usize, 1..=36_500),
        ("inbox.keep_days", settings.inbox.keep_days as usize, 1..=3_650),
        (
            "privacy.anonymise_days",
            settings.privacy.anonymise_days as usize,
            0..=36_500,
        ),
        (
            "backup.every_hours",
            settings.backup.every_hours as usize,
            1..=8_760,
        ),
        ("backup.keep", settings.backup.keep, 1..=10_000),
    ];
    if !matches!(settings.stores.read_seconds, 0 | 60..=86_400) {
        return Some(("stores.read_seconds", "60 to 86400, or 0".to_owned()));
    }
    let mut wrong = ranges
        .into_iter()
        .filter(|(_, value, range)| !range.contains(value));
    wrong
        .next()
        .map(|(key, _, range)| (key, format!("{} to {}", range.start(), range.end())))
}
