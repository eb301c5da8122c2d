//! Settings: flags override environment variables, these `garson.toml`, and that the documented defaults in the program.

mod backup;
mod layers;
mod openid;
mod platforms;
mod quotas;
mod rate_limit;
mod smtp;
mod tls;
mod traces;

pub use backup::BackupSettings;
pub use layers::{ConfigError, Layer, Origin};
pub use openid::OpenIdConfig;
pub use platforms::{PlatformSettings, Platforms, Terms, terms};
pub use quotas::QuotaSettings;
pub use rate_limit::RateLimit;
pub use smtp::MailSettings;
pub use tls::TlsSettings;
pub use traces::TraceSettings;

use crate::net::Certificates;
use crate::net::client_address::{Proxies, ProxyHeader};
use crate::net::guard::{Exception, Policy};
use garson_core::network::Network;
use garson_core::retry::Schedule;
use garson_core::secret::Secret;
use garson_store::engine::{CrashCheck, MIGRATIONS, Migration};
use garson_store::{Location, Options};
use serde::Deserialize;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The documented defaults of the service itself.
const DEFAULTS: &str = include_str!("../garson.default.toml");

/// The settings are read from the first of these that exists, unless a file is named. The second one is the packages'.
const FILES: [&str; 2] = ["garson.toml", "/etc/garson/garson.toml"];

/// The documented defaults with those of every platform: the bottom layer.
#[must_use]
pub fn defaults() -> String {
    let mut text = DEFAULTS.to_owned();
    for platform in garson_platforms::all() {
        if !platform.settings().is_empty() {
            text.push('\n');
            text.push_str(platform.settings());
        }
    }
    text
}

#[derive(Clone, Debug, Deserialize)]
pub struct Settings {
    /// The migrations that the program knows; not a setting.
    #[serde(skip, default = "known_migrations")]
    pub migrations: &'static [Migration],
    pub listen: String,
    pub data: PathBuf,
    pub database_url: Secret<String>,
    pub master_key: Secret<String>,
    pub master_key_file: PathBuf,
    pub rate_limit: String,
    pub account_rate_limit: String,
    pub allow_private_targets: bool,
    pub allow_targets: Vec<String>,
    pub only_listed_targets: bool,
    pub trust_branch_claims: bool,
    pub trusted_certificates: PathBuf,
    pub simulator: String,
    pub public_url: String,
    pub webhook: WebhookSettings,
    pub storage: StorageSettings,
    pub server: ServerSettings,
    pub tls: TlsSettings,
    pub quotas: QuotaSettings,
    pub smtp: MailSettings,
    pub openid: OpenIdConfig,
    pub messages: MessageSettings,
    pub stores: StoreSettings,
    pub menus: MenuSettings,
    pub audit: AuditSettings,
    pub inbox: InboxSettings,
    pub privacy: PrivacySettings,
    pub backup: BackupSettings,
    pub log: LogSettings,
    pub traces: TraceSettings,
    #[serde(default)]
    pub platforms: Platforms,
}

#[derive(Clone, Debug, Deserialize)]
pub struct WebhookSettings {
    pub retry_seconds: Vec<u32>,
    pub attempt_seconds: u32,
    pub max_per_endpoint: usize,
    pub max_in_flight: usize,
    pub keep_days: u32,
    pub disable_after_hours: u32,
}

#[derive(Clone, Debug, Deserialize)]
pub struct StorageSettings {
    pub readers: usize,
    pub writers: usize,
    pub commit_delay_ms: u32,
    pub accept_damage: bool,
    pub answer_seconds: u32,
    pub start_seconds: u32,
}

#[derive(Clone, Debug, Deserialize)]
pub struct ServerSettings {
    pub max_connections: usize,
    pub max_connections_per_address: usize,
    pub trusted_proxies: Vec<String>,
    pub proxy_header: String,
    pub max_streams: usize,
    pub drain_seconds: u32,
    pub max_wait_ms: u32,
    pub operations_listen: String,
}

