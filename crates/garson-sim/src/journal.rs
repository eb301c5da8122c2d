//! The last calls that the platforms received, with what became of them.

use std::collections::{BTreeMap, VecDeque};

use crate::{
    platform::Platform,
    views::{CallCount, JournalLine},
};

const KEPT: usize = 10_000;
/// How much of a request's body is stored.
const KEPT_BODY: usize = 2_000;

/// The beginning of a request's body as a line stores it.
pub(crate) fn shortened(body: &[u8]) -> String {
    String::from_utf8_lossy(body).chars().take(KEPT_BODY).collect()
}

#[derive(Debug, Default)]
pub(crate) struct Journal {
    last: u64,
    lines: VecDeque<JournalLine>,
    /// All calls and the refused ones, by operation, since the journal was cleared.
    counts: BTreeMap<(Platform, String), (u64, u64)>,
}

impl Journal {
    /// Writes a line and gives it the next number.
    pub(crate) fn write(&mut self, mut line: JournalLine) {
        self.last += 1;
        let is_refused = !line.status.is_some_and(|status| (200..300).contains(&status));
        let count = self
            .counts
            .entry((line.platform, line.operation.clone()))
            .or_default();
        *count = (count.0 + 1, count.1 + u64::from(is_refused));
        line.number = self.last;
        if self.lines.len() == KEPT {
            self.lines.pop_front();
        }
        self.lines.push_back(line);
    }

    pub(crate) fn read(&self, platform: Option<Platform>, since: u64) -> Vec<&JournalLine> {
        let wanted =
            |line: &&JournalLine| line.number > since && platform.is_none_or(|one| one == line.platform);
        self.lines.iter().filter(wanted).collect()
    }

    /// How many calls each operation has had.
    pub(crate) fn counts(&self, platform: Option<Platform>) -> Vec<CallCount> {
        let wanted = self
            .counts
            .iter()
            .filter(|((of, _), _)| platform.is_none_or(|one| one == *of));
        wanted
            .map(|((platform, operation), (calls, refused))| CallCount {
                platform: *platform,
                operation: operation.clone(),
                calls: *calls,
                refused: *refused,
            })
            .collect()
    }

    pub(crate) fn clear(&mut self) {
        self.lines.clear();
        self.counts.clear();
    }

    pub(crate) fn len(&self) -> usize {
        self.lines.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(platform: Platform) -> JournalLine {
        JournalLine {
            number: 0,
            at: String::new(),
            platform,
            operation: "login".to_owned(),
            method: "POST".to_owned(),
            path: "/auth/login".to_owned(),
            status: Some(200),
            order_id: None,
            store: None,
            body: None,
            note: String::new(),
        }
    }

    #[test]
    fn old_lines_make_room_and_numbers_go_on() {
        let mut journal = Journal::default();
        (0..KEPT + 5).for_each(|_| journal.write(line(Platform::Getir)));
        journal.write(line(Platform::Migros));
        assert_eq!(journal.len(), KEPT);
        assert_eq!(journal.read(Some(Platform::Migros), 0).len(), 1);
        assert_eq!(journal.read(None, 10_004).len(), 2);
        journal.clear();
        journal.write(line(Platform::Getir));
        assert_eq!(journal.read(None, 0)[0].number, 10_007);
    }
}
