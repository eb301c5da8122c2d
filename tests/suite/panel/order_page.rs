//! The page of one order: its content, access to it, and its actions.

use crate::support::{Backend, CannedResponse, PlatformWorld, Receiver, TestService, order_body, wait_until};
use garson_sim::Platform;
use garson_sim::views::{Courier, Fault};
use serde_json::json;

on_both! {
    order_page_shows_all_fields
    ; sqlite_only:
    revision_changes_are_shown
    order_is_advanced_from_its_page
    order_of_another_account_is_not_found
    an_event_is_sent_again
    platform_message_is_shown
    times_are_in_the_restaurants_zone
}

/// An order with everything that a shop can say of it.
fn full_order(store: &str, id: &str) -> serde_json::Value {
    let mut body = order_body(store, id, 123_450);
    body["shortCode"] = json!("A<12>");
    body["note"] = json!("<script>alert('zil')</script> & \"kapı\"");
    body["items"] = json!([{
        "name": "Adana <b>dürüm</b>", "quantity": 2, "unitPrice": 50_000, "note": "az acılı",
        "options": [
            { "group": "İçecek", "name": "Ayran", "quantity": 3, "price": 1_500,
              "options": [{ "name": "Buzsuz" }] },
            { "name": "Soğan", "removed": true },
        ],
    }]);
    body["amount"] = json!({ "subtotal": 120_000, "deliveryFee": 3_450, "total": 123_450 });
    body["customer"] = json!({
        "name": "İpek \"Çağlar\"", "phone": "+90 532 000 00 00", "phoneCode": "4711",
        "address": { "text": "Moda Cad. 12 <i>", "city": "İstanbul", "district": "Kadıköy", "floor": "3",
                     "directions": "Yeşil kapı", "lat": 40.985, "lon": 29.025 },
    });
    body
}

async fn order_page_shows_all_fields(backend: Backend) {
    let service = TestService::open(backend).await;
    let shop = service.shop(&service.a, "Moda").await;
    let body = full_order(&shop.store, "WEB-1").to_string();
    shop.post(body.as_bytes()).await.data();
    let mut user = service.user().await;
    // The card of the board leads there.
    let board = user.open("/").await;
    let links = board.links();
    let path = links.iter().find(|link| link.starts_with("/orders/")).unwrap();
    let page = user.open(path).await;
    assert_eq!(page.status, 200);
    for text in [
        "A<12>",
        "WEB-1",
        "Adana <b>dürüm</b>",
        "az acılı",
        "İçecek: 3 × Ayran +15,00 ₺",
        "Buzsuz",
        "Soğan istenmiyor",
        "500,00 ₺",
        "1.090,00 ₺",
        "Ara toplam 1.200,00 ₺",
        "Teslimat ücreti 34,50 ₺",
        "1.234,50 ₺",
        "İpek \"Çağlar\"",
        "+90 532 000 00 00",
        "4711",
        "Moda Cad. 12 <i>, Kadıköy, İstanbul",
        "Yeşil kapı",
        "Nakit",
        "Kapıda tahsil edilecek",
        "01.03.2026 12:00",
        "<script>alert('zil')</script> & \"kapı\"",
        "Yeni geldi · platform",
        "Platforma bir şey gönderilmedi",
        "siparis.olusturuldu",
        "kayıtlı adres yoktu",
    ] {
        assert!(page.has(text), "{text} is not in {}", page.text());
    }
    for wrong in ["<script>alert", "<b>dürüm", "<i>, Kad"] {
        assert!(!page.html.contains(wrong), "{wrong}");
    }
    // The map is a link without a referrer.
    let map = "href=\"https://www.google.com/maps/search/?api=1&#38;query=40.985%2C29.025\" target=\"_blank\" \
               rel=\"noopener noreferrer\"";
    assert!(page.html.contains(map), "{}", page.html);
    // What the platform sent, as it came.
    let raw = page.within("h-raw", "section");
    assert!(
        raw.html.contains("<details>") && raw.has("\"providerOrderId\": \"WEB-1\""),
        "{}",
        raw.text()
    );
    assert!(
        raw.has("<script>alert('zil')</script> & \\\"kapı\\\""),
        "{}",
        raw.text()
    );
    // By the platform's id as well.
    assert!(user.open("/orders/WEB-1").await.has("Yeşil kapı"));
}

