//! The live board without script: columns, cards and actions.

use crate::support::{Page, Shop, TestService, order_body};
use serde_json::json;
use std::time::Duration;

cases! {
    orders_are_shown_in_their_columns
    repeated_button_press_takes_one_step
    board_shows_the_newest_orders_when_there_are_too_many
    quiet_restaurant_keeps_its_orders_beside_a_busy_one
    old_open_order_stays_on_the_board
    ; sqlite_only:
    order_advances_by_buttons
    an_order_is_cancelled_with_a_reason
    customer_text_is_escaped
    impossible_action_is_explained
    enter_in_the_cancel_form_only_cancels
    board_can_be_filtered_by_restaurant
    only_own_orders_are_visible_and_changeable
    empty_board_explains_the_next_step
    script_request_gets_only_the_card
    deleted_restaurant_has_no_board
}

fn column(page: &Page, name: &str) -> String {
    let whole = page
        .html
        .split("<section class=\"column\"")
        .find(|part| part.starts_with(&format!(" data-column=\"{name}\"")));
    Page {
        html: format!("<section{}", whole.unwrap()),
        ..page.clone()
    }
    .text()
}

async fn orders_are_shown_in_their_columns(service: TestService) {
    let shop = service.shop(&service.a, "Moda").await;
    for id in ["N-1", "P-1", "W-1", "D-1", "C-1"] {
        shop.order_of(id, 123_450).await;
    }
    for (id, steps) in [("P-1", 0), ("W-1", 1), ("D-1", 2)] {
        service.a.act(&format!("/orders/verify/{id}")).await.data();
        for _ in 0..steps {
            service.a.act(&format!("/orders/change-status/{id}")).await.data();
        }
    }
    service.a.act("/orders/cancel/C-1").await.data();
    service.advance(Duration::from_secs(7 * 60));
    let page = service.user().await.open("/").await;
    for (name, id, title) in [
        ("new", "N-1", "Yeni 1"),
        ("preparing", "P-1", "Hazırlanıyor 1"),
        ("on-the-way", "W-1", "Yolda 1"),
        ("done", "D-1", "Sonuçlanan 2"),
    ] {
        let text = column(&page, name);
        assert!(text.starts_with(title) && text.contains(id), "{text}");
        assert!(
            text.contains("1.234,50 ₺") && text.contains("7 dk") && text.contains("Moda"),
            "{text}"
        );
        assert!(text.contains("1 × Lahmacun"), "{text}");
    }
    assert!(column(&page, "done").contains("İptal edildi"));
}

async fn order_advances_by_buttons(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let id = shop.order("1").await;
    let action = format!("/board/orders/{id}");
    let mut user = service.user().await;
    let mut page = user.open("/").await;
    for (button, status, name) in [
        ("verify", 500, "preparing"),
        ("ready", 500, "preparing"),
        ("next", 600, "on-the-way"),
        ("next", 900, "done"),
    ] {
        page = user.press(&page.form(&action), button).await;
        assert_eq!((page.status, page.path.as_str()), (200, "/"), "{button}");
        assert!(column(&page, name).contains("Lahmacun"), "{button}");
        assert_eq!(
            service.a.get("/orders/1").await.data()["status"],
            json!(status),
            "{button}"
        );
    }
    assert!(page.forms().iter().all(|form| form.action != action));
}

