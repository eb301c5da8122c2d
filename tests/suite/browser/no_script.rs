//! The same with a browser that runs no script: every action is a form.

use super::scene::Scene;
use crate::support::{Browser, Caller, Kind, PASSWORD, Town, block_on};
use garson_sim::Platform;
use serde_json::json;

#[test]
fn everything_works_without_script() {
    block_on(async {
        let town = Town::open_quiet(Kind::Sqlite).await;
        let browser = Browser::open_without_script(town.house.addr).await;
        town.house.give_password("first@example.com").await;
        let scene = Scene { browser, town };
        sign_in(&scene).await;
        work_on_orders(&scene).await;
        issue_a_key(&scene).await;
    });
}

async fn sign_in(scene: &Scene) {
    let browser = &scene.browser;
    browser.go("/").await;
    browser.fill("[name=email]", "first@example.com").await;
    browser.fill("[name=password]", PASSWORD).await;
    browser.click("button.main").await;
    browser.shows("h1", "Canlı pano").await;
    // What only a script could do is not shown.
    for hidden in ["#live", "#sound"] {
        assert_eq!(browser.text(hidden).await, "", "{hidden}");
    }
    browser.shows("noscript .button", "Yenile").await;
    browser.click("form[action='/language'] button").await;
    browser.shows("h1", "Live board").await;
    browser.click("form[action='/language'] button").await;
    browser.shows("h1", "Canlı pano").await;
}

async fn work_on_orders(scene: &Scene) {
    let (browser, town) = (&scene.browser, &scene.town);
    let (meal, card) = scene.order(Platform::Trendyol).await;
    browser.click("noscript .button").await;
    for (button, column) in [("verify", "preparing"), ("next", "on-the-way"), ("next", "done")] {
        browser.click(&format!("{card} button[value={button}]")).await;
        browser
            .shows(&format!(".column[data-column={column}] {card}"), "")
            .await;
    }
    town.reaches(&meal, 900).await;
    let (meal, card) = scene.order(Platform::Getir).await;
    browser.click("noscript .button").await;
    browser.click(&format!("{card} .cancel summary")).await;
    browser.click(&format!("{card} noscript a")).await;
    let reason = town.reasons(&meal).await.pop().unwrap();
    browser.click(&format!("input[value='{reason}']")).await;
    browser.fill("[name=note]", "Fırın bozuldu").await;
    browser.click("button.danger").await;
    browser
        .shows(&format!(".column[data-column=done] {card}"), "İptal edildi")
        .await;
    let order = town.shown(&meal).await.unwrap();
    assert_eq!(order["cancellation"]["reason"]["id"], json!(reason));
}

async fn issue_a_key(scene: &Scene) {
    let browser = &scene.browser;
    browser.click(".ways a[href='/keys']").await;
    browser.fill("[name=label]", "Kasa").await;
    browser.click("form[action='/keys'] button").await;
    browser.shows("#issued-key", "gsn_").await;
    let key = browser.text("#issued-key").await;
    Caller::new(scene.town.house.addr, &key)
        .get("/orders")
        .await
        .data();
    browser.click("form[action='/sign-out'] button").await;
    browser.arrives_at("/sign-in").await;
}
