//! Sign in, sign out, and the language.

use super::setup::browser_tests;

browser_tests! {
    user_signs_in_and_out
    language_can_be_switched
}

mod case {
    use super::super::setup::Setup;
    use crate::panel::openid::name_provider;
    use crate::support::{ENTER, PASSWORD, Person, Screen, TestProvider, axe, block_on};

    #[test]
    fn user_signs_in_at_the_provider() {
        block_on(async {
            let provider = TestProvider::start().await;
            let setup = Setup::open(|settings| name_provider(settings, &provider)).await;
            let browser = &setup.browser;
            axe::prepare(browser).await;
            browser.resize(Screen::Phone).await;
            browser.forget_cookies().await;
            browser.go("/sign-in?next=%2Fkeys").await;
            assert_eq!(axe::violations(browser).await, [] as [String; 0]);
            let service = setup.world.service.addr;
            provider.let_arrive(Person::new("id-1", "first@example.com"), service);
            browser.click("a[href^='/sign-in/openid']").await;
            browser.arrives_at("/keys").await;
            browser.go("/sessions").await;
            assert_eq!(axe::violations(browser).await, [] as [String; 0]);
            // Somebody else has no access.
            browser.forget_cookies().await;
            provider.let_arrive(Person::new("id-2", "nobody@example.com"), service);
            browser.go("/sign-in").await;
            browser.click("a[href^='/sign-in/openid']").await;
            browser.wait_for_text("main", "etkin bir kullanıcı yok").await;
            assert_eq!(axe::violations(browser).await, [] as [String; 0]);
        });
    }

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