async fn an_order_is_cancelled_with_a_reason(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let id = shop.order("1").await;
    let mut user = service.user().await;
    let reasons = service.a.get("/orders/reasons/1").await.data()["reasons"].clone();
    let reason = reasons.as_array().unwrap().last().unwrap().clone();
    assert_eq!(reason["name"], "Another reason");
    // On the page of its own, which shows the same.
    let page = user.open(&format!("/board/orders/{id}/cancel?back=/")).await;
    assert!(page.has("Başka bir neden"), "{}", page.text());
    // And right on the card.
    let page = user.open("/").await;
    let card = page.within(&format!("o-{id}"), "article");
    assert!(card.has("Başka bir neden"), "{}", card.text());
    let filled = [
        ("reason", reason["id"].as_str().unwrap()),
        ("note", "Fırın bozuldu"),
    ];
    let page = user
        .submit(&page.form(&format!("/board/orders/{id}/cancel")), &filled)
        .await;
    assert!(column(&page, "done").contains("İptal edildi"), "{}", page.text());
    let order = service.a.get("/orders/1").await.data();
    assert_eq!(order["cancellation"]["reason"]["id"], reason["id"]);
    assert_eq!(order["cancellation"]["note"], "Fırın bozuldu");
}

async fn repeated_button_press_takes_one_step(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let id = shop.order("1").await;
    service.a.act("/orders/verify/1").await.data();
    let mut user = service.user().await;
    // Two tablets show the same card.
    let form = user.open("/").await.form(&format!("/board/orders/{id}"));
    user.press(&form, "next").await;
    let page = user.press(&form, "next").await;
    assert!(page.has("Sipariş bu arada ilerlemiş"), "{}", page.text());
    assert_eq!(service.a.get("/orders/1").await.data()["status"], 600);
    let part = user.submit_part(&form, &[("do", "next")]).await;
    assert_eq!(
        (part.status, part.attribute("data-column").as_str()),
        (409, "on-the-way")
    );
    assert!(part.has("Sipariş bu arada ilerlemiş"), "{}", part.text());
    // It advances from its current status, and the form leads back to the board of the restaurant.
    let path = format!("/?restaurant={}", shop.restaurant);
    let form = user.open(&path).await.form(&format!("/board/orders/{id}"));
    let page = user.press(&form, "next").await;
    assert_eq!(page.path, path);
    assert_eq!(service.a.get("/orders/1").await.data()["status"], 900);
}

async fn enter_in_the_cancel_form_only_cancels(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let id = shop.order("1").await;
    let mut user = service.user().await;
    for path in ["/".to_owned(), format!("/orders/{id}")] {
        let page = user.open(&path).await;
        for form in page.forms() {
            let has_note = form.fields.iter().any(|(name, _)| name == "note");
            assert_eq!(has_note, form.action.ends_with("/cancel"), "{}", form.action);
            assert!(!has_note || form.buttons.len() == 1, "{path}");
        }
    }
}

async fn customer_text_is_escaped(service: TestService) {
    let shop = service.shop(&service.a, "<i>Moda</i>").await;
    let mut body = order_body(&shop.store, "\"><img src=x>", 100);
    body["note"] = json!("<script>alert(1)</script> & 'zil' \"çalmayın\"");
    body["items"][0]["name"] = json!("</p><h1>Pide</h1>");
    shop.post(body.to_string().as_bytes()).await.data();
    let mut user = service.user().await;
    let page = user.open("/").await;
    for wrong in ["<script>alert", "<img", "<h1>Pide", "<i>Moda"] {
        assert!(!page.html.contains(wrong), "{wrong}");
    }
    for shown in [
        "<script>alert(1)</script> & 'zil' \"çalmayın\"",
        "\"><img src=x>",
        "</p><h1>Pide</h1>",
        "<i>Moda</i>",
    ] {
        assert!(page.has(shown), "{shown} is not in {}", page.text());
    }
}

async fn impossible_action_is_explained(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let id = shop.order("1").await;
    let mut user = service.user().await;
    let old = user.open("/").await.form(&format!("/board/orders/{id}"));
    shop.cancel("1", json!({})).await.success();
    // The page was older than the cancellation.
    let page = user.press(&old, "verify").await;
    assert_eq!((page.status, page.path.as_str()), (200, "/"));
    assert!(page.has("Sipariş iptal edilmiş"), "{}", page.text());
    // It is said once.
    assert!(!user.open("/").await.has("Sipariş iptal edilmiş"));
    let part = user.submit_part(&old, &[("do", "verify")]).await;
    assert_eq!(part.status, 409);
    assert!(part.has("Sipariş iptal edilmiş") && part.html.starts_with("<article class=\"order red\""));
    let body = old.forged("do", Some("fly"));
    let reply = user.send("POST", &old.action, &[], &body).await;
    assert_eq!(reply.status, 303);
    assert!(user.open("/").await.has("Girilen bilgi kabul edilmedi"));
}

