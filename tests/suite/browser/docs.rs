//! The API documentation page works within its content security policy.

use super::setup::browser_tests;

browser_tests! {
    the_api_is_shown_and_tried
}

mod case {
    use super::super::setup::Setup;
    use serde_json::json;

    pub async fn the_api_is_shown_and_tried(setup: Setup) {
        let browser = &setup.browser;
        browser.go("/docs/").await;
        browser.wait_for_text("#swagger-ui .title", "Garson").await;
        browser.click("#operations-Orders-list_orders button").await;
        browser
            .wait_for_text("#operations-Orders-list_orders .execute", "Execute")
            .await;
        browser.click("#operations-Orders-list_orders .execute").await;
        // It reaches the service, which wants a key.
        browser
            .wait_for_text(
                "#operations-Orders-list_orders .live-responses-table",
                "unauthorized",
            )
            .await;
        let script = "return new Promise((told) => {
                const said = (it) => it.body.effectiveDirective + ' ' + it.body.blockedURL + ' ' + it.body.sample;
                new ReportingObserver((seen) => told(seen.map(said)), { types: ['csp-violation'], buffered: true }).observe();
                setTimeout(() => told([]), 500);
            });";
        assert_eq!(browser.run_async(script, &[]).await, json!([]));
    }
}
