//! The alarm of the board: what is played is counted at the oscillators of the page.

use super::setup::browser_tests;

browser_tests! {
    new_order_rings_again_and_again_until_it_is_accepted
    silenced_order_rings_again_when_its_deadline_is_near
    silenced_order_rings_again_when_it_is_escalated
    alarm_is_muted_for_some_minutes
    settings_are_those_of_the_device
    cancellation_while_cooking_rings_until_one_device_has_seen_it
    lost_connection_is_shown_on_every_page
}

mod case {
    use super::super::setup::Setup;
    use super::super::tcp_proxy::Line;
    use crate::support::Browser;
    use garson_sim::Platform;
    use garson_sim::views::Courier;
    use serde_json::json;

    /// Records the shape and the pitch of each tone that is started.
    const RECORD: &str = "window.tones = [];
        const start = OscillatorNode.prototype.start;
        OscillatorNode.prototype.start = function (at) {
            window.tones.push({ shape: this.type, pitch: Math.round(this.frequency.value) });
            return start.call(this, at);
        }";

    /// Opens the board, switches its sound on and records its tones.
    async fn open_with_sound(browser: &Browser) {
        browser.go("/").await;
        browser.wait_for_text("#live", "Canlı").await;
        browser.run(RECORD, &[]).await;
        browser.click("#sound").await;
        browser.wait_for_text("#sound", "Ses açık").await;
    }

    async fn wait_for_tones(browser: &Browser, what: &str, condition: &str) {
        let script = format!("return window.tones.filter(({{ shape, pitch }}) => {condition}).length > 0");
        browser.becomes(what, &script, &[]).await;
    }

    async fn forget_tones(browser: &Browser) {
        browser.run("window.tones.length = 0", &[]).await;
    }

    async fn set(browser: &Browser, field: &str, value: &str) {
        browser.click("#board-menu > summary").await;
        browser.click("#alarm-open").await;
        browser.choose(field, value).await;
        browser.click("#alarm-settings button.main").await;
    }

    pub async fn new_order_rings_again_and_again_until_it_is_accepted(setup: Setup) {
        let browser = &setup.browser;
        open_with_sound(browser).await;
        set(browser, "#alarm-every", "3").await;
        assert_eq!(browser.run("return window.tones.length", &[]).await, json!(0));
        assert_eq!(browser.text("#silence").await, "");
        let (placed, card) = setup.order(Platform::Trendyol).await;
        for time in ["at once", "again", "and again"] {
            wait_for_tones(browser, time, "shape === 'sine'").await;
            forget_tones(browser).await;
        }
        browser.wait_for_text("#silence", "Sustur (1)").await;
        browser.click(&format!("{card} button[value=verify]")).await;
        // It is quiet as soon as it is pressed, not only when the platform has agreed.
        let quiet = "return document.getElementById('silence').hidden";
        browser.becomes("it is quiet", quiet, &[]).await;
        setup.world.wait_for_status(&placed, 500).await;
        browser
            .wait_for_text(&format!(".column[data-column=preparing] {card}"), "")
            .await;
        browser.becomes("it stays quiet", quiet, &[]).await;
    }

    pub async fn silenced_order_rings_again_when_its_deadline_is_near(setup: Setup) {
        let browser = &setup.browser;
        open_with_sound(browser).await;
        let (_, card) = setup.order(Platform::Trendyol).await;
        wait_for_tones(browser, "it rings", "pitch === 880").await;
        browser.click("#silence").await;
        let quiet = "return document.getElementById('silence').hidden";
        browser.becomes("it is quiet", quiet, &[]).await;
        // Another order rings, and with it only that one.
        let (_, second) = setup.order(Platform::Trendyol).await;
        browser.wait_for_text("#silence", "Sustur (1)").await;
        browser.click("#silence").await;
        forget_tones(browser).await;
        let near = "document.querySelector(arguments[0]).dataset.acceptBy = Date.now() + 30000";
        browser.run(near, &[json!(card)]).await;
        wait_for_tones(browser, "it rings urgently", "pitch === Math.round(880 * 1.26)").await;
        browser.wait_for_text("#silence", "Sustur (1)").await;
        let said = "return document.getElementById('alarm-said').textContent";
        let said = browser.run(said, &[]).await;
        assert!(said.as_str().unwrap().starts_with("Süre doluyor"), "{said}");
        // One that was escalated is urgent, too.
        let escalate = "document.querySelector(arguments[0]).dataset.escalated = ''";
        browser.run(escalate, &[json!(second)]).await;
        browser.wait_for_text("#silence", "Sustur (2)").await;
    }

    pub async fn silenced_order_rings_again_when_it_is_escalated(setup: Setup) {
        let (browser, world) = (&setup.browser, &setup.world);
        let path = format!("/restaurants/{}/escalation", world.restaurant);
        let steps = json!({ "steps": [{ "when": "age", "seconds": 60, "action": "ring" }] });
        world.a.put(&path, &steps).await.data();
        open_with_sound(browser).await;
        browser.run("window.stayed = true", &[]).await;
        let (_, card) = setup.order(Platform::Getir).await;
        wait_for_tones(browser, "it rings", "pitch === 880").await;
        browser.click("#silence").await;
        let quiet = "return document.getElementById('silence').hidden";
        browser.becomes("it is quiet", quiet, &[]).await;
        forget_tones(browser).await;
        world.advance_clock(61).await;
        let urgent = "return 'escalated' in document.querySelector(arguments[0]).dataset";
        browser
            .becomes("the card is urgent", urgent, &[json!(card)])
            .await;
        wait_for_tones(browser, "it rings urgently", "pitch === Math.round(880 * 1.26)").await;
        browser.wait_for_text("#silence", "Sustur (1)").await;
        assert_eq!(browser.run("return window.stayed", &[]).await, json!(true));
    }

