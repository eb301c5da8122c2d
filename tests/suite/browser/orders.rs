//! Order search: on a phone, short ids, relative times.

use super::setup::browser_tests;

browser_tests! {
    a_phone_shows_what_was_found
    long_ids_are_short_and_times_are_relative
}

mod case {
    use super::super::setup::Setup;
    use crate::support::Screen;
    use crate::support::order_body;
    use garson_sim::Platform;
    use serde_json::json;
    use std::time::Duration;

    pub async fn a_phone_shows_what_was_found(setup: Setup) {
        let browser = &setup.browser;
        setup.order(Platform::Getir).await;
        browser.resize(Screen::Phone).await;
        browser.go("/orders").await;
        browser.wait_for_text("tbody tr", "Getir").await;
        let top = browser
            .run(
                "return document.querySelector('tbody tr').getBoundingClientRect().top",
                &[],
            )
            .await;
        assert!(top.as_f64().unwrap() < 500.0, "what was found begins at {top}");
        // The rest is one press away, and stays open while it is used.
        browser.click("#filters summary").await;
        browser.choose("[name=status]", "new").await;
        browser.click("form[role=search] button").await;
        browser
            .arrives_at("/orders?q=&from=&to=&status=new&platform=&restaurant=")
            .await;
        assert_eq!(browser.count("#filters[open]").await, 1);
        browser.wait_for_text("tbody tr", "Getir").await;
    }

    pub async fn long_ids_are_short_and_times_are_relative(setup: Setup) {
        let (browser, service) = (&setup.browser, &setup.world.service);
        let shop = service.shop(&service.a, "s").await;
        let id = "0gEz3WADJ0H5HRYUrKESAtlw8uMRtLA0BGCIqFLC34MARhlsz8qoKE7ETIivk9nf";
        let mut body = order_body("s", id, 100);
        body["shortCode"] = json!("EF7");
        shop.post(body.to_string().as_bytes()).await.data();
        browser.go("/orders").await;
        browser.wait_for_text("tbody time", "az önce").await;
        service.advance(Duration::from_secs(125));
        browser.go("/orders").await;
        browser.wait_for_text("tbody time", "2 dk önce").await;
        let exact = browser.attribute("tbody time", "title").await;
        assert_eq!(exact.len(), "01.03.2026 12:00".len(), "{exact}");
        assert_eq!(browser.text("tbody .id code").await, "0gEz3WAD…k9nf");
        assert_eq!(browser.attribute("tbody .id code", "title").await, id);
        let script = "navigator.clipboard.writeText = async (text) => { window.copied = text; }";
        browser.run(script, &[]).await;
        browser.click("tbody button.copy").await;
        browser.wait_for_text("tbody button.copy.done", "").await;
        assert_eq!(browser.run("return window.copied", &[]).await, json!(id));
        // A time that is long ago is exact.
        service.advance(Duration::from_secs(8 * 24 * 60 * 60));
        setup.enter(&service.user().await).await;
        browser.go("/orders").await;
        browser.wait_for_text("tbody time", &exact).await;
    }
}
