//! Signing in and out, and the language.

use super::scene::scenes;

scenes! {
    somebody_signs_in_and_out
    the_language_is_switched
}

mod case {
    use super::super::scene::Scene;
    use crate::support::{ENTER, PASSWORD};

    pub async fn somebody_signs_in_and_out(scene: Scene) {
        let browser = &scene.browser;
        browser.go("/keys").await;
        browser.click("form[action='/sign-out'] button").await;
        browser.arrives_at("/sign-in").await;
        // Whoever comes for a page is asked first, and led on to it afterwards.
        browser.go("/keys").await;
        browser.arrives_at("/sign-in?next=%2Fkeys").await;
        browser.fill("[name=email]", "first@example.com").await;
        browser.fill("[name=password]", "wrong horse").await;
        browser.click("button.main").await;
        browser.shows(".notice.bad", "").await;
        assert_eq!(browser.attribute(".notice.bad", "role").await, "alert");
        browser.fill("[name=email]", "first@example.com").await;
        browser
            .fill("[name=password]", &format!("{PASSWORD}{ENTER}"))
            .await;
        browser.arrives_at("/keys").await;
        browser.shows("h1", "").await;
        browser.shows(".account", "First").await;
    }

    pub async fn the_language_is_switched(scene: Scene) {
        let browser = &scene.browser;
        browser.go("/").await;
        browser.shows("h1", "Canlı pano").await;
        browser.click("form[action='/language'] button").await;
        browser.shows("h1", "Live board").await;
        assert_eq!(browser.attribute("html", "lang").await, "en");
        // It stays so on other pages.
        browser.click(".ways a[href='/keys']").await;
        browser.arrives_at("/keys").await;
        assert_eq!(browser.attribute("html", "lang").await, "en");
        browser.click("form[action='/language'] button").await;
        browser.shows("form[action='/sign-out']", "Çıkış").await;
        browser.arrives_at("/keys").await;
    }
}
