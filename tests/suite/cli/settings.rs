//! Invalid settings are reported with source, key and allowed values.

use crate::support::{Backend, Outcome, TestStorage, command, program_run};

fn with_file(text: &str, arguments: &[&str]) -> (Outcome, String) {
    let storage = TestStorage::new(Backend::Sqlite);
    let file = storage.folder().join("my.toml");
    std::fs::write(&file, text).unwrap();
    let mut program = command();
    program
        .current_dir(storage.folder())
        .args(["--config", "my.toml"])
        .args(arguments);
    (program_run(program), file.display().to_string())
}

#[test]
fn invalid_file_is_reported_with_key_and_allowed_values() {
    for (text, key, allowed) in [
        ("listen = 8080", "listen", "a text"),
        ("listen = \"here\"", "listen", "127.0.0.1:8080"),
        ("rate_limit = \"fast\"", "rate_limit", "1000/2000"),
        (
            "allow_private_targets = \"yes\"",
            "allow_private_targets",
            "true or false",
        ),
        (
            "[webhook]\nattempt_seconds = 0",
            "webhook.attempt_seconds",
            "1 to 60",
        ),
        (
            "[webhook]\nretry_seconds = [0]",
            "webhook.retry_seconds",
            "seconds",
        ),
        (
            "[webhook]\nretry_seconds = 5",
            "webhook.retry_seconds",
            "a list of whole numbers",
        ),
        ("[log]\nlevel = \"loud\"", "log.level", "trace"),
        ("[storage]\nreaders = -1", "storage.readers", "whole number"),
        ("master_key = \"abc\"", "master_key", "64 hexadecimal digits"),
        ("database_url = \"mysql://x\"", "database_url", "postgres://"),
        ("colour = \"red\"", "colour", "Settings are"),
        ("[webhook]\ncolour = 1", "webhook.colour", "webhook.retry_seconds"),
    ] {
        for arguments in [&["serve"][..], &["account", "list"], &["config"]] {
            let (ended, _) = with_file(text, arguments);
            assert!(!ended.success, "{text}");
            assert!(
                ended.err.contains("my.toml") && ended.err.contains(key),
                "{text}: {}",
                ended.err
            );
            assert!(ended.err.contains(allowed), "{text}: {}", ended.err);
        }
    }
}

#[test]
fn malformed_or_missing_file_is_reported() {
    let (ended, _) = with_file("listen = \"127.0.0.1:1\"\nnonsense", &["serve"]);
    assert!(
        !ended.success && ended.err.contains("my.toml, line 2"),
        "{}",
        ended.err
    );
    let mut program = command();
    program.args(["--config", "/nowhere/my.toml", "serve"]);
    let ended = program_run(program);
    assert!(
        !ended.success && ended.err.contains("/nowhere/my.toml cannot be read"),
        "{}",
        ended.err
    );
}

#[test]
fn invalid_variables_and_flags_are_reported() {
    for (name, value, allowed) in [
        ("GARSON_LISTEN", "here", "127.0.0.1:8080"),
        ("GARSON_WEBHOOK__RETRY_SECONDS", "10,x", "a list of whole numbers"),
        ("GARSON_ALLOW_PRIVATE_TARGETS", "maybe", "true or false"),
        ("GARSON_COLOUR", "red", "Settings are"),
    ] {
        let mut program = command();
        program.arg("config").env(name, value);
        let ended = program_run(program);
        assert!(!ended.success, "{name}");
        assert!(
            ended.err.contains(name) && ended.err.contains(allowed),
            "{}",
            ended.err
        );
    }
    let mut program = command();
    program.args(["serve", "--listen", "here"]);
    let ended = program_run(program);
    assert!(!ended.success && ended.err.contains("--listen"), "{}", ended.err);
    let mut program = command();
    program
        .args(["account", "list"])
        .env("GARSON_DATABASE_URL", "postgres://x@127.0.0.1:1/y");
    let ended = program_run(program);
    assert!(
        !ended.success && ended.err.contains("GARSON_MASTER_KEY"),
        "{}",
        ended.err
    );
}

#[test]
fn flags_override_variables_and_variables_override_the_file() {
    let storage = TestStorage::new(Backend::Sqlite);
    std::fs::write(
        storage.folder().join("garson.toml"),
        "data = \"from-file\"\n[log]\nlevel = \"error\"\n",
    )
    .unwrap();
    let shown = |variables: &[(&str, &str)], arguments: &[&str]| {
        let mut program = command();
        program
            .current_dir(storage.folder())
            .args(arguments)
            .arg("config")
            .envs(variables.iter().copied());
        let shown = program_run(program);
        assert!(shown.success, "{}", shown.err);
        shown.out
    };
    assert!(shown(&[], &[]).contains("from-file"));
    let variable = [("GARSON_DATA", "from-variable")];
    assert!(shown(&variable, &[]).contains("from-variable"));
    assert!(shown(&variable, &["--data", "from-flag"]).contains("from-flag"));
    assert!(shown(&variable, &[]).contains("\"error\""));
    let defaults = shown(&[], &[]);
    assert!(
        defaults.contains("127.0.0.1:8080") && defaults.contains("1000/2000"),
        "{defaults}"
    );
}

#[test]
fn effective_settings_are_printed_as_toml_without_secrets() {
    let storage = TestStorage::new(Backend::Sqlite);
    let mut program = command();
    program
        .current_dir(storage.folder())
        .arg("config")
        .env("GARSON_MASTER_KEY", "ab".repeat(32))
        .env("GARSON_DATABASE_URL", "postgres://user:hunter2@127.0.0.1/db")
        .env("GARSON_PLATFORMS__GETIR__APP_SECRET_KEY", "hunter3")
        .env("GARSON_STORAGE__READERS", "7");
    let shown = program_run(program);
    assert!(shown.success, "{}", shown.err);
    assert!(
        !shown.out.contains("abab") && !shown.out.contains("hunter"),
        "{}",
        shown.out
    );
    assert!(shown.out.contains("master_key = \"(set)\""), "{}", shown.out);
    assert!(shown.out.contains("readers = 7"), "{}", shown.out);
    // It can be read again, but for the secrets.
    let file = shown.out.replace("\"(set)\"", "\"\"");
    std::fs::write(storage.folder().join("garson.toml"), file).unwrap();
    let mut program = command();
    program.current_dir(storage.folder()).arg("config");
    let again = program_run(program);
    assert!(
        again.success && again.out.contains("readers = 7"),
        "{}",
        again.err
    );
}
