//! The menus: pages of the shift in view, the others one press away.

use super::setup::browser_tests;

browser_tests! {
    menu_is_in_view_on_a_small_laptop
    toolbar_of_the_board_is_one_line_on_a_phone
    menu_of_the_board_gets_the_focus_back_from_its_dialog
    platform_is_switched_off_and_on_with_the_keyboard
}

mod case {
    use super::super::setup::Setup;
    use crate::support::ENTER;
    use garson_sim::Platform;
    use serde_json::json;

    const ESCAPE: &str = "\u{e00c}";

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
        browser.strike(ESCAPE).await;
        let script = "const menu = document.getElementById('developer-menu');
            return [menu.open, document.activeElement === menu.querySelector('summary')]";
        assert_eq!(browser.run(script, &[]).await, json!([false, true]));
        browser.click("#account-menu > summary").await;
        browser.click("h1").await;
        let script = "return document.getElementById('account-menu').open";
        assert_eq!(browser.run(script, &[]).await, json!(false));
    }

    pub async fn toolbar_of_the_board_is_one_line_on_a_phone(setup: Setup) {
        let (browser, service) = (&setup.browser, &setup.world.service);
        service.shop(&service.a, "Bağlar Caddesi Şubesi").await;
        // It rings, so that every button of the line is there.
        setup.order(Platform::Getir).await;
        for page in ["/", "/kitchen"] {
            for width in [320, 390, 768, 1280] {
                let phone =
                    json!({ "width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500 });
                browser.command("Emulation.setDeviceMetricsOverride", phone).await;
                browser.go(page).await;
                browser.wait_for_text("#live", "Canlı").await;
                let script = "const shown = [...document.querySelectorAll('.toolbar > .actions :is(button:not(#silence), select, summary)')]
                        .filter((it) => it.checkVisibility() && !it.closest('.dropped'));
                    const tops = shown.map((it) => Math.round(it.getBoundingClientRect().top));
                    return [shown.length >= 3, Math.max(...tops) - Math.min(...tops) <= 4,
                        document.documentElement.scrollWidth <= innerWidth]";
                let seen = browser.run(script, &[]).await;
                assert_eq!(seen, json!([true, true, true]), "{page} at {width}");
            }
        }
    }

    pub async fn menu_of_the_board_gets_the_focus_back_from_its_dialog(setup: Setup) {
        let browser = &setup.browser;
        setup.open_board().await;
        browser.click("#board-menu > summary").await;
        browser.click("#alarm-open").await;
        browser.wait_for_text("#alarm-settings", "Alarm ayarları").await;
        let is_open = "return document.getElementById('board-menu').open";
        assert_eq!(browser.run(is_open, &[]).await, json!(false));
        browser.strike(ESCAPE).await;
        let has_focus = "return document.activeElement === document.querySelector('#board-menu > summary')";
        browser.becomes("the menu has the focus", has_focus, &[]).await;
        browser.strike(ENTER).await;
        browser
            .wait_for_text("#board-menu .dropped", "Mutfak ekranı")
            .await;
    }

    pub async fn platform_is_switched_off_and_on_with_the_keyboard(setup: Setup) {
        let (browser, service) = (&setup.browser, &setup.world.service);
        let shop = service.shop(&service.a, "s").await;
        browser
            .go(&format!("/restaurants/{}/integrations", shop.restaurant))
            .await;
        for (state, text) in [("false", "kapatıldı"), ("true", "açıldı")] {
            browser
                .run("document.querySelector('#p-direct .switch').focus()", &[])
                .await;
            browser.strike(ENTER).await;
            browser.wait_for_text(".notice", text).await;
            assert_eq!(
                browser.attribute("#p-direct .switch", "aria-checked").await,
                state
            );
        }
        // The other actions are in a menu.
        browser
            .run("document.querySelector('#p-direct .menu > summary').focus()", &[])
            .await;
        browser.strike(ENTER).await;
        browser
            .wait_for_text("#p-direct .dropped", "Bağlantıyı test et")
            .await;
    }
}
