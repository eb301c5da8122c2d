//! Polling: a failing integration or account does not affect others.

use crate::support::{
    ApiClient, Backend, CannedResponse, PlatformWorld, Receiver, TestService, block_on, wait_until,
};
use garson_core::id::IntegrationId;
use garson_sim::Platform::{Migros, Trendyol};
use garson_sim::views::OrderRequest;
use serde_json::json;
use std::time::{Duration, Instant};

on_both! {
    unreadable_integration_does_not_block_polling
    hanging_integrations_of_one_account_do_not_delay_another
    rate_limited_chain_does_not_delay_another
}

async fn unreadable_integration_does_not_block_polling(backend: Backend) {
    let world = PlatformWorld::open(backend).await;
    world
        .service
        .corrupt_credentials("07070707", "provider = 'getir'");
    for platform in [Trendyol, Migros] {
        let request = OrderRequest {
            push: false,
            ..OrderRequest::new(platform)
        };
        let placed = world.place(request).await;
        world.poll().await;
        assert!(world.find_order(&placed).await.is_some(), "{platform}");
    }
    let noted = "integrations WHERE provider = 'getir' AND trouble_at IS NOT NULL
                 AND last_error LIKE '%credentials_unreadable%'";
    wait_until("it is noted with the integration", async || {
        world.service.count(noted) == 1
    })
    .await;
}

/// A service whose Trendyol is this receiver, asked every second.
async fn a_house(backend: Backend, trendyol: &Receiver) -> TestService {
    a_house_polling(backend, trendyol, 1).await
}

async fn a_house_polling(backend: Backend, trendyol: &Receiver, poll_seconds: u32) -> TestService {
    let base = trendyol.url("");
    let change = move |settings: &mut garson::config::Settings| {
        settings.allow_private_targets = true;
        let terms = settings.platforms.get_mut("trendyol").unwrap();
        terms.base_url = base;
        terms.poll_seconds = poll_seconds;
    };
    TestService::open_with(backend, change, None).await
}

/// A message at one node tells of an order that another node would ask the platform for only an hour later.
#[test]
fn poll_request_reaches_the_polling_node() {
    block_on(async {
        let trendyol = Receiver::start().await;
        trendyol.set_default_response(CannedResponse::Body(200, r#"{"content": []}"#.to_owned()));
        let service = a_house_polling(Backend::Postgres, &trendyol, 3_600).await;
        connect(&service.a, "1111", 1, false).await;
        wait_until("it is polled", async || polls_of(&trendyol, "1111") > 0).await;
        let id: IntegrationId = service
            .app
            .store
            .read(|tx| tx.query_one("SELECT id FROM integrations", &[], |row| row.get(0)))
            .await
            .unwrap();
        let second = service.second_node().await;
        wait_until("the second node has joined", async || service.count("nodes") == 2).await;
        let before = polls_of(&trendyol, "1111");
        wait_until("it is polled again", async || {
            // A node notifies others as soon as it has seen that there are any.
            second.poll_requests.poll_now(id);
            polls_of(&trendyol, "1111") > before
        })
        .await;
        assert_eq!(
            second.poll_requests.polled_integrations(),
            0,
            "the second node polls nothing itself"
        );
    });
}

/// Connects this many stores of an account, with one key for all of them or one for each.
async fn connect(client: &ApiClient, supplier: &str, stores: usize, is_shared: bool) {
    for n in 0..stores {
        let made = client
            .post("/restaurants", &json!({ "name": format!("{supplier}-{n}") }))
            .await
            .data();
        let path = format!(
            "/restaurants/{}/integrations/trendyol",
            made["id"].as_str().unwrap()
        );
        let key = if is_shared {
            format!("key-{supplier}")
        } else {
            format!("key-{supplier}-{n}")
        };
        let inbound = json!({ "x-api-key": format!("knock-{supplier}-{n}") }).to_string();
        let credentials = json!({
            "supplierId": supplier, "apiKey": key, "apiSecret": "trendyol-secret", "integratorName": "Garson",
            "executorUser": "kasa@example.com", "inboundHeaders": inbound,
        });
        let body =
            json!({ "isActive": true, "remoteId": format!("{supplier}:{n}"), "credentials": credentials });
        client.put(&path, &body).await.data();
    }
}

fn polls_of(trendyol: &Receiver, supplier: &str) -> usize {
    let path = format!("/{supplier}/");
    let seen = trendyol.seen();
    seen.iter().filter(|seen| seen.path().contains(&path)).count()
}

/// Waits until an account's only store has been polled a few times more, and says how long that took.
async fn time_of_some_polls(trendyol: &Receiver, supplier: &str) -> Duration {
    let (before, start) = (polls_of(trendyol, supplier), Instant::now());
    wait_until("it is polled on and on", async || {
        polls_of(trendyol, supplier) >= before + 4
    })
    .await;
    start.elapsed()
}

async fn hanging_integrations_of_one_account_do_not_delay_another(backend: Backend) {
    let trendyol = Receiver::start().await;
    trendyol.respond_with(|seen| {
        if seen.path().contains("/1111/") {
            CannedResponse::Silence
        } else {
            CannedResponse::Body(200, r#"{"content": []}"#.to_owned())
        }
    });
    let service = a_house(backend, &trendyol).await;
    connect(&service.a, "1111", 80, false).await;
    wait_until("they hang", async || trendyol.open() >= 16).await;
    connect(&service.b, "2222", 1, false).await;
    // A request may hang for 30 s.
    let took = time_of_some_polls(&trendyol, "2222").await;
    assert!(took < Duration::from_secs(25), "{took:?}");
    let hanging = trendyol.open();
    assert!(
        hanging <= 20,
        "{hanging} requests of one account hang at the same time"
    );
}

async fn rate_limited_chain_does_not_delay_another(backend: Backend) {
    let trendyol = Receiver::start().await;
    trendyol.set_default_response(CannedResponse::Body(200, r#"{"content": []}"#.to_owned()));
    let service = a_house(backend, &trendyol).await;
    // 50 requests are allowed in 10 s, and one store wants one each second.
    connect(&service.a, "1111", 150, true).await;
    wait_until("the limit is used up", async || polls_of(&trendyol, "1111") >= 55).await;
    connect(&service.b, "2222", 1, false).await;
    let took = time_of_some_polls(&trendyol, "2222").await;
    assert!(took < Duration::from_secs(25), "{took:?}");
}
