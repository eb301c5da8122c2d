//! The master key: from a file or a variable, and never readable by others.

use crate::support::{Backend, Program, TestStorage, block_on, run_command};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

fn chmod(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn key_file_that_others_can_read_is_refused() {
    block_on(async {
        let storage = TestStorage::new(Backend::Sqlite);
        storage.create_account("a@example.com");
        let key = storage.data().join("master.key");
        for mode in [0o644, 0o640, 0o602] {
            chmod(&key, mode);
            let mut server = Program::serve(&storage, &[]);
            assert!(!server.ended().await);
            let wanted = format!("chmod 600 {}", key.display());
            assert!(
                server.printed().contains(&wanted),
                "{mode:o}: {}",
                server.printed()
            );
            let listed = run_command(&storage, &["account", "list"]);
            assert!(!listed.success && listed.err.contains(&wanted), "{}", listed.err);
            let checked = run_command(&storage, &["doctor"]);
            assert!(
                !checked.success && checked.out.contains(&wanted),
                "{}",
                checked.out
            );
        }
        chmod(&key, 0o600);
        Program::serve(&storage, &[]).address().await;
    });
}

#[test]
fn key_is_read_from_the_file_that_the_settings_name() {
    block_on(async {
        let storage = TestStorage::new(Backend::Postgres);
        let file = storage.folder().join("secret");
        std::fs::write(&file, format!("{}\n", "ab".repeat(32))).unwrap();
        let settings = [
            ("GARSON_MASTER_KEY", ""),
            ("GARSON_MASTER_KEY_FILE", file.to_str().unwrap()),
        ];
        // As container platforms mount it: readable by the group.
        chmod(&file, 0o440);
        let mut server = Program::serve(&storage, &settings);
        server.address().await;
        server.kill();
        // It is the same key as in the variable.
        let mut server = Program::serve(&storage, &[("GARSON_MASTER_KEY", &"ab".repeat(32))]);
        server.address().await;
        server.kill();
        chmod(&file, 0o444);
        let mut server = Program::serve(&storage, &settings);
        assert!(!server.ended().await);
        assert!(server.printed().contains("chmod 440"), "{}", server.printed());
        let both = [
            ("GARSON_MASTER_KEY", "ab".repeat(32)),
            ("GARSON_MASTER_KEY_FILE", file.display().to_string()),
        ];
        let both: Vec<(&str, &str)> = both.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let mut server = Program::serve(&storage, &both);
        assert!(!server.ended().await);
        assert!(
            server.printed().contains("master_key_file must be empty"),
            "{}",
            server.printed()
        );
        let gone = [
            ("GARSON_MASTER_KEY", ""),
            ("GARSON_MASTER_KEY_FILE", "/nowhere/key"),
        ];
        let mut server = Program::serve(&storage, &gone);
        assert!(!server.ended().await);
        assert!(server.printed().contains("/nowhere/key"), "{}", server.printed());
    });
}

#[test]
fn secrets_are_not_taken_from_arguments() {
    let storage = TestStorage::new(Backend::Sqlite);
    let create = ["account", "create", "--name", "x", "--email", "a@example.com"];
    let refused = run_command(&storage, &[&create[..], &["--password", "MARK-hunter2"]].concat());
    assert!(
        !refused.success && refused.err.contains("--password-file"),
        "{}",
        refused.err
    );
    for arguments in [
        &["migrate", "--to", "postgres://u:MARK@127.0.0.1:1/db"][..],
        &["doctor", "--database-url", "postgres://u:MARK@127.0.0.1:1/db"],
        &[
            "print",
            "--url",
            "http://127.0.0.1:1",
            "--printer",
            "tcp://127.0.0.1:1",
            "--key",
            "MARK",
        ],
    ] {
        let refused = run_command(&storage, arguments);
        assert!(!refused.success, "{arguments:?}");
        let printed = format!("{}{}", refused.out, refused.err);
        assert!(!printed.contains("MARK"), "{printed}");
    }
}
