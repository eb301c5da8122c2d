//! The menus: pages of the shift in view, the others one press away.

use super::setup::browser_tests;

browser_tests! {
    menu_is_in_view_on_a_small_laptop
}

mod case {
    use super::super::setup::Setup;
    use serde_json::json;

    pub async fn menu_is_in_view_on_a_small_laptop(setup: Setup) {
        let browser = &setup.browser;
        let laptop = json!({ "width": 1280, "height": 720, "deviceScaleFactor": 1, "mobile": false });
        browser
            .command("Emulation.setDeviceMetricsOverride", laptop)
            .await;
        browser.go("/today").await;
        let script = "const seen = (css) => document.querySelector(css).checkVisibility();
            const top = document.querySelector('.top').getBoundingClientRect();
            return [seen('.ways a[href=\"/today\"]'), seen('.ways a[href=\"/status\"]'), seen('.fold'),
                top.height < 80, document.documentElement.scrollWidth]";
        assert_eq!(
            browser.run(script, &[]).await,
            json!([true, true, false, true, 1280])
        );
        assert_eq!(
            browser.attribute(".ways a[href='/today']", "aria-current").await,
            "page"
        );
        browser.click("#developer-menu > summary").await;
        browser
            .wait_for_text("#developer-menu .dropped", "API anahtarları")
            .await;
        // Escape closes it and leaves the focus where it was.
        browser.strike("\u{e00c}").await;
        let script = "const menu = document.getElementById('developer-menu');
            return [menu.open, document.activeElement === menu.querySelector('summary')]";
        assert_eq!(browser.run(script, &[]).await, json!([false, true]));
        browser.click("#account-menu > summary").await;
        browser.click("h1").await;
        let script = "return document.getElementById('account-menu').open";
        assert_eq!(browser.run(script, &[]).await, json!(false));
    }
}
