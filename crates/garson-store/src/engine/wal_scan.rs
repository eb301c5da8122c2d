//! Reads SQLite's write-ahead log after a crash, before SQLite does: SQLite treats the first unusable frame as the end of the
//! log, and silently drops whatever follows.
//!
//! After a crash a log is intact up to its last commit; parts of one unacknowledged transaction may follow. A transaction begins
//! only when the one before it is durable. So where frames follow a commit that itself comes after an unusable frame,
//! acknowledged writes were lost.

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufReader, ErrorKind, Read};
use std::path::Path;

const HEADER: usize = 32;
const FRAME_HEADER: usize = 24;
/// The lowest bit gives the byte order of the checksums.
const MAGIC: u32 = 0x377f_0682;

/// What is in a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogContent {
    /// Complete transactions.
    pub commits: u64,
    /// Their pages; a page that was changed twice counts twice.
    pub frames: u64,
    /// The number of pages of the database after the last of them.
    pub database_pages: u64,
    pub page_size: u64,
    /// Transactions after an unusable frame that were durable.
    pub lost_commits: u64,
    /// Frames follow an unusable header. It is written and synced before the first frame, so it was intact before.
    pub is_damaged_at_start: bool,
    /// The numbers of their pages.
    pages: HashSet<u64>,
}

impl LogContent {
    pub fn is_damaged(&self) -> bool {
        self.is_damaged_at_start || self.lost_commits > 0
    }

    /// Pages that are neither in a database file of this size nor in the log.
    pub fn missing_pages(&self, file_size: u64) -> u64 {
        if self.commits == 0 || self.page_size == 0 {
            return 0;
        }
        // The page at 1 GB is never used: SQLite's locks are there.
        let locks = 0x4000_0000 / self.page_size + 1;
        let present = file_size / self.page_size;
        (present + 1..=self.database_pages)
            .filter(|page| *page != locks && !self.pages.contains(page))
            .count() as u64
    }
}

/// Reads a log from start to end; `None` where there is no log, or an empty one.
pub fn scan(log: &Path) -> std::io::Result<Option<LogContent>> {
    let file = match File::open(log) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut reader = BufReader::with_capacity(1 << 20, file);
    let mut header = [0; HEADER];
    if !fill(&mut reader, &mut header)? {
        return Ok(None);
    }
    let Some(mut walk) = Walk::begin(&header) else {
        let mut frame = [0; FRAME_HEADER];
        return Ok(Some(LogContent {
            is_damaged_at_start: fill(&mut reader, &mut frame)?,
            ..LogContent::default()
        }));
    };
    let mut frame = vec![0; FRAME_HEADER + walk.page_size()];
    while fill(&mut reader, &mut frame)? {
        walk.take(&frame);
    }
    Ok(Some(walk.content))
}

