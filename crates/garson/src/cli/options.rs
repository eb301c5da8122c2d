//! The flags that every command accepts.

use super::command::CommandError;
use crate::config::Settings;
use clap::Args;
use std::path::PathBuf;

/// Settings that every command accepts. Environment variables (GARSON_LISTEN …) and garson.toml set the same; flags win.
#[derive(Args)]
pub struct Options {
    /// Read settings from this file instead of ./garson.toml
    #[arg(long, global = true, env = "GARSON_CONFIG", value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The data folder, with the SQLite database and the key file
    #[arg(long, global = true, value_name = "FOLDER")]
    pub data: Option<String>,
    /// Use PostgreSQL instead: postgres://user:password@host/database. The process list shows it to other users of this
    /// machine: prefer the variable GARSON_DATABASE_URL or garson.toml if it has a password
    #[arg(long, global = true, value_name = "URL", hide_env_values = true)]
    pub database_url: Option<String>,
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
        flags.extend(self.flags());
        Ok(Settings::load(self.config.as_deref(), std::env::vars(), flags)?)
    }
}
