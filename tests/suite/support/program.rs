//! The real program as a process.

use super::{ApiClient, TestStorage, wait_until};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

const PROGRAM: &str = env!("CARGO_BIN_EXE_garson-e2e");

/// The program with nothing of this environment's settings.
pub fn command() -> Command {
    unset(Command::new(PROGRAM))
}

/// The program as a shell runs it: `"$@"` in the script.
pub fn command_after(script: &str) -> Command {
    let mut command = unset(Command::new("sh"));
    command.args(["-c", script, "sh", PROGRAM]);
    command
}

fn unset(mut command: Command) -> Command {
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("GARSON_")) {
        command.env_remove(name);
    }
    command
}

/// A file with a secret for a command, which is removed with the value.
pub fn secret_file(secret: &str) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), format!("{secret}\n")).unwrap();
    file
}

/// How a command ended.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub success: bool,
    pub out: String,
    pub err: String,
}

/// Runs a command on a storage to its end.
pub fn run_command(storage: &TestStorage, arguments: &[&str]) -> Outcome {
    run_command_with(storage, arguments, &[])
}

/// Runs a command with further variables.
pub fn run_command_with(storage: &TestStorage, arguments: &[&str], variables: &[(&str, &str)]) -> Outcome {
    run(prepared(command(), storage, arguments, variables))
}

/// A command that works on a storage.
pub fn prepared(
    mut command: Command,
    storage: &TestStorage,
    arguments: &[&str],
    variables: &[(&str, &str)],
) -> Command {
    command
        .current_dir(storage.folder())
        .args(arguments)
        .envs(storage.variables())
        .envs(variables.iter().copied());
    command
}

pub fn run(mut command: Command) -> Outcome {
    let output = command.stdin(Stdio::null()).output().unwrap();
    Outcome {
        success: output.status.success(),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// A program that runs until it is ended; dropping it kills it.
pub struct Program {
    child: Child,
    printed: Arc<Mutex<String>>,
    readers: Vec<std::thread::JoinHandle<()>>,
}

impl Program {
    pub fn start(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let printed = Arc::<Mutex<String>>::default();
        let readers = vec![
            follow(child.stdout.take().unwrap(), Arc::clone(&printed)),
            follow(child.stderr.take().unwrap(), Arc::clone(&printed)),
        ];
        Self {
            child,
            printed,
            readers,
        }
    }

    /// `garson serve` on a free port, with more settings.
    pub fn serve(storage: &TestStorage, more: &[(&str, &str)]) -> Self {
        Self::serve_at(storage, 0, more)
    }

    /// `garson serve` on a port, with more settings.
    pub fn serve_at(storage: &TestStorage, port: u16, more: &[(&str, &str)]) -> Self {
        let mut command = command();
        command
            .current_dir(storage.folder())
            .args(["serve", "--listen", &format!("127.0.0.1:{port}")])
            .envs(storage.variables())
            // Debug builds on a busy machine are overloaded now and then.
            .env("GARSON_SERVER__MAX_WAIT_MS", "0")
            .env(
                "GARSON_STORAGE__ANSWER_SECONDS",
                super::ANSWER_SECONDS.to_string(),
            )
            // Platforms are read when a case wants it.
            .env("GARSON_STORES__READ_SECONDS", "0")
            .envs(more.iter().copied());
        Self::start(command)
    }

    /// Everything that it has printed so far.
    pub fn printed(&self) -> String {
        self.printed.lock().unwrap().clone()
    }

    /// The address it listens on, once it does.
    pub async fn address(&mut self) -> SocketAddr {
        wait_until("the program listens", async || {
            let gone = self.child.try_wait().unwrap();
            assert!(gone.is_none(), "it ended: {}", self.printed());
            self.printed().contains("listens on http")
        })
        .await;
        let printed = self.printed();
        let (_, rest) = printed.split_once("listens on http").unwrap();
        let (_, rest) = rest.split_once("://").unwrap();
        rest.lines().next().unwrap().trim().parse().unwrap()
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Asks it to end.
    pub fn terminate(&self) {
        self.signal("TERM");
    }

    /// Stops it where it is; it does not notice, and keeps what it has.
    pub fn pause(&self) {
        self.signal("STOP");
    }

    /// Lets it go on.
    pub fn wake(&self) {
        self.signal("CONT");
    }

    pub fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args([&format!("-{name}"), &id]).status();
        assert!(sent.unwrap().success());
    }

    /// Waits until it has ended; returns whether it succeeded.
    pub async fn ended(&mut self) -> bool {
        wait_until("the program ends", async || {
            self.child.try_wait().unwrap().is_some()
        })
        .await;
        let success = self.child.wait().unwrap().success();
        for reader in self.readers.drain(..) {
            reader.join().unwrap();
        }
        success
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn follow(
    mut from: impl std::io::Read + Send + 'static,
    into: Arc<Mutex<String>>,
) -> std::thread::JoinHandle<()> {
    std::thread::spawn(move || {
        let mut buffer = [0; 8192];
        while let Ok(count) = from.read(&mut buffer) {
            if count == 0 {
                break;
            }
            let text = String::from_utf8_lossy(&buffer[..count]).into_owned();
            into.lock().unwrap().push_str(&text);
        }
    })
}

impl TestStorage {
    /// Creates an account with the command line and answers its key.
    pub fn create_account(&self, email: &str) -> String {
        let made = run_command(
            self,
            &[
                "account", "create", "--name", "Şirket", "--email", email, "--json",
            ],
        );
        assert!(made.success, "{}", made.err);
        let made: serde_json::Value = serde_json::from_str(made.out.trim()).unwrap();
        made["apiKey"].as_str().unwrap().to_owned()
    }
}

impl ApiClient {
    pub fn new(addr: SocketAddr, key: &str) -> Self {
        Self {
            addr,
            key: key.to_owned(),
        }
    }
}
