//! Help, accounts, keys, the documents of the API, and two servers on one folder.

use crate::support::{
    ApiClient, Backend, PanelUser, Program, TestStorage, block_on, command, command_after, program_run,
    request, run_command, secret_file, send, wait_until,
};
use serde_json::{Value, json};

// That every command has one is tested in the program's own tests.
#[test]
fn help_lists_the_commands() {
    for words in [&[][..], &["key", "issue"], &["restore"]] {
        let mut help = command();
        help.args(words).arg("--help");
        let shown = program_run(help);
        assert!(shown.success && shown.err.is_empty(), "{words:?}: {}", shown.err);
        assert!(
            shown.out.contains("Usage:") && shown.out.len() > 200,
            "{words:?}: {}",
            shown.out
        );
    }
    let mut whole = command();
    whole.arg("--help");
    let shown = program_run(whole).out;
    for name in [
        "serve", "demo", "account", "user", "key", "backup", "migrate", "doctor", "openapi", "asyncapi",
    ] {
        assert!(shown.contains(&format!("  {name}")), "{name} is not in the help");
    }
}

#[test]
fn unknown_commands_fail_with_a_message() {
    for words in [
        &["fly"][..],
        &["account", "create"],
        &["key", "issue"],
        &["serve", "--fast"],
        &["migrate"],
    ] {
        let mut wrong = command();
        wrong.args(words);
        let ended = program_run(wrong);
        assert!(
            !ended.success && ended.err.contains("error"),
            "{words:?}: {}",
            ended.err
        );
    }
}

#[test]
fn accounts_and_keys_are_managed_while_the_server_runs() {
    for backend in [Backend::Sqlite, Backend::Postgres] {
        block_on(async {
            let storage = TestStorage::new(backend);
            let mut server = Program::serve(&storage, &[]);
            let addr = server.address().await;
            // It says so after it has begun to listen.
            wait_until("it says how to begin", async || {
                server.printed().contains("there is no account yet")
            })
            .await;
            let key = storage.create_account("one@example.com");
            let client = ApiClient::new(addr, &key);
            client.get("/orders").await.data();
            let twice = run_command(
                &storage,
                &["account", "create", "--name", "x", "--email", "ONE@example.com"],
            );
            assert!(
                !twice.success && twice.err.contains("has an account already"),
                "{}",
                twice.err
            );
            let wrong = run_command(
                &storage,
                &["account", "create", "--name", "x", "--email", "nonsense"],
            );
            assert!(!wrong.success && wrong.err.contains("e-mail"), "{}", wrong.err);
            let password = secret_file("short");
            let short = [
                "account",
                "create",
                "--name",
                "x",
                "--email",
                "two@example.com",
                "--password-file",
                password.path().to_str().unwrap(),
            ];
            let short = run_command(&storage, &short);
            assert!(
                !short.success && short.err.contains("8 characters") && !short.err.contains("short"),
                "{}",
                short.err
            );
            let listed = run_command(&storage, &["account", "list"]);
            assert!(
                listed.out.contains("one@example.com") && listed.out.lines().count() == 2,
                "{}",
                listed.out
            );
            let issued = run_command(
                &storage,
                &["key", "issue", "--email", "one@example.com", "--label", "Kasa"],
            )
            .out;
            let mut words = issued.split_whitespace();
            let (id, second) = (words.next().unwrap().to_owned(), words.next().unwrap().to_owned());
            ApiClient::new(addr, &second).get("/orders").await.data();
            let listed = run_command(&storage, &["key", "list", "--email", "one@example.com"]).out;
            assert!(
                listed.contains("Kasa") && !listed.contains(&second) && !listed.contains(&key),
                "{listed}"
            );
            let as_json = run_command(
                &storage,
                &["key", "list", "--account", "one@example.com", "--json"],
            )
            .out;
            let keys: Vec<Value> = as_json
                .lines()
                .map(|line| serde_json::from_str(line).unwrap())
                .collect();
            assert!(
                keys.iter()
                    .any(|it| it["id"] == *id && it["label"] == "Kasa" && it["limits"] == "everything"),
                "{as_json}"
            );
            let revoked = run_command(&storage, &["key", "revoke", "--email", "one@example.com", &id]);
            assert!(revoked.success, "{}", revoked.err);
            // Another process has revoked it: the server notices within a second or so.
            crate::support::wait_until("the key stops", async || {
                ApiClient::new(addr, &second).get("/orders").await.status == 401
            })
            .await;
            let last = client.get("/keys").await.data()[0]["id"]
                .as_str()
                .unwrap()
                .to_owned();
            let last = run_command(&storage, &["key", "revoke", "--email", "one@example.com", &last]);
            assert!(!last.success && last.err.contains("last key"), "{}", last.err);
            for words in [
                ["key", "list", "--email", "none@example.com"],
                ["key", "issue", "--email", "none@example.com"],
            ] {
                let unknown = run_command(&storage, &words);
                assert!(
                    !unknown.success && unknown.err.contains("none@example.com"),
                    "{}",
                    unknown.err
                );
            }
            server.terminate();
            assert!(server.ended().await);
        });
    }
}

#[test]
fn a_second_server_on_the_same_folder_is_refused() {
    block_on(async {
        let storage = TestStorage::new(Backend::Sqlite);
        let mut first = Program::serve(&storage, &[]);
        let addr = first.address().await;
        let mut second = Program::serve(&storage, &[]);
        assert!(!second.ended().await);
        let said = second.printed();
        assert!(
            said.contains("another garson server is using") && said.contains("garson.db"),
            "{said}"
        );
        assert_eq!(send(addr, &request("GET", "/readyz", &[], &[])).await.status, 200);
        // With the first one gone, the folder is free.
        first.kill();
        Program::serve(&storage, &[]).address().await;
    });
}

