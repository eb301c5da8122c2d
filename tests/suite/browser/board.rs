//! The live board with script: what arrives by itself, and what is done on a card without leaving the page.

use super::scene::scenes;

scenes! {
    an_order_arrives_while_the_board_is_open
    an_order_goes_its_way_on_the_board
    an_order_is_cancelled_with_a_reason
    a_refusal_turns_red_by_itself
    an_answer_that_is_no_card_leaves_the_card_usable
    what_customers_write_is_text
    the_sound_is_switched_off_for_good
    a_board_that_lost_its_connection_catches_up
}

mod case {
    use super::super::line::Line;
    use super::super::scene::Scene;
    use crate::support::{order_body, until};
    use garson_sim::Platform;
    use garson_sim::views::{Courier, Fault};
    use serde_json::{Value, json};

    /// Leaves a mark in the page, which is gone when it is loaded again.
    async fn mark(scene: &Scene) {
        scene.browser.run("window.stayed = true", &[]).await;
    }

    async fn assert_stayed(scene: &Scene) {
        let stayed = scene.browser.run("return window.stayed === true", &[]).await;
        assert_eq!(stayed, json!(true), "the page was loaded again");
    }

    async fn stands_in(scene: &Scene, card: &str, column: &str) {
        let place = format!(".column[data-column={column}] {card}");
        scene.browser.shows(&place, "").await;
    }

    pub async fn an_order_arrives_while_the_board_is_open(scene: Scene) {
        let browser = &scene.browser;
        scene.open_board().await;
        browser.shows("#empty", "Henüz açık sipariş yok").await;
        mark(&scene).await;
        for (number, platform) in Platform::ALL.into_iter().enumerate() {
            let (_, card) = scene.order(platform).await;
            stands_in(&scene, &card, "new").await;
            let count = (number + 1).to_string();
            browser.shows(".column[data-column=new] .count", &count).await;
            // Whoever does not see the board is told.
            let name = browser.attribute(&card, "aria-label").await;
            browser.shows("#said", &name).await;
        }
        assert_eq!(browser.count("#empty").await, 0);
        assert_stayed(&scene).await;
    }

    pub async fn an_order_goes_its_way_on_the_board(scene: Scene) {
        let browser = &scene.browser;
        scene.open_board().await;
        mark(&scene).await;
        let (meal, card) = scene.order(Platform::Trendyol).await;
        for (button, column, status) in [
            ("verify", "preparing", 500),
            ("next", "on-the-way", 600),
            ("next", "done", 900),
        ] {
            browser.click(&format!("{card} button[value={button}]")).await;
            stands_in(&scene, &card, column).await;
            scene.town.reaches(&meal, status).await;
        }
        assert_eq!(browser.count(&format!("{card} button")).await, 0);
        assert_stayed(&scene).await;
        // What somebody else does with it is seen as well.
        let (meal, card) = scene.order(Platform::Migros).await;
        stands_in(&scene, &card, "new").await;
        scene.town.verify(&meal).await.data();
        stands_in(&scene, &card, "preparing").await;
    }

    pub async fn an_order_is_cancelled_with_a_reason(scene: Scene) {
        let browser = &scene.browser;
        scene.open_board().await;
        mark(&scene).await;
        let (meal, card) = scene.order(Platform::Getir).await;
        browser.click(&format!("{card} .cancel summary")).await;
        // The platform's own reasons are fetched when somebody is about to choose.
        browser.shows(&format!("{card} select[data-known]"), "").await;
        let reason = scene.town.reasons(&meal).await.pop().unwrap();
        browser.choose(&format!("{card} select"), &reason).await;
        browser
            .fill(&format!("{card} [name=note]"), "Fırın bozuldu")
            .await;
        browser.click(&format!("{card} button.danger")).await;
        stands_in(&scene, &card, "done").await;
        browser.shows(&card, "İptal edildi").await;
        let order = scene.town.shown(&meal).await.unwrap();
        assert_eq!(order["cancellation"]["reason"]["id"], json!(reason));
        assert_eq!(order["cancellation"]["note"], "Fırın bozuldu");
        assert_stayed(&scene).await;
    }

