//! Backups of a running service, on request and by schedule, and restoring them.

use super::filled::{fill, look};
use crate::support::{
    Backend, Outcome, Program, Scrape, TestStorage, block_on, command, command_after, on_postgres, prepared,
    program_run, run_command, run_command_with, wait_until,
};
use std::path::{Path, PathBuf};

on_both! {
    restored_backup_has_everything
    damaged_backups_are_found
    full_disk_leaves_no_backup
    backups_are_made_by_schedule
    failing_backups_are_reported
}

/// A new, empty storage with the master key of another one.
fn with_key_of(storage: &TestStorage) -> TestStorage {
    let other = TestStorage::new(storage.backend);
    if storage.backend == Backend::Sqlite {
        std::fs::create_dir_all(other.data()).unwrap();
        copy_key(storage, &other);
    }
    other
}

/// As an operator does it who keeps the key elsewhere.
fn copy_key(from: &TestStorage, to: &TestStorage) {
    let key = std::fs::read_to_string(from.data().join("master.key")).unwrap();
    let path = to.data().join("master.key");
    std::fs::write(&path, key).unwrap();
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
}

fn backup_of(storage: &TestStorage) -> PathBuf {
    let made = run_command(storage, &["backup", "saved"]);
    assert!(
        made.success && made.out.contains("saved") && made.out.contains("master"),
        "{made:?}"
    );
    storage.folder().join("saved")
}

fn restore(storage: &TestStorage, arguments: &[&str], file: &Path) -> Outcome {
    let mut all = vec!["restore"];
    all.extend_from_slice(arguments);
    all.push(file.to_str().unwrap());
    run_command(storage, &all)
}

async fn restored_backup_has_everything(backend: Backend) {
    let storage = TestStorage::new(backend);
    let mut server = Program::serve(&storage, &[]);
    let addr = server.address().await;
    let key = storage.create_account("one@example.com");
    let shop = fill(addr, &key).await;
    let before = look(addr, &key).await;
    let backup = backup_of(&storage);
    let again = run_command(&storage, &["backup", "saved"]);
    assert!(!again.success && again.err.contains("exists"), "{again:?}");
    shop.order("after the backup").await;

    let verified = restore(&storage, &["--verify"], &backup);
    assert!(verified.success, "{verified:?}");
    for line in ["1  accounts", "1  restaurants", "30  orders", "is the one"] {
        assert!(verified.out.contains(line), "{verified:?}");
    }
    // The data in use is not touched, with or without a server.
    for arguments in [&[][..], &["--replace"]] {
        let refused = restore(&storage, arguments, &backup);
        assert!(!refused.success && !refused.err.is_empty(), "{refused:?}");
    }
    server.terminate();
    assert!(server.ended().await);
    let refused = restore(&storage, &[], &backup);
    assert!(!refused.success && !refused.err.is_empty(), "{refused:?}");

    let other = with_key_of(&storage);
    let restored = restore(&other, &[], &backup);
    assert!(
        restored.success && restored.out.contains("30  orders"),
        "{restored:?}"
    );
    let mut server = Program::serve(&other, &[]);
    let addr = server.address().await;
    assert_eq!(look(addr, &key).await, before);
    let shop = crate::support::Shop { addr, ..shop };
    shop.order("after restoring").await;
}

async fn damaged_backups_are_found(backend: Backend) {
    let storage = TestStorage::new(backend);
    let mut server = Program::serve(&storage, &[]);
    let addr = server.address().await;
    let key = storage.create_account("one@example.com");
    fill(addr, &key).await;
    let backup = backup_of(&storage);
    let whole = std::fs::read(&backup).unwrap();
    let other = with_key_of(&storage);
    let damaged = other.folder().join("damaged");
    let mut torn = whole.clone();
    // One page, or less, as a disk loses it.
    let middle = torn.len() / 2 / 4096 * 4096;
    torn[middle..middle + 512].fill(0);
    for (bytes, what) in [
        (&whole[..whole.len() / 2], "half"),
        (&torn[..], "torn"),
        (&b"garson"[..], "text"),
        (&[][..], "empty"),
    ] {
        std::fs::write(&damaged, bytes).unwrap();
        for arguments in [&["--verify"][..], &[]] {
            let refused = restore(&other, arguments, &damaged);
            assert!(
                !refused.success && refused.err.contains("damaged"),
                "{what}: {refused:?}"
            );
        }
    }
    let missing = restore(&other, &["--verify"], Path::new("/nowhere"));
    assert!(
        !missing.success && missing.err.contains("/nowhere"),
        "{missing:?}"
    );
    // Nothing of it has remained.
    let restored = restore(&other, &[], &backup);
    assert!(restored.success, "{restored:?}");
    // With another master key, the credentials in it are lost.
    let stranger = TestStorage::new(backend);
    let arguments = ["restore", "--verify", backup.to_str().unwrap()];
    let other_key = "8".repeat(64);
    let verified = run_command_with(&stranger, &arguments, &[("GARSON_MASTER_KEY", &other_key)]);
    assert!(
        !verified.success && verified.err.contains("master key"),
        "{verified:?}"
    );
}

