//! Actions on the board that can be undone, and what a platform refused.

use super::setup::browser_tests;

browser_tests! {
    action_can_be_undone_before_it_is_sent
    several_actions_are_held_at_once
    held_action_is_sent_when_the_page_is_left
    action_near_the_deadline_is_sent_at_once
    cancelling_without_a_reason_is_not_possible
    refusal_survives_a_reload
    preparation_time_is_chosen_with_one_tap
    banner_appears_and_disappears_by_itself
}

mod case {
    use super::super::setup::Setup;
    use crate::support::{CannedResponse, Receiver, TAB, wait_until};
    use garson_sim::Platform;
    use garson_sim::views::Fault;
    use serde_json::json;
    use std::time::Duration;

    async fn status(setup: &Setup, placed: &crate::support::PlatformOrder) -> i64 {
        let order = setup.world.find_order(placed).await.unwrap();
        order["status"].as_i64().unwrap()
    }

    pub async fn action_can_be_undone_before_it_is_sent(setup: Setup) {
        let browser = &setup.browser;
        let (placed, card) = setup.order(Platform::Trendyol).await;
        setup.open_board().await;
        let verify = format!("{card} button[value=verify]");
        browser.click(&verify).await;
        browser.wait_for_text("#held li", "Onayla").await;
        let said = "return document.getElementById('held-said').textContent";
        let said = browser.run(said, &[]).await;
        assert!(
            said.as_str().unwrap().contains("5 saniye içinde gönderilecek"),
            "{said}"
        );
        assert_eq!(browser.count(&format!("{card}[data-held]")).await, 1);
        browser.click("#held button").await;
        let gone = "return document.getElementById('held').hidden";
        browser.becomes("it is undone", gone, &[]).await;
        assert_eq!(browser.count(&format!("{card}[data-held]")).await, 0);
        // By the keyboard, too; then it is meant.
        browser.click(&verify).await;
        browser.wait_for_text("#held li", "Onayla").await;
        let reach = "return document.activeElement.matches('#held button')";
        for _ in 0..60 {
            if browser.run(reach, &[]).await == json!(true) {
                break;
            }
            browser.strike(TAB).await;
        }
        let undo = "dispatchEvent(new KeyboardEvent('keydown', { key: 'z', ctrlKey: true, bubbles: true }))";
        browser.run(undo, &[]).await;
        browser.becomes("it is undone", gone, &[]).await;
        assert_eq!(status(&setup, &placed).await, 400);
        assert!(setup.world.sent(&placed).await.is_empty());
        browser.click(&verify).await;
        setup.world.wait_for_status(&placed, 500).await;
        assert_eq!(setup.world.sent(&placed).await, ["picked 200"]);
    }

    pub async fn several_actions_are_held_at_once(setup: Setup) {
        let browser = &setup.browser;
        let (first, one) = setup.order(Platform::Trendyol).await;
        let (second, two) = setup.order(Platform::Migros).await;
        setup.open_board().await;
        for card in [&one, &two] {
            let verify = format!("{card} button[value=verify]");
            browser.click(&verify).await;
            // A second press counts once.
            browser.click(&verify).await;
        }
        assert_eq!(browser.count("#held li").await, 2);
        browser.click("#held li:first-child button").await;
        setup.world.wait_for_status(&second, 500).await;
        assert_eq!(status(&setup, &first).await, 400);
        assert_eq!(browser.count(&format!(".column[data-column=new] {one}")).await, 1);
    }

    pub async fn held_action_is_sent_when_the_page_is_left(setup: Setup) {
        let browser = &setup.browser;
        let (placed, card) = setup.order(Platform::Trendyol).await;
        setup.open_board().await;
        browser.click(&format!("{card} button[value=verify]")).await;
        browser.wait_for_text("#held li", "Onayla").await;
        browser.go("/keys").await;
        setup.world.wait_for_status(&placed, 500).await;
    }