    pub async fn a_refusal_turns_red_by_itself(scene: Scene) {
        let (browser, town) = (&scene.browser, &scene.town);
        let meal = town.verified(Platform::Migros, Courier::Restaurant).await;
        let card = scene.card(&meal).await;
        scene.open_board().await;
        mark(&scene).await;
        let refusal = Fault::Status {
            status: 400,
            body: None,
        };
        town.fault(Platform::Migros, "*", refusal, None).await;
        browser.click(&format!("{card} button[value=next]")).await;
        browser.shows(&format!("{card}.red"), "platform reddetti").await;
        assert_stayed(&scene).await;
    }

    pub async fn an_answer_that_is_no_card_leaves_the_card_usable(scene: Scene) {
        let browser = &scene.browser;
        let (meal, card) = scene.order(Platform::Migros).await;
        scene.open_board().await;
        let script = "window.said = []; window.alert = (text) => window.said.push(text);
            window.asked = window.fetch;
            window.fetch = async () => new Response('<h1>Bad gateway</h1>', { status: 502 })";
        browser.run(script, &[]).await;
        let verify = format!("{card} button[value=verify]");
        browser.click(&verify).await;
        until("it is said", async || {
            browser.run("return window.said.length", &[]).await == json!(1)
        })
        .await;
        browser.run("window.fetch = window.asked", &[]).await;
        browser.click(&verify).await;
        stands_in(&scene, &card, "preparing").await;
        scene.town.reaches(&meal, 500).await;
    }

    pub async fn what_customers_write_is_text(scene: Scene) {
        let house = &scene.town.house;
        let shop = house.shop(&house.a, "Çarşı").await;
        let note = "<img src=x onerror=\"window.broken = true\"><script>window.broken = true</script>";
        let write = async |id: &str| {
            let mut body = order_body(&shop.store, id, 100);
            body["note"] = json!(note);
            shop.post(body.to_string().as_bytes()).await.data();
        };
        write("BEFORE").await;
        scene.open_board().await;
        write("AFTER").await;
        for code in ["BEFORE", "AFTER"] {
            scene.browser.shows(".order .code", code).await;
        }
        assert_eq!(scene.browser.count(".order img, .order script").await, 0);
        assert_eq!(scene.browser.text(".order .note").await, note);
        assert_eq!(
            scene.browser.run("return window.broken ?? null", &[]).await,
            Value::Null
        );
    }

    pub async fn the_sound_is_switched_off_for_good(scene: Scene) {
        let browser = &scene.browser;
        scene.open_board().await;
        // The browser is silent until somebody has touched the page.
        browser.shows("#sound", "Ses için dokunun").await;
        assert_eq!(browser.attribute("#sound", "aria-pressed").await, "false");
        browser.click("#sound").await;
        browser.shows("#sound", "Ses açık").await;
        assert_eq!(browser.attribute("#sound", "aria-pressed").await, "true");
        browser.click("#sound").await;
        browser.shows("#sound", "Ses kapalı").await;
        scene.open_board().await;
        assert_eq!(browser.attribute("#sound", "aria-pressed").await, "false");
        browser.shows("#sound", "Ses kapalı").await;
    }
    pub async fn a_board_that_lost_its_connection_catches_up(mut scene: Scene) {
        let line = Line::to(scene.town.house.addr).await;
        scene.browser.move_to(line.addr);
        scene.open_board().await;
        mark(&scene).await;
        line.cut();
        scene.browser.shows("#live.bad", "Bağlantı koptu").await;
        let (_, card) = scene.order(Platform::Getir).await;
        line.mend();
        stands_in(&scene, &card, "new").await;
        scene.browser.shows("#live.good", "Canlı").await;
        assert_stayed(&scene).await;
    }
}