#[test]
fn printed_documents_equal_the_served_ones() {
    block_on(async {
        let storage = TestStorage::new(Backend::Sqlite);
        let mut server = Program::serve(&storage, &[]);
        let addr = server.address().await;
        for (command, part) in [
            ("openapi", "/paths/~1web-api~1v1~1orders"),
            ("asyncapi", "/channels/webhook"),
        ] {
            let path = format!("/{command}.json");
            let served = send(addr, &request("GET", &path, &[], &[])).await.json();
            let printed: Value = serde_json::from_str(&run_command(&storage, &[command]).out).unwrap();
            assert_eq!(printed, served);
            assert!(printed.pointer(part).is_some_and(Value::is_object), "{command}");
        }
    });
}

#[test]
fn in_flight_request_finishes_before_shutdown() {
    block_on(async {
        let storage = TestStorage::new(Backend::Sqlite);
        let mut server = Program::serve(&storage, &[]);
        let addr = server.address().await;
        let key = storage.create_account("one@example.com");
        let client = ApiClient::new(addr, &key);
        let mut running = Vec::new();
        for n in 0..8 {
            running.push(
                client
                    .begin("/businesses", &json!({ "name": n.to_string() }))
                    .await,
            );
        }
        server.terminate();
        wait_until("the server takes nothing new", async || {
            tokio::net::TcpStream::connect(addr).await.is_err()
        })
        .await;
        for request in running {
            request.finish().await.data();
        }
        assert!(server.ended().await, "{}", server.printed());
        let mut server = Program::serve(&storage, &[]);
        let client = ApiClient::new(server.address().await, &key);
        assert_eq!(
            client.get("/businesses").await.data().as_array().unwrap().len(),
            8
        );
    });
}

#[test]
fn accounts_are_named_by_either_flag_and_listed_for_programs() {
    let storage = TestStorage::new(Backend::Sqlite);
    storage.create_account("a@example.com");
    for flag in ["--email", "--account"] {
        for words in [&["key", "list"][..], &["webhook", "deliveries"]] {
            let arguments = [words, &[flag, "a@example.com"]].concat();
            let ended = run_command(&storage, &arguments);
            assert!(ended.success, "{arguments:?}: {}", ended.err);
        }
    }
    let listed = run_command(&storage, &["account", "list", "--json"]);
    let listed: Value = serde_json::from_str(listed.out.trim()).unwrap();
    assert_eq!(listed["email"], json!("a@example.com"));
    assert!(listed["accountId"].is_string() && listed["name"].is_string());
    let unknown = run_command(&storage, &["key", "list", "--email", "b@example.com"]);
    assert!(
        !unknown.success && unknown.err.contains("There is no account b@example.com."),
        "{}",
        unknown.err
    );
}

#[test]
fn secrets_are_read_from_files_or_standard_input() {
    block_on(async {
        let storage = TestStorage::new(Backend::Sqlite);
        let file = storage.folder().join("password");
        std::fs::write(&file, "from the file\n").unwrap();
        let file = file.display().to_string();
        let create = ["account", "create", "--name", "A", "--email", "a@example.com"];
        let made = run_command(&storage, &[&create[..], &["--password-file", &file]].concat());
        assert!(
            made.success && made.out.contains("as given"),
            "{}{}",
            made.out,
            made.err
        );
        let mut server = Program::serve(&storage, &[]);
        let addr = server.address().await;
        let mut user = PanelUser::at(addr);
        assert_eq!(user.sign_in("a@example.com", "from the file").await.status, 200);
        let mut typed = command_after("printf 'from the input\\n' | \"$@\"");
        typed
            .current_dir(storage.folder())
            .envs(storage.variables())
            .args([
                "account",
                "password",
                "--email",
                "a@example.com",
                "--password-file",
                "-",
            ]);
        let typed = program_run(typed);
        assert!(typed.success, "{}", typed.err);
        let mut user = PanelUser::at(addr);
        assert_eq!(user.sign_in("a@example.com", "from the input").await.status, 200);
        server.kill();
        let empty = storage.folder().join("empty");
        std::fs::write(&empty, "").unwrap();
        let empty = empty.display().to_string();
        let refused = run_command(&storage, &["migrate", "--to-file", &empty]);
        assert!(
            !refused.success && refused.err.contains("is empty"),
            "{}",
            refused.err
        );
        let target = storage.folder().join("copy").display().to_string();
        std::fs::write(&empty, format!("{target}\n")).unwrap();
        let moved = run_command(&storage, &["migrate", "--to-file", &empty]);
        assert!(moved.success && moved.out.contains("Done"), "{}", moved.err);
    });
}

#[test]
fn account_creation_names_the_address_of_the_panel() {
    block_on(async {
        let storage = TestStorage::new(Backend::Sqlite);
        let create = |email: &str, settings: &[(&str, &str)]| {
            let mut command = command();
            command
                .current_dir(storage.folder())
                .args(["account", "create", "--name", "x", "--email", email])
                .envs(storage.variables())
                .envs(settings.iter().copied());
            let made = program_run(command);
            assert!(made.success, "{}", made.err);
            made.out
        };
        // That of the settings while no server runs, and that of the server that runs.
        let shown = create("one@example.com", &[("GARSON_LISTEN", "127.0.0.1:7777")]);
        assert!(shown.contains("http://127.0.0.1:7777/"), "{shown}");
        let mut server = Program::serve(&storage, &[]);
        let addr = server.address().await;
        let shown = create("two@example.com", &[("GARSON_LISTEN", "127.0.0.1:7777")]);
        assert!(shown.contains(&format!("http://{addr}/")), "{shown}");
        assert!(!shown.contains(":7777"), "{shown}");
    });
}
