//! The strip of stores on the board: pausing, reopening, and what platforms do by themselves, live and without script.

use super::setup::browser_tests;

browser_tests! {
    pause_closes_the_chosen_platforms_and_another_browser_shows_it
    closing_by_the_platform_is_shown_with_its_reason_and_reopened
    refused_reopening_stays_after_a_reload
    pause_menu_works_with_the_keyboard
    strip_fits_narrow_and_wide_screens
    pause_until_closing_time_needs_opening_hours
    store_page_is_live
    names_of_restaurants_are_not_broken
}

/// The strip works as plain forms too.
#[test]
fn stores_are_paused_and_reopened_without_script() {
    use crate::support::{Backend, Browser, PlatformWorld, block_on};
    block_on(async {
        let world = PlatformWorld::open_without_polling(Backend::Sqlite).await;
        let browser = Browser::open_without_script(world.service.addr).await;
        let setup = super::setup::Setup { browser, world };
        setup.enter(&setup.world.service.user().await).await;
        case::without_script(setup).await;
    });
}

mod case {
    use super::super::setup::Setup;
    use crate::stores::setup::{change_shop, put, read_all, shop, wait_for_store};
    use crate::support::{Browser, ENTER, PASSWORD, Scheme, axe};
    use garson_sim::Platform;
    use garson_sim::views::{ClosedBy, Fault, ShopRequest};
    use serde_json::json;

    fn chip(platform: Platform) -> String {
        format!("[data-store={platform}]")
    }

    /// Waits until every store is known to be open.
    async fn all_open(setup: &Setup) {
        read_all(&setup.world);
        for platform in Platform::ALL {
            wait_for_store(&setup.world, platform, "is open", |it| {
                it["state"] == json!("open")
            })
            .await;
        }
    }

    fn closed_by_platform() -> ShopRequest {
        ShopRequest {
            open: Some(false),
            by: Some(ClosedBy::UnansweredOrder),
            reason: Some("TOO_MANY_REJECTED_ORDERS".to_owned()),
            ..ShopRequest::default()
        }
    }

    pub async fn pause_closes_the_chosen_platforms_and_another_browser_shows_it(setup: Setup) {
        let browser = &setup.browser;
        all_open(&setup).await;
        setup.open_board().await;
        let other = Setup::second_browser(&setup).await;
        other.go("/").await;
        other.wait_for_text("#live", "Canlı").await;
        for platform in Platform::ALL {
            browser.wait_for_text(&chip(platform), "açık").await;
        }
        browser.click("#pause > summary").await;
        for platform in [Platform::Yemeksepeti, Platform::Migros] {
            browser
                .click(&format!(".pause-form [name=platform][value={platform}]"))
                .await;
        }
        browser.choose("#pause-reason", "kitchen_busy").await;
        browser.click(".pause-form button[value='close:30']").await;
        for shown in [browser, &other] {
            for platform in [Platform::Getir, Platform::Trendyol] {
                shown.wait_for_text(&chip(platform), "kapalı").await;
                shown.wait_for_text(&chip(platform), "kadar").await;
                shown.wait_for_text(&chip(platform), "Mutfak çok yoğun").await;
            }
            shown.wait_for_text(&chip(Platform::Migros), "açık").await;
        }
        // For those who do not see it.
        let said = "return document.getElementById('store-said').textContent.includes('kapalı')";
        other.becomes("it is announced", said, &[]).await;
        for platform in Platform::ALL {
            let is_open = matches!(platform, Platform::Yemeksepeti | Platform::Migros);
            assert_eq!(shop(&setup.world, platform).await.open, is_open, "{platform}");
        }
        // Somebody reopens both in the other browser.
        other.click(".store-line > form button").await;
        for platform in [Platform::Getir, Platform::Trendyol] {
            browser.wait_for_text(&chip(platform), "açık").await;
            assert!(shop(&setup.world, platform).await.open, "{platform}");
        }
    }

    pub async fn store_page_is_live(setup: Setup) {
        let browser = &setup.browser;
        all_open(&setup).await;
        axe::prepare(browser).await;
        let path = format!("/restaurants/{}/store", setup.world.restaurant);
        browser.go(&path).await;
        browser.wait_for_text("#page-live", "Canlı").await;
        browser.wait_for_text("#s-trendyol", "açık").await;
        browser.run("window.sameDocument = true", &[]).await;
        put(
            &setup.world,
            json!({ "state": "closed", "providers": ["trendyol"] }),
        )
        .await;
        browser.wait_for_text("#s-trendyol", "kapalı").await;
        let said = "return document.getElementById('page-said').textContent.includes('kapalı')";
        browser.becomes("it is announced", said, &[]).await;
        change_shop(&setup.world, Platform::Yemeksepeti, closed_by_platform()).await;
        read_all(&setup.world);
        browser
            .wait_for_text("#s-yemeksepeti", "Çok fazla sipariş reddedildi")
            .await;
        assert_eq!(
            browser.run("return window.sameDocument", &[]).await,
            json!(true),
            "the page was not loaded again"
        );
        for scheme in [Scheme::Light, Scheme::Dark] {
            browser.prefer(scheme).await;
            assert_eq!(axe::violations(browser).await, Vec::<String>::new());
        }
    }