/// Fills the buffer; `false` when the file ends before.
fn fill(reader: &mut impl Read, buffer: &mut [u8]) -> std::io::Result<bool> {
    match reader.read_exact(buffer) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

fn number(bytes: &[u8], at: usize) -> u32 {
    let mut four = [0; 4];
    if let Some(found) = bytes.get(at..at + 4) {
        four.copy_from_slice(found);
    }
    u32::from_be_bytes(four)
}

struct Walk {
    content: LogContent,
    is_big_endian: bool,
    salts: (u32, u32),
    sums: (u32, u32),
    /// Pages of the transaction that has not been committed yet.
    open: Vec<u64>,
    is_broken: bool,
    /// Commits after the first unusable frame; they were durable if another frame follows.
    doubtful_commits: u64,
}

impl Walk {
    fn begin(header: &[u8]) -> Option<Self> {
        let magic = number(header, 0);
        if magic & !1 != MAGIC {
            return None;
        }
        let mut walk = Self {
            content: LogContent {
                page_size: u64::from(number(header, 8)),
                ..LogContent::default()
            },
            is_big_endian: magic & 1 == 1,
            salts: (number(header, 16), number(header, 20)),
            sums: (0, 0),
            open: Vec::new(),
            is_broken: false,
            doubtful_commits: 0,
        };
        walk.sums = walk.summed((0, 0), header.get(..HEADER - 8)?);
        let is_sound = walk.sums == (number(header, 24), number(header, 28))
            && (512..=65_536).contains(&walk.content.page_size);
        is_sound.then_some(walk)
    }

    fn page_size(&self) -> usize {
        usize::try_from(self.content.page_size).unwrap_or_default()
    }

    fn summed(&self, sums: (u32, u32), bytes: &[u8]) -> (u32, u32) {
        let word = |bytes: &[u8]| {
            let number = number(bytes, 0);
            if self.is_big_endian {
                number
            } else {
                number.swap_bytes()
            }
        };
        let (pairs, _) = bytes.as_chunks::<8>();
        pairs.iter().fold(sums, |(first, second), pair| {
            let (left, right) = pair.split_at(4);
            let first = first.wrapping_add(word(left)).wrapping_add(second);
            (first, second.wrapping_add(word(right)).wrapping_add(first))
        })
    }

    fn take(&mut self, frame: &[u8]) {
        let (head, page) = frame.split_at(FRAME_HEADER.min(frame.len()));
        let (number_of_page, pages_after_commit) = (number(head, 0), number(head, 4));
        let is_of_this_log = (number(head, 8), number(head, 12)) == self.salts;
        if !self.is_broken {
            let sums = self.summed(self.summed(self.sums, head.get(..8).unwrap_or_default()), page);
            if is_of_this_log && number_of_page != 0 && sums == (number(head, 16), number(head, 20)) {
                self.sums = sums;
                self.open.push(u64::from(number_of_page));
                if pages_after_commit != 0 {
                    self.content.commits += 1;
                    self.content.frames += self.open.len() as u64;
                    self.content.database_pages = u64::from(pages_after_commit);
                    self.content.pages.extend(self.open.drain(..));
                }
                return;
            }
            self.is_broken = true;
        }
        if is_of_this_log {
            self.content.lost_commits = self.doubtful_commits;
            self.doubtful_commits += u64::from(pages_after_commit != 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::Connection;

    /// The log of a database that was not closed.
    fn log_of_a_crash(folder: &Path, commits: usize) -> Vec<u8> {
        let path = folder.join("x.db");
        let writer = Connection::open(&path).unwrap();
        writer
            .execute_batch(
                "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (x BLOB)",
            )
            .unwrap();
        for _ in 1..commits {
            writer
                .execute("INSERT INTO t VALUES (zeroblob(9000))", [])
                .unwrap();
        }
        let log = std::fs::read(folder.join("x.db-wal")).unwrap();
        drop(writer);
        log
    }

    fn scanned(folder: &Path, log: &[u8]) -> LogContent {
        let path = folder.join("log");
        std::fs::write(&path, log).unwrap();
        scan(&path).unwrap().unwrap()
    }

    #[test]
    fn intact_log_is_read_completely() {
        let folder = tempfile::tempdir().unwrap();
        let log = log_of_a_crash(folder.path(), 20);
        let content = scanned(folder.path(), &log);
        assert_eq!((content.commits, content.lost_commits), (20, 0));
        let size = FRAME_HEADER + 4096;
        assert_eq!(content.frames as usize, (log.len() - HEADER) / size);
        assert_eq!(content.missing_pages(4096 * content.database_pages), 0);
        assert_eq!(content.missing_pages(4096), 0, "all but the first are in the log");
        assert_eq!(scan(&folder.path().join("none")).unwrap(), None);
        // Wherever a crash cuts it, nothing is reported as lost.
        for end in (0..log.len()).step_by(1_000) {
            let path = folder.path().join("log");
            std::fs::write(&path, &log[..end]).unwrap();
            let content = scan(&path).unwrap().unwrap_or_default();
            assert_eq!(content.lost_commits, 0, "cut at {end}");
        }
    }

    #[test]
    fn commits_after_a_gap_are_reported_as_lost() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = log_of_a_crash(folder.path(), 20);
        let middle = log.len() / 2;
        log[middle..middle + 8_000].fill(0);
        let content = scanned(folder.path(), &log);
        assert!((1..15).contains(&content.commits), "{content:?}");
        assert!((1..19).contains(&content.lost_commits), "{content:?}");
    }

    #[test]
    fn damaged_header_is_reported_when_frames_follow() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = log_of_a_crash(folder.path(), 5);
        log[..HEADER].fill(0);
        assert!(scanned(folder.path(), &log).is_damaged_at_start);
        // A crash may tear a header that nothing was written behind.
        assert!(!scanned(folder.path(), &log[..HEADER]).is_damaged());
    }

    #[test]
    fn torn_last_transaction_is_not_reported_as_lost() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = log_of_a_crash(folder.path(), 20);
        // The last transaction changes three pages; its first one did not reach the disk.
        let at = log.len() - 3 * (FRAME_HEADER + 4096);
        log[at..at + 4096].fill(0);
        let content = scanned(folder.path(), &log);
        assert_eq!(content.lost_commits, 0, "{content:?}");
        assert!(content.commits >= 18, "{content:?}");
    }

    #[test]
    fn missing_pages_are_counted() {
        let content = LogContent {
            commits: 1,
            database_pages: 10,
            page_size: 4096,
            pages: [9, 10].into(),
            ..LogContent::default()
        };
        assert_eq!(content.missing_pages(8 * 4096), 0);
        assert_eq!(content.missing_pages(5 * 4096), 3);
    }
}