    pub async fn alarm_is_muted_for_some_minutes(setup: Setup) {
        let browser = &setup.browser;
        open_with_sound(browser).await;
        browser.click("#board-menu > summary").await;
        browser.click("#alarm-open").await;
        browser.click("[data-mute='15']").await;
        browser.wait_for_text("#sound", "Sessiz: 15 dk").await;
        assert_eq!(browser.attribute("#sound", "aria-pressed").await, "false");
        let (_, card) = setup.order(Platform::Getir).await;
        browser.wait_for_text(&card, "").await;
        assert_eq!(browser.run("return window.tones.length", &[]).await, json!(0));
        // It lasts over a reload.
        open_muted(browser).await;
        browser.click("#sound").await;
        browser.wait_for_text("#sound", "Ses açık").await;
        wait_for_tones(browser, "it rings", "shape === 'sine'").await;
    }

    async fn open_muted(browser: &Browser) {
        browser.go("/").await;
        browser.wait_for_text("#live", "Canlı").await;
        browser.run(RECORD, &[]).await;
        browser.click("h1").await;
        browser.wait_for_text("#sound", "Sessiz").await;
    }

    pub async fn settings_are_those_of_the_device(setup: Setup) {
        let browser = &setup.browser;
        open_with_sound(browser).await;
        set(browser, "#alarm-sound", "beep").await;
        browser.click("#board-menu > summary").await;
        browser.click("#alarm-open").await;
        browser.click("#alarm-test").await;
        wait_for_tones(browser, "the test plays", "shape === 'square'").await;
        setup.open_board().await;
        browser.click("#board-menu > summary").await;
        browser.click("#alarm-open").await;
        let chosen = "return document.getElementById('alarm-sound').value";
        assert_eq!(browser.run(chosen, &[]).await, json!("beep"));
        // Settings that are broken are replaced by the default ones.
        browser
            .run(
                "localStorage.setItem('alarm', '{\"sound\":\"x\",\"every\":\"y\"}')",
                &[],
            )
            .await;
        setup.open_board().await;
        browser.click("#board-menu > summary").await;
        browser.click("#alarm-open").await;
        assert_eq!(browser.run(chosen, &[]).await, json!("bell"));
    }

    pub async fn cancellation_while_cooking_rings_until_one_device_has_seen_it(setup: Setup) {
        let browser = &setup.browser;
        let placed = setup.world.verified(Platform::Getir, Courier::Restaurant).await;
        let card = setup.card(&placed).await;
        let user = setup.world.service.user().await;
        setup.enter(&user).await;
        open_with_sound(browser).await;
        let other = Browser::open(setup.world.service.addr).await;
        other.go("/sign-in").await;
        for (name, value) in &user.cookies {
            other.keep_cookie(name, value).await;
        }
        other.go("/").await;
        other.wait_for_text("#live", "Canlı").await;
        setup.world.cancel_on_platform(&placed, "customer").await;
        let in_place = format!(".column[data-column=preparing] {card} .cancelled-notice");
        for device in [browser, &other] {
            device
                .wait_for_text(&in_place, "Hazırlanırken iptal edildi")
                .await;
        }
        wait_for_tones(browser, "it has a sound of its own", "shape === 'sawtooth'").await;
        let said = "return document.getElementById('alarm-said').textContent";
        let said = browser.run(said, &[]).await;
        assert!(said.as_str().unwrap().starts_with("İptal edildi"), "{said}");
        let line =
            "return getComputedStyle(document.querySelector(arguments[0] + ' .what')).textDecorationLine";
        assert_eq!(browser.run(line, &[json!(card)]).await, json!("line-through"));
        // The page is loaded again, and it is still there.
        other.go("/").await;
        other.wait_for_text(&in_place, "Hazırlanırken iptal edildi").await;
        other.click(&format!("{in_place} button")).await;
        for device in [browser, &other] {
            device
                .wait_for_text(&format!(".column[data-column=done] {card}"), "")
                .await;
            assert_eq!(device.count(".cancelled-notice").await, 0);
        }
        let quiet = "return document.getElementById('silence').hidden";
        browser.becomes("it is quiet", quiet, &[]).await;
    }

    pub async fn lost_connection_is_shown_on_every_page(mut setup: Setup) {
        let line = Line::to(setup.world.service.addr).await;
        setup.browser.move_to(line.addr);
        setup.enter(&setup.world.service.user().await).await;
        let browser = &setup.browser;
        open_with_sound(browser).await;
        line.cut();
        browser
            .wait_for_text("#connection", "Sunucuyla bağlantı koptu")
            .await;
        wait_for_tones(browser, "it has a sound of its own", "pitch === 147").await;
        line.mend();
        browser
            .wait_for_text("#connection", "Bağlantı yeniden kuruldu")
            .await;
        browser.go("/orders").await;
        line.cut();
        let hint = "dispatchEvent(new Event('offline'));
            return document.getElementById('connection')?.textContent.includes('koptu') ?? false";
        browser.becomes("the banner appears", hint, &[]).await;
        line.mend();
        let gone = "return !document.getElementById('connection')";
        browser.becomes("the banner disappears", gone, &[]).await;
    }
}
