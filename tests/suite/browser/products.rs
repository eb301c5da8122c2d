//! Products in a real browser: search while typing, one tap, results that stay, the dialog of a card, and all of it without script.

use crate::products::setup::{DISH, ProductWorld};
use crate::support::{Backend, Browser, ENTER, Screen, axe, block_on, wait_until};
use garson_sim::Platform;
use garson_sim::Platform::{Getir, Trendyol};
use garson_sim::views::{Courier, Fault};
use serde_json::json;

/// The browser is dropped first.
struct Setup {
    browser: Browser,
    world: ProductWorld,
}

impl Setup {
    async fn open(has_script: bool) -> Self {
        let world = ProductWorld::open(Backend::Sqlite).await;
        let addr = world.service.addr;
        let browser = if has_script {
            Browser::open(addr).await
        } else {
            Browser::open_without_script(addr).await
        };
        browser.go("/sign-in").await;
        for (name, value) in &world.service.user().await.cookies {
            browser.keep_cookie(name, value).await;
        }
        Self { browser, world }
    }

    fn path(&self) -> String {
        format!("/restaurants/{}/products", self.world.restaurant)
    }

    fn row(&self) -> String {
        format!("#p-{}", self.world.product)
    }
}

#[test]
fn product_is_found_while_typing_and_sold_out_with_one_tap() {
    block_on(async {
        let setup = Setup::open(true).await;
        let (browser, world, row) = (&setup.browser, &setup.world, setup.row());
        browser.go(&setup.path()).await;
        assert!(browser.count(".product").await > 1);
        // One that is selected stays so while another is searched.
        browser.click(".product:first-child .pick").await;
        browser.wait_for_text("[data-picked]", "(1)").await;
        browser.fill("[name=q]", "KEBABI sına").await;
        let one = "return document.querySelectorAll('.product').length === 1";
        browser.becomes("one is left", one, &[]).await;
        browser.wait_for_text(&row, DISH).await;
        browser.wait_for_text("[data-picked]", "(1)").await;
        let query = browser.run("return location.search", &[]).await;
        assert!(query.as_str().unwrap().starts_with("?q="), "{query}");
        browser.click(&format!("{row} button.off")).await;
        for platform in Platform::ALL {
            world.wait_until_available(platform, false).await;
        }
        browser.wait_for_text(&row, "tükendi").await;
        browser
            .becomes(
                "every platform has answered",
                &format!("return !document.querySelector('{row}').matches('[data-pending]')"),
                &[],
            )
            .await;
        browser
            .wait_for_text(&format!("{row} button.on"), "Satışta")
            .await;
        let said = browser
            .run("return document.getElementById('products-said').textContent", &[])
            .await;
        assert!(said.as_str().unwrap().contains(DISH), "{said}");
        // It is still there after a reload, with the search.
        browser.run("location.reload()", &[]).await;
        browser.wait_for_text(&row, "yeniden satışa:").await;
        // With the keyboard.
        browser
            .run(
                "document.querySelector(arguments[0]).focus()",
                &[json!(format!("{row} button.on"))],
            )
            .await;
        browser.strike(ENTER).await;
        for platform in Platform::ALL {
            world.wait_until_available(platform, true).await;
        }
        browser
            .wait_for_text(&format!("{row} button.off"), "Tükendi")
            .await;
    });
}

#[test]
fn refusal_stays_in_the_row_after_a_reload() {
    block_on(async {
        let setup = Setup::open(true).await;
        let (browser, world, row) = (&setup.browser, &setup.world, setup.row());
        let refusal = Fault::Status {
            status: 400,
            body: Some(json!({ "message": "Ürün kampanyada" })),
        };
        world.fault(Trendyol, "product-status", refusal, None).await;
        browser.go(&format!("{}?q=sinama", setup.path())).await;
        browser.click(&format!("{row} summary")).await;
        browser.click(&format!("{row} [value^='never:']")).await;
        browser.wait_for_text(&row, "Ürün kampanyada").await;
        browser.run("location.reload()", &[]).await;
        browser.wait_for_text(&row, "kapatılamadı").await;
        browser.wait_for_text(&row, "Ürün kampanyada").await;
        axe::prepare(browser).await;
        for screen in [Screen::Phone, Screen::Desk] {
            browser.resize(screen).await;
            browser.go(&format!("{}?q=sinama", setup.path())).await;
            let wrong = axe::violations(browser).await;
            assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        }
    });
}