    /// A name breaks between words only, on any screen and with any number of restaurants.
    pub async fn names_of_restaurants_are_not_broken(setup: Setup) {
        let browser = &setup.browser;
        all_open(&setup).await;
        setup.open_board().await;
        let broken = "const line = (count) => Array.from({ length: count }, (_, n) => `<li class=store-line>
                <a class=store-name href=/>Kadıköy Sahil Lokantası ${n}</a><ul class=store-chips>` +
                ['Getir kapalı · 18:40’a kadar', 'Trendyol Go platform kapattı', 'Migros Yemek kapalı', 'Yemeksepeti kapalı · yarın 09:00’a kadar']
                    .map((text) => `<li class=store-chip><span class=store-state>${text}</span><span class=store-why>Bir siparişe zamanında yanıt verilmedi</span><form><button>Yeniden aç</button></form></li>`).join('') +
                '</ul><form><button>Hepsini yeniden aç</button></form></li>').join('');
            const state = document.getElementById('store-state');
            state.innerHTML = `<ul class=store-lines>${line(arguments[0])}</ul>`;
            const wrong = [...state.querySelectorAll('.store-name')].filter((name) => {
                const words = name.firstChild.data.split(' ');
                let at = 0;
                return words.some((word) => {
                    const range = document.createRange();
                    range.setStart(name.firstChild, at);
                    range.setEnd(name.firstChild, at + word.length);
                    at += word.length + 1;
                    return range.getClientRects().length > 1;
                });
            });
            const page = document.documentElement;
            return [wrong.length, page.scrollWidth > page.clientWidth]";
        for width in [390, 768, 1440] {
            let metrics = json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false });
            browser
                .command("Emulation.setDeviceMetricsOverride", metrics)
                .await;
            for count in [1, 3, 8] {
                let found = browser.run(broken, &[json!(count)]).await;
                assert_eq!(found, json!([0, false]), "{count} restaurants at {width} px");
            }
        }
    }

    pub async fn closing_by_the_platform_is_shown_with_its_reason_and_reopened(setup: Setup) {
        let browser = &setup.browser;
        all_open(&setup).await;
        setup.open_board().await;
        for (platform, reason) in [
            // Getir's numbers are not published.
            (Platform::Getir, "closedSource"),
            (Platform::Yemeksepeti, "Çok fazla sipariş reddedildi"),
        ] {
            change_shop(&setup.world, platform, closed_by_platform()).await;
            read_all(&setup.world);
            let store = chip(platform);
            browser.wait_for_text(&store, "platform kapattı").await;
            browser.wait_for_text(&store, reason).await;
            assert_eq!(browser.count(&format!("{store}.bad")).await, 1);
            browser.click(&format!("{store} button")).await;
            browser.wait_for_text(&store, "açık").await;
            assert!(shop(&setup.world, platform).await.open);
        }
    }

    pub async fn refused_reopening_stays_after_a_reload(setup: Setup) {
        let (browser, world) = (&setup.browser, &setup.world);
        all_open(&setup).await;
        put(world, json!({ "state": "closed", "providers": ["trendyol"] })).await;
        let refusal = Fault::Status {
            status: 400,
            body: Some(json!({ "message": "şube askıda", "error": "şube askıda" })),
        };
        world
            .fault(Platform::Trendyol, "store-status", refusal, Some(1))
            .await;
        setup.open_board().await;
        let trendyol = chip(Platform::Trendyol);
        browser.click(&format!("{trendyol} button")).await;
        browser
            .wait_for_text(&trendyol, "Platform açmayı kabul etmedi")
            .await;
        browser.wait_for_text(&trendyol, "şube askıda").await;
        setup.open_board().await;
        browser.wait_for_text(&trendyol, "şube askıda").await;
        assert!(!shop(world, Platform::Trendyol).await.open);
        browser.click(&format!("{trendyol} button")).await;
        browser.wait_for_text(&trendyol, "açık").await;
        assert!(shop(world, Platform::Trendyol).await.open);
        assert!(!browser.text(&trendyol).await.contains("askıda"));
    }

    pub async fn pause_menu_works_with_the_keyboard(setup: Setup) {
        let browser = &setup.browser;
        all_open(&setup).await;
        setup.open_board().await;
        let summary = "document.querySelector('#pause > summary').focus()";
        browser.run(summary, &[]).await;
        browser.strike(ENTER).await;
        browser
            .becomes("it is open", "return document.getElementById('pause').open", &[])
            .await;
        browser
            .run(
                "document.querySelector(\".pause-form button[value='busy:30']\").focus()",
                &[],
            )
            .await;
        browser.strike(ENTER).await;
        browser
            .wait_for_text(&chip(Platform::Getir), "yoğun (+30 dk)")
            .await;
        // Platforms without busy mode stay as they are.
        browser.wait_for_text(&chip(Platform::Trendyol), "açık").await;
        let focused = "return document.activeElement === document.querySelector('#pause > summary')";
        browser.becomes("the focus is kept", focused, &[]).await;
        browser.click(&format!("{} button", chip(Platform::Getir))).await;
        browser.wait_for_text(&chip(Platform::Getir), "açık").await;
    }

    pub async fn strip_fits_narrow_and_wide_screens(setup: Setup) {
        let (browser, world) = (&setup.browser, &setup.world);
        axe::prepare(browser).await;
        all_open(&setup).await;
        put(
            world,
            json!({ "state": "closed", "minutes": 45, "providers": ["trendyol", "migros"], "reason": "Fırın bozuldu" }),
        )
        .await;
        change_shop(world, Platform::Getir, closed_by_platform()).await;
        read_all(world);
        setup.open_board().await;
        browser
            .wait_for_text(&chip(Platform::Getir), "platform kapattı")
            .await;
        let mut wrong = Vec::new();
        for (scheme, theme) in [(Scheme::Light, "light"), (Scheme::Dark, "dark")] {
            browser.prefer(scheme).await;
            for width in [320, 390, 768, 1440, 3840] {
                let metrics =
                    json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false });
                browser
                    .command("Emulation.setDeviceMetricsOverride", metrics)
                    .await;
                for is_open in [false, true] {
                    browser
                        .run(
                            "document.getElementById('pause').open = arguments[0]",
                            &[json!(is_open)],
                        )
                        .await;
                    let script =
                        "return document.scrollingElement.scrollWidth - document.documentElement.clientWidth";
                    let beyond = browser.run(script, &[]).await.as_i64().unwrap();
                    if beyond > 0 {
                        wrong.push(format!("{width} {theme} {is_open}: {beyond} px too wide"));
                    }
                    wrong.extend(axe::violations(browser).await);
                    browser
                        .picture(&format!("stores-{width}-{theme}-{is_open}"))
                        .await;
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    pub async fn pause_until_closing_time_needs_opening_hours(setup: Setup) {
        let (browser, world) = (&setup.browser, &setup.world);
        all_open(&setup).await;
        setup.open_board().await;
        let pause = async || {
            browser.click("#pause > summary").await;
            browser
                .click(".pause-form button[value='close:next_opening']")
                .await;
        };
        pause().await;
        browser
            .wait_for_text(
                "#store-state [role=alert]",
                "önce restoranın çalışma saatlerini girin",
            )
            .await;
        browser
            .go(&format!("/restaurants/{}/store/hours", world.restaurant))
            .await;
        for (name, time) in [("opens0", "00:00"), ("closes0", "23:30")] {
            let script = "document.querySelector(`[name=\"d0.${arguments[0]}\"]`).value = arguments[1]";
            browser.run(script, &[json!(name), json!(time)]).await;
        }
        browser.click("button[value=copy]").await;
        browser
            .wait_for_text(".notice.warn", "tüm günlere kopyalandı")
            .await;
        browser.click("button.main[value=save]").await;
        browser.wait_for_text(".notice.good", "kaydedildi").await;
        setup.open_board().await;
        pause().await;
        for platform in Platform::ALL {
            browser.wait_for_text(&chip(platform), "kapalı").await;
            assert!(!shop(world, platform).await.open, "{platform}");
        }
    }

