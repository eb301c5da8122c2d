//! What the agent remembers across restarts: how far it has read, what it has printed, and what it was sending.
//!
//! The file is replaced atomically and synced before anything depends on it.

use super::super::command::{CommandError, Outcome};
use garson_core::id::{PrintJobId, PrinterId};
use garson_core::time::Timestamp;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Printed events that are remembered: more than one page of events, so that no page is printed twice.
const MAX_PRINTED: usize = 500;
/// Interrupted tickets that are remembered. There is one for each kill of the agent.
const MAX_INTERRUPTED: usize = 100;
/// Hours for which orders that were left out are counted.
const SKIPPED_HOURS: i64 = 24;

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
    /// Events and jobs that are done, because the printer has accepted them or they are not needed; newest last.
    #[serde(default)]
    pub printed: Vec<String>,
    /// What was handed to the printer without an answer yet. If the agent ends here, it may be printed or not.
    #[serde(default)]
    pub sending: Option<String>,
    /// What an agent was sending when it ended, and has been overtaken by another ticket since.
    #[serde(default)]
    pub interrupted: Vec<String>,
    /// How many orders came too late to be printed, by the hour since 1970.
    #[serde(default)]
    skipped: BTreeMap<i64, u32>,
    /// Requested tickets that are printed, and of which the service does not know yet.
    #[serde(default)]
    pub unreported: Vec<PrintJobId>,
}

impl State {
    pub fn is_printed(&self, key: &str) -> bool {
        self.printed.iter().any(|it| it == key)
    }

    /// May the ticket be printed already?
    pub fn is_uncertain(&self, key: &str) -> bool {
        self.sending.as_deref() == Some(key) || self.interrupted.iter().any(|it| it == key)
    }

    /// The ticket is handed to the printer. A ticket that was interrupted keeps its place.
    pub fn start_sending(&mut self, key: &str) {
        let before = self.sending.replace(key.to_owned());
        if let Some(before) = before.filter(|before| before != key) {
            self.interrupted.push(before);
            let excess = self.interrupted.len().saturating_sub(MAX_INTERRUPTED);
            self.interrupted.drain(..excess);
        }
    }

    /// The ticket certainly did not reach the printer.
    pub fn stop_sending(&mut self, key: &str) {
        self.sending.take_if(|it| it == key);
        self.interrupted.retain(|it| it != key);
    }

    pub fn mark_printed(&mut self, key: &str) {
        self.stop_sending(key);
        self.printed.push(key.to_owned());
        let excess = self.printed.len().saturating_sub(MAX_PRINTED);
        self.printed.drain(..excess);
    }

    pub fn count_skipped(&mut self, number: u32, now: Timestamp) {
        let hours = recent_hours(now);
        self.skipped.retain(|hour, _| hours.contains(hour));
        let count = self.skipped.entry(*hours.end()).or_default();
        *count = count.saturating_add(number);
    }

    /// How many orders came too late to be printed in the last day.
    pub fn skipped_lately(&self, now: Timestamp) -> u32 {
        let hours = recent_hours(now);
        let recent = self.skipped.iter().filter(|(hour, _)| hours.contains(hour));
        recent.fold(0, |sum, (_, count)| sum.saturating_add(*count))
    }
}

fn recent_hours(now: Timestamp) -> std::ops::RangeInclusive<i64> {
    let hour = now.as_millis().div_euclid(60 * 60 * 1_000);
    hour - SKIPPED_HOURS + 1..=hour
}

/// The state in memory and on disk. The task that prints and the one that reports both change it.
pub struct StateStore {
    file: StateFile,
    state: Mutex<State>,
}

impl StateStore {
    pub fn open(path: &Path, server: &str) -> Result<Self, CommandError> {
        let (file, state) = StateFile::open(path, server)?;
        Ok(Self {
            file,
            state: Mutex::new(state),
        })
    }

    pub fn read<T>(&self, look: impl FnOnce(&State) -> T) -> T {
        look(&self.state.lock())
    }

    /// Changes the state; when this returns, the change survives a power failure.
    pub fn update(&self, change: impl FnOnce(&mut State)) -> Outcome {
        let mut state = self.state.lock();
        change(&mut state);
        self.file.save(&state)
    }
}

/// The file, locked against a second agent.
struct StateFile {
    path: PathBuf,
    _lock: File,
}

impl StateFile {
    /// Opens the file, or starts a new one. The state of another service is not used.
    fn open(path: &Path, server: &str) -> Result<(Self, State), CommandError> {
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
    fn save(&self, state: &State) -> Outcome {
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
    fn interrupted_ticket_is_remembered_while_others_are_printed() {
        let mut state = State::default();
        state.start_sending("event");
        // The agent was killed. A requested ticket comes first.
        state.start_sending("job");
        state.mark_printed("job");
        assert_eq!(state.sending, None);
        assert!(state.is_uncertain("event") && !state.is_uncertain("job"));
        // A ticket that is not needed any more changes nothing for the other.
        state.mark_printed("other");
        assert!(state.is_uncertain("event"));
        state.start_sending("event");
        assert!(state.is_uncertain("event"));
        state.mark_printed("event");
        assert!(!state.is_uncertain("event") && state.interrupted.is_empty());
        // One that certainly did not reach the printer is as new.
        state.start_sending("next");
        state.stop_sending("next");
        assert!(!state.is_uncertain("next"));
        for number in 0..300 {
            state.start_sending(&number.to_string());
        }
        assert_eq!(state.interrupted.len(), MAX_INTERRUPTED);
        assert!(state.is_uncertain("298") && state.is_uncertain("299"));
    }

    #[test]
    fn skipped_orders_are_counted_for_a_day() {
        let hour = |hour: i64| Timestamp::from_millis(hour * 3_600_000 + 5);
        let mut state = State::default();
        state.count_skipped(2, hour(1_000));
        state.count_skipped(3, hour(1_000));
        state.count_skipped(4, hour(1_023));
        assert_eq!(state.skipped_lately(hour(1_023)), 9);
        assert_eq!(state.skipped_lately(hour(1_024)), 4);
        state.count_skipped(1, hour(1_024));
        assert_eq!(state.skipped.len(), 2);
        assert_eq!(state.skipped_lately(hour(1_050)), 0);
        let text = serde_json::to_string(&state).unwrap();
        assert_eq!(serde_json::from_str::<State>(&text).unwrap(), state);
    }

    #[test]
    fn state_of_an_older_release_is_read() {
        let text = r#"{"server":"http://a","printerId":null,"cursor":"0a","printed":["1"],"sending":"2"}"#;
        let state: State = serde_json::from_str(text).unwrap();
        assert!(state.is_uncertain("2") && state.is_printed("1"));
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
