//! The book in a browser: accessible, on every screen, with a search that needs the script.

use super::setup::browser_tests;

browser_tests! {
    english_book_is_accessible_and_fits_every_screen
    turkish_book_is_accessible_and_fits_every_screen
    book_is_searched
    old_address_of_an_operation_leads_to_the_reference
}

mod case {
    use super::super::setup::Setup;
    use crate::support::{Scheme, Screen, axe};
    use serde_json::{Value, json};

    /// The paths of all pages of a language.
    async fn paths(setup: &Setup, language: &str) -> Vec<String> {
        setup.browser.go(&format!("/docs/{language}/start")).await;
        let script = "return [...document.querySelectorAll('.contents.book a')].map((it) => it.pathname)
            .filter((path) => path.startsWith(arguments[0]))";
        let prefix = json!(format!("/docs/{language}/"));
        let found = setup.browser.run(script, &[prefix]).await;
        let mut found: Vec<String> = serde_json::from_value(found).unwrap();
        found.dedup();
        assert!(found.len() > 15, "{found:?}");
        found
    }

    pub async fn english_book_is_accessible_and_fits_every_screen(setup: Setup) {
        look(setup, "en").await;
    }

    pub async fn turkish_book_is_accessible_and_fits_every_screen(setup: Setup) {
        look(setup, "tr").await;
    }

    async fn look(setup: Setup, language: &str) {
        let browser = &setup.browser;
        axe::prepare(browser).await;
        let mut wrong = Vec::new();
        for path in paths(&setup, language).await {
            for (screen, scheme) in [(Screen::Desk, Scheme::Light), (Screen::Phone, Scheme::Dark)] {
                browser.resize(screen).await;
                browser.prefer(scheme).await;
                browser.go(&path).await;
                let found = axe::violations(browser).await;
                wrong.extend(found.into_iter().map(|it| format!("{path}: {it}")));
            }
            let narrow = json!({ "width": 320, "height": 640, "deviceScaleFactor": 1, "mobile": true });
            browser
                .command("Emulation.setDeviceMetricsOverride", narrow)
                .await;
            let script = "const wide = [...document.querySelectorAll('body *')].filter((it) => !it.closest('pre, thead'))
                        .filter((it) => it.clientWidth > 0 && it.scrollWidth > it.clientWidth && !it.matches('.unseen'));
                    if (document.documentElement.scrollWidth === 320 && !wide.length) return null;
                    return wide.map((it) => it.outerHTML.slice(0, 120)).slice(0, 3)";
            let wide = browser.run(script, &[]).await;
            if wide != Value::Null {
                wrong.push(format!("{path} is too wide: {wide}"));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    pub async fn book_is_searched(setup: Setup) {
        let browser = &setup.browser;
        for (language, text, path) in [
            ("en", "idempotent receiver", "/docs/en/webhooks"),
            ("tr", "SİPARİŞ İPTAL", "/docs/tr/actions"),
            ("tr", "geri yukleme", "/docs/tr/backup"),
        ] {
            browser.go(&format!("/docs/{language}/start")).await;
            browser.fill("#book-query", text).await;
            let found = "return [...document.querySelectorAll('#book-found a')].some((it) => it.pathname === arguments[0])";
            browser.becomes("the page is found", found, &[json!(path)]).await;
        }
        browser.fill("#book-query", "zzzzzz").await;
        let none = "return !document.querySelector('#book-found a') && document.getElementById('book-count').textContent.startsWith('0 ')";
        browser.becomes("nothing is found", none, &[]).await;
    }

    pub async fn old_address_of_an_operation_leads_to_the_reference(setup: Setup) {
        let browser = &setup.browser;
        browser.go("/docs/#verify_order").await;
        let there = "return location.pathname + location.hash === '/docs/api/#verify_order'";
        browser.becomes("the reference is shown", there, &[]).await;
        // A section of the book stays where it is.
        browser.go("/docs/en/start#create-an-account").await;
        let here = "return location.pathname === '/docs/en/start' && !!document.querySelector('h2:target')";
        browser.becomes("the section is shown", here, &[]).await;
    }
}
