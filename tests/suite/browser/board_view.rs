//! The layout of the board: place and size of cards, all widths, focus and scroll position, shortcuts.

use super::setup::browser_tests;

browser_tests! {
    new_order_is_inserted_by_its_deadline
    card_needs_a_third_less_height_than_before
    board_fits_every_width
    live_update_keeps_focus_and_scroll_position
    board_is_worked_with_shortcuts
    filter_is_applied_at_once_and_remembered
    overlay_bar_and_offline_page_are_accessible
}

mod case {
    use super::super::setup::Setup;
    use crate::support::{Scheme, Shop, axe, order_body};
    use garson_sim::Platform;
    use serde_json::{Value, json};

    /// The height of the same order's card in version 0.1.0, at the same width, with less on it.
    const HEIGHT_BEFORE: f64 = 316.0;

    async fn codes(setup: &Setup, column: &str) -> Vec<String> {
        let script = "return [...document.querySelectorAll(`.column[data-column=${arguments[0]}] .code`)].map((it) => it.innerText)";
        let found = setup.browser.run(script, &[json!(column)]).await;
        found
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it.as_str().unwrap().to_owned())
            .collect()
    }

    async fn resize(setup: &Setup, width: u32, height: u32) {
        let metrics = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        setup
            .browser
            .command("Emulation.setDeviceMetricsOverride", metrics)
            .await;
    }

    fn set_deadline(setup: &Setup, id: &str, seconds: i64) {
        let service = &setup.world.service;
        let by = service.app.now().as_millis() + seconds * 1000;
        service.execute_sql(&format!(
            "UPDATE orders SET accept_by = {by} WHERE provider_order_id = '{id}'"
        ));
    }

    pub async fn new_order_is_inserted_by_its_deadline(setup: Setup) {
        let (browser, service) = (&setup.browser, &setup.world.service);
        let shop = service.shop(&service.a, "Çarşı").await;
        for id in ["K-1", "K-2", "K-3"] {
            shop.order(id).await;
        }
        set_deadline(&setup, "K-3", 7_200);
        setup.open_board().await;
        assert_eq!(codes(&setup, "new").await, ["K-3", "K-1", "K-2"]);
        // One with a nearer deadline comes first, one without comes last.
        let (_, card) = setup.order(Platform::Getir).await;
        browser.wait_for_text(&format!("{card} .countdown"), ":").await;
        shop.order("K-4").await;
        browser
            .wait_for_text(".column[data-column=new] .cards > :last-child .code", "K-4")
            .await;
        let shown = codes(&setup, "new").await;
        assert_eq!(shown[1..], ["K-3", "K-1", "K-2", "K-4"]);
        let first = browser.attribute(".column[data-column=new] .order", "id").await;
        assert_eq!(format!("#{first}"), card);
        // The bar shrinks.
        let script = "return document.querySelector(arguments[0]).value";
        let bar = json!(format!("{card} progress"));
        let before = browser
            .run(script, std::slice::from_ref(&bar))
            .await
            .as_f64()
            .unwrap();
        let shrinks = "return document.querySelector(arguments[0]).value < arguments[1]";
        browser
            .becomes("the bar shrinks", shrinks, &[bar, json!(before)])
            .await;
    }

    async fn whole_order(shop: &Shop) {
        let mut body = order_body(&shop.store, "K-417", 72_000);
        body["shortCode"] = json!("417");
        body["note"] = json!("Zil çalışmıyor, lütfen arayın.");
        body["items"] = json!([
            { "name": "Karışık pide", "quantity": 2, "unitPrice": 27_000 },
            { "name": "Künefe", "quantity": 1, "unitPrice": 18_000 },
        ]);
        body["customer"] = json!({ "name": "İpek Yıldırım" });
        body["fulfilment"] = json!({ "courier": "restaurant" });
        shop.post(body.to_string().as_bytes()).await.data();
    }

    pub async fn card_needs_a_third_less_height_than_before(setup: Setup) {
        let (browser, service) = (&setup.browser, &setup.world.service);
        let shop = service.shop(&service.a, "Moda").await;
        whole_order(&shop).await;
        set_deadline(&setup, "K-417", 300);
        browser.go(&format!("/?restaurant={}", shop.restaurant)).await;
        browser.wait_for_text(".order .code", "417").await;
        let script = "const code = document.querySelector('.order .code');
            return { height: document.querySelector('.order').offsetHeight, size: getComputedStyle(code).fontSize }";
        let seen = browser.run(script, &[]).await;
        let height = seen["height"].as_f64().unwrap();
        println!("the card is {height} px high");
        assert!(height <= HEIGHT_BEFORE * 2.0 / 3.0, "{height} px");
        assert_eq!(seen["size"], "28px");
        browser.picture("board-card").await;
    }

    pub async fn board_fits_every_width(setup: Setup) {
        let (browser, service) = (&setup.browser, &setup.world.service);
        setup.fill_evening().await;
        let shop = service.shop(&service.a, "Bağlar Caddesi Şubesi").await;
        whole_order(&shop).await;
        let long = "a-very-long-order-number-of-a-web-shop-0123456789-0123456789";
        shop.order(long).await;
        setup.open_board().await;
        for width in [320, 390, 600, 768, 860, 960, 1024, 1280, 1920, 3840] {
            for (path, name) in [("/", "board"), ("/kitchen", "kitchen")] {
                resize(&setup, width, 900).await;
                browser.go(path).await;
                browser.wait_for_text("#live", "Canlı").await;
                let script = "const page = document.scrollingElement;
                    const codes = [...document.querySelectorAll('.code')];
                    const top = (name) => document.querySelector(`.column[data-column=${name}]`)?.getBoundingClientRect().top;
                    return { wide: page.scrollWidth - page.clientWidth,
                        wider: [...document.querySelectorAll('body *')].filter((it) => it.getBoundingClientRect().right > page.clientWidth)
                            .map((it) => it.outerHTML.slice(0, 80)).slice(0, 3),
                        broken: codes.filter((it) => it.offsetHeight > 1.6 * parseFloat(getComputedStyle(it).fontSize)).length,
                        outside: codes.filter((it) => it.getBoundingClientRect().right > it.closest('.order').getBoundingClientRect().right).length,
                        small: [...document.querySelectorAll('.what > li')].filter((it) => parseFloat(getComputedStyle(it).fontSize) < 16).length,
                        aside: top('preparing') === top('on-the-way') }";
                let seen = browser.run(script, &[]).await;
                for wrong in ["wide", "broken", "outside", "small"] {
                    assert_eq!(seen[wrong], json!(0), "{wrong} at {width} px on {path}: {seen}");
                }
                if path == "/" && width >= 768 {
                    assert_eq!(
                        seen["aside"],
                        json!(true),
                        "columns are not side by side at {width} px"
                    );
                }
                browser.picture(&format!("{name}-{width}")).await;
            }
        }
    }

    pub async fn live_update_keeps_focus_and_scroll_position(setup: Setup) {
        let (browser, service) = (&setup.browser, &setup.world.service);
        let shop = service.shop(&service.a, "s").await;
        for n in 0..30 {
            shop.order(&format!("K-{n}")).await;
        }
        setup.open_board().await;
        let script = "const card = [...document.querySelectorAll('.order')][20];
            card.scrollIntoView({ block: 'center' });
            card.querySelector('button[value=verify]').focus({ preventScroll: true });
            return { id: card.id, top: card.getBoundingClientRect().top }";
        let begin = browser.run(script, &[]).await;
        // It is inserted far above.
        let (_, card) = setup.order(Platform::Getir).await;
        browser
            .becomes(
                "the card is there",
                "return !!document.querySelector(arguments[0])",
                &[json!(card)],
            )
            .await;
        let script = "const it = document.activeElement;
            return { id: it.closest('.order')?.id, value: it.value, top: it.closest('.order')?.getBoundingClientRect().top }";
        let after = browser.run(script, &[]).await;
        assert_eq!((&after["id"], &after["value"]), (&begin["id"], &json!("verify")));
        let moved = after["top"].as_f64().unwrap() - begin["top"].as_f64().unwrap();
        assert!(moved.abs() < 2.0, "moved by {moved}");
        // The focused card itself changes.
        let id = begin["id"].as_str().unwrap().trim_start_matches("o-");
        service.a.act(&format!("/orders/verify/{id}")).await.data();
        browser
            .wait_for_text(&format!(".column[data-column=preparing] #o-{id}"), "")
            .await;
        let focused = "return document.activeElement.closest('.order')?.id ?? null";
        assert_eq!(browser.run(focused, &[]).await, begin["id"]);
    }

    async fn focused(setup: &Setup) -> Value {
        let script = "return document.activeElement.closest('.order')?.id ?? null";
        setup.browser.run(script, &[]).await
    }

    pub async fn board_is_worked_with_shortcuts(setup: Setup) {
        let browser = &setup.browser;
        let (first, one) = setup.order(Platform::Migros).await;
        let (_, two) = setup.order(Platform::Migros).await;
        setup.open_board().await;
        let id = |card: &str| json!(card.trim_start_matches('#'));
        browser.strike("a").await;
        assert_eq!(focused(&setup).await, Value::Null, "nothing is selected yet");
        browser.strike("j").await;
        assert_eq!(focused(&setup).await, id(&one));
        browser.strike("j").await;
        assert_eq!(focused(&setup).await, id(&two));
        browser.strike("k").await;
        assert_eq!(focused(&setup).await, id(&one));
        // The list of keys, which can switch them off.
        browser.strike("?").await;
        browser
            .wait_for_text("#shortcuts[open]", "Klavye kısayolları")
            .await;
        browser.strike("j").await;
        browser.click("#keys-on").await;
        browser.click("#shortcuts button").await;
        browser.strike("j").await;
        assert_eq!(browser.count("#shortcuts[open]").await, 0);
        assert_ne!(focused(&setup).await, id(&two), "shortcuts are off");
        setup.open_board().await;
        browser.strike("j").await;
        assert_eq!(focused(&setup).await, Value::Null, "shortcuts stay off");
        browser.click("#board-menu > summary").await;
        browser.click("#keys").await;
        browser.click("#keys-on").await;
        browser.click("#shortcuts button").await;
        // Nothing happens while something is typed.
        browser.click(&format!("{one} .cancel summary")).await;
        browser.fill(&format!("{one} [name=note]"), "jar").await;
        browser
            .becomes(
                "it is typed",
                "return document.querySelector(arguments[0]).value === 'jar'",
                &[json!(format!("{one} [name=note]"))],
            )
            .await;
        browser.click(&format!("{one} .cancel summary")).await;
        browser.strike("u").await;
        browser.strike("a").await;
        browser
            .wait_for_text(&format!(".column[data-column=preparing] {one}"), "")
            .await;
        setup.world.wait_for_status(&first, 500).await;
        assert_eq!(focused(&setup).await, id(&one));
        browser.strike("r").await;
        browser.wait_for_text(&format!("{one} .tags"), "Hazır").await;
        browser.strike("/").await;
        browser.wait_for_text("h1", "Siparişler").await;
        let script = "return document.activeElement?.name === 'q'";
        browser
            .becomes("the search field has the focus", script, &[])
            .await;
    }

    pub async fn overlay_bar_and_offline_page_are_accessible(setup: Setup) {
        let (browser, service) = (&setup.browser, &setup.world.service);
        axe::prepare(browser).await;
        let shop = service.shop(&service.a, "s").await;
        let mut body = order_body("s", "K-1", 100);
        body["items"][0]["note"] = json!("Fıstık alerjisi");
        body["items"][0]["options"] = json!([{ "name": "Süt", "removed": true }]);
        shop.post(body.to_string().as_bytes()).await.data();
        for scheme in [Scheme::Light, Scheme::Dark] {
            browser.prefer(scheme).await;
            setup.open_board().await;
            let script =
                "const bar = document.getElementById('below'); bar.hidden = false; bar.textContent = '3';
                document.querySelector('.board').classList.add('large')";
            browser.run(script, &[]).await;
            assert_eq!(axe::violations(browser).await, Vec::<String>::new());
            browser.click("#board-menu > summary").await;
            browser.click("#keys").await;
            browser.wait_for_text("#shortcuts[open]", "kısayolları").await;
            assert_eq!(axe::violations(browser).await, Vec::<String>::new());
            browser.go("/offline?lang=tr").await;
            assert_eq!(axe::violations(browser).await, Vec::<String>::new());
        }
    }

    pub async fn filter_is_applied_at_once_and_remembered(setup: Setup) {
        let browser = &setup.browser;
        let (_, migros) = setup.order(Platform::Migros).await;
        let (_, getir) = setup.order(Platform::Getir).await;
        setup.open_board().await;
        browser.choose("#filter [name=platform]", "getir").await;
        browser.arrives_at("/?platform=getir").await;
        browser.wait_for_text(&getir, "Getir").await;
        assert_eq!(browser.count(&migros).await, 0);
        setup.open_board().await;
        assert_eq!(browser.count(&migros).await, 0);
        // What does not belong to it does not come live either.
        browser.wait_for_text("#live", "Canlı").await;
        let (_, hidden) = setup.order(Platform::Migros).await;
        let (_, shown) = setup.order(Platform::Getir).await;
        browser.wait_for_text(&shown, "").await;
        assert_eq!(browser.count(&hidden).await, 0);
        browser.click("#board-menu > summary").await;
        browser.choose("[name=density]", "large").await;
        browser.wait_for_text(".board.large", "").await;
        assert_eq!(browser.path().await, "/?platform=getir");
    }
}
