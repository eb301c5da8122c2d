//! A webhook is registered, its deliveries are shown, and one is resent.

use super::setup::browser_tests;

browser_tests! {
    a_webhook_is_registered_and_its_deliveries_are_seen
}

mod case {
    use super::super::setup::Setup;
    use crate::support::{CannedResponse, Receiver, wait_until};
    use garson_sim::Platform;
    use serde_json::json;

    pub async fn a_webhook_is_registered_and_its_deliveries_are_seen(setup: Setup) {
        let browser = &setup.browser;
        let receiver = Receiver::start().await;
        browser.go("/webhook").await;
        browser.fill("[name=url]", &receiver.url("/olay")).await;
        browser.click("form[action='/webhook'] button.main").await;
        browser.wait_for_text(".notice.good", "Webhook kaydedildi.").await;
        browser.click("form[action='/webhook/test'] button").await;
        browser
            .wait_for_text(".notice.good", "Test olayı kabul edildi")
            .await;

        // The first attempt is refused, and the page says so.
        receiver.next(CannedResponse::Status(503));
        setup.order(Platform::Getir).await;
        let told = || {
            let is_order =
                |seen: &crate::support::ReceivedRequest| seen.json()["olay"] == json!("siparis.olusturuldu");
            receiver.seen().into_iter().filter(is_order).collect::<Vec<_>>()
        };
        wait_until("the receiver is told", async || !told().is_empty()).await;
        let id = told()[0].json()["veri"]["id"].clone();
        wait_until("the attempt is written down", async || {
            let log = setup.world.a.get("/webhook/deliveries").await.data();
            log[0]["attempts"] != json!([])
        })
        .await;
        browser.go("/webhook").await;
        browser.wait_for_text("tbody tr", "503").await;
        browser.click("tbody a[href^='/webhook/deliveries/']").await;
        browser.wait_for_text("#attempts", "503").await;
        browser.picture("delivery-refused-light").await;
        browser.click("form[action$='/resend'] button").await;
        browser.wait_for_text(".notice.good", "200").await;
        browser.wait_for_text("h1 .tag.good", "Teslim edildi").await;
        assert_eq!(browser.count("#attempts tbody tr").await, 2);
        let told = told();
        assert_eq!((told.len(), &told[1].json()["veri"]["id"]), (2, &id));
    }
}
