//! The installed app without a connection: it says so, comes back by itself, and has stored no orders.

use super::setup::browser_tests;

browser_tests! {
    app_shows_a_page_of_its_own_without_a_connection
}

mod case {
    use super::super::setup::Setup;
    use super::super::tcp_proxy::Line;
    use garson_sim::Platform;
    use serde_json::json;

    pub async fn app_shows_a_page_of_its_own_without_a_connection(mut setup: Setup) {
        let line = Line::to(setup.world.service.addr).await;
        setup.browser.move_to(line.addr);
        let browser = &setup.browser;
        setup.order(Platform::Getir).await;
        setup.open_board().await;
        let script = "const it = await navigator.serviceWorker.ready; return it.active.state";
        browser.run_async(script, &[]).await;
        let controlled = "return navigator.serviceWorker.controller !== null";
        browser
            .becomes("the worker controls the page", controlled, &[])
            .await;
        setup.open_board().await;
        line.cut();
        for path in ["/", "/orders"] {
            browser.go(path).await;
            browser.wait_for_text("h1", "Bağlantı yok").await;
        }
        // It is styled, and nothing of an order is stored.
        let script = "const found = [];
            for (const name of await caches.keys())
                for (const request of await (await caches.open(name)).keys()) found.push(new URL(request.url).pathname);
            return found";
        let stored = browser.run_async(script, &[]).await;
        let stored: Vec<&str> = stored
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it.as_str().unwrap())
            .collect();
        assert_eq!(stored.len(), 3, "{stored:?}");
        for path in stored {
            assert!(path == "/offline" || path.starts_with("/assets/panel-"), "{path}");
        }
        let styled = "return getComputedStyle(document.querySelector('.card')).borderRadius";
        assert_ne!(browser.run(styled, &[]).await, json!("0px"));
        browser.picture("offline").await;
        line.mend();
        browser.wait_for_text("h1", "Siparişler").await;
        // A proxy whose server is away says so with a page that would stay.
        line.cut_with_502();
        browser.go("/orders").await;
        browser.wait_for_text("h1", "Bağlantı yok").await;
        line.mend();
        browser.wait_for_text("h1", "Siparişler").await;
    }
}