    pub async fn without_script(setup: Setup) {
        let (browser, world) = (&setup.browser, &setup.world);
        all_open(&setup).await;
        browser.go("/").await;
        browser.click("#pause > summary").await;
        for platform in [Platform::Getir, Platform::Yemeksepeti, Platform::Migros] {
            browser
                .click(&format!(".pause-form [name=platform][value={platform}]"))
                .await;
        }
        browser.click(".pause-form button[value=close]").await;
        browser.wait_for_text(".notice.good", "tamam").await;
        browser.wait_for_text(&chip(Platform::Trendyol), "kapalı").await;
        assert!(!shop(world, Platform::Trendyol).await.open);
        browser
            .click(&format!("{} button", chip(Platform::Trendyol)))
            .await;
        browser.wait_for_text(&chip(Platform::Trendyol), "açık").await;
        assert!(shop(world, Platform::Trendyol).await.open);
    }

    impl Setup {
        /// Another browser of the same account.
        async fn second_browser(&self) -> Browser {
            let browser = Browser::open(self.world.service.addr).await;
            browser.go("/sign-in").await;
            // A new password would sign the first browser out.
            let mut user = self.world.service.anonymous_user();
            user.sign_in("first@example.com", PASSWORD).await;
            for (name, value) in &user.cookies {
                browser.keep_cookie(name, value).await;
            }
            browser
        }
    }
}