/// The disk is full while the backup is written, and while it is restored.
async fn full_disk_leaves_no_backup(backend: Backend) {
    let storage = TestStorage::new(backend);
    let mut server = Program::serve(&storage, &[]);
    let addr = server.address().await;
    let key = storage.create_account("one@example.com");
    fill(addr, &key).await;
    let backup = backup_of(&storage);
    let before = look(addr, &key).await;
    // The signal that comes with the limit would end the program; without it, writing fails as on a full disk.
    let limit = |bytes: u64| command_after(&format!("trap '' XFSZ; exec prlimit --fsize={bytes} \"$@\""));
    let half = std::fs::metadata(&backup).unwrap().len() / 2;
    let folder = storage.folder().join("backups");
    let settings = [("GARSON_BACKUP__FOLDER", folder.to_str().unwrap())];
    let failed = program_run(prepared(limit(half), &storage, &["backup"], &settings));
    assert!(!failed.success && !failed.err.is_empty(), "{failed:?}");
    assert_eq!(names_in(&folder), ["garson-backup.lock"]);
    // Nothing is wrong with the server or its data, and with space there is a backup.
    assert_eq!(look(addr, &key).await, before);
    let made = run_command_with(&storage, &["backup"], &settings);
    assert!(made.success, "{made:?}");
    assert_eq!(backups_in(&folder).len(), 1);
    if backend == Backend::Sqlite {
        let other = with_key_of(&storage);
        let arguments = ["restore", backup.to_str().unwrap()];
        let failed = program_run(prepared(limit(half), &other, &arguments, &[]));
        assert!(!failed.success && !failed.err.is_empty(), "{failed:?}");
        assert_eq!(names_in(&other.data()), ["garson.lock", "master.key"]);
        let restored = restore(&other, &[], &backup);
        assert!(restored.success, "{restored:?}");
    }
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// The backups in a folder, which may not exist yet.
fn backups_in(folder: &Path) -> Vec<String> {
    let mut names = if folder.exists() {
        names_in(folder)
    } else {
        Vec::new()
    };
    names.retain(|name| name.ends_with(".db") || name.ends_with(".dump"));
    names
}

async fn backups_are_made_by_schedule(backend: Backend) {
    let storage = TestStorage::new(backend);
    let folder = storage.folder().join("backups");
    let settings = [
        ("GARSON_BACKUP__FOLDER", folder.to_str().unwrap()),
        ("GARSON_BACKUP__KEEP", "2"),
    ];
    let extension = if backend == Backend::Sqlite { "db" } else { "dump" };
    let old = |day: u32| format!("garson-2026-01-{day:02}T03-00-00.000Z.{extension}");
    let mut server = Program::serve(&storage, &settings);
    let addr = server.address().await;
    let key = storage.create_account("one@example.com");
    let has_made =
        |server: &Program, times: usize| server.printed().matches("made a backup").count() >= times;
    wait_until("the first backup", async || has_made(&server, 1)).await;
    assert_eq!(backups_in(&folder).len(), 1);
    assert_eq!(Scrape::of(addr).await.count("garson_backup_overdue_seconds"), 0.0);
    fill(addr, &key).await;
    server.kill();
    assert!(!server.ended().await);
    // A new one is due, and the oldest goes.
    for name in backups_in(&folder) {
        std::fs::remove_file(folder.join(name)).unwrap();
    }
    for day in [1, 2, 3] {
        std::fs::write(folder.join(old(day)), "").unwrap();
    }
    std::fs::write(folder.join("notes.txt"), "").unwrap();
    let mut server = Program::serve(&storage, &settings);
    server.address().await;
    wait_until("the second backup", async || has_made(&server, 1)).await;
    let names = backups_in(&folder);
    assert_eq!((names.len(), &names[0]), (2, &old(3)), "{names:?}");
    assert!(folder.join("notes.txt").exists());
    // One by a command counts as well.
    let made = run_command_with(&storage, &["backup"], &settings);
    assert!(made.success, "{made:?}");
    let names = backups_in(&folder);
    assert_eq!(names.len(), 2);
    assert!(!names.contains(&old(3)), "{names:?}");
    let verified = restore(&storage, &["--verify"], &folder.join(&names[1]));
    assert!(
        verified.success && verified.out.contains("30  orders"),
        "{verified:?}"
    );
    // Both are readable by their owner only.
    for name in names {
        let about = std::fs::metadata(folder.join(name)).unwrap();
        assert_eq!(
            std::os::unix::fs::PermissionsExt::mode(&about.permissions()) & 0o777,
            0o600
        );
    }
}

async fn failing_backups_are_reported(backend: Backend) {
    let storage = TestStorage::new(backend);
    let folder = storage.folder().join("backups");
    // No folder can be made there.
    std::fs::write(&folder, "a file").unwrap();
    let mut server = Program::serve(&storage, &[("GARSON_BACKUP__FOLDER", folder.to_str().unwrap())]);
    let addr = server.address().await;
    wait_until("the failure is logged", async || {
        server.printed().contains("the scheduled backup failed")
    })
    .await;
    assert!(Scrape::of(addr).await.count("garson_backup_overdue_seconds") > 0.0);
    // Orders are still taken.
    let key = storage.create_account("one@example.com");
    fill(addr, &key).await;
    let failed = run_command(&storage, &["backup", "backups/saved"]);
    assert!(!failed.success && !failed.err.is_empty(), "{failed:?}");
}

#[test]
fn replaced_database_is_kept() {
    block_on(async {
        let storage = TestStorage::new(Backend::Sqlite);
        let mut server = Program::serve(&storage, &[]);
        let addr = server.address().await;
        let key = storage.create_account("one@example.com");
        let shop = fill(addr, &key).await;
        let before = look(addr, &key).await;
        let backup = backup_of(&storage);
        shop.order("newer").await;
        let newer = look(addr, &key).await;
        // Its log and a note about an unclean end remain.
        server.kill();
        assert!(!server.ended().await);
        let refused = restore(&storage, &[], &backup);
        assert!(
            !refused.success && refused.err.contains("--replace"),
            "{refused:?}"
        );
        let restored = restore(&storage, &["--replace"], &backup);
        assert!(
            restored.success && restored.out.contains("kept as"),
            "{restored:?}"
        );
        let mut server = Program::serve(&storage, &[]);
        assert_eq!(look(server.address().await, &key).await, before);
        assert!(!server.printed().contains("unclean"), "{}", server.printed());
        server.terminate();
        assert!(server.ended().await);
        // What was replaced has everything, with its log, and can be restored too.
        let other = with_key_of(&storage);
        let names = names_in(&storage.data());
        let kept = names
            .iter()
            .find(|name| name.contains(".replaced-") && name.ends_with('Z'))
            .unwrap();
        assert!(names.contains(&format!("{kept}-wal")), "{names:?}");
        let restored = restore(&other, &[], &storage.data().join(kept));
        assert!(restored.success, "{restored:?}");
        let mut server = Program::serve(&other, &[]);
        assert_eq!(look(server.address().await, &key).await, newer);
    });
}

#[test]
fn nothing_is_replaced_by_what_cannot_be_used() {
    let storage = TestStorage::new(Backend::Sqlite);
    storage.create_account("one@example.com");
    let before = files_of(&storage);
    let foreign = storage.folder().join("foreign.db");
    rusqlite::Connection::open(&foreign)
        .unwrap()
        .execute_batch("CREATE TABLE a (b)")
        .unwrap();
    for (file, said) in [
        (foreign, "no data of Garson"),
        (storage.data().join("garson.db"), "the database itself"),
    ] {
        let refused = restore(&storage, &["--replace"], &file);
        assert!(!refused.success && refused.err.contains(said), "{refused:?}");
        assert_eq!(files_of(&storage), before);
    }
    // With another key, the backup is restored all the same, and says so.
    let saved = backup_of(&storage);
    let key = "8".repeat(64);
    let stranger = TestStorage::new(Backend::Sqlite);
    let arguments = ["restore", saved.to_str().unwrap()];
    let restored = run_command_with(&stranger, &arguments, &[("GARSON_MASTER_KEY", &key)]);
    assert!(
        restored.success && restored.out.contains("master key could not be checked"),
        "{restored:?}"
    );
}

/// The contents of the data folder.
fn files_of(storage: &TestStorage) -> Vec<(String, Vec<u8>)> {
    let read = |name: String| {
        let bytes = std::fs::read(storage.data().join(&name)).unwrap();
        (name, bytes)
    };
    names_in(&storage.data()).into_iter().map(read).collect()
}

#[test]
fn path_that_looks_like_a_uri_is_a_path() {
    let storage = TestStorage::new(Backend::Sqlite);
    storage.create_account("one@example.com");
    let made = run_command(&storage, &["backup", "file:saved?mode=ro"]);
    assert!(made.success, "{made:?}");
    let names = names_in(storage.folder());
    assert!(!names.iter().any(|name| name.contains("unfinished")), "{names:?}");
    let verified = restore(
        &storage,
        &["--verify"],
        &storage.folder().join("file:saved?mode=ro"),
    );
    assert!(
        verified.success && verified.out.contains("1  accounts"),
        "{verified:?}"
    );
}

#[test]
fn interrupted_verification_leaves_no_database() {
    block_on(async {
        let storage = TestStorage::new(Backend::Postgres);
        storage.create_account("one@example.com");
        let saved = backup_of(&storage);
        // It restores, and then takes its time.
        let tools = storage.folder().join("tools");
        std::fs::create_dir(&tools).unwrap();
        let slow = tools.join("pg_restore");
        let script = "#!/bin/sh\nPATH=${PATH#*:}\npg_restore \"$@\" || exit\ncase \"$*\" in *--dbname*) touch restored; exec sleep 300; esac\n";
        std::fs::write(&slow, script).unwrap();
        std::fs::set_permissions(&slow, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap());
        let arguments = ["restore", "--verify", saved.to_str().unwrap()];
        let mut program = Program::start(prepared(command(), &storage, &arguments, &[("PATH", &path)]));
        let restored = storage.folder().join("restored");
        wait_until("the backup is in the temporary database", async || {
            restored.exists()
        })
        .await;
        program.terminate();
        assert!(!program.ended().await);
        let left: i64 = on_postgres(&storage.database_url(), |client| {
            let sql = "SELECT COUNT(*) FROM pg_database d WHERE datname LIKE 'garson\\_verify\\_%' \
                       AND NOT EXISTS (SELECT 1 FROM pg_stat_activity a WHERE a.datname = d.datname)";
            client.query_one(sql, &[]).unwrap().get(0)
        });
        assert_eq!(left, 0);
        assert!(program.printed().contains("interrupted"), "{}", program.printed());
    });
}

#[test]
fn backup_of_the_other_engine_is_refused() {
    let (file, database) = (
        TestStorage::new(Backend::Sqlite),
        TestStorage::new(Backend::Postgres),
    );
    for storage in [&file, &database] {
        storage.create_account("one@example.com");
    }
    for (storage, other) in [(&file, &database), (&database, &file)] {
        let refused = restore(other, &[], &backup_of(storage));
        assert!(
            !refused.success && refused.err.contains("is a backup of"),
            "{refused:?}"
        );
    }
}

#[test]
fn missing_programs_of_postgres_are_named() {
    let storage = TestStorage::new(Backend::Postgres);
    storage.create_account("one@example.com");
    let failed = run_command_with(&storage, &["backup", "saved"], &[("PATH", "/nowhere")]);
    assert!(
        !failed.success && failed.err.contains("postgresql-client"),
        "{failed:?}"
    );
    assert!(!storage.folder().join("saved").exists());
}
