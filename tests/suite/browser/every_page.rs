//! Every page in light and dark mode and at every width: no overflow, and no accessibility violations.

use super::setup::browser_tests;

browser_tests! {
    every_page_on_a_desktop_screen
    every_page_on_a_phone
    every_page_on_a_tablet_in_dark_mode
    whatever_is_wrong_is_found
}

mod case {
    use super::super::setup::Setup;
    use crate::panel::every_page::furnished;
    use crate::support::{Scheme, Screen, axe};
    use serde_json::{Value, json};

    pub async fn every_page_on_a_desktop_screen(setup: Setup) {
        look(setup, Screen::Desk, Scheme::Light).await;
    }

    pub async fn every_page_on_a_phone(setup: Setup) {
        look(setup, Screen::Phone, Scheme::Light).await;
    }

    pub async fn every_page_on_a_tablet_in_dark_mode(setup: Setup) {
        look(setup, Screen::Tablet, Scheme::Dark).await;
    }

    async fn look(setup: Setup, screen: Screen, scheme: Scheme) {
        let browser = &setup.browser;
        setup.fill_evening().await;
        let (user, paths) = furnished(&setup.world.service).await;
        setup.enter(&user).await;
        axe::prepare(browser).await;
        browser.resize(screen).await;
        browser.prefer(scheme).await;
        let mut wrong = Vec::new();
        for path in paths.iter().map(String::as_str).chain(["/nothing-here"]) {
            browser.go(path).await;
            wrong.extend(
                too_wide(&setup)
                    .await
                    .map(|it| format!("{path} is too wide: {it}")),
            );
            wrong.extend(
                axe::violations(browser)
                    .await
                    .into_iter()
                    .map(|it| format!("{path}: {it}")),
            );
        }
        browser.forget_cookies().await;
        for path in ["/sign-in", "/forgot-password"] {
            browser.go(path).await;
            wrong.extend(
                too_wide(&setup)
                    .await
                    .map(|it| format!("{path} is too wide: {it}")),
            );
            wrong.extend(axe::violations(browser).await);
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    /// A look that finds nothing wrong must be able to.
    pub async fn whatever_is_wrong_is_found(setup: Setup) {
        let browser = &setup.browser;
        axe::prepare(browser).await;
        browser.resize(Screen::Phone).await;
        browser.go("/keys").await;
        assert_eq!(too_wide(&setup).await, None);
        let script = "document.querySelector('.lead').style.width = '361px';
            document.querySelector('main').append(document.createElement('img'), document.createElement('select'))";
        browser.run(script, &[]).await;
        assert!(too_wide(&setup).await.is_some());
        let found = axe::violations(browser).await.join("\n");
        for rule in ["image-alt", "select-name"] {
            assert!(found.contains(rule), "{rule} is not in {found}");
        }
        browser
            .run("document.querySelector('h1').style.color = '#ddd'", &[])
            .await;
        let found = axe::violations(browser).await.join("\n");
        assert!(found.contains("color-contrast"), "{found}");
    }

    /// What makes the page wider than the screen.
    async fn too_wide(setup: &Setup) -> Option<Value> {
        let script = "const wide = screen.width;
            if (document.scrollingElement.scrollWidth <= document.documentElement.clientWidth && scrollX === 0) return null;
            return [...document.querySelectorAll('body *')].filter((it) => it.getBoundingClientRect().right > wide + 1)
                .map((it) => it.outerHTML.slice(0, 100)).slice(0, 5)";
        let found = setup.browser.run(script, &[]).await;
        (found != json!(null)).then_some(found)
    }
}
