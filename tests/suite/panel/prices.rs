//! Prices in the panel: never without a preview.

use crate::products::setup::ProductWorld;
use crate::support::{Backend, Page, PanelUser, remote_id, wait_until};
use garson_sim::Platform;
use garson_sim::Platform::{Migros, Trendyol};

on_both! {
    price_is_previewed_and_sent_to_the_chosen_platforms
    ; sqlite_only:
    wrong_prices_are_refused
    expired_preview_is_not_sent
    prices_of_a_chain_need_a_tick
}

async fn price_on(world: &ProductWorld, platform: Platform) -> Option<i64> {
    let shop = world.control.shop(platform, remote_id(platform)).await.unwrap();
    let id = &world.dish[&platform.to_string()];
    let item = shop.items.iter().find(|item| item.id == *id);
    item.and_then(|item| item.price)
}

/// Fills the form of the product for these platforms alone.
async fn preview(user: &mut PanelUser, world: &ProductWorld, price: &str, on: &[&str]) -> Page {
    let own = format!("/restaurants/{}/products/{}", world.restaurant, world.product);
    let mut form = user
        .open(&own)
        .await
        .form(&format!("/restaurants/{}/prices", world.restaurant));
    form.fields.retain(|(name, _)| {
        name.strip_prefix("on.")
            .is_none_or(|provider| on.contains(&provider))
    });
    user.submit(&form, &[("price", price)]).await
}

async fn price_is_previewed_and_sent_to_the_chosen_platforms(backend: Backend) {
    let world = ProductWorld::open(backend).await;
    let mut user = world.service.user().await;
    let page = preview(&mut user, &world, "225,50", &["trendyol", "yemeksepeti"]).await;
    assert!(page.has("Henüz hiçbir şey gönderilmedi."), "{}", page.text());
    assert!(page.has("200,00 ₺") && page.has("225,50 ₺"), "{}", page.text());
    assert!(page.has(remote_id(Trendyol)), "the branch is named");
    assert!(
        page.has("gönderilecek") && page.has("gönderilemez"),
        "{}",
        page.text()
    );
    assert!(!page.has("Migros Yemek"), "{}", page.text());
    assert_eq!(price_on(&world, Trendyol).await, Some(20_000));
    let here = page.path.clone();
    user.submit(&page.form(&here), &[]).await;
    wait_until("it is changed", async || {
        world.world.advance_clock(5).await;
        world.wake();
        user.clone().open(&here).await.html.contains(">değişti<")
    })
    .await;
    assert_eq!(price_on(&world, Trendyol).await, Some(22_550));
    assert_eq!(price_on(&world, Migros).await, Some(20_000));
    let page = user.open(&here).await;
    assert!(!page.has("Onayla ve gönder"), "it is sent once");
    let again = preview(&mut user, &world, "225,50", &["trendyol"]).await;
    assert!(again.has("Değişecek fiyat yok"), "{}", again.text());
}

async fn wrong_prices_are_refused(backend: Backend) {
    let world = ProductWorld::open(backend).await;
    let mut user = world.service.user().await;
    for wrong in ["-1", "iki yüz", "1000001", "1,234"] {
        let page = preview(&mut user, &world, wrong, &["trendyol"]).await;
        assert!(page.has("0 ile 1.000.000 arasında"), "{wrong}: {}", page.text());
    }
    let page = preview(&mut user, &world, "10", &[]).await;
    assert!(page.has("En az bir platform seçin."), "{}", page.text());
    assert_eq!(world.service.count("price_pushes"), 0);
}

async fn expired_preview_is_not_sent(backend: Backend) {
    let world = ProductWorld::open(backend).await;
    let mut user = world.service.user().await;
    let page = preview(&mut user, &world, "225", &["trendyol"]).await;
    let form = page.form(&page.path);
    world.world.advance_clock(16 * 60).await;
    let page = user.submit(&form, &[]).await;
    assert!(page.has("Önizlemenin süresi doldu"), "{}", page.text());
    assert_eq!(price_on(&world, Trendyol).await, Some(20_000));
}

async fn prices_of_a_chain_need_a_tick(backend: Backend) {
    let world = ProductWorld::open(backend).await;
    let mut user = world.service.user().await;
    // Without the chain's credentials they cannot be sent at all.
    let page = preview(&mut user, &world, "225", &["getir"]).await;
    assert!(
        page.has("bütün şubeler") && page.has("gönderilemez"),
        "{}",
        page.text()
    );
    assert!(!page.has("Onayla ve gönder"), "{}", page.text());
    // As if they could: the tick is asked for.
    world
        .service
        .execute_sql("UPDATE price_items SET state = 'preview', message = NULL");
    let page = user.open(&page.path).await;
    let page = user.submit(&page.form(&page.path), &[]).await;
    assert!(page.has("kutuyu işaretleyin"), "{}", page.text());
    assert_eq!(price_on(&world, Platform::Getir).await, Some(20_000));
}
