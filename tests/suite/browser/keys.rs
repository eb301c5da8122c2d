//! A key is issued, seen once, and revoked.

use super::scene::scenes;

scenes! {
    a_key_is_issued_and_revoked
}

mod case {
    use super::super::scene::Scene;
    use crate::support::Caller;

    pub async fn a_key_is_issued_and_revoked(scene: Scene) {
        let browser = &scene.browser;
        browser.go("/keys").await;
        browser.fill("[name=label]", "Kasa 2").await;
        browser.click("form[action='/keys'] button").await;
        browser.shows("#issued-key", "gsn_").await;
        let key = browser.text("#issued-key").await;
        let caller = Caller::new(scene.town.house.addr, &key);
        caller.get("/orders").await.data();
        browser.go("/keys").await;
        assert_eq!(browser.count("#issued-key").await, 0);
        browser.shows("tbody tr", "Kasa 2").await;
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
        browser.shows(".notice.good", "Anahtar iptal edildi.").await;
        caller.get("/orders").await.refused(401, "unauthorized");
    }
}
