//! The kitchen screen: orders appear when they are accepted, and one tap says that they are ready.

use super::setup::browser_tests;

browser_tests! {
    kitchen_is_live_and_worked_with_one_tap
    order_cancelled_while_cooking_stays_struck_through_until_it_is_acknowledged
    refused_tap_stays_visible
}

mod case {
    use super::super::setup::Setup;
    use garson_sim::Platform;
    use serde_json::json;

    pub async fn kitchen_is_live_and_worked_with_one_tap(setup: Setup) {
        let browser = &setup.browser;
        browser.go("/kitchen").await;
        browser.wait_for_text("#live", "Canlı").await;
        browser.wait_for_text(".none", "Hazırlanacak sipariş yok").await;
        browser.run("window.stayed = true", &[]).await;
        let (first, one) = setup.order(Platform::Getir).await;
        let (second, two) = setup.order(Platform::Migros).await;
        setup.world.verify(&first).await.data();
        browser.wait_for_text(&one, "Getir").await;
        let name = browser.attribute(&one, "aria-label").await;
        browser.wait_for_text("#said", "Yeni sipariş").await;
        assert!(name.starts_with("Getir "), "{name}");
        setup.world.verify(&second).await.data();
        browser.wait_for_text(&two, "Migros").await;
        browser.wait_for_text(".count", "2").await;
        let size = "return parseFloat(getComputedStyle(document.querySelector('.what > li')).fontSize)";
        assert!(
            browser.run(size, &[]).await.as_f64() >= Some(20.0),
            "items are large"
        );
        browser.click(&format!("{one} button[value=ready]")).await;
        let is_gone = "return !document.querySelector(arguments[0])";
        browser.becomes("the card is gone", is_gone, &[json!(one)]).await;
        browser.wait_for_text(".count", "1").await;
        setup
            .world
            .wait_for_order(&first, "it is ready", |order| order["readyAt"].is_string())
            .await;
        // One that is cancelled disappears, too.
        let reason = setup.world.reasons(&second).await.remove(0);
        setup
            .world
            .cancel(&second, json!({ "reasonId": reason }))
            .await
            .data();
        browser.becomes("the card is gone", is_gone, &[json!(two)]).await;
        browser.wait_for_text(".none", "Hazırlanacak sipariş yok").await;
        assert_eq!(browser.run("return window.stayed", &[]).await, json!(true));
    }

    pub async fn order_cancelled_while_cooking_stays_struck_through_until_it_is_acknowledged(setup: Setup) {
        let (browser, world) = (&setup.browser, &setup.world);
        let (placed, card) = setup.order(Platform::Getir).await;
        world.verify(&placed).await.data();
        browser.go("/kitchen").await;
        browser.wait_for_text("#live", "Canlı").await;
        browser.wait_for_text(&card, "Getir").await;
        browser.run("window.stayed = true", &[]).await;
        world.cancel_on_platform(&placed, "customer").await;
        let notice = format!("{card} .cancelled-notice");
        let line =
            "return getComputedStyle(document.querySelector(arguments[0] + ' .what')).textDecorationLine";
        browser.wait_for_text(&notice, "Hazırlanırken iptal edildi").await;
        assert_eq!(browser.run(line, &[json!(card)]).await, json!("line-through"));
        assert_eq!(browser.run("return window.stayed", &[]).await, json!(true));
        assert_eq!(browser.count(&format!("{card} button[value=ready]")).await, 0);
        // The page is loaded again, and it is still there.
        browser.go("/kitchen").await;
        browser.wait_for_text("#live", "Canlı").await;
        browser.wait_for_text(&notice, "Hazırlanırken iptal edildi").await;
        assert_eq!(browser.run(line, &[json!(card)]).await, json!("line-through"));
        browser.click(&format!("{notice} button")).await;
        let is_gone = "return !document.querySelector(arguments[0])";
        browser.becomes("the card is gone", is_gone, &[json!(card)]).await;
        browser.wait_for_text(".none", "Hazırlanacak sipariş yok").await;
        // For every screen, and after a reload.
        browser.go("/kitchen").await;
        browser.wait_for_text("#live", "Canlı").await;
        assert_eq!(browser.count(&card).await, 0);
    }

    pub async fn refused_tap_stays_visible(setup: Setup) {
        let (browser, service) = (&setup.browser, &setup.world.service);
        let shop = service.shop(&service.a, "s").await;
        shop.order("K-1").await;
        service.a.act("/orders/verify/K-1").await.data();
        browser.go("/kitchen").await;
        browser.wait_for_text("#live", "Canlı").await;
        // A form that names another action is refused, and the card says so.
        let script = "document.querySelector('.order button').value = 'fly'";
        browser.run(script, &[]).await;
        browser.click(".order button").await;
        browser
            .wait_for_text(".order [role=alert]", "Girilen bilgi kabul edilmedi")
            .await;
        browser.click(".order button[value=ready]").await;
        browser.wait_for_text(".none", "Hazırlanacak sipariş yok").await;
    }
}
