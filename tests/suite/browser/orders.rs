//! Order search on a phone.

use super::setup::browser_tests;

browser_tests! {
    a_phone_shows_what_was_found
}

mod case {
    use super::super::setup::Setup;
    use crate::support::Screen;
    use garson_sim::Platform;

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
}
