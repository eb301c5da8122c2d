//! A person is invited, accepts, sets up a second factor and signs in with it.

use super::setup::browser_tests;

browser_tests! {
    person_is_invited_and_signs_in_with_two_factors
    role_hides_what_it_does_not_allow
}

mod case {
    use super::super::setup::Setup;
    use crate::support::axe;
    use garson::flow::admin::totp;
    use serde_json::json;
    use std::time::Duration;

    const PASSWORD: &str = "quiet zebra 41";

    /// The bytes of a secret as it is shown for typing.
    fn decode(shown: &str) -> Vec<u8> {
        let letters = shown.chars().filter(|c| !c.is_whitespace());
        let (mut bits, mut count, mut bytes) = (0_u32, 0, Vec::new());
        for letter in letters {
            let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
            bits = bits << 5 | u32::try_from(alphabet.find(letter).unwrap()).unwrap();
            count += 5;
            if count >= 8 {
                count -= 8;
                bytes.push(u8::try_from(bits >> count & 0xff).unwrap());
            }
        }
        bytes
    }

    pub async fn person_is_invited_and_signs_in_with_two_factors(setup: Setup) {
        let (browser, service) = (&setup.browser, &setup.world.service);
        axe::prepare(browser).await;
        let fine = async |what: &str| {
            let wrong = axe::violations(browser).await;
            assert!(wrong.is_empty(), "{what}: {}", wrong.join("\n"));
        };
        browser.go("/users/new").await;
        browser.fill("[name=email]", "ayse@example.com").await;
        browser
            .run("document.querySelector('[name=role]').value = 'manager'", &[])
            .await;
        browser.click("form[action='/users/new'] button.main").await;
        browser.wait_for_text("#invitation-link", "/invitation/").await;
        fine("the link").await;
        let link = browser.text("#invitation-link").await;
        let path = link[link.find("/invitation/").unwrap()..].to_owned();
        browser.forget_cookies().await;
        browser.go(&path).await;
        fine("the invitation").await;
        browser.fill("[name=name]", "Ayşe Yılmaz").await;
        browser.fill("[name=password]", PASSWORD).await;
        browser.click("button.main").await;
        browser
            .wait_for_text(".notice.good", "Parolanız kaydedildi.")
            .await;
        browser.go("/forgot-password").await;
        fine("forgotten password").await;
        let sign_in = async || {
            browser.go("/sign-in").await;
            browser.fill("[name=email]", "ayse@example.com").await;
            browser.fill("[name=password]", PASSWORD).await;
            browser.click("button.main").await;
        };
        sign_in().await;
        browser.arrives_at("/").await;
        browser.go("/account/two-factor").await;
        assert_eq!(browser.count("main svg[role=img]").await, 1);
        let secret = decode(&browser.text("code.secret").await);
        browser
            .fill("[name=code]", &totp::code_now(&secret, service.app.now()))
            .await;
        browser
            .click("form[action='/account/two-factor'] button.main")
            .await;
        browser.wait_for_text("h1", "Kurtarma kodları").await;
        fine("recovery codes").await;
        browser.forget_cookies().await;
        service.advance(Duration::from_secs(30));
        sign_in().await;
        browser.wait_for_text("h1", "Doğrulama kodu").await;
        fine("the code").await;
        browser
            .fill("[name=code]", &totp::code_now(&secret, service.app.now()))
            .await;
        browser.click("button.main").await;
        browser.arrives_at("/").await;
        // A sensitive change after a while asks again.
        service.advance(Duration::from_secs(11 * 60));
        browser.go("/account").await;
        browser.fill("[name=name]", "Ayşe Y.").await;
        browser.click("form[action='/account'] button.main").await;
        browser.wait_for_text("h1", "Siz olduğunuzu doğrulayın").await;
        fine("confirmation").await;
        browser.fill("[name=confirm-password]", PASSWORD).await;
        browser.click("button.main").await;
        browser.wait_for_text(".notice.good", "Kaydedildi.").await;
        let users = service.a.get("/users").await.data();
        let users = users.as_array().unwrap();
        assert!(users.iter().any(|it| it["name"] == "Ayşe Y."), "{users:?}");
    }

    pub async fn role_hides_what_it_does_not_allow(setup: Setup) {
        let (browser, service) = (&setup.browser, &setup.world.service);
        let shop = service.shop(&service.a, "moda").await;
        shop.order("K-1").await;
        let (_, reader) = service.colleague("reader@example.com", "read-only", None).await;
        let visible =
            "return [...document.querySelectorAll(arguments[0])].filter((it) => it.checkVisibility()).length";
        let buttons = json!("form[action^='/board/orders/'] button");
        browser.go("/").await;
        assert_ne!(
            browser.run(visible, std::slice::from_ref(&buttons)).await,
            json!(0)
        );
        setup.enter(&reader).await;
        browser.go("/").await;
        browser.wait_for_text(".code", "K-1").await;
        assert_eq!(browser.run(visible, &[buttons]).await, json!(0));
        browser.go(&format!("/restaurants/{}", shop.restaurant)).await;
        let save = json!("form[action^='/restaurants/'] button");
        assert_eq!(browser.run(visible, &[save]).await, json!(0));
    }
}