async fn board_can_be_filtered_by_restaurant(service: TestService) {
    let (one, two) = (
        service.shop(&service.a, "Bir").await,
        service.shop(&service.a, "İki").await,
    );
    one.order("ONE-1").await;
    two.order("TWO-1").await;
    let mut user = service.user().await;
    let page = user.open("/").await;
    assert!(page.has("ONE-1") && page.has("TWO-1"));
    let form = page.form("/");
    let path = format!("/?{}", form.body(&[("restaurant", &two.restaurant)]));
    let page = user.open(&path).await;
    assert!(!page.has("ONE-1") && page.has("TWO-1"));
    assert!(page.attribute("data-stream").contains(&two.restaurant));
}

async fn only_own_orders_are_visible_and_changeable(service: TestService) {
    let (ours, theirs) = (
        service.shop(&service.a, "Bizim").await,
        service.shop(&service.b, "Onların").await,
    );
    let mine = ours.order("OURS-1").await;
    let id = theirs.order("THEIRS-1").await;
    let mut user = service.user().await;
    let form = user.open("/").await.form(&format!("/board/orders/{mine}"));
    for path in [
        "/".to_owned(),
        format!("/?restaurant={}", theirs.restaurant),
        format!("/board/orders/{id}/cancel"),
        "/board/orders/THEIRS-1/cancel".to_owned(),
    ] {
        let page = user.open(&path).await;
        assert_eq!(page.status, if path == "/" { 200 } else { 404 }, "{path}");
        assert!(
            !page.has("Onların") && !page.html.contains("THEIRS-1</"),
            "{path}: {}",
            page.text()
        );
    }
    for action in ["verify", "next", "ready", "cancel"] {
        for name in [id.as_str(), "THEIRS-1"] {
            for part in [&[][..], &[("x-part", "card")]] {
                let body = form.forged("do", Some(action));
                let path = match action {
                    "cancel" => format!("/board/orders/{name}/cancel"),
                    _ => format!("/board/orders/{name}"),
                };
                let reply = user.send("POST", &path, part, &body).await;
                assert_eq!(reply.status, 404, "{action} {name}");
            }
        }
    }
    assert_eq!(
        service.b.get("/orders/THEIRS-1").await.data()["status"],
        json!(400)
    );
}

async fn empty_board_explains_the_next_step(service: TestService) {
    let page = service.user().await.open("/").await;
    assert!(page.has("Henüz açık sipariş yok"), "{}", page.text());
    assert!(page.has("bir platforma bağlayın"));
    assert!(page.links().contains(&"/restaurants".to_owned()));
    assert!(!page.has("Test siparişi gönder"), "there is no simulator");
}

async fn script_request_gets_only_the_card(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let id = shop.order("1").await;
    let mut user = service.user().await;
    let form = user.open("/").await.form(&format!("/board/orders/{id}"));
    let part = user.submit_part(&form, &[("do", "verify")]).await;
    assert_eq!(part.status, 200);
    assert!(part.html.starts_with("<article class=\"order\"") && !part.html.contains("<html"));
    assert_eq!(part.attribute("data-column"), "preparing");
    // Its form works on.
    let part = user
        .submit_part(&part.form(&form.action), &[("do", "next")])
        .await;
    assert_eq!(part.attribute("data-column"), "on-the-way");
    let path = format!("/board/orders/{id}/cancel");
    let part = user.send("GET", &path, &[("x-part", "reasons")], "").await;
    let empty = "<option value=\"\" disabled selected>";
    assert!(part.text().starts_with(empty), "{}", part.text());
    // Without a session the script gets an error instead of a redirect.
    let reply = service
        .anonymous_user()
        .send("GET", &path, &[("x-part", "reasons")], "")
        .await;
    assert_eq!(reply.status, 401);
}

