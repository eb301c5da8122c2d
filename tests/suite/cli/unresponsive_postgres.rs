//! The real program on a PostgreSQL that accepts connections and does not answer: requests are refused in time, refused work is
//! not done later, and the service recovers when a server answers again.

use crate::support::{
    ApiClient, Backend, Mode, PASSWORD, PanelUser, Program, Relay, Server, Shop, TestStorage, block_on,
    command, order_body, program_run, request, secret_file, send, url_through, wait_until,
};
use serde_json::json;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// What is answered within 5 seconds on an idle machine; a machine may be slow. Without limits for statements it takes 15
/// to 30 seconds.
const IN_TIME: Duration = Duration::from_secs(12);

/// As it is by default; other cases give a slow machine more time.
const ANSWER: (&str, &str) = ("GARSON_STORAGE__ANSWER_SECONDS", "5");

async fn connect_shop(a: &ApiClient) -> Shop {
    let made = a.post("/restaurants", &json!({ "name": "r" })).await.data();
    let restaurant = made["id"].as_str().unwrap().to_owned();
    let body = json!({ "isActive": true, "remoteId": "s", "credentials": { "inboundKey": "key-of-s" } });
    let path = format!("/restaurants/{restaurant}/integrations/direct");
    a.put(&path, &body).await.data();
    Shop {
        addr: a.addr,
        restaurant,
        store: "s".to_owned(),
        key: "key-of-s".to_owned(),
    }
}

async fn post_order(shop: &Shop, id: &str) -> u16 {
    let body = order_body("s", id, 100).to_string();
    shop.post(body.as_bytes()).await.status
}

async fn ready(addr: SocketAddr) -> u16 {
    send(addr, &request("GET", "/readyz", &[], &[])).await.status
}

/// Answers must come in time, and be 503.
async fn is_refused_in_time(what: &str, answer: impl Future<Output = u16>) {
    let began = Instant::now();
    let status = answer.await;
    assert_eq!(status, 503, "{what}");
    assert!(began.elapsed() < IN_TIME, "{what} took {:?}", began.elapsed());
}

