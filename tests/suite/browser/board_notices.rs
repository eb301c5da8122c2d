//! A new order is noticed: bar, title, icon, notification; and the screen stays on.

use super::setup::browser_tests;

browser_tests! {
    order_out_of_view_shows_a_bar_that_leads_to_it
    bar_of_orders_out_of_view_covers_no_filter
    title_and_icon_show_the_number_of_waiting_orders
    notification_names_the_order_and_leads_to_its_card
    notification_is_not_shown_without_permission
    screen_stays_on_while_the_board_is_in_view
}

mod case {
    use super::super::setup::Setup;
    use crate::support::Screen;
    use garson_sim::Platform;
    use serde_json::json;

    /// Runs in every page before its own script.
    async fn before_every_page(setup: &Setup, source: &str) {
        setup
            .browser
            .command(
                "Page.addScriptToEvaluateOnNewDocument",
                json!({ "source": source }),
            )
            .await;
    }

    pub async fn order_out_of_view_shows_a_bar_that_leads_to_it(setup: Setup) {
        let (browser, service) = (&setup.browser, &setup.world.service);
        let shop = service.shop(&service.a, "s").await;
        for n in 0..20 {
            shop.order(&format!("K-{n}")).await;
            service.a.act(&format!("/orders/verify/K-{n}")).await.data();
        }
        browser.resize(Screen::Phone).await;
        setup.open_board().await;
        let script = "scrollTo(0, document.body.scrollHeight); return scrollY";
        let bottom = browser.run(script, &[]).await.as_f64().unwrap();
        assert!(bottom > 500.0, "{bottom}");
        assert_eq!(browser.text("#below").await, "");
        let (_, card) = setup.order(Platform::Getir).await;
        browser
            .wait_for_text("#below", "1 yeni sipariş ekranda değil")
            .await;
        let (_, other) = setup.order(Platform::Migros).await;
        browser
            .wait_for_text("#below", "2 yeni sipariş ekranda değil")
            .await;
        assert_eq!(browser.attribute("#below", "data-to").await, "up");
        let is_in_view =
            "const it = document.querySelector(arguments[0]), { top, bottom } = it.getBoundingClientRect();
            return document.activeElement === it && top >= 0 && bottom <= innerHeight";
        // The most urgent one first. It works with the keyboard as well.
        browser.run("document.getElementById('below').focus()", &[]).await;
        browser.strike(crate::support::ENTER).await;
        browser
            .becomes("the card is in view", is_in_view, &[json!(card)])
            .await;
        let script =
            "document.querySelector(arguments[0]).scrollIntoView({ block: 'end', behavior: 'instant' })";
        browser.run(script, &[json!(other)]).await;
        browser
            .becomes("the bar is gone", "return document.getElementById('below').hidden || !document.getElementById('below').textContent.startsWith('2')", &[])
            .await;
    }

    pub async fn bar_of_orders_out_of_view_covers_no_filter(setup: Setup) {
        let (browser, service) = (&setup.browser, &setup.world.service);
        let shop = service.shop(&service.a, "s").await;
        for n in 0..30 {
            shop.order(&format!("K-{n}")).await;
        }
        browser.resize(Screen::Desk).await;
        setup.open_board().await;
        shop.order("SON-1").await;
        browser
            .wait_for_text("#below", "yeni sipariş ekranda değil")
            .await;
        let script = "const at = (it) => document.querySelector(it).getBoundingClientRect();
            const bar = at('#below'), tools = at('.toolbar');
            return scrollY === 0 && tools.height > 0 && (bar.top >= tools.bottom || bar.bottom <= tools.top)
                && bar.top >= 0 && bar.bottom <= innerHeight";
        assert_eq!(browser.run(script, &[]).await, json!(true));
    }

    pub async fn title_and_icon_show_the_number_of_waiting_orders(setup: Setup) {
        let browser = &setup.browser;
        setup.open_board().await;
        let icon = "link[rel=icon]";
        let plain = browser.attribute(icon, "href").await;
        let (_, card) = setup.order(Platform::Trendyol).await;
        setup.order(Platform::Getir).await;
        let title = "return document.title === arguments[0]";
        browser
            .becomes("the title counts", title, &[json!("(2) Canlı pano · Garson")])
            .await;
        let two = browser.attribute(icon, "href").await;
        assert!(two.starts_with("data:image/png") && two != plain, "{two}");
        browser.click(&format!("{card} button[value=verify]")).await;
        browser
            .becomes(
                "the title counts down",
                title,
                &[json!("(1) Canlı pano · Garson")],
            )
            .await;
        assert_ne!(browser.attribute(icon, "href").await, two);
    }

