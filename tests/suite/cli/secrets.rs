//! Secrets are neither printed nor stored in clear text.

use crate::support::{
    ApiClient, Backend, CannedResponse, Program, Receiver, Shop, TestStorage, block_on, order_body, request,
    run_command, secret_file, send,
};
use serde_json::json;
use std::net::SocketAddr;

const INBOUND: &str = "MARK-inbound-key";
const CALLBACK: &str = "MARK-callback-token";
const HEADER: &str = "MARK-till-password";
const WRONG_KEY: &str = "gsn_MARK-wrong-api-key";
const RESEND: &str = "MARK-resend-header";
const PASSWORD: &str = "MARK-panel-password";
const MASTER: &str = "4d41524b4d41524b4d41524b4d41524b4d41524b4d41524b4d41524b4d41524b"; // typos: ignore

/// Uses every part of the service that meets a secret, errors included.
async fn exercise(addr: SocketAddr, key: &str) -> Vec<String> {
    let receiver = Receiver::start().await;
    let a = ApiClient::new(addr, key);
    let made = a
        .post(
            "/restaurants",
            &json!({
                "name": "r", "paymentMatchingUrl": receiver.url(&format!("/types?token={CALLBACK}")),
                "paymentMatchingHeaders": { "X-Password": HEADER },
            }),
        )
        .await
        .data();
    let id = made["id"].as_str().unwrap();
    let integration = format!("/restaurants/{id}/integrations/direct");
    let credentials =
        json!({ "inboundKey": INBOUND, "callbackUrl": receiver.url(&format!("/cb?token={CALLBACK}")) });
    let body = json!({ "isActive": true, "remoteId": "s", "credentials": credentials });
    a.put(&integration, &body).await.data();
    a.put(
        &integration,
        &json!({ "credentials": { "inboundKey": [INBOUND] } }),
    )
    .await;
    a.put(
        &integration,
        &json!({ "credentials": { "callbackUrl": format!("http://u:{CALLBACK}@x/") } }),
    )
    .await;
    a.json(
        "PUT",
        &integration,
        &format!("{{\"credentials\":{{\"inboundKey\":\"{INBOUND}\""),
    )
    .await;
    let shop = Shop {
        addr,
        restaurant: id.to_owned(),
        store: "s".to_owned(),
        key: INBOUND.to_owned(),
    };
    for (answer, order) in [(200, "1"), (503, "2"), (410, "3")] {
        receiver.set_default_response(CannedResponse::Status(answer));
        shop.order(order).await;
        a.act(&format!("/orders/change-status/{order}")).await.data();
    }
    receiver.wait_for(3).await;
    shop.hook("/hooks/direct/orders", Some("MARK-wrong-inbound"), b"{}")
        .await;
    shop.post(b"{").await;
    shop.post(order_body("other", "1", 1).to_string().as_bytes())
        .await;
    receiver.set_default_response(CannedResponse::Status(200));
    a.get(&format!("/restaurants/{id}/payment-matching")).await.data();
    receiver.set_default_response(CannedResponse::Status(500));
    a.get(&format!("/restaurants/{id}/payment-matching")).await.data();
    let url = receiver.url(&format!("/hook?token={RESEND}"));
    a.put("/webhook", &json!({ "url": url })).await.data();
    a.act("/webhook/test").await.data();
    for headers in [
        json!({}),
        json!({ "authorization": RESEND }),
        json!({ "Host": RESEND }),
        json!({ "X": format!("{RESEND}\n") }),
    ] {
        a.post(
            "/orders/retry-webhook",
            &json!({ "webhookOrderId": "1", "url": url, "headers": headers }),
        )
        .await;
    }
    let away = format!("http://127.0.0.1:1/?token={RESEND}");
    a.post(
        "/orders/retry-webhook",
        &json!({ "webhookOrderId": "1", "url": away, "headers": {} }),
    )
    .await;
    ApiClient::new(addr, WRONG_KEY)
        .get("/orders")
        .await
        .refused(401, "unauthorized");
    let issued = a.keyed("k", "/keys", "").await.data();
    let second = issued["apiKey"].as_str().unwrap().to_owned();
    ApiClient::new(addr, &second).get("/orders").await.data();
    a.delete(&format!("/keys/{}", issued["id"].as_str().unwrap()))
        .await
        .done();
    for path in ["/metrics", "/readyz", "/nowhere?key=MARK-query"] {
        let shown = send(
            addr,
            &request("GET", path, &[("authorization", "Bearer MARK-bearer")], &[]),
        )
        .await;
        assert!(!shown.text().contains("MARK"), "{path}");
    }
    vec![key.to_owned(), second]
}

fn none_of(marks: &[String], place: &str, bytes: &[u8]) {
    for mark in marks {
        let found = bytes.windows(mark.len()).any(|window| window == mark.as_bytes());
        assert!(!found, "{mark} is in {place}");
    }
}

