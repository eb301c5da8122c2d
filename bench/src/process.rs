//! Processes of this program in other roles: started, watched, ended.

use crate::client::{self, Target};
use crate::error::Fallible;
use crate::measure;
use crate::shop;
use crate::sink::{self, Ports};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// Servers log warnings here; with this they log what they do by default, a line for every attempt at a delivery.
pub const ALL_LINES: (&str, &str) = ("GARSON_LOG__LEVEL", "info");

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
            .env("GARSON_ACCOUNT_RATE_LIMIT", "10000000/10000000")
            // The orders of filled accounts are old: removing their events would be measured beside what is meant.
            .env("GARSON_WEBHOOK__KEEP_DAYS", "3650")
            .envs(shop::PRIVATE_TARGETS)
            .envs(settings.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        if settings.contains(&ALL_LINES) {
            // They are written, but not shown.
            command.stderr(Stdio::null());
        }
        let mut child = command.spawn()?;
        let stdout = child.stdout.take().ok_or("a server without output")?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        let address = line.rsplit_once("http://").map(|(_, address)| address.trim());
        let Some(address) = address else {
            // It may have ended already.
            let _ = child.kill();
            return Err(format!("the server did not start: {line:?}").into());
        };
        let address = address.to_owned();
        Ok(Self { child, address })
    }

    pub fn cpu_seconds(&self) -> Fallible<f64> {
        measure::cpu_seconds(&self.child.id().to_string())
    }

    /// The memory that it holds, in megabytes.
    pub fn resident_megabytes(&self) -> Fallible<f64> {
        self.megabytes("VmRSS:")
    }

    /// The most that it has held.
    pub fn peak_megabytes(&self) -> Fallible<f64> {
        self.megabytes("VmHWM:")
    }

    fn megabytes(&self, name: &str) -> Fallible<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let kilobytes = line.and_then(|line| line.split_whitespace().next());
        Ok(kilobytes.ok_or("no such line")?.parse::<f64>()? * 1024.0 / 1e6)
    }

    /// A counter of `/metrics`.
    pub fn counter(&self, name: &str) -> Fallible<f64> {
        let answer = client::ask_once(&Target::get(&self.address, "", "/metrics"))?;
        let text = String::from_utf8(answer)?;
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        let value = line.ok_or_else(|| format!("no counter {name}"))?;
        Ok(value.trim().parse()?)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The receiving process. Dropping this ends it.
pub struct ReceiverProcess {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    pub ports: Ports,
}

impl ReceiverProcess {
    pub fn start() -> Fallible<Self> {
        let mut child = Command::new(std::env::current_exe()?)
            .arg(sink::ROLE)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let input = child.stdin.take().ok_or("a process without input")?;
        let mut output = BufReader::new(child.stdout.take().ok_or("a process without output")?);
        let ports = read_line(&mut output)?;
        Ok(Self {
            child,
            input,
            output,
            ports,
        })
    }

    /// Sends a command; the answer comes when it is done.
    pub fn send(&mut self, command: &sink::Command) -> Fallible<()> {
        writeln!(self.input, "{}", serde_json::to_string(command)?)?;
        Ok(self.input.flush()?)
    }

    pub fn receive<R: DeserializeOwned>(&mut self) -> Fallible<R> {
        read_line(&mut self.output)
    }

    pub fn ask<R: DeserializeOwned>(&mut self, command: &sink::Command) -> Fallible<R> {
        self.send(command)?;
        self.receive()
    }
}

fn read_line<R: DeserializeOwned>(output: &mut BufReader<ChildStdout>) -> Fallible<R> {
    let mut line = String::new();
    output.read_line(&mut line)?;
    Ok(serde_json::from_str(&line).map_err(|error| format!("the receiving process failed: {error}"))?)
}

impl Drop for ReceiverProcess {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Where data is cached between runs: beside the build output.
pub fn cache_folder() -> Fallible<PathBuf> {
    let program = std::env::current_exe()?;
    let target = program
        .parent()
        .and_then(Path::parent)
        .ok_or("no target folder")?;
    let folder = target.join("bench-data");
    std::fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// A temporary folder on the same disk.
pub fn fresh_folder() -> Fallible<tempfile::TempDir> {
    Ok(tempfile::tempdir_in(cache_folder()?)?)
}