    /// Notifications as the page makes them; the user allows them when asked.
    const NOTIFICATIONS: &str = "window.notes = []; window.takenBack = [];
        window.Notification = class extends EventTarget {
            static permission = sessionStorage.getItem('allowed') ?? 'default';
            static async requestPermission() { sessionStorage.setItem('allowed', 'granted'); return this.permission = 'granted'; }
            constructor(title, options) { super(); this.title = title; Object.assign(this, options); notes.push(this); }
            close() { takenBack.push(this.tag); }
        };
        document.hasFocus = () => false;";

    pub async fn notification_names_the_order_and_leads_to_its_card(setup: Setup) {
        let (browser, service) = (&setup.browser, &setup.world.service);
        before_every_page(&setup, NOTIFICATIONS).await;
        setup.open_board().await;
        browser.click("#board-menu > summary").await;
        browser.click("#notify").await;
        browser.wait_for_text("#notify", "Bildirimler açık").await;
        let shop = service.shop(&service.a, "s").await;
        let mut body = crate::support::order_body("s", "K-7", 100);
        body["shortCode"] = json!("417");
        body["customer"] = json!({ "name": "İpek Çağlar", "phone": "+90 532 000 00 00" });
        let made = shop.post(body.to_string().as_bytes()).await.data();
        let card = format!("o-{}", made["orderId"].as_str().unwrap());
        browser
            .becomes("it is notified", "return notes.length === 1", &[])
            .await;
        let seen = browser
            .run(
                "const { title, body, tag } = notes[0]; return { title, body, tag }",
                &[],
            )
            .await;
        assert_eq!(
            seen,
            json!({ "title": "Yeni sipariş: 417", "body": "İpek", "tag": card })
        );
        browser
            .run("notes[0].dispatchEvent(new Event('click'))", &[])
            .await;
        let focused = "return document.activeElement.id === arguments[0]";
        browser
            .becomes("the card has the focus", focused, &[json!(card)])
            .await;
        // It is taken back once somebody has accepted the order.
        browser.run("takenBack.length = 0", &[]).await;
        service.a.act("/orders/verify/K-7").await.data();
        browser
            .becomes(
                "it is closed",
                "return takenBack.includes(arguments[0])",
                &[json!(card)],
            )
            .await;
        // After a reload nobody is asked again.
        setup.open_board().await;
        assert_eq!(browser.text("#notify").await, "");
    }

    pub async fn notification_is_not_shown_without_permission(setup: Setup) {
        let browser = &setup.browser;
        before_every_page(&setup, NOTIFICATIONS).await;
        setup.open_board().await;
        let (_, card) = setup.order(Platform::Getir).await;
        browser.wait_for_text(&card, "").await;
        assert_eq!(browser.run("return notes.length", &[]).await, json!(0));
    }

    pub async fn screen_stays_on_while_the_board_is_in_view(setup: Setup) {
        let browser = &setup.browser;
        let source = "window.locks = [];
            Object.defineProperty(navigator, 'wakeLock', { value: { async request(kind) {
                const lock = { kind, released: false }; locks.push(lock); return lock; } } });";
        before_every_page(&setup, source).await;
        for path in ["/", "/kitchen"] {
            browser.go(path).await;
            let count = "return locks.length === arguments[0] && locks[0].kind === 'screen'";
            browser.becomes("the screen is kept on", count, &[json!(1)]).await;
            // The browser releases it when the page is hidden; it is taken again when the page is shown.
            let shown = "locks[0].released = true; document.dispatchEvent(new Event('visibilitychange'))";
            browser.run(shown, &[]).await;
            browser
                .becomes("the screen is kept on again", count, &[json!(2)])
                .await;
        }
        browser.go("/keys").await;
        assert_eq!(browser.run("return locks.length", &[]).await, json!(0));
    }
}
