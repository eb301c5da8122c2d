//! A key is issued, shown once, and revoked.

use super::setup::browser_tests;

browser_tests! {
    a_key_is_issued_and_revoked
}

mod case {
    use super::super::setup::Setup;
    use crate::support::ApiClient;

    pub async fn a_key_is_issued_and_revoked(setup: Setup) {
        let browser = &setup.browser;
        browser.go("/keys").await;
        browser.fill("[name=label]", "Kasa 2").await;
        browser.click("form[action='/keys'] button").await;
        browser.wait_for_text("#issued-key", "gsn_").await;
        let key = browser.text("#issued-key").await;
        browser
            .run(
                "navigator.clipboard.writeText = async (text) => { window.copied = text; }",
                &[],
            )
            .await;
        browser.click("[data-copy=issued-key]").await;
        browser
            .wait_for_text("[data-copy=issued-key]", "Kopyalandı")
            .await;
        assert_eq!(
            browser.run("return window.copied", &[]).await,
            serde_json::json!(key)
        );
        let client = ApiClient::new(setup.world.service.addr, &key);
        client.get("/orders").await.data();
        browser.go("/keys").await;
        assert_eq!(browser.count("#issued-key").await, 0);
        browser.wait_for_text("tbody tr", "Kasa 2").await;
        let row = browser
            .run(
                "return [...document.querySelectorAll('tbody tr')].findIndex((it) => it.innerText.includes('Kasa 2')) + 1",
                &[],
            )
            .await;
        // It asks before it does.
        browser
            .click(&format!("tbody tr:nth-child({row}) .sure summary"))
            .await;
        browser
            .click(&format!("tbody tr:nth-child({row}) .sure form button"))
            .await;
        browser
            .wait_for_text(".notice.good", "Anahtar iptal edildi.")
            .await;
        client.get("/orders").await.refused(401, "unauthorized");
    }
}
