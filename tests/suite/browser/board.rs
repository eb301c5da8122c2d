//! The live board with script: orders arrive without reloading, and actions work on the card.

use super::setup::browser_tests;

browser_tests! {
    an_order_arrives_while_the_board_is_open
    order_advances_on_the_board
    an_order_is_cancelled_with_a_reason
    a_refusal_turns_red_by_itself
    an_answer_that_is_no_card_leaves_the_card_usable
    customer_text_is_escaped
    the_sound_is_switched_off_for_good
    a_board_that_lost_its_connection_catches_up
}

mod case {
    use super::super::setup::Setup;
    use super::super::tcp_proxy::Line;
    use crate::support::order_body;
    use garson_sim::Platform;
    use garson_sim::views::{Courier, Fault};
    use serde_json::{Value, json};

    /// Leaves a mark in the page, which is gone when it is loaded again.
    async fn mark(setup: &Setup) {
        setup.browser.run("window.stayed = true", &[]).await;
    }

    async fn assert_stayed(setup: &Setup) {
        let stayed = setup.browser.run("return window.stayed === true", &[]).await;
        assert_eq!(stayed, json!(true), "the page was loaded again");
    }

    async fn stands_in(setup: &Setup, card: &str, column: &str) {
        let place = format!(".column[data-column={column}] {card}");
        setup.browser.wait_for_text(&place, "").await;
    }

    pub async fn an_order_arrives_while_the_board_is_open(setup: Setup) {
        let browser = &setup.browser;
        setup.open_board().await;
        browser.wait_for_text("#empty", "Henüz açık sipariş yok").await;
        mark(&setup).await;
        for (number, platform) in Platform::ALL.into_iter().enumerate() {
            let (_, card) = setup.order(platform).await;
            stands_in(&setup, &card, "new").await;
            let count = (number + 1).to_string();
            browser
                .wait_for_text(".column[data-column=new] .count", &count)
                .await;
            // Screen readers announce it.
            let name = browser.attribute(&card, "aria-label").await;
            browser.wait_for_text("#said", &name).await;
        }
        assert_eq!(browser.count("#empty").await, 0);
        assert_stayed(&setup).await;
    }

    pub async fn order_advances_on_the_board(setup: Setup) {
        let browser = &setup.browser;
        setup.open_board().await;
        mark(&setup).await;
        let (placed, card) = setup.order(Platform::Trendyol).await;
        for (button, column, status) in [
            ("verify", "preparing", 500),
            ("next", "on-the-way", 600),
            ("next", "done", 900),
        ] {
            browser.click(&format!("{card} button[value={button}]")).await;
            stands_in(&setup, &card, column).await;
            setup.world.wait_for_status(&placed, status).await;
        }
        assert_eq!(browser.count(&format!("{card} button")).await, 0);
        assert_stayed(&setup).await;
        // Changes by another user are shown as well.
        let (placed, card) = setup.order(Platform::Migros).await;
        stands_in(&setup, &card, "new").await;
        setup.world.verify(&placed).await.data();
        stands_in(&setup, &card, "preparing").await;
    }

    pub async fn an_order_is_cancelled_with_a_reason(setup: Setup) {
        let browser = &setup.browser;
        setup.open_board().await;
        mark(&setup).await;
        let (placed, card) = setup.order(Platform::Getir).await;
        browser.click(&format!("{card} .cancel summary")).await;
        // The platform's reasons are fetched when the form is opened.
        browser
            .wait_for_text(&format!("{card} select[data-known]"), "")
            .await;
        let reason = setup.world.reasons(&placed).await.pop().unwrap();
        browser.choose(&format!("{card} select"), &reason).await;
        browser
            .fill(&format!("{card} [name=note]"), "Fırın bozuldu")
            .await;
        browser.click(&format!("{card} button.danger")).await;
        stands_in(&setup, &card, "done").await;
        browser.wait_for_text(&card, "İptal edildi").await;
        let order = setup.world.find_order(&placed).await.unwrap();
        assert_eq!(order["cancellation"]["reason"]["id"], json!(reason));
        assert_eq!(order["cancellation"]["note"], "Fırın bozuldu");
        assert_stayed(&setup).await;
    }

