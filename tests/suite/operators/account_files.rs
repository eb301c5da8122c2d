//! An account moves from one installation to another, through a file.

use crate::support::{
    ApiClient, Backend, PASSWORD, Program, Shop, TestService, TestStorage, run_command, secret_file,
};
use serde_json::{Value, json};

on_both! {
    account_moves_to_another_installation
}

/// What programs see of an account.
async fn seen(client: &ApiClient) -> Vec<Value> {
    let mut all = Vec::new();
    for path in [
        "/orders?include=detail&limit=100",
        "/events?limit=100",
        "/restaurants",
        "/businesses",
        "/keys",
        "/webhook/deliveries?limit=100",
        "/channels",
        "/reports/summary?from=2026-02-15&to=2026-03-10",
    ] {
        let mut body = client.get(path).await.success();
        if path == "/keys" {
            for key in body["data"].as_array_mut().unwrap() {
                key["lastUsedAt"].take();
            }
        }
        // Cursors are sealed for one installation.
        if let Some(paging) = body.get_mut("paging") {
            paging.take();
        }
        all.push(json!({ path: body }));
    }
    all
}

async fn account_moves_to_another_installation(backend: Backend) {
    let service = TestService::open_private(backend).await;
    let client = &service.a;
    let shop = service.shop(client, "s").await;
    for n in 0..25 {
        shop.order(&format!("order-{n}")).await;
    }
    client.act("/orders/verify/order-1").await.data();
    client.act("/orders/cancel/order-2").await.data();
    client
        .post("/businesses", &json!({ "name": "Şirket" }))
        .await
        .data();
    client.keyed("some-key", "/keys", "").await.data();
    service.give_password("first@example.com").await;
    let before = seen(client).await;

    let passphrase = secret_file("correct horse battery");
    let phrase = ["--passphrase-file", passphrase.path().to_str().unwrap()];
    let file = service.storage().folder().join("account.garson");
    let file = file.to_str().unwrap();
    let export = [
        &["account", "export", "--email", "first@example.com", file][..],
        &phrase[..],
    ]
    .concat();
    let refused = service.command(&export);
    assert!(
        !refused.success && refused.err.contains("disable"),
        "{}",
        refused.err
    );
    assert!(
        service
            .command(&["account", "disable", "--email", "first@example.com"])
            .success
    );
    let exported = service.command(&export);
    assert!(exported.success, "{}", exported.err);
    // Nothing is overwritten, and nothing can be read in it.
    assert!(!service.command(&export).success);
    let bytes = std::fs::read(file).unwrap();
    for secret in ["order-1", "first@example.com", client.key.as_str(), "inbound-s"] {
        let found = bytes
            .windows(secret.len())
            .any(|window| window == secret.as_bytes());
        assert!(!found, "{secret} is readable in the file");
    }

    // To the other engine, with another master key, beside a running server.
    let other = match backend {
        Backend::Sqlite => Backend::Postgres,
        Backend::Postgres => Backend::Sqlite,
    };
    let storage = TestStorage::new(other);
    // Its clock is that of the machine, and the events are of the case's time.
    let mut server = Program::serve(&storage, &[("GARSON_WEBHOOK__KEEP_DAYS", "3650")]);
    let addr = server.address().await;
    storage.create_account("neighbour@example.com");
    let wrong = secret_file("another passphrase");
    let import = [
        "account",
        "import",
        file,
        "--passphrase-file",
        wrong.path().to_str().unwrap(),
    ];
    let refused = run_command(&storage, &import);
    assert!(
        !refused.success && refused.err.contains("passphrase is wrong"),
        "{}",
        refused.err
    );
    let import = [&["account", "import", file][..], &phrase[..]].concat();
    let imported = run_command(&storage, &import);
    assert!(imported.success, "{}", imported.err);
    let again = run_command(&storage, &import);
    assert!(!again.success && again.err.contains("already"), "{}", again.err);
    let moved = ApiClient::new(addr, &client.key);
    moved.get("/orders").await.refused(403, "account_disabled");
    assert!(run_command(&storage, &["account", "enable", "--email", "first@example.com"]).success);
    crate::support::wait_until("it can be used", async || {
        moved.get("/orders").await.status == 200
    })
    .await;

    // Everything is there: every record, the password, and the secrets.
    let after = seen(&moved).await;
    for (before, after) in before.iter().zip(&after) {
        assert_eq!(before, after);
    }
    let page = crate::support::PanelUser::at(addr)
        .sign_in("first@example.com", PASSWORD)
        .await;
    assert_eq!((page.status, page.path.as_str()), (200, "/"));
    let shop = Shop { addr, ..shop };
    shop.order("order-25").await;
    let repeated = shop.order("order-3").await;
    assert_eq!(
        moved
            .get("/orders?limit=100")
            .await
            .data()
            .as_array()
            .unwrap()
            .len(),
        26
    );
    moved.act(&format!("/orders/verify/{repeated}")).await.data();
}