fn run(backend: Backend, format: &str) {
    block_on(async {
        let storage = TestStorage::new(backend);
        let password = secret_file(PASSWORD);
        let made = [
            "account",
            "create",
            "--name",
            "x",
            "--email",
            "one@example.com",
            "--json",
            "--password-file",
            password.path().to_str().unwrap(),
        ];
        let settings = [
            ("GARSON_LOG__LEVEL", "trace"),
            ("GARSON_LOG__FORMAT", format),
            ("GARSON_ALLOW_PRIVATE_TARGETS", "true"),
            ("GARSON_MASTER_KEY", MASTER),
            ("RUST_LOG", "trace"),
        ];
        let mut server = Program::serve(&storage, &settings);
        let addr = server.address().await;
        let mut create = crate::support::command();
        create.args(made).envs(storage.variables()).envs(settings);
        let created = crate::support::program_run(create);
        assert!(created.success, "{}", created.err);
        let created: serde_json::Value = serde_json::from_str(created.out.trim()).unwrap();
        let keys = exercise(addr, created["apiKey"].as_str().unwrap()).await;
        server.terminate();
        assert!(server.ended().await, "{}", server.printed());
        let mut marks: Vec<String> = keys;
        marks.extend(
            [
                INBOUND,
                CALLBACK,
                HEADER,
                WRONG_KEY,
                RESEND,
                PASSWORD,
                MASTER,
                "MARK-wrong-inbound",
                "MARK-query",
                "MARK-bearer",
            ]
            .map(str::to_owned),
        );
        let printed = server.printed();
        assert!(printed.contains("started") && printed.len() > 200, "{printed}");
        none_of(&marks, "what the server printed", printed.as_bytes());
        // In the data: what is only to be recognised or used by us. An address that an attempt went to is shown to
        // its account and so kept as it is, and so is the registered webhook.
        let sealed: Vec<String> = marks
            .into_iter()
            .filter(|mark| mark != RESEND && mark != CALLBACK)
            .collect();
        if backend == Backend::Sqlite {
            for entry in std::fs::read_dir(storage.data()).unwrap() {
                let path = entry.unwrap().path();
                if path
                    .file_name()
                    .is_some_and(|name| name.to_string_lossy().starts_with("garson.db"))
                {
                    none_of(
                        &sealed,
                        &path.display().to_string(),
                        &std::fs::read(&path).unwrap(),
                    );
                }
            }
        }
        let listed = run_command(&storage, &["inbox", "list"]);
        none_of(
            &sealed,
            "what the command line printed",
            format!("{}{}", listed.out, listed.err).as_bytes(),
        );
    });
}

#[test]
fn no_secret_is_printed_or_stored_in_clear() {
    run(Backend::Sqlite, "text");
}

#[test]
fn no_secret_is_printed_as_json_with_postgres() {
    run(Backend::Postgres, "json");
}

#[test]
fn the_database_password_is_not_printed() {
    let storage = TestStorage::new(Backend::Sqlite);
    let url = "postgres://garson:MARK-db-password@127.0.0.1:1/none";
    for arguments in [
        &["serve"][..],
        &["account", "list"],
        &["config"],
        &["doctor"],
        &["migrate", "--to", url],
    ] {
        for level in ["info", "trace"] {
            let mut program = crate::support::command();
            program
                .current_dir(storage.folder())
                .args(arguments)
                .env("GARSON_DATABASE_URL", url)
                .env("GARSON_MASTER_KEY", MASTER)
                .env("GARSON_LOG__LEVEL", level)
                // Nothing listens there, so waiting for it shows nothing more.
                .env("GARSON_STORAGE__START_SECONDS", "1");
            let ended = crate::support::program_run(program);
            let said = format!("{}{}", ended.out, ended.err);
            assert!(
                !said.contains("MARK-db-password") && !said.contains(MASTER),
                "{arguments:?}: {said}"
            );
            assert!(!said.is_empty());
        }
    }
}

#[test]
fn settings_do_not_show_their_secrets() {
    let variables = [
        ("GARSON_DATABASE_URL", "postgres://garson:MARK@127.0.0.1/none"),
        ("GARSON_MASTER_KEY", MASTER),
    ];
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let settings = garson::config::Settings::load(None, variables, Vec::new()).unwrap();
    for shown in [format!("{settings:?}"), format!("{settings:#?}")] {
        assert!(!shown.contains("MARK") && !shown.contains(MASTER), "{shown}");
    }
}

#[test]
fn created_files_are_private_and_an_exposed_key_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    block_on(async {
        let storage = TestStorage::new(Backend::Sqlite);
        let mut server = Program::serve(&storage, &[]);
        server.address().await;
        let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&storage.data()), 0o700);
        for file in ["garson.db", "garson.db-wal", "garson.db-shm", "master.key"] {
            assert_eq!(mode(&storage.data().join(file)), 0o600, "{file}");
        }
        assert!(!server.printed().contains("chmod"), "{}", server.printed());
        server.terminate();
        assert!(server.ended().await);
        let key = storage.data().join("master.key");
        std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
        std::fs::set_permissions(storage.data(), std::fs::Permissions::from_mode(0o755)).unwrap();
        let mut server = Program::serve(&storage, &[]);
        assert!(!server.ended().await);
        let printed = server.printed();
        assert!(
            printed.contains("master.key") && printed.contains("chmod 600"),
            "{printed}"
        );
        // The folder alone is only worth a warning.
        std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).unwrap();
        let mut server = Program::serve(&storage, &[]);
        server.address().await;
        let printed = server.printed();
        assert!(
            printed.contains("the data folder") && printed.contains("chmod 700"),
            "{printed}"
        );
    });
}