#[test]
fn product_is_sold_out_from_a_card_without_leaving_the_board() {
    block_on(async {
        let setup = Setup::open(true).await;
        let (browser, world) = (&setup.browser, &setup.world);
        let placed = world.order(Getir, Courier::Restaurant).await;
        let order = world.find_order(&placed).await.unwrap();
        let card = format!("#o-{}", order["id"].as_str().unwrap());
        axe::prepare(browser).await;
        browser.go("/").await;
        browser.wait_for_text("#live", "Canlı").await;
        browser
            .run(
                "document.querySelector(arguments[0]).focus()",
                &[json!(format!("{card} [data-sold]"))],
            )
            .await;
        browser.strike(ENTER).await;
        browser
            .wait_for_text(".sold-dialog h2", "Siparişin ürünleri")
            .await;
        let name = order["items"][0]["name"].as_str().unwrap();
        browser.wait_for_text(".sold-dialog", name).await;
        let wrong = axe::violations(browser).await;
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        browser.click(".sold-dialog .product button.off").await;
        browser
            .wait_for_text(".sold-dialog .product button.on", "Satışta")
            .await;
        wait_until("the platform knows it", async || {
            world.wake();
            world
                .service
                .count("platform_items WHERE provider = 'getir' AND is_available = 0")
                == 1
        })
        .await;
        browser.click(".sold-dialog [data-close]").await;
        let back =
            "return !document.querySelector('dialog[open]') && document.activeElement.matches('[data-sold]')";
        browser.becomes("the board has the focus again", back, &[]).await;
        assert_eq!(browser.path().await, "/");
    });
}

#[test]
fn products_work_without_script() {
    block_on(async {
        let setup = Setup::open(false).await;
        let (browser, world, row) = (&setup.browser, &setup.world, setup.row());
        browser.go(&setup.path()).await;
        browser.fill("[name=q]", "sınama").await;
        browser.click("form[role=search] button").await;
        browser.wait_for_text(&row, DISH).await;
        browser.click(&format!("{row} button.off")).await;
        browser.wait_for_text(".notice", DISH).await;
        for platform in Platform::ALL {
            world.wait_until_available(platform, false).await;
        }
        browser.go(&format!("{}?state=off", setup.path())).await;
        browser.wait_for_text(&row, "tükendi").await;
        browser.click(&format!("{row} .pick input")).await;
        browser.click(".batch [value=on]").await;
        for platform in Platform::ALL {
            world.wait_until_available(platform, true).await;
        }
        let placed = world.order(Getir, Courier::Restaurant).await;
        let order = world.find_order(&placed).await.unwrap();
        browser.go("/").await;
        browser
            .click(&format!("#o-{} [data-sold]", order["id"].as_str().unwrap()))
            .await;
        browser.wait_for_text("h1", "Siparişin ürünleri").await;
        browser.click(".product button.off").await;
        browser.wait_for_text(".product", "tükendi").await;
    });
}

#[test]
fn price_is_previewed_before_it_is_sent() {
    block_on(async {
        let setup = Setup::open(true).await;
        let (browser, world) = (&setup.browser, &setup.world);
        browser.go(&format!("{}/{}", setup.path(), world.product)).await;
        browser.fill("[name=price]", "225,50").await;
        for provider in ["getir", "yemeksepeti"] {
            browser.click(&format!("[name='on.{provider}']")).await;
        }
        browser.click("form[action$='/prices'] button").await;
        browser.wait_for_text("table", "225,50 ₺").await;
        assert_eq!(world.calls(Trendyol, "prices").await, 0, "nothing is sent yet");
        browser.click("main button.main").await;
        wait_until("it is changed", async || {
            world.world.advance_clock(5).await;
            world.wake();
            browser.run("location.reload()", &[]).await;
            browser.text("table").await.contains("değişti")
        })
        .await;
        assert_eq!(world.calls(Trendyol, "prices").await, 1);
    });
}

#[test]
fn differences_are_shown_on_every_screen() {
    block_on(async {
        let setup = Setup::open(true).await;
        let (browser, world) = (&setup.browser, &setup.world);
        axe::prepare(browser).await;
        for screen in [Screen::Phone, Screen::Tablet, Screen::Desk] {
            browser.resize(screen).await;
            for page in ["differences", "differences?between=days", "products/suggestions"] {
                browser
                    .go(&format!("/restaurants/{}/{page}", world.restaurant))
                    .await;
                let wide =
                    "return document.scrollingElement.scrollWidth <= document.documentElement.clientWidth";
                assert_eq!(browser.run(wide, &[]).await, json!(true), "{page}");
                let wrong = axe::violations(browser).await;
                assert!(wrong.is_empty(), "{page}: {}", wrong.join("\n"));
            }
        }
        browser
            .go(&format!("/restaurants/{}/differences", world.restaurant))
            .await;
        browser.choose("[name=kind]", "missing").await;
        browser.click("form.filters button").await;
        browser.wait_for_text("#differences", "eksik ürün").await;
        browser.picture("differences-filled").await;
        browser.click("form[action$='/menus/read'] button").await;
        browser.wait_for_text(".notice", "Menüler").await;
    });
}