/// One request of each kind.
async fn all_kinds_are_refused_in_time(shop: &Shop, a: &ApiClient, user: &PanelUser, id: &str) {
    let keyed = async {
        let headers = [("idempotency-key", id), ("content-type", "application/json")];
        a.call("POST", "/restaurants", &headers, br#"{"name":"x"}"#)
            .await
            .status
    };
    let page = async { user.clone().send("GET", "/", &[], "").await.status };
    tokio::join!(
        is_refused_in_time("an order", post_order(shop, id)),
        is_refused_in_time("a list", async { a.get("/orders").await.status }),
        is_refused_in_time("a keyed request", keyed),
        is_refused_in_time("a page of the panel", page),
    );
}

#[test]
fn unresponsive_postgres_gives_503_and_refused_work_is_not_done_later() {
    block_on(async {
        let server = Server::start();
        let storage = TestStorage::new(Backend::Sqlite);
        let master_key = "7".repeat(64);
        let settings = [
            ("GARSON_DATABASE_URL", server.url.as_str()),
            ("GARSON_MASTER_KEY", &master_key),
            ANSWER,
        ];
        let mut program = Program::serve(&storage, &settings);
        let addr = program.address().await;
        let password = secret_file(PASSWORD);
        let mut create = command();
        create
            .args(["account", "create", "--name", "x", "--email", "a@example.com"])
            .args(["--password-file", password.path().to_str().unwrap(), "--json"])
            .envs(settings);
        let created = program_run(create);
        let created: serde_json::Value = serde_json::from_str(created.out.trim()).expect(&created.err);
        let a = ApiClient::new(addr, created["apiKey"].as_str().unwrap());
        let shop = connect_shop(&a).await;
        let mut user = PanelUser::at(addr);
        user.sign_in("a@example.com", PASSWORD).await;
        shop.order("before").await;

        server.freeze();
        // One that the writer is about to do, and some that wait behind it.
        let queue = async {
            let mut posts = tokio::task::JoinSet::new();
            for n in 0..20 {
                let shop = shop.clone();
                posts.spawn(async move { post_order(&shop, &format!("waiting-{n}")).await });
            }
            let statuses = posts.join_all().await;
            assert!(statuses.iter().all(|status| *status == 503), "{statuses:?}");
        };
        tokio::join!(queue, all_kinds_are_refused_in_time(&shop, &a, &user, "first"));
        // Later requests are refused as quickly.
        all_kinds_are_refused_in_time(&shop, &a, &user, "second").await;
        server.thaw();
        wait_until("it is ready", async || ready(addr).await == 200).await;
        wait_until("an order is taken", async || {
            post_order(&shop, "after").await == 200
        })
        .await;
        let orders = a.get("/orders?limit=200").await.data();
        let ids: Vec<&str> = orders
            .as_array()
            .unwrap()
            .iter()
            .map(|order| order["providerOrderId"].as_str().unwrap())
            .collect();
        assert_eq!(ids, ["after", "before"], "what was refused was done later");
        assert_eq!(user.send("GET", "/", &[], "").await.status, 200);
        // The keys of requests that were refused are free.
        for key in ["first", "second"] {
            a.keyed(key, "/restaurants", r#"{"name":"x"}"#).await.data();
        }

        server.freeze();
        let under_way = tokio::spawn(async move { post_order(&shop, "last").await });
        wait_until("it is noticed", async || ready(addr).await == 503).await;
        let began = Instant::now();
        program.terminate();
        program.ended().await;
        assert!(
            began.elapsed() < Duration::from_secs(20),
            "it took {:?}",
            began.elapsed()
        );
        under_way.abort();
        server.thaw();
    });
}

#[test]
fn unresponsive_host_is_replaced_by_another() {
    block_on(async {
        let storage = TestStorage::new(Backend::Postgres);
        let key = storage.create_account("one@example.com");
        let direct = storage.database_url();
        let first = Relay::to(&direct, Mode::Forward).await;
        let second = Relay::to(&direct, Mode::Refuse).await;
        let url = url_through(&direct, &[&first, &second]);
        let mut program = Program::serve(&storage, &[("GARSON_DATABASE_URL", &url), ANSWER]);
        let a = ApiClient::new(program.address().await, &key);
        let shop = connect_shop(&a).await;
        shop.order("before").await;

        first.set(Mode::Silent);
        is_refused_in_time("an order", post_order(&shop, "refused")).await;
        // The second host is used, while the first never responds.
        second.set(Mode::Forward);
        wait_until("an order is taken", async || {
            post_order(&shop, "after").await == 200
        })
        .await;
        wait_until("it is ready", async || ready(a.addr).await == 200).await;
        // No connection has stayed behind.
        let mut readers = tokio::task::JoinSet::new();
        for _ in 0..16 {
            let a = a.clone();
            readers.spawn(async move { a.get("/orders").await.status });
        }
        let statuses = readers.join_all().await;
        assert!(statuses.iter().all(|status| *status == 200), "{statuses:?}");
        for n in 0..8 {
            assert_eq!(post_order(&shop, &format!("later-{n}")).await, 200);
        }
        program.terminate();
        assert!(program.ended().await, "{}", program.printed());
    });
}

#[test]
fn startup_waits_for_the_database() {
    block_on(async {
        let storage = TestStorage::new(Backend::Postgres);
        let relay = Relay::to(&storage.database_url(), Mode::Refuse).await;
        let url = url_through(&storage.database_url(), &[&relay]);
        let settings = [("GARSON_DATABASE_URL", url.as_str()), ANSWER];
        let mut program = Program::serve(&storage, &settings);
        wait_until("it says so", async || {
            program.printed().contains("the database is not available yet")
        })
        .await;
        relay.set(Mode::Silent);
        tokio::time::sleep(Duration::from_secs(1)).await;
        relay.set(Mode::Forward);
        assert_eq!(ready(program.address().await).await, 200);
        program.terminate();
        assert!(program.ended().await, "{}", program.printed());

        relay.set(Mode::Refuse);
        // For a limited time,
        let mut hasty = Program::serve(
            &storage,
            &[settings[0], settings[1], ("GARSON_STORAGE__START_SECONDS", "1")],
        );
        assert!(!hasty.ended().await, "{}", hasty.printed());
        // and not against the operator's will.
        let mut stopped = Program::serve(&storage, &settings);
        wait_until("it waits", async || {
            stopped.printed().contains("the database is not available yet")
        })
        .await;
        stopped.terminate();
        assert!(stopped.ended().await, "{}", stopped.printed());
        // Commands do not wait.
        let mut command = command();
        command
            .args(["account", "list"])
            .envs(storage.variables())
            .env("GARSON_DATABASE_URL", &url);
        let refused = program_run(command);
        assert!(
            !refused.success && !refused.err.contains("not available yet"),
            "{}",
            refused.err
        );
    });
}

/// However many are refused, it is said now and then, with how many there were.
#[test]
fn outage_is_logged_in_few_lines() {
    const REFUSED: usize = 60;
    block_on(async {
        let storage = TestStorage::new(Backend::Postgres);
        let key = storage.create_account("one@example.com");
        let relay = Relay::to(&storage.database_url(), Mode::Forward).await;
        let url = url_through(&storage.database_url(), &[&relay]);
        let mut program = Program::serve(&storage, &[("GARSON_DATABASE_URL", &url), ANSWER]);
        let a = ApiClient::new(program.address().await, &key);
        let shop = connect_shop(&a).await;
        shop.order("before").await;
        let lines = |program: &Program| program.printed().lines().count();
        let (before, began) = (lines(&program), Instant::now());
        relay.set(Mode::Refuse);
        for n in 0..REFUSED {
            assert_eq!(post_order(&shop, &format!("refused-{n}")).await, 503);
        }
        // Some kinds of lines, each once in five seconds, and what background work says of itself.
        let rounds = 1 + usize::try_from(began.elapsed().as_secs()).unwrap() / 2;
        let written = lines(&program) - before;
        assert!(
            written < REFUSED.max(10 * rounds),
            "{written} lines: {}",
            program.printed()
        );
        relay.set(Mode::Forward);
        wait_until("an order is taken", async || {
            post_order(&shop, "after").await == 200
        })
        .await;
        program.terminate();
        assert!(program.ended().await);
    });
}
