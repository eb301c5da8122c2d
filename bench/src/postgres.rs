//! A PostgreSQL server of our own, with its files below the benchmark's folder, ended with the row that uses it.

use crate::error::Fallible;
use crate::measure::cpu_seconds;
use crate::process::fresh_folder;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Sealing needs a key that does not come from the data folder.
pub const MASTER_KEY: (&str, &str) = (
    "GARSON_MASTER_KEY",
    "6265bd2b8a1a8a5bb1bb6ce1d5d34f0e1bb3aa1e0e3f2a9e3d1c5b7a9f8e7d6c",
);

pub struct Postgres {
    folder: tempfile::TempDir,
    url: String,
    databases: usize,
}

fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/postgres")
}

impl Postgres {
    /// Fails when PostgreSQL is not installed.
    pub fn start() -> Fallible<Self> {
        let folder = fresh_folder()?;
        let started = Command::new(script())
            .arg("start")
            .arg(folder.path())
            .stdin(Stdio::null())
            .output()?;
        if !started.status.success() {
            let why = String::from_utf8_lossy(&started.stderr).trim().to_owned();
            return Err(format!("PostgreSQL cannot be started: {why}").into());
        }
        Ok(Self {
            folder,
            url: String::from_utf8(started.stdout)?.trim().to_owned(),
            databases: 0,
        })
    }

    /// The address of a new, empty database.
    pub fn fresh_database(&mut self) -> Fallible<String> {
        self.databases += 1;
        let name = format!("bench_{}", self.databases);
        let mut client = postgres::Client::connect(&self.url, postgres::NoTls)?;
        client.batch_execute(&format!("CREATE DATABASE {name}"))?;
        let (server, _) = self.url.rsplit_once('/').ok_or("an odd address")?;
        Ok(format!("{server}/{name}"))
    }

    /// Runs the maintenance that the server would run within a minute after large writes.
    pub fn settle(url: &str) -> Fallible<()> {
        Ok(postgres::Client::connect(url, postgres::NoTls)?.batch_execute("VACUUM ANALYZE")?)
    }

    /// The processor time and memory (each page counted once) of all its processes that are there now.
    pub fn use_of(&self) -> Fallible<(f64, f64)> {
        let about = std::fs::read_to_string(self.folder.path().join("data/postmaster.pid"))?;
        let main = about.lines().next().ok_or("no process")?.to_owned();
        let (mut cpu, mut megabytes) = (0.0, 0.0);
        for entry in std::fs::read_dir("/proc")? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            let parent = std::fs::read_to_string(format!("/proc/{name}/stat")).unwrap_or_default();
            let parent = parent
                .rsplit_once(')')
                .and_then(|(_, rest)| rest.split_whitespace().nth(1));
            if name == main || parent == Some(main.as_str()) {
                cpu += cpu_seconds(&name).unwrap_or_default();
                let pages = std::fs::read_to_string(format!("/proc/{name}/smaps_rollup")).unwrap_or_default();
                let pss = pages.lines().find_map(|line| line.strip_prefix("Pss:"));
                let kilobytes = pss.and_then(|pss| pss.split_whitespace().next()?.parse::<f64>().ok());
                megabytes += kilobytes.unwrap_or_default() * 1024.0 / 1e6;
            }
        }
        Ok((cpu, megabytes))
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        let stopping = Command::new(script())
            .arg("stop")
            .arg(self.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .status();
        drop(stopping);
    }
}
