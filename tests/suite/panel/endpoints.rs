//! The pages of webhook endpoints.

use crate::support::{Backend, CannedResponse, Receiver, TestService, wait_until};
use serde_json::json;
use std::time::Duration;

on_both! {
    endpoint_is_added_changed_and_deleted
    deliveries_of_an_endpoint_are_shown_and_resent
    ; sqlite_only:
    disabled_endpoint_is_shown_on_every_page
}

async fn endpoint_is_added_changed_and_deleted(backend: Backend) {
    let service = TestService::open_private(backend).await;
    let receiver = Receiver::start().await;
    let mut user = service.user().await;
    let page = user.open("/webhook/endpoints").await;
    assert!(page.has("İlk alıcı") && page.has("Adres yok"), "{}", page.text());
    let form = user
        .open("/webhook/endpoints/new")
        .await
        .form("/webhook/endpoints/new");
    let page = user.submit(&form, &[("url", "nowhere")]).await;
    assert_eq!(page.status, 422, "{}", page.text());
    let url = receiver.url("/kds");
    let filled = [
        ("url", url.as_str()),
        ("label", "Mutfak <ekranı>"),
        ("authorization", "token"),
        ("signed", "on"),
        ("event.siparis.olusturuldu", "on"),
        ("retries", "long"),
    ];
    let page = user.submit(&form, &filled).await;
    let secret = page.within("shown-secret", "code").text();
    let token = page.within("shown-token", "code").text();
    assert!(
        secret.starts_with("whsec_") && token.starts_with("gwt_"),
        "{}",
        page.text()
    );
    let made = service.a.get("/webhook-endpoints").await.data()[1].clone();
    assert_eq!(made["label"], json!("Mutfak <ekranı>"));
    assert_eq!(
        (&made["events"], &made["retries"]),
        (&json!(["siparis.olusturuldu"]), &json!("long"))
    );
    // A form that is sent again later makes no second endpoint and shows nothing again.
    service.advance(Duration::from_secs(11));
    let again = user.submit(&form, &filled).await;
    assert!(!again.html.contains(&secret), "{}", again.text());
    assert_eq!(service.count("webhook_endpoints"), 1);

    let path = format!("/webhook/endpoints/{}", made["id"].as_str().unwrap());
    let page = user.open(&path).await;
    assert!(!page.html.contains(&secret) && !page.html.contains(&token));
    assert!(page.has("Mutfak <ekranı>"));
    let page = user.submit(&page.form(&format!("{path}/test")), &[]).await;
    assert!(page.has("Alıcı test olayını kabul etti"), "{}", page.text());
    let seen = &receiver.seen()[0];
    assert_eq!(
        seen.header("authorization"),
        Some(format!("Bearer {token}").as_str())
    );
    assert!(seen.header("webhook-signature").unwrap().starts_with("v1,"));
    let page = user.submit(&page.form(&format!("{path}/rotate")), &[]).await;
    assert_ne!(page.within("shown-secret", "code").text(), secret);
    let page = user.submit(&page.form(&format!("{path}/state")), &[]).await;
    assert!(page.has("Duraklatıldı"), "{}", page.text());
    let page = user.submit(&page.form(&format!("{path}/state")), &[]).await;
    assert!(page.has("Alıcı açıldı"), "{}", page.text());
    let page = user.submit(&page.form(&path), &[("label", "KDS")]).await;
    assert!(page.has("Alıcı kaydedildi"), "{}", page.text());
    assert_eq!(
        service.a.get("/webhook-endpoints").await.data()[1]["label"],
        json!("KDS")
    );
    let page = user.submit(&page.form(&format!("{path}/delete")), &[]).await;
    assert!(page.has("Alıcı silindi"), "{}", page.text());
    assert_eq!(user.open(&path).await.status, 404);
}

async fn deliveries_of_an_endpoint_are_shown_and_resent(backend: Backend) {
    let service = TestService::open_private(backend).await;
    let receiver = Receiver::start().await;
    receiver.next(CannedResponse::Body(500, "kitchen <closed>".to_owned()));
    let made = json!({ "url": receiver.url("/"), "label": "KDS", "authorization": "none" });
    let made = service.a.post("/webhook-endpoints", &made).await.data();
    let shop = service.shop(&service.a, "s").await;
    wait_until("the first attempt has failed", async || {
        service.count("endpoint_attempts") == 1
    })
    .await;
    shop.order("1").await;
    wait_until("the order's event is delivered", async || {
        service.count("endpoint_deliveries WHERE state = 'delivered'") == 1
    })
    .await;
    let mut user = service.user().await;
    let path = format!("/webhook/endpoints/{}", made["id"].as_str().unwrap());
    let page = user.open(&format!("{path}?state=pending")).await;
    let link = page
        .links()
        .into_iter()
        .find(|it| it.contains("/deliveries/"))
        .unwrap();
    assert!(page.has("%50,0"), "{}", page.text());
    let page = user.open(&link).await;
    assert!(
        page.has("kitchen <closed>") && page.has("content-length"),
        "{}",
        page.text()
    );
    assert!(page.has("İlk alıcı"), "the other endpoint's delivery");
    let page = user.submit(&page.form(&format!("{link}/resend")), &[]).await;
    assert!(page.has("200"), "{}", page.text());
    assert_eq!(service.count("endpoint_deliveries WHERE state = 'delivered'"), 2);
    let mut other = service.user_of("second@example.com").await;
    assert_eq!(other.open(&link).await.status, 404);
    assert_eq!(other.open(&path).await.status, 404);
}

async fn disabled_endpoint_is_shown_on_every_page(backend: Backend) {
    let service = TestService::open(backend).await;
    let made = json!({ "url": "https://kds.example.com/", "label": "KDS" });
    let made = service.a.post("/webhook-endpoints", &made).await.data();
    service.execute_sql("UPDATE webhook_endpoints SET state = 'disabled'");
    let mut user = service.user().await;
    let page = user.open("/keys").await;
    assert!(
        page.has("Sürekli hata veren bir webhook alıcısı kapatıldı"),
        "{}",
        page.text()
    );
    let page = user
        .open(&format!("/webhook/endpoints/{}", made["id"].as_str().unwrap()))
        .await;
    assert!(
        page.has("Kapatıldı") && page.has("uzun süre hata verdiği için"),
        "{}",
        page.text()
    );
}