async fn order_many(shop: &Shop, count: usize) {
    let mut ordering = tokio::task::JoinSet::new();
    for n in 0..count {
        let shop = shop.clone();
        ordering.spawn(async move { shop.order(&format!("A-{n}")).await });
    }
    ordering.join_all().await;
}

async fn board_shows_the_newest_orders_when_there_are_too_many(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    order_many(&shop, 301).await;
    shop.order("NEWEST").await;
    let mut user = service.user().await;
    let page = user.open("/").await;
    assert!(page.has("daha fazla açık sipariş var") && page.has("NEWEST"));
    assert_eq!(page.html.matches("<article").count(), 300);
    // And it is light on the wire.
    let pressed = user.send("GET", "/", &[("accept-encoding", "gzip")], "").await;
    assert!(pressed.body.len() < 60_000, "{} bytes", pressed.body.len());
}

async fn quiet_restaurant_keeps_its_orders_beside_a_busy_one(service: TestService) {
    let (quiet, busy) = (
        service.shop(&service.a, "Sakin").await,
        service.shop(&service.a, "Yoğun").await,
    );
    for id in ["OPEN-1", "DONE-1"] {
        quiet.order(id).await;
    }
    service.a.act("/orders/cancel/DONE-1").await.data();
    // More than are looked at of an account.
    order_many(&busy, 510).await;
    let mut user = service.user().await;
    let page = user.open(&format!("/?restaurant={}", quiet.restaurant)).await;
    assert!(
        column(&page, "new").contains("OPEN-1") && column(&page, "done").contains("DONE-1"),
        "{}",
        page.text()
    );
    assert_eq!(page.html.matches("<article").count(), 2);
    assert!(!page.has("daha fazla açık sipariş var"));
    for path in ["/".to_owned(), format!("/?restaurant={}", busy.restaurant)] {
        let page = user.open(&path).await;
        assert_eq!(page.html.matches("<article").count(), 300, "{path}");
        assert!(page.has("daha fazla açık sipariş var"), "{path}");
    }
}

async fn old_open_order_stays_on_the_board(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    shop.order("OLD-1").await;
    // More than are looked at, all of which have come to an end.
    order_many(&shop, 510).await;
    let mut ending = tokio::task::JoinSet::new();
    for n in 0..510 {
        let shop = shop.clone();
        ending.spawn(async move { shop.cancel(&format!("A-{n}"), json!({})).await.success() });
    }
    ending.join_all().await;
    let mut user = service.user().await;
    for path in ["/".to_owned(), format!("/?restaurant={}", shop.restaurant)] {
        let page = user.open(&path).await;
        assert!(column(&page, "new").contains("OLD-1"), "{path}: {}", page.text());
        assert_eq!(page.html.matches("<article").count(), 1 + 12, "{path}");
    }
}

async fn deleted_restaurant_has_no_board(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    shop.order("1").await;
    let mut user = service.user().await;
    let path = format!("/?restaurant={}", shop.restaurant);
    let stream = user.open(&path).await.attribute("data-stream");
    assert_eq!(user.open("/?restaurant=moda").await.status, 404);
    let gone = service
        .a
        .delete(&format!("/restaurants/{}", shop.restaurant))
        .await;
    gone.success();
    // An open board shows an error instead of an empty board.
    for path in [path, stream] {
        let page = user.open(&path).await;
        assert_eq!(page.status, 404, "{path}");
        assert!(!page.has("Henüz açık sipariş yok"), "{path}");
    }
    assert!(user.open("/").await.has("Henüz açık sipariş yok"));
}
