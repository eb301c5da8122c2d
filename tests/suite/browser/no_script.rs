//! The panel without JavaScript: every action is a form.

use super::setup::Setup;
use crate::support::{ApiClient, Backend, Browser, PASSWORD, PlatformWorld, block_on};
use garson_sim::Platform;
use serde_json::json;

#[test]
fn everything_works_without_script() {
    block_on(async {
        let world = PlatformWorld::open_without_polling(Backend::Sqlite).await;
        let browser = Browser::open_without_script(world.service.addr).await;
        world.service.give_password("first@example.com").await;
        let setup = Setup { browser, world };
        sign_in(&setup).await;
        work_on_orders(&setup).await;
        work_in_the_kitchen(&setup).await;
        issue_a_key(&setup).await;
    });
}

async fn sign_in(setup: &Setup) {
    let browser = &setup.browser;
    browser.go("/").await;
    browser.fill("[name=email]", "first@example.com").await;
    browser.fill("[name=password]", PASSWORD).await;
    browser.click("button.main").await;
    browser.wait_for_text("h1", "Canlı pano").await;
    // What only a script could do is not shown.
    for hidden in ["#live", "#sound"] {
        assert_eq!(browser.text(hidden).await, "", "{hidden}");
    }
    browser.wait_for_text("noscript .button", "Yenile").await;
    browser.click("#account-menu > summary").await;
    browser.click("form[action='/language'] button").await;
    browser.wait_for_text("h1", "Live board").await;
    browser.click("#account-menu > summary").await;
    browser.click("form[action='/language'] button").await;
    browser.wait_for_text("h1", "Canlı pano").await;
}

async fn work_on_orders(setup: &Setup) {
    let (browser, world) = (&setup.browser, &setup.world);
    let (placed, card) = setup.order(Platform::Trendyol).await;
    browser.click("noscript .button").await;
    for (button, column) in [("verify", "preparing"), ("next", "on-the-way"), ("next", "done")] {
        browser.click(&format!("{card} button[value={button}]")).await;
        // Nothing can be undone without script, so it asks first.
        browser.wait_for_text("main", "Emin misiniz?").await;
        browser.click("main button.main").await;
        browser
            .wait_for_text(&format!(".column[data-column={column}] {card}"), "")
            .await;
    }
    world.wait_for_status(&placed, 900).await;
    let (placed, card) = setup.order(Platform::Getir).await;
    browser.click("noscript .button").await;
    browser.click(&format!("{card} .cancel summary")).await;
    browser.click(&format!("{card} noscript a")).await;
    let reason = world.reasons(&placed).await.pop().unwrap();
    browser.click(&format!("input[value='{reason}']")).await;
    browser.fill("[name=note]", "Fırın bozuldu").await;
    browser.click("button.danger").await;
    browser
        .wait_for_text(&format!(".column[data-column=done] {card}"), "İptal edildi")
        .await;
    let order = world.find_order(&placed).await.unwrap();
    assert_eq!(order["cancellation"]["reason"]["id"], json!(reason));
}

async fn work_in_the_kitchen(setup: &Setup) {
    let (browser, world) = (&setup.browser, &setup.world);
    let (placed, card) = setup.order(Platform::Migros).await;
    let (other, hidden) = setup.order(Platform::Trendyol).await;
    world.verify(&placed).await.data();
    world.verify(&other).await.data();
    browser.go("/kitchen").await;
    browser.choose("#filter [name=platform]", "migros").await;
    browser.click("#filter button").await;
    browser.arrives_at("/kitchen?platform=migros").await;
    assert_eq!(browser.count(&hidden).await, 0);
    browser.click(&format!("{card} button[value=ready]")).await;
    browser.click(".narrow button.main").await;
    browser.wait_for_text(".none", "Hazırlanacak sipariş yok").await;
    browser.choose("#filter [name=platform]", "").await;
    browser.click("#filter button").await;
    browser.wait_for_text(&hidden, "").await;
    // The menu, and the density in it.
    browser.click("#board-menu > summary").await;
    browser.choose("#board-menu [name=density]", "large").await;
    browser.click("#board-menu noscript button").await;
    browser.wait_for_text(".board.kitchen.large", "").await;
    browser.go("/").await;
}

async fn issue_a_key(setup: &Setup) {
    let browser = &setup.browser;
    browser.click("#developer-menu > summary").await;
    browser.click(".ways a[href='/keys']").await;
    browser.fill("[name=label]", "Kasa").await;
    browser.click("form[action='/keys'] button").await;
    browser.wait_for_text("#issued-key", "gsn_").await;
    let key = browser.text("#issued-key").await;
    ApiClient::new(setup.world.service.addr, &key)
        .get("/orders")
        .await
        .data();
    browser.click("#account-menu > summary").await;
    browser.click("form[action='/sign-out'] button").await;
    browser.arrives_at("/sign-in").await;
}
