//! The banner of every page: a failing receiver, events that were given up, platforms that refuse the credentials.

use crate::support::{Backend, CannedResponse, PanelUser, PlatformWorld, Receiver, TestService, wait_until};
use garson_sim::Platform;
use garson_sim::views::{Courier, Fault};
use serde_json::json;
use std::time::Duration;

on_both! {
    failing_receiver_is_shown_on_every_page_until_it_recovers
    ; sqlite_only:
    refused_credentials_are_shown
}

const FAILING: &str = "Siparişler kasa programınıza iletilemiyor.";
const GIVEN_UP: &str = "1 olay kasa programınıza iletilemedi";

/// Waits until the banner shows this, or no longer does: what it shows is some seconds old.
async fn wait_for_banner(user: &mut PanelUser, text: &str, is_shown: bool) {
    wait_until(&format!("{text} is shown: {is_shown}"), async || {
        user.open("/orders").await.has(text) == is_shown
    })
    .await;
}

async fn failing_receiver_is_shown_on_every_page_until_it_recovers(backend: Backend) {
    let service = TestService::open_private(backend).await;
    let shop = service.shop(&service.a, "s").await;
    let receiver = Receiver::start().await;
    receiver.set_default_response(CannedResponse::Status(500));
    let webhook = json!({ "url": receiver.url("/olay") });
    service.a.put("/webhook", &webhook).await.data();
    let mut user = service.user().await;
    let mut other = service.user_of("second@example.com").await;
    shop.order("1").await;
    wait_until("it was tried", async || {
        service.count("events WHERE failures = 1") == 1
    })
    .await;
    assert!(!user.open("/").await.has(FAILING), "a receiver may be restarting");
    service.clock.advance(Duration::from_secs(20));
    wait_for_banner(&mut user, FAILING, true).await;
    for path in ["/", "/status", "/keys", "/attention"] {
        assert!(user.open(path).await.has(FAILING), "{path}");
    }
    assert!(!other.open("/").await.has(FAILING), "it is not theirs");
    // The first retry may have been made already: it was due during the 20 seconds.
    for tried in 2..=4 {
        service.advance(Duration::from_secs(3600));
        wait_until("it was tried again", async || {
            service.count(&format!("events WHERE failures >= {tried}")) == 1
        })
        .await;
    }
    assert_eq!(service.count("events WHERE failures = 4"), 1);
    wait_for_banner(&mut user, GIVEN_UP, true).await;
    assert!(!user.open("/").await.has(FAILING), "it is no longer tried");
    // Acknowledged, for all devices.
    let form = user.open("/orders").await.form("/attention/given-up");
    let page = user.submit(&form, &[]).await;
    assert_eq!((page.status, page.path.as_str()), (200, "/orders"));
    assert!(!page.has(GIVEN_UP), "{}", page.text());
    // The next one is shown again.
    shop.order("2").await;
    wait_until("it was tried", async || {
        service.count("events WHERE failures = 1") == 1
    })
    .await;
    service.clock.advance(Duration::from_secs(20));
    wait_for_banner(&mut user, FAILING, true).await;
    receiver.set_default_response(CannedResponse::Status(200));
    service.advance(Duration::from_secs(3600));
    wait_for_banner(&mut user, FAILING, false).await;
    assert!(!user.open("/").await.has(GIVEN_UP));
}

async fn refused_credentials_are_shown(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    let mut user = world.service.user().await;
    let placed = world.order(Platform::Trendyol, Courier::Restaurant).await;
    let refused = Fault::Status {
        status: 401,
        body: None,
    };
    world.fault(Platform::Trendyol, "*", refused, None).await;
    world.verify(&placed).await;
    wait_for_banner(&mut user, "giriş bilgilerinizi kabul etmiyor", true).await;
    // The board shows it in a place of its own, and the status page does not say that all is well.
    let board = user.open("/").await;
    assert!(
        board
            .within("away", "div")
            .has("giriş bilgilerinizi kabul etmiyor"),
        "{}",
        board.text()
    );
    let status = user.open("/status").await;
    assert!(!status.has("Son 24 saatte sorun yok."), "{}", status.text());
    assert!(
        status.has("Platform bağlantılarında sorun var"),
        "{}",
        status.text()
    );
}
