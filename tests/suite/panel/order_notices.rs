//! Notices on an order: cancelled while it was being prepared, and actions that its platform refused.

use crate::support::{Backend, Page, PanelUser, PlatformWorld, TestService, wait_until};
use garson_sim::Platform;
use garson_sim::views::{Courier, Fault};
use serde_json::json;

on_both! {
    cancelled_order_stays_in_its_column_until_acknowledged
    refusal_stays_on_the_card_until_a_success_or_acknowledgement
    chosen_preparation_time_is_sent_and_shown
    ; sqlite_only:
    notice_of_another_account_is_not_found
    own_cancellation_needs_no_acknowledgement
    open_boards_learn_of_an_acknowledgement
    cancelling_requires_a_reason
    platform_courier_does_its_own_steps
    customer_can_be_called
    cancellation_on_the_restaurants_behalf_is_not_called_its_own
}

async fn card(user: &mut PanelUser, id: &str) -> Page {
    user.open("/").await.within(&format!("o-{id}"), "article")
}

async fn record_id(world: &PlatformWorld, placed: &crate::support::PlatformOrder) -> String {
    let order = world.find_order(placed).await.unwrap();
    order["id"].as_str().unwrap().to_owned()
}

async fn cancelled_order_stays_in_its_column_until_acknowledged(backend: Backend) {
    let mut service = TestService::open(backend).await;
    let shop = service.shop(&service.a, "s").await;
    let id = shop.order("1").await;
    service.a.act("/orders/verify/1").await.data();
    let body = json!({ "reason": "Müşteri vazgeçti" });
    shop.cancel("1", body).await.success();
    let mut user = service.user().await;
    let shown = card(&mut user, &id).await;
    assert_eq!(shown.attribute("data-column"), "preparing");
    assert!(shown.has("Hazırlanırken iptal edildi"), "{}", shown.text());
    // It survives a restart.
    service.restart().await;
    user.addr = service.addr;
    let page = user.open("/").await;
    assert!(page.within(&format!("o-{id}"), "article").has("Gördüm"));
    let form = page.form(&format!("/board/orders/{id}/acknowledge"));
    let page = user.submit(&form, &[]).await;
    assert_eq!((page.status, page.path.as_str()), (200, "/"));
    let shown = card(&mut user, &id).await;
    assert_eq!(shown.attribute("data-column"), "done");
    assert!(!shown.has("Hazırlanırken iptal edildi"), "{}", shown.text());
    // A second device may acknowledge it again.
    assert_eq!(user.submit(&form, &[]).await.status, 200);
}

async fn refusal_stays_on_the_card_until_a_success_or_acknowledgement(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    let mut user = world.service.user().await;
    let placed = world.order(Platform::Migros, Courier::Restaurant).await;
    let id = record_id(&world, &placed).await;
    let fault = Fault::Status {
        status: 503,
        body: None,
    };
    world.fault(Platform::Migros, "*", fault, None).await;
    let form = user.open("/").await.form(&format!("/board/orders/{id}"));
    let part = user.submit_part(&form, &[("do", "verify")]).await;
    assert!(
        part.has("Onaylanamadı: Platform hata veriyor (503)"),
        "{}",
        part.text()
    );
    assert!(!part.has("zamanında yanıt vermedi"), "{}", part.text());
    for path in ["/".to_owned(), format!("/orders/{id}")] {
        let page = user.open(&path).await;
        assert!(page.has("Platform hata veriyor (503)"), "{path}: {}", page.text());
    }
    let dismiss = user
        .open("/")
        .await
        .form(&format!("/board/orders/{id}/acknowledge"));
    let part = user.submit_part(&dismiss, &[]).await;
    assert!(!part.has("Onaylanamadı"), "{}", part.text());
    assert!(!card(&mut user, &id).await.has("Onaylanamadı"));
    // Again, and this time the platform recovers.
    user.submit_part(&form, &[("do", "verify")]).await;
    world.control.clear_faults().await.unwrap();
    wait_until("it is accepted", async || {
        user.submit_part(&form, &[("do", "verify")]).await;
        card(&mut user, &id).await.attribute("data-column") == "preparing"
    })
    .await;
    assert!(!card(&mut user, &id).await.has("Onaylanamadı"));
    assert_eq!(world.service.count("order_notices"), 0);
}

async fn chosen_preparation_time_is_sent_and_shown(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    let mut user = world.service.user().await;
    for (platform, courier, is_sent) in [
        (Platform::Trendyol, Courier::Restaurant, true),
        (Platform::Yemeksepeti, Courier::Platform, true),
        (Platform::Yemeksepeti, Courier::Restaurant, false),
        (Platform::Getir, Courier::Restaurant, false),
        (Platform::Migros, Courier::Restaurant, false),
    ] {
        let placed = world.order(platform, courier).await;
        let id = record_id(&world, &placed).await;
        let shown = card(&mut user, &id).await;
        assert_eq!(
            shown.has("Süre platforma gönderilir."),
            is_sent,
            "{}",
            shown.text()
        );
        let action = format!("/board/orders/{id}");
        let forms = user.open("/").await.forms();
        let own = forms
            .iter()
            .find(|form| form.action == action && form.fields.iter().any(|(name, _)| name == "minutes"));
        let own = own.unwrap();
        for wrong in ["", "0", "241", "x"] {
            let part = user
                .submit_part(own, &[("do", "verify-in"), ("minutes", wrong)])
                .await;
            assert_eq!(part.status, 422, "{wrong}");
        }
        let part = user
            .submit_part(own, &[("do", "verify-in"), ("minutes", "25")])
            .await;
        assert_eq!(part.attribute("data-column"), "preparing", "{}", part.text());
        assert!(part.has("Hazırlama süresi: 25 dk"), "{}", part.text());
        assert_eq!(part.has("platforma gönderilmedi"), !is_sent, "{}", part.text());
    }
}