    pub async fn action_near_the_deadline_is_sent_at_once(setup: Setup) {
        let browser = &setup.browser;
        let (placed, card) = setup.order(Platform::Trendyol).await;
        let service = &setup.world.service;
        let by = service.app.now().as_millis() + 12_000;
        let id = &placed.id;
        service.execute_sql(&format!(
            "UPDATE orders SET accept_by = {by} WHERE provider_order_id = '{id}'"
        ));
        setup.open_board().await;
        let watch = "window.wasHeld = false;
            new MutationObserver(() => { window.wasHeld ||= !document.getElementById('held').hidden; })
                .observe(document.getElementById('held'), { attributes: true, childList: true, subtree: true });";
        browser.run(watch, &[]).await;
        browser.click(&format!("{card} button[value=verify]")).await;
        setup.world.wait_for_status(&placed, 500).await;
        assert_eq!(browser.run("return window.wasHeld", &[]).await, json!(false));
    }

    pub async fn cancelling_without_a_reason_is_not_possible(setup: Setup) {
        let browser = &setup.browser;
        let (placed, card) = setup.order(Platform::Getir).await;
        setup.open_board().await;
        browser.click(&format!("{card} .cancel summary")).await;
        browser
            .wait_for_text(&format!("{card} select[data-known]"), "Neden seçin")
            .await;
        browser.click(&format!("{card} button.danger")).await;
        let script = "return document.querySelector(arguments[0] + ' select:invalid') !== null
            && document.querySelector(arguments[0]).getAttribute('aria-busy') !== 'true'";
        browser.becomes("nothing is sent", script, &[json!(card)]).await;
        assert_eq!(status(&setup, &placed).await, 400);
    }

    pub async fn refusal_survives_a_reload(setup: Setup) {
        let (browser, world) = (&setup.browser, &setup.world);
        let (_, card) = setup.order(Platform::Migros).await;
        setup.open_board().await;
        let fault = Fault::Status {
            status: 503,
            body: None,
        };
        world.fault(Platform::Migros, "*", fault, None).await;
        browser.click(&format!("{card} button[value=verify]")).await;
        let notice = format!("{card} .refused-notice");
        browser
            .wait_for_text(&notice, "Platform hata veriyor (503)")
            .await;
        setup.open_board().await;
        browser
            .wait_for_text(&notice, "Platform hata veriyor (503)")
            .await;
        browser.click(&format!("{notice} button")).await;
        let gone = "return document.querySelector(arguments[0]) === null";
        browser.becomes("it is dismissed", gone, &[json!(notice)]).await;
        setup.open_board().await;
        assert_eq!(browser.count(&notice).await, 0);
    }

    pub async fn preparation_time_is_chosen_with_one_tap(setup: Setup) {
        let browser = &setup.browser;
        let (_, card) = setup.order(Platform::Trendyol).await;
        setup.open_board().await;
        browser.click(&format!("{card} .prep summary")).await;
        browser.click(&format!("{card} button[value='verify:20']")).await;
        browser.wait_for_text("#held li", "20 dk").await;
        browser
            .wait_for_text(
                &format!(".column[data-column=preparing] {card}"),
                "Hazırlama süresi: 20 dk",
            )
            .await;
    }

    pub async fn banner_appears_and_disappears_by_itself(setup: Setup) {
        let (browser, service) = (&setup.browser, &setup.world.service);
        let receiver = Receiver::start().await;
        receiver.set_default_response(CannedResponse::Status(500));
        let webhook = json!({ "url": receiver.url("/olay") });
        service.a.put("/webhook", &webhook).await.data();
        browser.go("/keys").await;
        setup.order(Platform::Getir).await;
        wait_until("it was tried", async || {
            service.count("events WHERE failures > 0") > 0
        })
        .await;
        service.clock.advance(Duration::from_secs(20));
        // The page asks from time to time; here it is given a hint.
        let shown = "dispatchEvent(new Event('online'));
            return document.getElementById('attention').textContent.includes('iletilemiyor') === arguments[0]";
        browser.becomes("the banner appears", shown, &[json!(true)]).await;
        receiver.set_default_response(CannedResponse::Status(200));
        service.advance(Duration::from_secs(600));
        browser
            .becomes("the banner disappears", shown, &[json!(false)])
            .await;
    }
}
