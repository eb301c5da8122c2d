//! A webhook is registered, its deliveries are seen, and one is sent again.

use super::scene::scenes;

scenes! {
    a_webhook_is_registered_and_its_deliveries_are_seen
}

mod case {
    use super::super::scene::Scene;
    use crate::support::{Answer, Receiver, until};
    use garson_sim::Platform;
    use serde_json::json;

    pub async fn a_webhook_is_registered_and_its_deliveries_are_seen(scene: Scene) {
        let browser = &scene.browser;
        let receiver = Receiver::start().await;
        browser.go("/webhook").await;
        browser.fill("[name=url]", &receiver.url("/olay")).await;
        browser.click("form[action='/webhook'] button.main").await;
        browser.shows(".notice.good", "Webhook kaydedildi.").await;
        browser.click("form[action='/webhook/test'] button").await;
        browser.shows(".notice.good", "Test olayı kabul edildi").await;

        // The first attempt is refused, and the page says so.
        receiver.next(Answer::Status(503));
        scene.order(Platform::Getir).await;
        let told = || {
            let is_order = |seen: &crate::support::Seen| seen.json()["olay"] == json!("siparis.olusturuldu");
            receiver.seen().into_iter().filter(is_order).collect::<Vec<_>>()
        };
        until("the receiver is told", async || !told().is_empty()).await;
        let id = told()[0].json()["veri"]["id"].clone();
        until("the attempt is written down", async || {
            let log = scene.town.a.get("/webhook/deliveries").await.data();
            log[0]["attempts"] != json!([])
        })
        .await;
        browser.go("/webhook").await;
        browser.shows("tbody tr", "503").await;
        browser.click("tbody a[href^='/webhook/deliveries/']").await;
        browser.shows("#attempts", "503").await;
        browser.picture("delivery-refused-light").await;
        browser.click("form[action$='/resend'] button").await;
        browser.shows(".notice.good", "200").await;
        browser.shows("h1 .tag.good", "Teslim edildi").await;
        assert_eq!(browser.count("#attempts tbody tr").await, 2);
        let told = told();
        assert_eq!((told.len(), &told[1].json()["veri"]["id"]), (2, &id));
    }
}
