//! Several servers on one PostgreSQL share their state.

use crate::support::{ApiClient, Backend, Program, Shop, TestStorage, block_on, run_command};
use serde_json::json;

async fn two_nodes(storage: &TestStorage) -> (Program, Program, ApiClient, ApiClient) {
    let (mut first, mut second) = (Program::serve(storage, &[]), Program::serve(storage, &[]));
    let (one, two) = (first.address().await, second.address().await);
    let key = storage.create_account("one@example.com");
    (
        first,
        second,
        ApiClient::new(one, &key),
        ApiClient::new(two, &key),
    )
}

async fn shop(client: &ApiClient) -> Shop {
    let made = client.post("/restaurants", &json!({ "name": "r" })).await.data();
    let restaurant = made["id"].as_str().unwrap().to_owned();
    let body = json!({ "isActive": true, "remoteId": "s", "credentials": { "inboundKey": "key-of-s" } });
    let path = format!("/restaurants/{restaurant}/integrations/direct");
    client.put(&path, &body).await.data();
    Shop {
        addr: client.addr,
        restaurant,
        store: "s".to_owned(),
        key: "key-of-s".to_owned(),
    }
}

#[test]
fn the_same_order_at_two_nodes_is_one_order() {
    block_on(async {
        let storage = TestStorage::new(Backend::Postgres);
        let (_first, _second, one, two) = two_nodes(&storage).await;
        let shop = shop(&one).await;
        for round in 0..5 {
            let mut running = tokio::task::JoinSet::new();
            for n in 0..32 {
                let mut shop = shop.clone();
                shop.addr = if n % 2 == 0 { one.addr } else { two.addr };
                running.spawn(async move { shop.order(&format!("R-{round}")).await });
            }
            let ids = running.join_all().await;
            assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
            // Both act on it at once; one cancellation comes of it.
            let mut running = tokio::task::JoinSet::new();
            for n in 0..16 {
                let client = if n % 2 == 0 { one.clone() } else { two.clone() };
                let act = if n % 4 < 2 { "cancel" } else { "verify" };
                let path = format!("/orders/{act}/R-{round}");
                running.spawn(async move { client.act(&path).await.status });
            }
            for status in running.join_all().await {
                assert!(matches!(status, 200 | 409), "{status}");
            }
        }
        for client in [&one, &two] {
            assert_eq!(client.get("/orders").await.data().as_array().unwrap().len(), 5);
            let events = client.get("/events?limit=200").await.data();
            let count = |olay: &str| {
                let events = events.as_array().unwrap().iter();
                events.filter(|event| event["olay"] == json!(olay)).count()
            };
            assert_eq!(
                (count("siparis.olusturuldu"), count("siparis.iptal_edildi")),
                (5, 5)
            );
        }
        assert_eq!(
            one.get("/orders?limit=2").await.body,
            two.get("/orders?limit=2").await.body
        );
    });
}

#[test]
fn idempotency_key_is_shared_by_all_nodes() {
    block_on(async {
        let storage = TestStorage::new(Backend::Postgres);
        let (_first, _second, one, two) = two_nodes(&storage).await;
        let mut running = tokio::task::JoinSet::new();
        for n in 0..32 {
            let client = if n % 2 == 0 { one.clone() } else { two.clone() };
            running.spawn(async move { client.keyed("k", "/businesses", r#"{"name":"x"}"#).await });
        }
        for reply in running.join_all().await {
            if reply.status != 200 {
                reply.refused(409, "idempotency_key_in_use");
            }
        }
        assert_eq!(two.get("/businesses").await.data().as_array().unwrap().len(), 1);
    });
}

#[test]
fn open_inbox_messages_are_listed_by_the_cli() {
    block_on(async {
        let storage = TestStorage::new(Backend::Sqlite);
        let key = storage.create_account("one@example.com");
        let mut server = Program::serve(&storage, &[]);
        let client = ApiClient::new(server.address().await, &key);
        let shop = shop(&client).await;
        shop.post(b"{").await;
        shop.post(b"{").await;
        let listed = run_command(&storage, &["inbox", "list"]);
        assert!(listed.success, "{}", listed.err);
        let words: Vec<&str> = listed.out.lines().last().unwrap().split_whitespace().collect();
        assert_eq!(
            words[2..7],
            ["direct", "order", "unreadable", "2", "1"],
            "{}",
            listed.out
        );
    });
}
