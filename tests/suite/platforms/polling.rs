//! Polling: what is wrong with one integration, or with one account's, is nobody else's trouble.

use crate::support::{Answer, Caller, House, Kind, Receiver, Town, block_on, until};
use garson_core::id::IntegrationId;
use garson_sim::Platform::{Migros, Trendyol};
use garson_sim::views::OrderRequest;
use serde_json::json;
use std::time::{Duration, Instant};

on_both! {
    an_integration_that_cannot_be_read_keeps_no_other_from_being_polled
    hanging_integrations_of_one_account_do_not_delay_another
    a_chain_that_waits_for_its_rate_limit_does_not_delay_another
}

async fn an_integration_that_cannot_be_read_keeps_no_other_from_being_polled(kind: Kind) {
    let town = Town::open(kind).await;
    town.house.damage_credentials("07070707", "provider = 'getir'");
    for platform in [Trendyol, Migros] {
        let request = OrderRequest {
            push: false,
            ..OrderRequest::new(platform)
        };
        let meal = town.place(request).await;
        town.poll().await;
        assert!(town.shown(&meal).await.is_some(), "{platform}");
    }
    let noted = "integrations WHERE provider = 'getir' AND trouble_at IS NOT NULL
                 AND last_error LIKE '%credentials_unreadable%'";
    until("it is noted with the integration", async || {
        town.house.count(noted) == 1
    })
    .await;
}

/// A service whose Trendyol is this receiver, asked every second.
async fn a_house(kind: Kind, trendyol: &Receiver) -> House {
    a_house_polling(kind, trendyol, 1).await
}

async fn a_house_polling(kind: Kind, trendyol: &Receiver, poll_seconds: u32) -> House {
    let base = trendyol.url("");
    let change = move |settings: &mut garson::config::Settings| {
        settings.allow_private_targets = true;
        let terms = settings.platforms.get_mut("trendyol").unwrap();
        terms.base_url = base;
        terms.poll_seconds = poll_seconds;
    };
    House::open_with(kind, change, None).await
}

/// A message at one node tells of an order that another node would ask the platform for only an hour later.
#[test]
fn a_node_that_does_not_poll_an_integration_tells_the_one_that_does() {
    block_on(async {
        let trendyol = Receiver::start().await;
        trendyol.usually(Answer::Body(200, r#"{"content": []}"#.to_owned()));
        let house = a_house_polling(Kind::Postgres, &trendyol, 3_600).await;
        connect(&house.a, "1111", 1, false).await;
        until("it is polled", async || polls_of(&trendyol, "1111") > 0).await;
        let id: IntegrationId = house
            .app
            .store
            .read(|tx| tx.query_one("SELECT id FROM integrations", &[], |row| row.get(0)))
            .await
            .unwrap();
        let second = house.second_node().await;
        until("the second node has joined", async || house.count("nodes") == 2).await;
        let before = polls_of(&trendyol, "1111");
        until("it is polled again", async || {
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

/// Connects so many stores of an account, with a key for all of them or one for each.
async fn connect(caller: &Caller, supplier: &str, stores: usize, is_shared: bool) {
    for n in 0..stores {
        let made = caller
            .post("/restaurants", &json!({ "name": format!("{supplier}-{n}") }))
            .await
            .data();
        let path = format!(
            "/restaurants/{}/integrations/trendyol",
            made["id"].as_str().unwrap()
        );
        let key = match is_shared {
            true => format!("key-{supplier}"),
            false => format!("key-{supplier}-{n}"),
        };
        let inbound = json!({ "x-api-key": format!("knock-{supplier}-{n}") }).to_string();
        let credentials = json!({
            "supplierId": supplier, "apiKey": key, "apiSecret": "trendyol-secret", "integratorName": "Garson",
            "executorUser": "kasa@example.com", "inboundHeaders": inbound,
        });
        let body =
            json!({ "isActive": true, "remoteId": format!("{supplier}:{n}"), "credentials": credentials });
        caller.put(&path, &body).await.data();
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
    until("it is polled on and on", async || {
        polls_of(trendyol, supplier) >= before + 4
    })
    .await;
    start.elapsed()
}

async fn hanging_integrations_of_one_account_do_not_delay_another(kind: Kind) {
    let trendyol = Receiver::start().await;
    trendyol.judges(|seen| match seen.path().contains("/1111/") {
        true => Answer::Silence,
        false => Answer::Body(200, r#"{"content": []}"#.to_owned()),
    });
    let house = a_house(kind, &trendyol).await;
    connect(&house.a, "1111", 80, false).await;
    until("they hang", async || trendyol.open() >= 16).await;
    connect(&house.b, "2222", 1, false).await;
    // A request may hang for 30 s.
    let took = time_of_some_polls(&trendyol, "2222").await;
    assert!(took < Duration::from_secs(25), "{took:?}");
    let hanging = trendyol.open();
    assert!(
        hanging <= 20,
        "{hanging} requests of one account hang at the same time"
    );
}

async fn a_chain_that_waits_for_its_rate_limit_does_not_delay_another(kind: Kind) {
    let trendyol = Receiver::start().await;
    trendyol.usually(Answer::Body(200, r#"{"content": []}"#.to_owned()));
    let house = a_house(kind, &trendyol).await;
    // 50 requests are allowed in 10 s, and one store wants one each second.
    connect(&house.a, "1111", 150, true).await;
    until("the limit is used up", async || polls_of(&trendyol, "1111") >= 55).await;
    connect(&house.b, "2222", 1, false).await;
    let took = time_of_some_polls(&trendyol, "2222").await;
    assert!(took < Duration::from_secs(25), "{took:?}");
}
