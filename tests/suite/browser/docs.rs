//! The API reference: small, accessible, usable on a phone, with and without script.

use super::setup::browser_tests;

browser_tests! {
    reference_is_filtered_and_copied_from
    reference_is_accessible_and_fits_a_desktop_screen
    reference_is_accessible_and_fits_small_screens
}

mod case {
    use super::super::setup::Setup;
    use crate::support::{Scheme, Screen, axe};
    use serde_json::json;

    pub async fn reference_is_filtered_and_copied_from(setup: Setup) {
        let browser = &setup.browser;
        browser.go("/docs/api/").await;
        browser.wait_for_text("h1", "API reference").await;
        let sample = browser.text("#sample-verify_order").await;
        let host = setup.world.service.addr.to_string();
        assert!(
            sample.contains(&host) && sample.contains("Bearer $GARSON_KEY"),
            "{sample}"
        );
        let all = browser.count("article.operation:not([hidden])").await;
        assert!(all > 40, "{all}");
        browser.fill("#reference-query", "verify order").await;
        browser
            .becomes(
                "the list is filtered",
                "const shown = document.querySelectorAll('article.operation:not([hidden])').length;
                 return shown > 0 && shown < arguments[0] && !document.getElementById('verify_order').hidden
                     && document.getElementById('section-keys').hidden",
                &[json!(all)],
            )
            .await;
        assert!(browser.text("#reference-matches").await.contains("operation"));
        // The text of the example is copied, with or without access to the clipboard.
        browser
            .run(
                "window.copied = null;
                 navigator.clipboard.writeText = async (text) => { window.copied = text; };",
                &[],
            )
            .await;
        browser.click("[data-copy=sample-verify_order]").await;
        browser
            .wait_for_text("[data-copy=sample-verify_order]", "Copied")
            .await;
        let copied = browser.run("return window.copied", &[]).await;
        assert!(
            copied.as_str().unwrap_or_default().starts_with("curl -X POST"),
            "{copied}"
        );
        let script = "return new Promise((told) => {
                const said = (it) => it.body.effectiveDirective + ' ' + it.body.blockedURL + ' ' + it.body.sample;
                new ReportingObserver((seen) => told(seen.map(said)), { types: ['csp-violation'], buffered: true }).observe();
                setTimeout(() => told([]), 500);
            });";
        assert_eq!(browser.run_async(script, &[]).await, json!([]));
        // Page, style and script as the browser has them in memory.
        let script = "return [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
            .reduce((sum, it) => sum + it.decodedBodySize, 0)";
        let bytes = browser.run(script, &[]).await.as_u64().unwrap();
        assert!(bytes > 50_000 && bytes < 400_000, "{bytes} bytes");
    }

    pub async fn reference_is_accessible_and_fits_a_desktop_screen(setup: Setup) {
        let screens = [
            (Screen::Desk, Scheme::Light, "light"),
            (Screen::Desk, Scheme::Dark, "dark"),
        ];
        check(&setup, &screens).await;
    }

    pub async fn reference_is_accessible_and_fits_small_screens(setup: Setup) {
        let screens = [
            (Screen::Tablet, Scheme::Light, "tablet"),
            (Screen::Phone, Scheme::Dark, "phone"),
        ];
        check(&setup, &screens).await;
        fits_the_narrowest_phone(&setup).await;
    }

    async fn check(setup: &Setup, screens: &[(Screen, Scheme, &str)]) {
        let browser = &setup.browser;
        axe::prepare(browser).await;
        for (screen, scheme, name) in screens {
            browser.resize(*screen).await;
            browser.prefer(*scheme).await;
            browser.go("/docs/api/").await;
            // Closed parts would not be looked at.
            browser
                .run(
                    "for (const part of document.querySelectorAll('details')) part.open = true",
                    &[],
                )
                .await;
            let wrong = axe::violations(browser).await;
            assert!(wrong.is_empty(), "{name}: {}", wrong.join("\n"));
            let width = "return document.documentElement.scrollWidth - document.documentElement.clientWidth";
            assert_eq!(browser.run(width, &[]).await, json!(0), "{name}");
            // With all parts open it is too long for a picture.
            browser
                .run(
                    "for (const part of document.querySelectorAll('details')) part.open = false",
                    &[],
                )
                .await;
            browser.picture(&format!("docs-{name}")).await;
        }
    }

    async fn fits_the_narrowest_phone(setup: &Setup) {
        let browser = &setup.browser;
        let narrow = json!({ "width": 320, "height": 640, "deviceScaleFactor": 1, "mobile": true });
        browser
            .command("Emulation.setDeviceMetricsOverride", narrow)
            .await;
        browser.go("/docs/api/").await;
        let too_wide = "return [...document.querySelectorAll('body *')]
            .filter(it => it.clientWidth > 0 && it.scrollWidth > it.clientWidth && !it.closest('pre'))
            .map(it => it.outerHTML.slice(0, 120))";
        assert_eq!(browser.run(too_wide, &[]).await, json!([]));
        let width = "return document.documentElement.scrollWidth";
        assert_eq!(browser.run(width, &[]).await, json!(320));
    }
}
