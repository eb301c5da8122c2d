//! The status page: platforms, queues and their lag, and the problems of the last day, for one account.

use crate::support::{
    Backend, CannedResponse, Page, PlatformWorld, Receiver, TestService, order_body, wait_until,
};
use garson_sim::Platform;
use garson_sim::views::{Courier, Fault};
use serde_json::json;
use std::time::Duration;

on_both! {
    waiting_and_failed_work_is_counted
    ; sqlite_only:
    empty_account_sees_the_next_step
    platform_refusals_are_shown
}

/// The number of a queue and the text below it.
fn figure(page: &Page, name: &str) -> String {
    let start = page.html.find(&format!("<h2>{name}</h2>")).unwrap();
    let end = page.html[start..].find("</section>").unwrap();
    let part = Page {
        html: page.html[start..start + end].to_owned(),
        ..page.clone()
    };
    part.text().replace(name, "").trim().to_owned()
}

async fn empty_account_sees_the_next_step(backend: Backend) {
    let service = TestService::open(backend).await;
    let mut user = service.user().await;
    let page = user.open("/status").await;
    assert!(
        page.has("Hizmet çalışıyor; siparişler alınıyor."),
        "{}",
        page.text()
    );
    assert!(page.has("Bağlı platform yok") && page.has("Webhook adresi kayıtlı değil"));
    assert!(page.has("Son 24 saatte sorun yok."), "{}", page.text());
    assert_eq!(figure(&page, "Gönderilmeyi bekleyen olay"), "0 bekleyen yok");
    assert_eq!(figure(&page, "Çalışan sunucu"), "1");
}

async fn waiting_and_failed_work_is_counted(backend: Backend) {
    let service = TestService::open_private(backend).await;
    let (shop, other) = (
        service.shop(&service.a, "Çarşı <b>").await,
        service.shop(&service.a, "Kapalı").await,
    );
    let path = format!("/restaurants/{}/integrations/direct", other.restaurant);
    service.a.put(&path, &json!({ "isActive": false })).await.data();
    let receiver = Receiver::start().await;
    receiver.set_default_response(CannedResponse::Status(500));
    service
        .a
        .put("/webhook", &json!({ "url": receiver.url("/olay") }))
        .await
        .data();
    shop.order("K-1").await;
    // One that cannot be read.
    let mut body = order_body(&shop.store, "K-2", 100);
    body["items"][0]["unitPrice"] = json!("<x>");
    shop.post(body.to_string().as_bytes())
        .await
        .wrong(422, "invalid_field", "items[0].unitPrice");
    wait_until("it was tried", async || {
        service.count("events WHERE failures = 1") == 1
    })
    .await;
    let mut user = service.user().await;
    service.clock.advance(Duration::from_secs(5));
    let page = user.open("/status").await;
    assert_eq!(figure(&page, "Gönderilmeyi bekleyen olay"), "1 En eskisi: 5 sn");
    assert_eq!(
        figure(&page, "Platforma iletilmeyi bekleyen işlem"),
        "0 bekleyen yok"
    );
    let platforms = page.within("platforms", "table");
    assert!(
        platforms.has("Çarşı <b> Kendi kanalım Çalışıyor 01.03.2026 12:00 yok"),
        "{}",
        platforms.text()
    );
    assert!(
        platforms.has("Kapalı Kendi kanalım Kapalı henüz yok yok"),
        "{}",
        platforms.text()
    );
    assert!(!page.html.contains("Çarşı <b>"));
    assert!(
        page.has("İşlenemeyen platform mesajı: 1") && page.has("anlaşılamadı: items[0].unitPrice"),
        "{}",
        page.text()
    );
    assert!(!page.has("Teslim edilemeyen olay"));

    // After its last attempt the event has failed.
    for tried in 2..=4 {
        service.advance(Duration::from_secs(3600));
        wait_until("it was tried again", async || {
            service.count(&format!("events WHERE failures = {tried}")) == 1
        })
        .await;
    }
    wait_until("it has failed", async || {
        service.count("events WHERE state = 'failed'") == 1
    })
    .await;
    let page = user.open("/status").await;
    assert!(page.has("Teslim edilemeyen olay: 1"), "{}", page.text());
    assert!(
        page.has("500 yanıtı verdi; yalnızca 2xx başarı sayılır"),
        "{}",
        page.text()
    );
    assert_eq!(figure(&page, "Gönderilmeyi bekleyen olay"), "0 bekleyen yok");
    for link in page.links().iter().filter(|link| link.starts_with("/webhook")) {
        assert_eq!(user.open(link).await.status, 200, "{link}");
    }
    let mut english = user.clone();
    english.in_english();
    let page = english.open("/status").await;
    assert!(
        page.has("answered 500, only 2xx is success") && page.has("Working"),
        "{}",
        page.text()
    );

    // None of it is the neighbour's.
    let mut theirs = service.user_of("second@example.com").await;
    let page = theirs.open("/status").await;
    assert!(
        page.has("Bağlı platform yok") && page.has("Son 24 saatte sorun yok."),
        "{}",
        page.text()
    );
    assert!(!page.has("Çarşı") && !page.has("K-1"));
    // And a day later it is over.
    service.clock.advance(Duration::from_secs(24 * 60 * 60));
    let page = user.open("/status").await;
    assert!(page.has("Son 24 saatte sorun yok."), "{}", page.text());
}

async fn platform_refusals_are_shown(backend: Backend) {
    let world = PlatformWorld::open(backend).await;
    let mut user = world.service.user().await;
    let placed = world.verified(Platform::Migros, Courier::Restaurant).await;
    let page = user.open("/status").await;
    assert!(page.within("platforms", "table").has("Migros"), "{}", page.text());
    let refusal = Fault::Status {
        status: 400,
        body: None,
    };
    // Only the step: a platform that refused the polling as well would be in trouble.
    world
        .fault(Platform::Migros, "update-status", refusal, None)
        .await;
    world.advance(&placed).await.data();
    wait_until("the refusal is shown", async || {
        user.open("/status").await.has("Durum bildirimi: Yolda")
    })
    .await;
    let page = user.open("/status").await;
    assert!(page.has("Platformun reddettiği işlem: "), "{}", page.text());
    // That it refuses one order does not mean that it is in trouble.
    assert!(
        !page.within("platforms", "table").has("Sorun var"),
        "{}",
        page.text()
    );
    let mut theirs = world.service.user_of("second@example.com").await;
    assert!(!theirs.open("/status").await.has("Platformun reddettiği işlem"));
}