#[derive(Clone, Debug, Deserialize)]
pub struct MessageSettings {
    pub notices_per_day: u32,
}

#[derive(Clone, Debug, Deserialize)]
pub struct StoreSettings {
    pub read_seconds: u32,
    pub history_days: u32,
}

#[derive(Clone, Debug, Deserialize)]
pub struct MenuSettings {
    pub read_hours: u32,
    pub keep_versions: u32,
    pub keep_days: u32,
}

#[derive(Clone, Debug, Deserialize)]
pub struct AuditSettings {
    pub keep_days: u32,
}

#[derive(Clone, Debug, Deserialize)]
pub struct InboxSettings {
    pub keep_days: u32,
}

#[derive(Clone, Debug, Deserialize)]
pub struct PrivacySettings {
    pub anonymise_days: u32,
}

#[derive(Clone, Debug, Deserialize)]
pub struct LogSettings {
    pub level: String,
    pub format: String,
}

impl Settings {
    /// Loads the settings: defaults, a file if there is one, variables, flags.
    pub fn load(
        file: Option<&Path>,
        variables: impl IntoIterator<Item = (String, String)>,
        flags: Vec<(&'static str, String)>,
    ) -> Result<Self, ConfigError> {
        Self::layered(file, variables, flags).map(|(settings, _)| settings)
    }

    /// The effective settings as TOML, without secrets.
    pub fn effective(
        file: Option<&Path>,
        variables: impl IntoIterator<Item = (String, String)>,
        flags: Vec<(&'static str, String)>,
    ) -> Result<String, ConfigError> {
        let (_, layers) = Self::layered(file, variables, flags)?;
        layers.shown(|key| {
            let own = [
                "database_url",
                "master_key",
                "smtp.password",
                "openid.client_secret",
                "traces.authorization",
            ];
            own.contains(&key) || key.strip_prefix("platforms.").is_some_and(platforms::is_secret)
        })
    }

    fn layered(
        file: Option<&Path>,
        variables: impl IntoIterator<Item = (String, String)>,
        flags: Vec<(&'static str, String)>,
    ) -> Result<(Self, Layer), ConfigError> {
        let mut layers = Layer::bottom(&defaults())?;
        // One that may not be read is an error: with the defaults, a command would work on other data.
        let is_there = |path: &&Path| path.try_exists().unwrap_or(true);
        let usual = || FILES.map(Path::new).into_iter().find(is_there);
        if let Some(path) = file.or_else(usual) {
            layers.add_file(path)?;
        }
        layers.add_variables(variables)?;
        for (key, value) in flags {
            layers.add_text(Origin::Flag(key), key, &value)?;
        }
        let settings: Self = layers.read()?;
        settings.check(&layers)?;
        Ok((settings, layers))
    }

    fn check(&self, layers: &Layer) -> Result<(), ConfigError> {
        let wrong = |key: &str, allowed: &str| Err(layers.wrong(key, allowed));
        if self.listen.parse::<SocketAddr>().is_err() {
            return wrong("listen", "an address with a port, such as 127.0.0.1:8080");
        }
        if self.rate_limit().is_err() {
            return wrong(
                "rate_limit",
                "\"off\", or requests a second and a burst, such as \"1000/2000\"",
            );
        }
        if self.account_rate_limit().is_err() {
            return wrong(
                "account_rate_limit",
                "\"off\", or requests a second and a burst, such as \"4000/8000\"",
            );
        }
        if self.policy().is_err() {
            return wrong("allow_targets", "a list of addresses such as \"10.0.4.7:8443\"");
        }
        if let Err(why) = self.certificates() {
            return wrong(
                "trusted_certificates",
                &format!("empty, or a PEM file with certificates: {why}"),
            );
        }
        if !self.simulator.is_empty() && !platforms::is_address(&self.simulator) {
            return wrong("simulator", "empty, or an address that starts with http://");
        }
        if !self.public_url.is_empty() && !platforms::is_plain_address(&self.public_url) {
            let allowed = "empty, or an address such as https://orders.example.com, without a query";
            return wrong("public_url", allowed);
        }
        let key = self.master_key.expose();
        if !key.is_empty() && parse_key(key).is_none() {
            return wrong("master_key", "64 hexadecimal digits");
        }
        if !key.is_empty() && !self.master_key_file.as_os_str().is_empty() {
            return wrong("master_key_file", "empty while master_key is set");
        }
        let listen = &self.server.operations_listen;
        if !listen.is_empty() && listen.parse::<SocketAddr>().is_err() {
            let allowed = "empty, or an address with a port, such as 127.0.0.1:9090";
            return wrong("server.operations_listen", allowed);
        }
        if self.tls.is_on() == self.tls.key.as_os_str().is_empty() {
            return wrong("tls.key", "set if and only if tls.certificate is");
        }
        let url = self.database_url.expose();
        if !url.is_empty() && !url.starts_with("postgres://") && !url.starts_with("postgresql://") {
            return wrong(
                "database_url",
                "empty for SQLite, or postgres://user:password@host/database",
            );
        }
        if self.webhook.retry_seconds.len() > 10
            || self
                .webhook
                .retry_seconds
                .iter()
                .any(|s| !(1..=86_400).contains(s))
        {
            return wrong("webhook.retry_seconds", "up to ten pauses of 1 to 86400 seconds");
        }
        if let Some((key, allowed)) = self.first_out_of_range() {
            return wrong(key, &allowed);
        }
        if self.server.proxy_header.parse::<ProxyHeader>().is_err() {
            return wrong("server.proxy_header", "X-Forwarded-For or Forwarded");
        }
        if self.proxies().is_err() {
            return wrong(
                "server.trusted_proxies",
                "a list of addresses or networks such as \"10.0.0.0/8\"",
            );
        }
        if !["error", "warn", "info", "debug", "trace"].contains(&self.log.level.as_str()) {
            return wrong("log.level", "error, warn, info, debug or trace");
        }
        if let Some((key, allowed)) = self.smtp.first_wrong() {
            return wrong(key, allowed);
        }
        if let Some((key, allowed)) = self.traces.first_wrong() {
            return wrong(key, allowed);
        }
        if let Some((key, allowed)) = self.openid.first_wrong(&self.public_url) {
            return wrong(key, allowed);
        }
        if let Some((key, allowed)) = platforms::first_wrong(&self.platforms) {
            return wrong(&key, allowed);
        }
        if !["text", "json"].contains(&self.log.format.as_str()) {
            return wrong("log.format", "text or json");
        }
        Ok(())
    }

    /// The first number that is out of its range, and the range.
    fn first_out_of_range(&self) -> Option<(&'static str, String)> {
        let (webhook, storage, server) = (&self.webhook, &self.storage, &self.server);
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
                self.messages.notices_per_day as usize,
                1..=1_000,
            ),
            ("server.max_streams", server.max_streams, 1..=100_000),
            ("server.max_wait_ms", server.max_wait_ms as usize, 0..=60_000),
            (
                "stores.history_days",
                self.stores.history_days as usize,
                1..=3_650,
            ),
            ("menus.read_hours", self.menus.read_hours as usize, 0..=168),
            (
                "menus.keep_versions",
                self.menus.keep_versions as usize,
                2..=1_000,
            ),
            ("menus.keep_days", self.menus.keep_days as usize, 2..=3_650),
            ("audit.keep_days", self.audit.keep_days as usize, 1..=36_500),
            ("inbox.keep_days", self.inbox.keep_days as usize, 1..=3_650),
            (
                "privacy.anonymise_days",
                self.privacy.anonymise_days as usize,
                0..=36_500,
            ),
            ("backup.every_hours", self.backup.every_hours as usize, 1..=8_760),
            ("backup.keep", self.backup.keep, 1..=10_000),
            ("traces.percent", self.traces.percent as usize, 0..=100),
        ];
        if !matches!(self.stores.read_seconds, 0 | 60..=86_400) {
            return Some(("stores.read_seconds", "60 to 86400, or 0".to_owned()));
        }
        let mut wrong = ranges
            .into_iter()
            .filter(|(_, value, range)| !range.contains(value));
        wrong
            .next()
            .map(|(key, _, range)| (key, format!("{} to {}", range.start(), range.end())))
    }

    /// The rate limit of a key, if there is one.
    pub fn rate_limit(&self) -> Result<Option<RateLimit>, &'static str> {
        RateLimit::read(&self.rate_limit)
    }