    pub async fn a_refusal_turns_red_by_itself(setup: Setup) {
        let (browser, world) = (&setup.browser, &setup.world);
        let placed = world.verified(Platform::Migros, Courier::Restaurant).await;
        let card = setup.card(&placed).await;
        setup.open_board().await;
        mark(&setup).await;
        let refusal = Fault::Status {
            status: 400,
            body: None,
        };
        world.fault(Platform::Migros, "*", refusal, None).await;
        browser.click(&format!("{card} button[value=next]")).await;
        browser
            .wait_for_text(&format!("{card}.red"), "platform reddetti")
            .await;
        assert_stayed(&setup).await;
    }

    pub async fn an_answer_that_is_no_card_leaves_the_card_usable(setup: Setup) {
        let browser = &setup.browser;
        let (placed, card) = setup.order(Platform::Migros).await;
        setup.open_board().await;
        let script = "window.asked = window.fetch;
            window.fetch = async () => new Response('<h1>Bad gateway</h1>', { status: 502 })";
        browser.run(script, &[]).await;
        let verify = format!("{card} button[value=verify]");
        browser.click(&verify).await;
        browser
            .wait_for_text(&format!("{card} .action-failed"), "Yapılamadı")
            .await;
        browser.run("window.fetch = window.asked", &[]).await;
        browser.click(&verify).await;
        stands_in(&setup, &card, "preparing").await;
        setup.world.wait_for_status(&placed, 500).await;
    }

    pub async fn customer_text_is_escaped(setup: Setup) {
        let service = &setup.world.service;
        let shop = service.shop(&service.a, "Çarşı").await;
        let note = "<img src=x onerror=\"window.broken = true\"><script>window.broken = true</script>";
        let write = async |id: &str| {
            let mut body = order_body(&shop.store, id, 100);
            body["note"] = json!(note);
            shop.post(body.to_string().as_bytes()).await.data();
        };
        write("BEFORE").await;
        setup.open_board().await;
        write("AFTER").await;
        for code in ["BEFORE", "AFTER"] {
            setup.browser.wait_for_text(".order .code", code).await;
        }
        assert_eq!(setup.browser.count(".order img, .order script").await, 0);
        assert_eq!(setup.browser.text(".order .note").await, note);
        assert_eq!(
            setup.browser.run("return window.broken ?? null", &[]).await,
            Value::Null
        );
    }

    pub async fn the_sound_is_switched_off_for_good(setup: Setup) {
        let browser = &setup.browser;
        setup.open_board().await;
        // Browsers play no sound before the first user action.
        browser.wait_for_text("#sound", "Ses için dokunun").await;
        assert_eq!(browser.attribute("#sound", "aria-pressed").await, "false");
        browser.click("#sound").await;
        browser.wait_for_text("#sound", "Ses açık").await;
        assert_eq!(browser.attribute("#sound", "aria-pressed").await, "true");
        browser.click("#sound").await;
        browser.wait_for_text("#sound", "Ses kapalı").await;
        setup.open_board().await;
        assert_eq!(browser.attribute("#sound", "aria-pressed").await, "false");
        browser.wait_for_text("#sound", "Ses kapalı").await;
    }
    pub async fn a_board_that_lost_its_connection_catches_up(mut setup: Setup) {
        let line = Line::to(setup.world.service.addr).await;
        setup.browser.move_to(line.addr);
        setup.open_board().await;
        mark(&setup).await;
        line.cut();
        setup.browser.wait_for_text("#live.bad", "Bağlantı koptu").await;
        let (_, card) = setup.order(Platform::Getir).await;
        line.mend();
        stands_in(&setup, &card, "new").await;
        setup.browser.wait_for_text("#live.good", "Canlı").await;
        assert_stayed(&setup).await;
    }
}
