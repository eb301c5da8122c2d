//! The panel without a mouse.

use super::setup::browser_tests;

browser_tests! {
    a_board_is_worked_with_the_keyboard
    every_stop_on_the_way_is_seen
}

mod case {
    use super::super::setup::Setup;
    use crate::support::{DOWN, ENTER, TAB};
    use garson_sim::Platform;
    use serde_json::{Value, json};

    /// Goes on with the tab key until the focus is there.
    async fn tab_to(setup: &Setup, css: &str) {
        for _ in 0..100 {
            setup.browser.strike(TAB).await;
            let script = "return document.activeElement.matches(arguments[0])";
            if setup.browser.run(script, &[json!(css)]).await == json!(true) {
                return;
            }
        }
        panic!("the keyboard does not lead to {css}");
    }

    pub async fn a_board_is_worked_with_the_keyboard(setup: Setup) {
        let browser = &setup.browser;
        let (placed, card) = setup.order(Platform::Trendyol).await;
        setup.open_board().await;
        // Past the way to the other pages.
        browser.strike(TAB).await;
        browser.strike(ENTER).await;
        let here = browser.run("return document.activeElement.id", &[]).await;
        assert_eq!(here, json!("content"));
        tab_to(&setup, &format!("{card} button[value=verify]")).await;
        browser.strike(ENTER).await;
        browser
            .wait_for_text(&format!(".column[data-column=preparing] {card}"), "")
            .await;
        setup.world.wait_for_status(&placed, 500).await;
        // The focus has gone along, to what can be done next.
        let script = "return document.activeElement.closest('.order')?.id ?? ''";
        assert_eq!(
            browser.run(script, &[]).await,
            json!(card.trim_start_matches('#'))
        );
        tab_to(&setup, &format!("{card} .cancel summary")).await;
        browser.strike(ENTER).await;
        tab_to(&setup, &format!("{card} select")).await;
        browser.strike(DOWN).await;
        tab_to(&setup, &format!("{card} button.danger")).await;
        browser.strike(ENTER).await;
        browser.wait_for_text(&card, "İptal edildi").await;
    }

    pub async fn every_stop_on_the_way_is_seen(setup: Setup) {
        let browser = &setup.browser;
        setup.order(Platform::Getir).await;
        for path in ["/", "/keys", "/sessions"] {
            browser.go(path).await;
            let mut stops = 0;
            loop {
                browser.strike(TAB).await;
                let script = "const it = document.activeElement;
                    if (it === document.body || it === window.first) return null;
                    window.first ??= it;
                    const style = getComputedStyle(it), box = it.getBoundingClientRect();
                    return { name: it.outerHTML.slice(0, 120), line: style.outlineStyle,
                        width: parseFloat(style.outlineWidth), height: box.height, left: box.left, right: box.right,
                        top: box.top, bottom: box.bottom, high: innerHeight, wide: innerWidth }";
                let stop = browser.run(script, &[]).await;
                if stop.is_null() {
                    break;
                }
                stops += 1;
                let number = |name: &str| stop[name].as_f64().unwrap();
                assert_ne!(stop["line"], Value::from("none"), "{path}: {stop}");
                assert!(
                    number("width") >= 2.0 && number("height") >= 8.0,
                    "{path}: {stop}"
                );
                let is_inside = number("left") >= 0.0
                    && number("right") <= number("wide")
                    && number("bottom") > 0.0
                    && number("top") < number("high");
                assert!(is_inside, "{path}: {stop}");
                assert!(stops < 100, "no end of stops on {path}");
            }
            assert!(stops > 5, "{stops} stops on {path}");
        }
    }
}