async fn revision_changes_are_shown(backend: Backend) {
    let service = TestService::open(backend).await;
    let shop = service.shop(&service.a, "Moda").await;
    let mut body = full_order(&shop.store, "WEB-1");
    shop.post(body.to_string().as_bytes()).await.data();
    let mut user = service.user().await;
    assert!(!user.open("/orders/WEB-1").await.has("Sürüm"));
    body["revision"] = json!(2);
    body["items"][0]["quantity"] = json!(1);
    body["items"]
        .as_array_mut()
        .unwrap()
        .push(json!({ "name": "<i>Künefe", "quantity": 3, "unitPrice": 100 }));
    body["amount"] = json!({ "subtotal": 60_000, "deliveryFee": 3_450, "total": 63_450 });
    body["payment"] = json!({ "type": "online_card", "isPaid": true });
    shop.post(body.to_string().as_bytes()).await.data();
    let page = user.open("/orders/WEB-1").await;
    assert!(page.has("Sürüm 2"), "{}", page.text());
    let story = page.within("h-timeline", "section");
    for text in [
        "platform siparişi değiştirdi",
        "Adana <b>dürüm</b>: 2 → 1",
        "<i>Künefe: eklendi (3)",
        "Tutar: 1.234,50 ₺ → 634,50 ₺",
        "Ödeme türü: Nakit → Online kart",
        "Tahsil edilecek: 1.234,50 ₺ → 0,00 ₺",
    ] {
        assert!(story.has(text), "{text} is not in {}", story.text());
    }
    assert!(!story.html.contains("<i>"), "{}", story.html);
    user.in_english();
    let page = user.open("/orders/WEB-1").await;
    assert!(page.has("Version 2"), "{}", page.text());
    let story = page.within("h-timeline", "section");
    for text in [
        "the platform changed the order",
        "<i>Künefe: added (3)",
        "Total: ₺1,234.50 → ₺634.50",
    ] {
        assert!(story.has(text), "{text} is not in {}", story.text());
    }
}

async fn order_is_advanced_from_its_page(backend: Backend) {
    let service = TestService::open(backend).await;
    let shop = service.shop(&service.a, "s").await;
    let (one, two) = (shop.order("1").await, shop.order("2").await);
    let mut user = service.user().await;
    let path = format!("/orders/{one}");
    let action = format!("/board/orders/{one}");
    let mut page = user.open(&path).await;
    for (button, status) in [
        ("verify", "Hazırlanıyor"),
        ("next", "Yolda"),
        ("next", "Teslim edildi"),
    ] {
        page = user.press(&page.form(&action), button).await;
        assert_eq!((page.status, &page.path), (200, &path), "{button}");
        assert!(
            page.within("h-timeline", "section").has(status),
            "{button}: {}",
            page.text()
        );
    }
    assert!(page.has("Sipariş kapandı"));
    assert!(page.forms().iter().all(|form| !form.action.starts_with(&action)));
    let path = format!("/orders/{two}");
    let page = user.open(&path).await;
    let reasons = service.a.get(&format!("/orders/reasons/{two}")).await.data();
    let reason = reasons["reasons"][0]["id"].as_str().unwrap().to_owned();
    let filled = [("reason", reason.as_str()), ("note", "Fırın <bozuk>")];
    let page = user
        .submit(&page.form(&format!("/board/orders/{two}/cancel")), &filled)
        .await;
    assert_eq!((page.status, &page.path), (200, &path));
    assert!(
        page.has("İptal edildi") && page.has("Fırın <bozuk>"),
        "{}",
        page.text()
    );
}

async fn order_of_another_account_is_not_found(backend: Backend) {
    let service = TestService::open(backend).await;
    let (ours, theirs) = (
        service.shop(&service.a, "Bizim").await,
        service.shop(&service.b, "Onların").await,
    );
    let mine = ours.order("OURS").await;
    let id = theirs.order("THEIRS").await;
    let mut user = service.user().await;
    for name in [id.as_str(), "THEIRS", "none", "%F0%9F%8C%AF"] {
        let page = user.open(&format!("/orders/{name}")).await;
        assert_eq!(page.status, 404, "{name}");
        assert!(page.has("Bulunamadı") && !page.has("Onların"), "{name}");
    }
    let listed = service.b.get("/webhook/deliveries?orderId=THEIRS").await.data();
    let event = listed[0]["id"].as_str().unwrap();
    let form = user.open(&format!("/orders/{mine}")).await;
    let form = form.form(&format!("/orders/{mine}/resend"));
    for wrong in [event, "none", ""] {
        let body = form.forged("event", Some(wrong));
        // There is no address either, which is found out first; nothing is sent anywhere.
        let reply = user.send("POST", &form.action, &[], &body).await;
        assert!(matches!(reply.status, 303 | 404), "{wrong}: {}", reply.status);
    }
}

