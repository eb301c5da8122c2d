//! Processes of this program in other roles: started, watched, ended.

use crate::Fallible;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The kernel counts processor time in hundredths of a second on every Linux machine of today.
const TICKS_A_SECOND: f64 = 100.0;

/// The processor time that a process has used, in seconds.
pub fn cpu_seconds(process: &str) -> Fallible<f64> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat"))?;
    // The name is in parentheses and may hold anything; the fields after it do not.
    let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let ticks: f64 = fields
        .split_whitespace()
        .skip(11)
        .take(2)
        .filter_map(|field| field.parse::<f64>().ok())
        .sum();
    Ok(ticks / TICKS_A_SECOND)
}

/// Runs this program in a role to its end and reads what it reports.
pub fn run<P: Serialize, R: DeserializeOwned>(role: &str, plan: &P) -> Fallible<R> {
    let output = Command::new(std::env::current_exe()?)
        .arg(role)
        .arg(serde_json::to_string(plan)?)
        .stderr(Stdio::inherit())
        .output()?;
    if !output.status.success() {
        return Err(format!("the {role} process failed").into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// A server, ended when it is dropped.
pub struct Server {
    child: Child,
    pub address: String,
}

impl Server {
    /// Starts a server in a role on a data folder; it has said that it listens when this returns.
    pub fn start(role: &str, data: &Path, settings: &[(&str, &str)]) -> Fallible<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command
            .arg(role)
            .env("GARSON_LISTEN", "127.0.0.1:0")
            .env("GARSON_DATA", data)
            .env("GARSON_LOG__LEVEL", "warn")
            // High enough never to refuse: the limiter counts all the same.
            .env("GARSON_RATE_LIMIT", "10000000/10000000")
            .envs(settings.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let stdout = child.stdout.take().ok_or("a server without output")?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        let address = line.rsplit_once("http://").map(|(_, address)| address.trim());
        let Some(address) = address else {
            drop(child.kill());
            return Err(format!("the server did not start: {line:?}").into());
        };
        let address = address.to_owned();
        Ok(Self { child, address })
    }

    pub fn cpu_seconds(&self) -> Fallible<f64> {
        cpu_seconds(&self.child.id().to_string())
    }

    /// The memory that it holds, in megabytes.
    pub fn resident_megabytes(&self) -> Fallible<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kilobytes = line.and_then(|line| line.split_whitespace().next());
        Ok(kilobytes.ok_or("no VmRSS")?.parse::<f64>()? * 1024.0 / 1e6)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Where data that is worth keeping between runs lives: beside the build output.
pub fn kept_folder() -> Fallible<PathBuf> {
    let program = std::env::current_exe()?;
    let target = program
        .parent()
        .and_then(Path::parent)
        .ok_or("no target folder")?;
    let folder = target.join("bench-data");
    std::fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// A fresh folder on the same disk, gone when it is dropped.
pub fn fresh_folder() -> Fallible<tempfile::TempDir> {
    Ok(tempfile::tempdir_in(kept_folder()?)?)
}
