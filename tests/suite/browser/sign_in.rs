//! Sign in, sign out, and the language.

use super::setup::browser_tests;

browser_tests! {
    user_signs_in_and_out
    language_can_be_switched
}

mod case {
    use super::super::setup::Setup;
    use crate::support::{ENTER, PASSWORD};

    pub async fn user_signs_in_and_out(setup: Setup) {
        let browser = &setup.browser;
        browser.go("/keys").await;
        browser.click("#account-menu > summary").await;
        browser.click("form[action='/sign-out'] button").await;
        browser.arrives_at("/sign-in").await;
        // A request for a page leads to the sign-in page first, and then to the page.
        browser.go("/keys").await;
        browser.arrives_at("/sign-in?next=%2Fkeys").await;
        browser.fill("[name=email]", "first@example.com").await;
        browser.fill("[name=password]", "wrong horse").await;
        browser.click("button.main").await;
        browser.wait_for_text(".notice.bad", "").await;
        assert_eq!(browser.attribute(".notice.bad", "role").await, "alert");
        browser.fill("[name=email]", "first@example.com").await;
        browser
            .fill("[name=password]", &format!("{PASSWORD}{ENTER}"))
            .await;
        browser.arrives_at("/keys").await;
        browser.wait_for_text("h1", "").await;
        browser.wait_for_text(".account", "First").await;
    }

    pub async fn language_can_be_switched(setup: Setup) {
        let browser = &setup.browser;
        browser.go("/").await;
        browser.wait_for_text("h1", "Canlı pano").await;
        browser.click("#account-menu > summary").await;
        browser.click("form[action='/language'] button").await;
        browser.wait_for_text("h1", "Live board").await;
        assert_eq!(browser.attribute("html", "lang").await, "en");
        // It stays so on other pages.
        browser.click("#developer-menu > summary").await;
        browser.click(".ways a[href='/keys']").await;
        browser.arrives_at("/keys").await;
        assert_eq!(browser.attribute("html", "lang").await, "en");
        browser.click("#account-menu > summary").await;
        browser.click("form[action='/language'] button").await;
        browser.click("#account-menu > summary").await;
        browser.wait_for_text("form[action='/sign-out']", "Çıkış").await;
        browser.arrives_at("/keys").await;
    }
}
