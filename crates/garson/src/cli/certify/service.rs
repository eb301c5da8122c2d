//! The temporary service: a process of its own, so that it can be killed and started again.

use super::super::command::{CommandError, Outcome};
use super::super::serve;
use crate::config::Settings;
use garson_sim::Platform;
use std::fmt::Write;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;
use tokio::sync::oneshot;

const START_LIMIT: Duration = Duration::from_secs(60);
/// The pauses before retries. The real ones would make every outage last minutes.
const RETRY_SECONDS: &str = "[1, 1, 2, 4, 8]";

/// `garson certify-service`: serves until standard input ends, so that it does not outlive the program that started it.
pub fn serve_for_parent(settings: Settings) -> Outcome {
    std::thread::spawn(|| {
        let mut rest = Vec::new();
        // It ends by the end of the input or by an error; both mean that the parent is gone.
        let _ = std::io::stdin().read_to_end(&mut rest);
        std::process::exit(0);
    });
    serve::serve(settings)
}

/// Writes the settings of the service.
pub fn write_settings(folder: &Path, sim: SocketAddr, timeout: Duration) -> Result<PathBuf, CommandError> {
    // The relay sends some events to the POS twice before it answers.
    let attempt = timeout.as_secs() * 2 + 10;
    let data = toml::Value::String(folder.join("data").display().to_string());
    let mut text = format!(
        "data = {data}\n\
         allow_private_targets = true\n\
         trust_branch_claims = true\n\
         rate_limit = \"off\"\n\
         account_rate_limit = \"off\"\n\
         [webhook]\n\
         retry_seconds = {RETRY_SECONDS}\n\
         attempt_seconds = {attempt}\n\
         [storage]\n\
         answer_seconds = 30\n\
         [stores]\n\
         read_seconds = 0\n\
         [menus]\n\
         read_hours = 0\n\
         [log]\n\
         level = \"warn\"\n"
    );
    for platform in Platform::ALL {
        write!(
            text,
            "[platforms.{platform}]\nbase_url = \"http://{sim}/{platform}\"\nseconds_between_moves = 0\n"
        )?;
    }
    let path = folder.join("garson.toml");
    super::folder::write_private(&path, &text)?;
    Ok(path)
}

pub struct Service {
    child: Child,
    config: PathBuf,
    pub address: SocketAddr,
}

impl Service {
    /// Starts the service and waits until it accepts requests.
    pub async fn start(config: PathBuf, listen: SocketAddr) -> Result<Self, CommandError> {
        let mut child = spawn(&config, listen)?;
        let listening = child.stdout.take().map(address_printed);
        // Dropping it ends the process.
        let mut service = Self {
            child,
            config,
            address: listen,
        };
        let Some(listening) = listening else {
            return Err(CommandError("the temporary service has no output".to_owned()));
        };
        match tokio::time::timeout(START_LIMIT, listening).await {
            Ok(Ok(address)) => {
                service.address = address;
                Ok(service)
            }
            Ok(Err(_)) => Err(service.failed("ended")),
            Err(_) => Err(service.failed("did not start in time")),
        }
    }

    fn failed(&self, what: &str) -> CommandError {
        let log = std::fs::read_to_string(log_of(&self.config)).unwrap_or_default();
        let last = log.lines().last().unwrap_or("it printed nothing");
        CommandError(format!("the temporary service {what}: {last}"))
    }

    /// Kills the process, as a power failure would, and waits for its end.
    pub fn kill(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Starts it again at the same address, with the same data.
    pub async fn start_again(&mut self) -> Outcome {
        let next = Self::start(self.config.clone(), self.address).await?;
        *self = next;
        Ok(())
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.kill();
    }
}

fn log_of(config: &Path) -> PathBuf {
    config.with_file_name("service.log")
}

fn spawn(config: &Path, listen: SocketAddr) -> Result<Child, CommandError> {
    let program = std::env::current_exe()?;
    let log = File::options().create(true).append(true).open(log_of(config))?;
    let mut command = Command::new(program);
    command
        .args(["certify-service", "--listen", &listen.to_string(), "--config"])
        .arg(config)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(log);
    // Settings of another installation must not reach it.
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("GARSON_") {
            command.env_remove(name);
        }
    }
    let started = command.spawn();
    started.map_err(|error| CommandError(format!("the temporary service cannot be started: {error}")))
}

/// The address that the service prints. Its output is read to the end, so that it never waits for a reader.
fn address_printed(output: ChildStdout) -> oneshot::Receiver<SocketAddr> {
    let (found, listening) = oneshot::channel();
    std::thread::spawn(move || {
        let mut found = Some(found);
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            let address = line.split_once("listens on http://").map(|(_, address)| address);
            if let Some(Ok(address)) = address.map(|address| address.trim().parse())
                && let Some(found) = found.take()
            {
                // The receiver may have given up.
                let _ = found.send(address);
            }
        }
    });
    listening
}