    /// The rate limit of all keys of an account, if there is one. Where keys have none, accounts have none.
    pub fn account_rate_limit(&self) -> Result<Option<RateLimit>, &'static str> {
        let limit = RateLimit::read(&self.account_rate_limit)?;
        Ok(limit.filter(|_| self.rate_limit != "off"))
    }

    /// The address at which people and programs reach the service, without a slash at its end: `public_url`, or what it listens on.
    #[must_use]
    pub fn base_url(&self, listening_on: &str) -> String {
        if !self.public_url.is_empty() {
            return self.public_url.trim_end_matches('/').to_owned();
        }
        let scheme = if self.tls.is_on() { "https" } else { "http" };
        format!("{scheme}://{listening_on}")
    }

    /// Which addresses may be called.
    pub fn policy(&self) -> Result<Policy, String> {
        let parse = |text: &String| text.parse::<Exception>().map_err(|error| error.to_string());
        let allow_targets = self.allow_targets.iter().map(parse).collect::<Result<_, _>>()?;
        Ok(Policy {
            allow_private: self.allow_private_targets,
            allow_targets,
            only_listed: self.only_listed_targets,
        })
    }

    /// The proxies that may name the address of a client.
    pub fn proxies(&self) -> Result<Proxies, &'static str> {
        let parse = |text: &String| text.parse::<Network>();
        let networks = self.server.trusted_proxies.iter().map(parse);
        Ok(Proxies {
            networks: networks.collect::<Result<_, _>>()?,
            header: self.server.proxy_header.parse()?,
        })
    }

    /// Trusted certificates in addition to the public ones.
    pub fn certificates(&self) -> Result<Certificates, String> {
        if self.trusted_certificates.as_os_str().is_empty() {
            Ok(Certificates::default())
        } else {
            Certificates::read(&self.trusted_certificates)
        }
    }

    /// The database.
    #[must_use]
    pub fn location(&self) -> Location {
        if self.database_url.expose().is_empty() {
            Location::Sqlite(self.data.join("garson.db"))
        } else {
            Location::Postgres(self.database_url.clone())
        }
    }

    /// The pauses before each retry of a delivery.
    #[must_use]
    pub fn schedule(&self) -> Schedule {
        let seconds = self.webhook.retry_seconds.iter();
        Schedule(seconds.map(|s| Duration::from_secs(u64::from(*s))).collect())
    }

    #[must_use]
    pub fn storage_options(&self) -> Options {
        Options {
            readers: self.storage.readers,
            writers: self.storage.writers,
            commit_delay: Duration::from_millis(u64::from(self.storage.commit_delay_ms)),
            answer_within: Duration::from_secs(u64::from(self.storage.answer_seconds)),
            start_wait: Duration::from_secs(u64::from(self.storage.start_seconds)),
            crash_check: CrashCheck {
                accept_damage: self.storage.accept_damage,
                ..CrashCheck::default()
            },
            migrations: self.migrations,
            ..Options::default()
        }
    }
}

fn known_migrations() -> &'static [Migration] {
    MIGRATIONS
}

/// Reads a master key of 64 hexadecimal digits.
#[must_use]
pub fn parse_key(hex: &str) -> Option<Secret<[u8; 32]>> {
    if hex.len() != 64 || !hex.is_ascii() {
        return None;
    }
    let mut key = [0; 32];
    for (byte, pair) in key.iter_mut().zip(hex.as_bytes().chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(Secret::new(key))
}

#[cfg(test)]
mod tests;
