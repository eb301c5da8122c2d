//! SQLite alone: copies of a database in use, and the version of the library.

use crate::batches::{note, noted};
use crate::database::{Bench, until, within};
use garson_store::engine::WorkProgress;
use garson_store::{Engine, Location, Options, Partition, StoreErrorKind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The database is larger than what a backup copies in one step, and never stands still.
pub async fn a_backup_holds_all_that_was_acknowledged(bench: &Bench) {
    let filler = "🌯".repeat(25_000);
    for n in 0..120 {
        let line = format!("{n} {filler}");
        bench
            .write(move |tx| {
                tx.execute(
                    "INSERT INTO order_contents (order_id, body) VALUES (?1, ?2)",
                    garson_store::params![n.to_string().as_bytes(), &line],
                )
            })
            .await;
    }
    let stop = Arc::new(AtomicBool::new(false));
    let writers: Vec<_> = (0..4)
        .map(|writer| {
            let (engine, stop) = (bench.engine.clone(), Arc::clone(&stop));
            tokio::spawn(async move {
                let mut n = 0;
                while !stop.load(Ordering::SeqCst) {
                    let job = move |tx: &mut garson_store::Tx<'_>| note(tx, &format!("w{writer}-{n}"));
                    engine.write(Partition::COMMON, job).await.unwrap();
                    n += 1;
                }
                n
            })
        })
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let mut files = Vec::new();
    for n in 0..3 {
        let to = folder.path().join(format!("copy-{n}.db"));
        let before = bench.read(noted).await;
        let (engine, target) = (bench.engine.clone(), to.clone());
        let copying = tokio::task::spawn_blocking(move || engine.backup(&target, &WorkProgress::default()));
        within(Duration::from_secs(30), copying).await.unwrap().unwrap();
        files.push((to, before));
    }
    stop.store(true, Ordering::SeqCst);
    for writer in writers {
        assert!(writer.await.unwrap() > 0, "a writer came to nothing");
    }
    for (to, before) in files {
        let connection = rusqlite::Connection::open(&to).unwrap();
        let sound: String = connection
            .query_row("PRAGMA integrity_check", [], |row| row.get(0))
            .unwrap();
        assert_eq!(sound, "ok");
        drop(connection);
        let copy = Engine::open(&Location::Sqlite(to), &Options::default()).unwrap();
        let held = copy.read(noted).await.unwrap();
        assert!(
            before.len() >= 120 && before.is_subset(&held),
            "the copy misses lines"
        );
    }
}

/// The log begins anew although somebody always writes, and one who reads an old state only holds it up for as long.
pub async fn wal_is_checkpointed_while_others_write(bench: &Bench) {
    const BYTES: usize = 120 * 1024 * 1024;
    const MOST: u64 = 60 * 1024 * 1024;
    let filler = Arc::new("x".repeat(100_000));
    let log = bench.sqlite_path().with_extension("db-wal");
    let write = async |from: usize, to: usize| {
        for n in from..to {
            let filler = Arc::clone(&filler);
            bench.write(move |tx| note(tx, &format!("{n} {filler}"))).await;
        }
    };
    let many = BYTES / filler.len();
    write(0, many).await;
    let size = std::fs::metadata(&log).unwrap().len();
    assert!(size < MOST, "{size}");
    let reader = rusqlite::Connection::open(bench.sqlite_path()).unwrap();
    let count = |reader: &rusqlite::Connection| -> i64 {
        let sql = "SELECT COUNT(*) FROM order_contents";
        reader.query_row(sql, [], |row| row.get(0)).unwrap()
    };
    reader.execute_batch("BEGIN").unwrap();
    assert_eq!(count(&reader), many as i64);
    write(many, 2 * many).await;
    assert_eq!(count(&reader), many as i64, "it sees what it saw");
    reader.execute_batch("COMMIT").unwrap();
    let held_up = std::fs::metadata(&log).unwrap().len();
    assert!(held_up > MOST, "{held_up}");
    write(2 * many, 3 * many).await;
    until("the log is small again", || {
        std::fs::metadata(&log).unwrap().len() <= 64 * 1024 * 1024
    })
    .await;
    assert_eq!(count(&reader), 3 * many as i64);
}

/// The same where somebody reads beside every other commit.
pub async fn wal_is_checkpointed_while_others_read(bench: &Bench) {
    const COMMITS: usize = 6_000;
    const MOST: u64 = 32 * 1024 * 1024;
    let filler = "x".repeat(15_000);
    let log = bench.sqlite_path().with_extension("db-wal");
    let read = async |n: usize| {
        if n.is_multiple_of(2) {
            let sql = "SELECT body FROM order_contents LIMIT 20";
            bench
                .read(move |tx| tx.query(sql, &[], |row| Ok(row.text(0)?.len())))
                .await;
        }
    };
    let mut largest = 0;
    for n in 0..COMMITS {
        let line = format!("{n} {filler}");
        tokio::join!(bench.write(move |tx| note(tx, &line)), read(n));
        largest = largest.max(std::fs::metadata(&log).unwrap().len());
    }
    println!("{largest} bytes at most");
    assert!(largest < MOST, "{largest}");
}

/// And where others read in such a way that somebody always does.
pub async fn wal_is_checkpointed_while_readers_overlap(bench: &Bench) {
    const BYTES: usize = 400 * 1024 * 1024;
    const MOST: u64 = 200 * 1024 * 1024;
    bench.write(|tx| note(tx, "first")).await;
    let stop = Arc::new(AtomicBool::new(false));
    let readers: Vec<_> = [40, 50, 60]
        .into_iter()
        .map(|millis| {
            let (path, stop) = (bench.sqlite_path(), Arc::clone(&stop));
            std::thread::spawn(move || {
                let reader = rusqlite::Connection::open(path).unwrap();
                while !stop.load(Ordering::SeqCst) {
                    reader
                        .execute_batch("BEGIN; SELECT COUNT(*) FROM sqlite_schema")
                        .unwrap();
                    std::thread::sleep(Duration::from_millis(millis));
                    reader.execute_batch("COMMIT").unwrap();
                }
            })
        })
        .collect();
    let filler = Arc::new("x".repeat(500_000));
    let log = bench.sqlite_path().with_extension("db-wal");
    let mut largest = 0;
    for n in 0..BYTES / filler.len() {
        let filler = Arc::clone(&filler);
        bench.write(move |tx| note(tx, &format!("{n} {filler}"))).await;
        largest = largest.max(std::fs::metadata(&log).unwrap().len());
    }
    stop.store(true, Ordering::SeqCst);
    for reader in readers {
        reader.join().unwrap();
    }
    println!("{largest} bytes at most");
    assert!(largest < MOST, "{largest}");
}

/// What is deleted is somebody's name and address.
pub async fn deleted_data_is_overwritten_in_the_file(_: &Bench) {
    const SECRET: &str = "Nişantaşı";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("garson.db");
    let engine = Engine::open(&Location::Sqlite(path.clone()), &Options::default()).unwrap();
    for line in ["a small row".to_owned(), "a large row ".repeat(5_000)] {
        let line = format!("{line} {SECRET} {line}");
        let job = move |tx: &mut garson_store::Tx<'_>| note(tx, &line);
        engine.write(Partition::COMMON, job).await.unwrap();
    }
    let delete = |tx: &mut garson_store::Tx<'_>| tx.execute("DELETE FROM order_contents", &[]);
    let seen = || {
        let file = std::fs::read(&path).unwrap();
        file.windows(SECRET.len()).any(|bytes| bytes == SECRET.as_bytes())
    };
    drop(engine);
    assert!(seen());
    let engine = Engine::open(&Location::Sqlite(path.clone()), &Options::default()).unwrap();
    assert_eq!(engine.write(Partition::COMMON, delete).await.unwrap(), 2);
    drop(engine);
    assert!(!seen());
}

/// A backup that a crash or a power loss has cut off must not look like one.
pub async fn backup_is_renamed_when_complete(bench: &Bench) {
    let filler = "x".repeat(100_000);
    for n in 0..300 {
        let line = format!("{n} {filler}");
        bench.write(move |tx| note(tx, &line)).await;
    }
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("copy.db");
    let (engine, target) = (bench.engine.clone(), to.clone());
    let copying = tokio::task::spawn_blocking(move || engine.backup(&target, &WorkProgress::default()));
    let names = || -> Vec<String> {
        let entries = std::fs::read_dir(folder.path()).unwrap();
        entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect()
    };
    until("the backup is there", || to.exists()).await;
    // The moment that it is there, it is whole, and nothing lies beside it.
    let copy =
        rusqlite::Connection::open_with_flags(&to, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let count: i64 = copy
        .query_row("SELECT COUNT(*) FROM order_contents", [], |row| row.get(0))
        .unwrap();
    assert_eq!(count, 300);
    drop(copy);
    copying.await.unwrap().unwrap();
    let left: Vec<String> = names()
        .into_iter()
        .filter(|name| !name.starts_with("copy.db-"))
        .collect();
    assert_eq!(left, ["copy.db"]);
}

pub async fn failed_backup_leaves_no_file(bench: &Bench) {
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("no such folder").join("copy.db");
    assert!(bench.engine.backup(&to, &WorkProgress::default()).is_err());
    // The name is taken while the copy is made: what has it stays.
    let to = folder.path().join("copy.db");
    std::os::unix::fs::symlink("nowhere", &to).unwrap();
    let error = bench.engine.backup(&to, &WorkProgress::default()).unwrap_err();
    assert_eq!(error.kind, StoreErrorKind::Refused);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

pub async fn a_backup_overwrites_nothing(bench: &Bench) {
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("precious");
    std::fs::write(&to, "precious").unwrap();
    let error = bench.engine.backup(&to, &WorkProgress::default()).unwrap_err();
    assert_eq!(error.kind, StoreErrorKind::Refused);
    assert_eq!(std::fs::read_to_string(&to).unwrap(), "precious");
    let itself = bench
        .engine
        .backup(&bench.sqlite_path(), &WorkProgress::default())
        .unwrap_err();
    assert_eq!(itself.kind, StoreErrorKind::Refused);
}

pub async fn the_library_is_new_enough(bench: &Bench) {
    assert!(rusqlite::version_number() >= 3_051_003, "{}", rusqlite::version());
    assert_eq!(bench.engine.name(), "SQLite");
}
