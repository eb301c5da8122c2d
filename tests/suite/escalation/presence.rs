//! Which boards, streams and pollers are connected for a restaurant.

use super::setup::{seconds, set_steps, step, timeline, wait_for_line};
use crate::support::{Backend, TestService, wait_until};
use garson::flow::presence;
use serde_json::{Value, json};

cases! {
    streams_pollers_and_boards_are_present
    step_is_skipped_while_a_program_watches
    step_is_taken_when_nobody_watches
    printer_is_present_and_does_not_watch
}

#[test]
fn other_nodes_know_who_is_connected() {
    crate::support::block_on(other_nodes(Backend::Postgres));
}

async fn connections(service: &TestService, restaurant: &str) -> Vec<Value> {
    let found = service
        .a
        .get(&format!("/restaurants/{restaurant}/presence"))
        .await
        .data();
    let list = found["connections"].as_array().unwrap().clone();
    let watches = list.iter().any(|it| it["kind"] != json!("printer"));
    assert_eq!(found["isWatched"], json!(watches));
    list
}

async fn streams_pollers_and_boards_are_present(service: TestService) {
    let (shop, other) = (
        service.shop(&service.a, "s").await,
        service.shop(&service.a, "o").await,
    );
    assert!(connections(&service, &shop.restaurant).await.is_empty());
    let stream = service.a.follow().await;
    let found = connections(&service, &shop.restaurant).await;
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["kind"], json!("stream"));
    assert!(found[0]["keyId"].is_string() && found[0]["since"].is_string());
    service.a.get("/events").await.success();
    let kinds = |found: &[Value]| -> Vec<String> {
        found
            .iter()
            .map(|it| it["kind"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(
        kinds(&connections(&service, &shop.restaurant).await),
        ["stream", "poller"]
    );
    let mut user = service.user().await;
    let board = user.open(&format!("/?restaurant={}", shop.restaurant)).await;
    let board = user.follow_board(&board).await;
    assert_eq!(
        kinds(&connections(&service, &shop.restaurant).await),
        ["board", "stream", "poller"]
    );
    assert_eq!(
        kinds(&connections(&service, &other.restaurant).await),
        ["stream", "poller"]
    );
    let page = user.open("/status").await;
    assert!(
        page.has("Sipariş ekranı") && page.has("Olay akışı"),
        "{}",
        page.html
    );
    let path = format!("/restaurants/{}/presence", shop.restaurant);
    service.b.get(&path).await.refused(404, "restaurant_not_found");
    drop((stream, board));
    wait_until("they are gone", async || {
        kinds(&connections(&service, &shop.restaurant).await) == ["poller"]
    })
    .await;
}

fn unwatched(action: &str, seconds: u32) -> Value {
    let mut step = step(action, seconds);
    step["onlyIfUnwatched"] = json!(true);
    step
}

async fn step_is_skipped_while_a_program_watches(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    set_steps(
        &service.a,
        &shop,
        json!([unwatched("verify", 30), step("ring", 40)]),
    )
    .await;
    let order = shop.order("1").await;
    let _stream = service.a.follow().await;
    service.advance(seconds(41));
    wait_for_line(&service.a, &order, "ring urgently").await;
    wait_until("no step is left", async || service.count("escalation_steps") == 0).await;
    let lines = timeline(&service.a, &order).await;
    assert!(!lines.iter().any(|line| line.contains("verified")), "{lines:?}");
}

/// Reading the order counts as no poll: only lists do.
async fn step_is_taken_when_nobody_watches(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    set_steps(&service.a, &shop, json!([unwatched("verify", 30)])).await;
    let order = shop.order("1").await;
    service.advance(seconds(31));
    wait_for_line(&service.a, &order, "not accepted in time: verified").await;
}

async fn printer_is_present_and_does_not_watch(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    set_steps(&service.a, &shop, json!([unwatched("verify", 30)])).await;
    service.a.get("/events?client=printer").await.success();
    let wrong = service.a.get("/events?client=board").await;
    wrong.wrong(422, "invalid_parameter", "client");
    let found = connections(&service, &shop.restaurant).await;
    assert_eq!((found.len(), &found[0]["kind"]), (1, &json!("printer")));
    let mut user = service.user().await;
    let page = user.open("/status").await.within("watching", "table");
    assert!(page.has("Yazıcı"), "{}", page.html);
    let page = user
        .open(&format!("/restaurants/{}/escalation", shop.restaurant))
        .await;
    assert!(page.has("izleyen ekran ya da program yok"), "{}", page.text());
    let order = shop.order("1").await;
    service.advance(seconds(31));
    wait_for_line(&service.a, &order, "not accepted in time: verified").await;
}

async fn other_nodes(backend: Backend) {
    let service = TestService::open(backend).await;
    let second = service.second_node().await;
    let account = service.first_account().await;
    let stream = service.a.follow().await;
    wait_until("the other node knows", async || {
        presence::of_account(&second, account).await.unwrap().len() == 1
    })
    .await;
    drop(stream);
    wait_until("the other node forgets", async || {
        presence::of_account(&second, account).await.unwrap().is_empty()
    })
    .await;
    // A node that is not a member does not count.
    let _stream = service.a.follow().await;
    wait_until("the other node knows again", async || {
        presence::of_account(&second, account).await.unwrap().len() == 1
    })
    .await;
    let node = service.app.store.node_id().unwrap();
    let hex = node.to_string().replace('-', "");
    service.execute_sql(&format!(
        "UPDATE presence SET node = '\\x{}'::bytea WHERE node = '\\x{hex}'::bytea",
        "0".repeat(32)
    ));
    assert!(presence::of_account(&second, account).await.unwrap().is_empty());
}
