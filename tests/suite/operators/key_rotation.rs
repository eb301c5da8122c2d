//! The master key is rotated while servers run, and the command is killed in between.

use crate::support::{
    ApiClient, Backend, Program, Receiver, Shop, TestStorage, block_on, command, run_command, secret_file,
};
use serde_json::json;
use std::time::Duration;

const PRIVATE: (&str, &str) = ("GARSON_ALLOW_PRIVATE_TARGETS", "true");

/// A restaurant whose platform presents a secret, with a webhook that carries the primary key.
async fn set_up(client: &ApiClient, receiver: &Receiver) -> Shop {
    let made = client.post("/restaurants", &json!({ "name": "r" })).await.data();
    let restaurant = made["id"].as_str().unwrap().to_owned();
    let body = json!({ "isActive": true, "remoteId": "s", "credentials": { "inboundKey": "key-of-s" } });
    let path = format!("/restaurants/{restaurant}/integrations/direct");
    client.put(&path, &body).await.data();
    client
        .put("/webhook", &json!({ "url": receiver.url("/") }))
        .await
        .data();
    Shop {
        addr: client.addr,
        restaurant,
        store: "s".to_owned(),
        key: "key-of-s".to_owned(),
    }
}

/// Everything that needs a secret works: the inbound key, the key in webhooks, a new key.
async fn works(client: &ApiClient, shop: &Shop, receiver: &Receiver, order: &str) {
    let before = receiver.count();
    let mut shop = shop.clone();
    shop.addr = client.addr;
    shop.order(order).await;
    let seen = receiver.wait_for(before + 1).await;
    let bearer = format!("Bearer {}", client.key);
    assert!(
        seen.iter()
            .all(|it| it.header("authorization") == Some(bearer.as_str()))
    );
    client.act("/keys").await.data();
}

#[test]
fn key_file_is_rotated_while_the_server_runs_and_the_command_is_killed() {
    block_on(async {
        let storage = TestStorage::new(Backend::Sqlite);
        let receiver = Receiver::start().await;
        let mut server = Program::serve(&storage, &[PRIVATE]);
        let key = storage.create_account("a@example.com");
        let client = ApiClient::new(server.address().await, &key);
        let shop = set_up(&client, &receiver).await;
        works(&client, &shop, &receiver, "before").await;
        let file = storage.data().join("master.key");
        let old = std::fs::read_to_string(&file).unwrap();
        // Killed at different moments, each time it goes on.
        for (n, millis) in [50, 700, 2_500, 6_000].into_iter().enumerate() {
            let mut rotate = command();
            rotate
                .current_dir(storage.folder())
                .args(["key", "rotate"])
                .envs(storage.variables());
            let mut rotating = Program::start(rotate);
            tokio::time::sleep(Duration::from_millis(millis)).await;
            rotating.kill();
            works(&client, &shop, &receiver, &format!("killed-{n}")).await;
        }
        // A server that is killed and started in the middle knows both keys.
        server.kill();
        let mut server = Program::serve(&storage, &[PRIVATE]);
        let client = ApiClient::new(server.address().await, &key);
        works(&client, &shop, &receiver, "restarted").await;
        let rotated = run_command(&storage, &["key", "rotate"]);
        assert!(
            rotated.success && rotated.out.contains("Done"),
            "{}{}",
            rotated.out,
            rotated.err
        );
        works(&client, &shop, &receiver, "rotated").await;
        let new = std::fs::read_to_string(&file).unwrap();
        assert_ne!(old, new);
        server.kill();
        // The server's row is still there, but the server is not; a second rotation does not wait for it.
        let rotated = run_command(&storage, &["key", "rotate"]);
        assert!(rotated.success, "{}", rotated.err);
        let mut server = Program::serve(&storage, &[PRIVATE]);
        let client = ApiClient::new(server.address().await, &key);
        works(&client, &shop, &receiver, "at last").await;
        server.kill();
        // The old keys open nothing any more.
        for old in [old, new] {
            let last = std::fs::read_to_string(&file).unwrap();
            std::fs::write(&file, &old).unwrap();
            let mut refused = Program::serve(&storage, &[PRIVATE]);
            assert!(!refused.ended().await);
            assert!(
                refused.printed().contains("another master key"),
                "{}",
                refused.printed()
            );
            std::fs::write(&file, &last).unwrap();
        }
    });
}

#[test]
fn key_of_several_nodes_is_rotated_in_steps() {
    block_on(async {
        let storage = TestStorage::new(Backend::Postgres);
        let receiver = Receiver::start().await;
        let mut nodes = [
            Program::serve(&storage, &[PRIVATE]),
            Program::serve(&storage, &[PRIVATE]),
        ];
        let key = storage.create_account("a@example.com");
        let first = ApiClient::new(nodes[0].address().await, &key);
        let second = ApiClient::new(nodes[1].address().await, &key);
        let shop = set_up(&first, &receiver).await;
        works(&second, &shop, &receiver, "before").await;
        let new = "8".repeat(64);
        let file = secret_file(&new);
        let rotate = ["key", "rotate", "--new-key-file", file.path().to_str().unwrap()];
        let none = run_command(&storage, &["key", "rotate"]);
        assert!(
            !none.success && none.err.contains("--new-key-file"),
            "{}",
            none.err
        );
        // Killed in the middle, then complete.
        let mut killed = command();
        killed
            .current_dir(storage.folder())
            .args(rotate)
            .envs(storage.variables());
        let mut killed = Program::start(killed);
        tokio::time::sleep(Duration::from_millis(3_000)).await;
        killed.kill();
        works(&first, &shop, &receiver, "killed").await;
        let rotated = run_command(&storage, &rotate);
        assert!(
            rotated.success && rotated.out.contains("--finish"),
            "{}{}",
            rotated.out,
            rotated.err
        );
        works(&first, &shop, &receiver, "both-1").await;
        works(&second, &shop, &receiver, "both-2").await;
        // Both keys are accepted until every node has the new one.
        let early = run_command(&storage, &["key", "rotate", "--finish"]);
        assert!(!early.success && early.err.contains("old key"), "{}", early.err);
        let finish = || {
            let mut finish = command();
            finish
                .current_dir(storage.folder())
                .args(["key", "rotate", "--finish"])
                .envs(storage.variables())
                .env("GARSON_MASTER_KEY", &new);
            crate::support::program_run(finish)
        };
        let early = finish();
        assert!(
            !early.success && early.err.contains("restart them"),
            "{}",
            early.err
        );
        for node in &mut nodes {
            node.terminate();
            assert!(node.ended().await);
            *node = Program::serve(&storage, &[PRIVATE, ("GARSON_MASTER_KEY", &new)]);
            let client = ApiClient::new(node.address().await, &key);
            works(&client, &shop, &receiver, &format!("restarted-{}", node.id())).await;
        }
        let finished = finish();
        assert!(finished.success, "{}", finished.err);
        for node in &mut nodes {
            let client = ApiClient::new(node.address().await, &key);
            works(&client, &shop, &receiver, &format!("finished-{}", node.id())).await;
        }
        let mut refused = Program::serve(&storage, &[PRIVATE]);
        assert!(!refused.ended().await);
        assert!(
            refused.printed().contains("another master key"),
            "{}",
            refused.printed()
        );
    });
}