async fn an_event_is_sent_again(backend: Backend) {
    let change = |settings: &mut garson::config::Settings| {
        settings.allow_private_targets = true;
        settings.webhook.retry_seconds = Vec::new();
    };
    let service = TestService::open_with(backend, change, None).await;
    let (ours, theirs) = (
        service.shop(&service.a, "s").await,
        service.shop(&service.b, "t").await,
    );
    let mut user = service.user().await;
    let id = ours.order("0").await;
    let path = format!("/orders/{id}");
    let action = format!("{path}/resend");
    let form = user.open(&path).await.form(&action);
    let page = user.submit(&form, &[]).await;
    assert!(page.has("Webhook adresi kayıtlı değil"), "{}", page.text());

    let receiver = Receiver::start().await;
    let body = json!({ "url": receiver.url("/olay") });
    service.a.put("/webhook", &body).await.data();
    receiver.set_default_response(CannedResponse::Status(503));
    let id = ours.order("1").await;
    let path = format!("/orders/{id}");
    let action = format!("{path}/resend");
    wait_until("it has failed", async || user.open(&path).await.has("Başarısız")).await;
    let page = user.open(&path).await;
    assert!(
        page.has("503 yanıtı verdi; yalnızca 2xx başarı sayılır"),
        "{}",
        page.text()
    );
    let form = page.form(&action);
    let page = user.submit(&form, &[]).await;
    assert_eq!((page.status, &page.path), (200, &path));
    assert!(
        page.has("Alıcı olayı kabul etmedi; yanıtı: 503"),
        "{}",
        page.text()
    );
    assert!(page.has("elle gönderildi: 503 yanıtı verdi"), "{}", page.text());
    receiver.set_default_response(CannedResponse::Status(204));
    let page = user.submit(&form, &[]).await;
    assert!(
        page.has("Olay yeniden gönderildi; alıcının yanıtı: 204"),
        "{}",
        page.text()
    );
    let deliveries = page.within("h-deliveries", "section");
    assert!(
        deliveries.has("Teslim edildi") && !deliveries.has("Başarısız"),
        "{}",
        deliveries.text()
    );
    let seen = receiver.count();
    // Not without the token, and not a neighbour's.
    let reply = user.send("POST", &action, &[], &form.forged("csrf", None)).await;
    assert_eq!(reply.status, 403);
    theirs.order("T").await;
    let listed = service.b.get("/webhook/deliveries?orderId=T").await.data();
    let foreign = form.forged("event", listed[0]["id"].as_str());
    let reply = user.send("POST", &action, &[], &foreign).await;
    assert_eq!(reply.status, 404);
    assert_eq!(receiver.count(), seen);
}

async fn platform_message_is_shown(backend: Backend) {
    let world = PlatformWorld::open(backend).await;
    let mut user = world.service.user().await;
    let placed = world.verified(Platform::Migros, Courier::Restaurant).await;
    let order = world.find_order(&placed).await.unwrap();
    let path = format!("/orders/{}", order["id"].as_str().unwrap());
    let page = user.open(&path).await;
    let calls = page.within("h-calls", "section");
    assert!(calls.has("Onaylama yapıldı"), "{}", calls.text());
    let raw = page.within("h-raw", "section");
    assert!(raw.html.contains("<details>"), "{}", raw.text());
    let refusal = Fault::Status {
        status: 400,
        body: None,
    };
    world.fault(Platform::Migros, "*", refusal, None).await;
    let id = order["id"].as_str().unwrap();
    user.press(&page.form(&format!("/board/orders/{id}")), "next")
        .await;
    wait_until("the refusal is shown", async || {
        let page = user.open(&path).await;
        page.has("platform reddetti")
            && page
                .within("h-calls", "section")
                .has("Durum bildirimi: Yolda reddedildi")
    })
    .await;
}

async fn times_are_in_the_restaurants_zone(backend: Backend) {
    let service = TestService::open(backend).await;
    let config = json!({ "timezone": "Pacific/Auckland" });
    let made = service
        .a
        .post("/restaurants", &json!({ "name": "Auckland", "config": config }))
        .await
        .data();
    let id = made["id"].as_str().unwrap();
    let shop = service.connect(&service.a, id, "Auckland", json!({})).await;
    let mut body = order_body(&shop.store, "LATER", 1_000);
    body["scheduledFor"] = json!("2099-01-15T12:00:00Z");
    shop.post(body.to_string().as_bytes()).await.data();
    let mut user = service.user().await;
    let page = user.open("/orders/LATER").await;
    assert!(page.has("16.01.2099 01:00"), "{}", page.text());
    // The board shows all restaurants, in the default zone.
    let board = user.open("/").await;
    assert!(board.has("15.01.2099 15:00"), "{}", board.text());
}
