//! What the agent remembers across restarts: how far it has read, what it has printed, and what it was sending.
//!
//! The file is replaced atomically and synced before anything depends on it.

use super::super::command::CommandError;
use garson_core::id::{PrintJobId, PrinterId};
use serde::{Deserialize, Serialize};
use std::fs::{File, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Printed events that are remembered: more than one page of events, so that no page is printed twice.
const MAX_PRINTED: usize = 500;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct State {
    /// The service that the rest is about.
    pub server: String,
    pub printer_id: Option<PrinterId>,
    /// The printer that has answered queries. If it is silent after a restart, it has a problem.
    #[serde(default)]
    pub answering: Option<String>,
    /// Events up to here are done.
    pub cursor: Option<String>,
    /// Events and jobs that the printer has accepted, newest last.
    #[serde(default)]
    pub printed: Vec<String>,
    /// What was handed to the printer without an answer yet. If the agent ends here, it may be printed or not.
    #[serde(default)]
    pub sending: Option<String>,
    /// Requested tickets that are printed, and of which the service does not know yet.
    #[serde(default)]
    pub unreported: Vec<PrintJobId>,
}

impl State {
    pub fn is_printed(&self, key: &str) -> bool {
        self.printed.iter().any(|it| it == key)
    }

    pub fn mark_printed(&mut self, key: &str) {
        self.sending = None;
        self.printed.push(key.to_owned());
        let excess = self.printed.len().saturating_sub(MAX_PRINTED);
        self.printed.drain(..excess);
    }
}

/// The file, locked against a second agent.
pub struct StateFile {
    path: PathBuf,
    _lock: File,
}

impl StateFile {
    /// Opens the file, or starts a new one. The state of another service is not used.
    pub fn open(path: &Path, server: &str) -> Result<(Self, State), CommandError> {
        let shown = path.display();
        let lock_path = path.with_extension("lock");
        let lock = File::create(&lock_path)
            .map_err(|error| CommandError(format!("{} cannot be written: {error}", lock_path.display())))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(CommandError(format!(
                    "another agent uses {shown}: give each printer a file of its own with --state"
                )));
            }
            Err(TryLockError::Error(error)) => return Err(CommandError(format!("{shown}: {error}"))),
        }
        let file = Self {
            path: path.to_owned(),
            _lock: lock,
        };
        let state = match std::fs::read(path) {
            Ok(bytes) => serde_json::from_slice(&bytes)
                .map_err(|error| CommandError(format!("{shown} cannot be read: {error}")))?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => State::default(),
            Err(error) => return Err(CommandError(format!("{shown} cannot be read: {error}"))),
        };
        let state = if state.server == server {
            state
        } else {
            State {
                server: server.to_owned(),
                ..State::default()
            }
        };
        file.save(&state)?;
        Ok((file, state))
    }

    /// Replaces the file; when this returns, it survives a power failure.
    pub fn save(&self, state: &State) -> Result<(), CommandError> {
        self.write(state)
            .map_err(|error| CommandError(format!("{} cannot be written: {error}", self.path.display())))
    }

    fn write(&self, state: &State) -> std::io::Result<()> {
        let bytes = serde_json::to_vec(state)?;
        let temporary = self.path.with_extension("new");
        let mut file = File::create(&temporary)?;
        file.write_all(&bytes)?;
        file.sync_all()?;
        std::fs::rename(&temporary, &self.path)?;
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_is_read_back_and_belongs_to_one_service() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("print.json");
        let (file, mut state) = StateFile::open(&path, "http://a").unwrap();
        state.cursor = Some("000000000000000a".to_owned());
        state.mark_printed("one");
        file.save(&state).unwrap();
        drop(file);
        let (file, again) = StateFile::open(&path, "http://a").unwrap();
        assert_eq!(again, state);
        assert!(again.is_printed("one"));
        drop(file);
        let (_, other) = StateFile::open(&path, "http://b").unwrap();
        assert_eq!(other.cursor, None);
    }

    #[test]
    fn a_second_agent_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("print.json");
        let first = StateFile::open(&path, "http://a").unwrap();
        let Err(CommandError(message)) = StateFile::open(&path, "http://a") else {
            panic!("two agents with one file");
        };
        assert!(message.contains("another agent"), "{message}");
        drop(first);
    }

    #[test]
    fn a_damaged_file_is_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("print.json");
        std::fs::write(&path, "{\"cursor").unwrap();
        assert!(StateFile::open(&path, "http://a").is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "{\"cursor");
    }

    #[test]
    fn only_the_newest_printed_ids_are_kept() {
        let mut state = State::default();
        for number in 0..700 {
            state.mark_printed(&number.to_string());
        }
        assert_eq!(state.printed.len(), MAX_PRINTED);
        assert!(state.is_printed("699") && !state.is_printed("0"));
    }
}
