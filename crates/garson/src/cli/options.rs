//! The flags that every command accepts.

use super::command::CommandError;
use super::secret_input::refuse_password;
use crate::config::Settings;
use clap::Args;
use garson_store::engine::{MIGRATIONS, Migration};
use std::path::PathBuf;

/// Settings that every command accepts. Environment variables (GARSON_LISTEN …) and garson.toml set the same; flags win.
#[derive(Args)]
pub struct Options {
    /// Read settings from this file instead of ./garson.toml, or else /etc/garson/garson.toml
    #[arg(long, global = true, env = "GARSON_CONFIG", value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The data folder, with the SQLite database and the key file
    #[arg(long, global = true, value_name = "FOLDER")]
    pub data: Option<String>,
    /// Use PostgreSQL instead: postgres://user@host/database. One with a password belongs in the variable
    /// GARSON_DATABASE_URL or garson.toml, since the process list shows arguments to other users of this machine
    #[arg(long, global = true, value_name = "URL", hide_env_values = true)]
    pub database_url: Option<String>,
    /// The migrations that the program knows.
    #[arg(skip = MIGRATIONS)]
    pub migrations: &'static [Migration],
}

impl Options {
    pub fn settings(&self) -> Result<Settings, CommandError> {
        self.with_flags(Vec::new())
    }

    /// The settings of a command that listens, perhaps on an address of its own.
    pub fn listening_on(&self, address: Option<String>) -> Result<Settings, CommandError> {
        let listen = address.map(|address| ("listen", address));
        self.with_flags(listen.into_iter().collect())
    }

    /// The settings that these flags set.
    pub fn flags(&self) -> Vec<(&'static str, String)> {
        let data = self.data.clone().map(|data| ("data", data));
        let url = self.database_url.clone().map(|url| ("database_url", url));
        data.into_iter().chain(url).collect()
    }

    fn with_flags(&self, mut flags: Vec<(&'static str, String)>) -> Result<Settings, CommandError> {
        if let Some(url) = &self.database_url {
            let instead = "the variable GARSON_DATABASE_URL or garson.toml";
            refuse_password(url, "--database-url", instead)?;
        }
        flags.extend(self.flags());
        let settings = Settings::load(self.config.as_deref(), std::env::vars(), flags)?;
        Ok(Settings {
            migrations: self.migrations,
            ..settings
        })
    }
}