async fn notice_of_another_account_is_not_found(backend: Backend) {
    let service = TestService::open(backend).await;
    let shop = service.shop(&service.b, "s").await;
    let own = service.shop(&service.a, "t").await;
    let (theirs, ours) = (shop.order("1").await, own.order("2").await);
    service.b.act("/orders/verify/1").await.data();
    shop.cancel("1", json!({})).await.success();
    let mut user = service.user().await;
    let page = user.open(&format!("/orders/{ours}")).await;
    let mut form = page.form(&format!("/board/orders/{ours}"));
    form.action = format!("/board/orders/{theirs}/acknowledge");
    assert_eq!(user.submit(&form, &[]).await.status, 404);
    assert_eq!(user.submit_part(&form, &[]).await.status, 404);
    assert_eq!(service.count("order_notices"), 1);
    assert!(!user.open("/").await.has("Hazırlanırken iptal edildi"));
}

async fn own_cancellation_needs_no_acknowledgement(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    for platform in Platform::ALL {
        let placed = world.verified(platform, Courier::Restaurant).await;
        let reason = world.reasons(&placed).await.remove(0);
        world.cancel(&placed, json!({ "reason": reason })).await.data();
        world.wait_for_status(&placed, 1600).await;
    }
    assert_eq!(world.service.count("order_notices"), 0);
}

async fn open_boards_learn_of_an_acknowledgement(backend: Backend) {
    let service = TestService::open(backend).await;
    let shop = service.shop(&service.a, "s").await;
    let id = shop.order("1").await;
    service.a.act("/orders/verify/1").await.data();
    shop.cancel("1", json!({})).await.success();
    let mut user = service.user().await;
    let page = user.open("/").await;
    let mut stream = user.follow_board(&page).await;
    let form = page.form(&format!("/board/orders/{id}/acknowledge"));
    user.submit(&form, &[]).await;
    loop {
        let told = stream.next().await.unwrap();
        if told.event == "card" && told.data.contains("data-column=\"done\"") {
            break;
        }
    }
}

async fn cancelling_requires_a_reason(backend: Backend) {
    let service = TestService::open(backend).await;
    let shop = service.shop(&service.a, "s").await;
    let id = shop.order("1").await;
    let mut user = service.user().await;
    let form = user.open("/").await.form(&format!("/board/orders/{id}/cancel"));
    assert_eq!(form.value("reason"), "", "nothing is chosen for the user");
    let page = user.submit(&form, &[]).await;
    assert_eq!(page.status, 200);
    assert!(
        page.path.starts_with(&format!("/board/orders/{id}/cancel")),
        "{}",
        page.path
    );
    assert!(page.has("İptal için bir neden seçin."), "{}", page.text());
    let part = user.submit_part(&form, &[]).await;
    assert_eq!(part.status, 422, "{}", part.text());
    assert_eq!(service.a.get("/orders/1").await.data()["status"], 400);
}

async fn platform_courier_does_its_own_steps(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    let mut user = world.service.user().await;
    let placed = world.verified(Platform::Getir, Courier::Platform).await;
    let id = record_id(&world, &placed).await;
    let shown = card(&mut user, &id).await;
    assert!(
        shown.html.contains("class=\"main\" name=\"do\" value=\"ready\""),
        "{}",
        shown.html
    );
    assert!(!shown.html.contains("value=\"next\""), "{}", shown.html);
    assert!(
        shown.has("Kurye adımlarını platform bildirir: Getir"),
        "{}",
        shown.text()
    );
    let form = user.open("/").await.form(&format!("/board/orders/{id}"));
    user.submit_part(&form, &[("do", "ready")]).await;
    assert!(!card(&mut user, &id).await.html.contains("name=\"do\""));
    // On its page staff can mark a step that the platform does not report.
    let page = user.open(&format!("/orders/{id}")).await;
    let form = page.form(&format!("/board/orders/{id}"));
    let page = user.press(&form, "next").await;
    assert!(page.has("Yolda"), "{}", page.text());
}

async fn customer_can_be_called(backend: Backend) {
    let service = TestService::open(backend).await;
    let shop = service.shop(&service.a, "s").await;
    let mut body = crate::support::order_body(&shop.store, "1", 100);
    body["customer"] = json!({ "name": "Ayşe", "phone": "+90 850 215 00 00", "phoneCode": "1234" });
    shop.post(body.to_string().as_bytes()).await.data();
    let id = service.a.get("/orders/1").await.data()["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let mut user = service.user().await;
    for path in ["/".to_owned(), format!("/orders/{id}")] {
        let page = user.open(&path).await;
        assert!(page.html.contains("href=\"tel:+908502150000,,1234\""), "{path}");
    }
}

async fn cancellation_on_the_restaurants_behalf_is_not_called_its_own(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    let mut user = world.service.user().await;
    let placed = world.order(Platform::Getir, Courier::Restaurant).await;
    let id = record_id(&world, &placed).await;
    world.cancel_on_platform(&placed, "restaurant").await;
    world.wait_for_status(&placed, 1600).await;
    let page = user.open(&format!("/orders/{id}")).await;
    assert!(page.has("restoran adına, platformda"), "{}", page.text());
    // What the panel has cancelled is the restaurant's own.
    let placed = world.order(Platform::Getir, Courier::Restaurant).await;
    let id = record_id(&world, &placed).await;
    let reason = world.reasons(&placed).await.remove(0);
    world.cancel(&placed, json!({ "reason": reason })).await.data();
    let page = user.open(&format!("/orders/{id}")).await;
    assert!(!page.has("restoran adına, platformda"), "{}", page.text());
}
