//! The board and the platforms: their own reasons, their refusals, and what is to be seen of those that are away.

use crate::support::{EventStream, Kind, Page, Town, Visitor, until};
use garson_sim::Platform;
use garson_sim::views::{Courier, Fault};
use serde_json::json;
use std::time::Duration;

async fn record_id(town: &Town, meal: &crate::support::Meal) -> String {
    town.shown(meal).await.unwrap()["id"].as_str().unwrap().to_owned()
}

async fn card(visitor: &mut Visitor, id: &str) -> Page {
    visitor.open("/").await.within(&format!("o-{id}"), "article")
}

async fn reasons_of_every_platform_can_be_chosen(kind: Kind) {
    let town = Town::open(kind).await;
    let mut visitor = town.house.visitor().await;
    for platform in Platform::ALL {
        let meal = town.order(platform, Courier::Restaurant).await;
        let id = record_id(&town, &meal).await;
        let form = visitor
            .open("/")
            .await
            .form(&format!("/board/orders/{id}/cancel"));
        // The page asks the platform where it has to; the card knows them from then on.
        let page = visitor.open(&format!("/board/orders/{id}/cancel")).await;
        let reason = town.reasons(&meal).await.pop().unwrap();
        assert!(
            page.html.contains(&format!("value=\"{reason}\"")),
            "{platform}: {}",
            page.html
        );
        assert!(
            card(&mut visitor, &id)
                .await
                .html
                .contains(&format!("value=\"{reason}\""))
        );
        let wrong = visitor.submit_part(&form, &[("reason", "because")]).await;
        assert_eq!(wrong.status, 422, "{platform}");
        assert!(
            wrong.has("Platform bu iptal nedenini kabul etmiyor"),
            "{}",
            wrong.text()
        );
        let filled = [("reason", reason.as_str())];
        let part = visitor.submit_part(&form, &filled).await;
        assert_eq!(
            part.attribute("data-column"),
            "done",
            "{platform}: {}",
            part.text()
        );
        let order = town.shown(&meal).await.unwrap();
        assert_eq!(order["cancellation"]["reason"]["id"], json!(reason));
    }
}

/// An order that is to go on while its platform answers like that, and somebody's board that shows it.
struct Stuck {
    town: Town,
    visitor: Visitor,
    id: String,
    page: Page,
    stream: EventStream,
}

impl Stuck {
    async fn with(kind: Kind, on: &str, status: u16) -> Self {
        let town = Town::open(kind).await;
        let mut visitor = town.house.visitor().await;
        let meal = town.verified(Platform::Migros, Courier::Restaurant).await;
        let id = record_id(&town, &meal).await;
        let page = visitor.open("/").await;
        let stream = visitor.follow_board(&page).await;
        let fault = Fault::Status { status, body: None };
        town.fault(Platform::Migros, on, fault, None).await;
        let form = page.form(&format!("/board/orders/{id}"));
        visitor.submit(&form, &[("do", "next")]).await;
        Self {
            town,
            visitor,
            id,
            page,
            stream,
        }
    }
}

async fn a_refusal_is_shown_in_red(kind: Kind) {
    // Only the step is refused: a platform that refused the polling as well would be in trouble.
    let mut stuck = Stuck::with(kind, "update-status", 400).await;
    let visitor = &mut stuck.visitor;
    until("the card is red", async || {
        let card = card(visitor, &stuck.id).await;
        card.html.starts_with("<article class=\"order red\"") && card.has("platform reddetti")
    })
    .await;
    // The open board hears of it without anybody reloading, although it is no event.
    while !stuck.stream.next().await.unwrap().data.contains("order red") {}
    // That one order is refused does not mean that the platform is in trouble; the error is kept.
    let page = stuck.visitor.open("/").await;
    assert_eq!(page.within("away", "div").text().trim(), "");
    let connections = stuck.visitor.open("/status").await.within("platforms", "table");
    assert!(connections.has("400 yanıtı verdi"), "{}", connections.text());
}

async fn what_a_platform_that_is_away_holds_up_is_red(kind: Kind) {
    let Stuck {
        town,
        mut visitor,
        id,
        page,
        mut stream,
    } = Stuck::with(kind, "*", 503).await;
    // The open board hears of both.
    let (mut is_red, mut is_away) = (false, false);
    while !(is_red && is_away) {
        let told = stream.next().await.unwrap();
        is_red |= told.event == "card" && told.data.contains("order red");
        is_away |= told.event == "away" && told.data.contains("Migros");
    }
    assert!(card(&mut visitor, &id).await.has("platforma ulaşılamıyor"));
    let away = visitor.open("/").await.within("away", "div");
    assert!(away.has("bağlantıda sorun var"), "{}", away.text());
    let connections = visitor.open("/status").await.within("platforms", "table");
    assert!(connections.has("Sorun var"), "{}", connections.text());
    assert!(connections.has("503 yanıtı verdi"), "{}", connections.text());
    // A board that was away for a while is told how it came out.
    let last = stream.last_id.clone();
    drop(stream);
    town.control.clear_faults().await.unwrap();
    until("the platform knows", async || {
        town.pass(30).await;
        !card(&mut visitor, &id).await.html.contains("order red")
    })
    .await;
    let cookie = visitor.cookie_header();
    let headers = [("cookie", cookie.as_str()), ("last-event-id", last.as_str())];
    let path = page.attribute("data-stream");
    let mut stream = EventStream::open(town.house.addr, &path, &headers).await.unwrap();
    loop {
        let told = stream.next().await.unwrap();
        if told.event == "card" && told.data.contains(&id) {
            assert!(!told.data.contains("order red"), "{}", told.data);
            break;
        }
    }
}

async fn a_platform_that_is_away_is_said_to_be(kind: Kind) {
    let town = Town::open(kind).await;
    let mut visitor = town.house.visitor().await;
    let meal = town.order(Platform::Yemeksepeti, Courier::Restaurant).await;
    let id = record_id(&town, &meal).await;
    town.fault(Platform::Yemeksepeti, "*", Fault::Drop, None).await;
    let form = visitor.open("/").await.form(&format!("/board/orders/{id}"));
    let part = visitor.submit_part(&form, &[("do", "verify")]).await;
    assert!(matches!(part.status, 502 | 504), "{}", part.status);
    assert!(
        part.html.starts_with("<article class=\"order red\""),
        "{}",
        part.html
    );
    assert!(part.has("Platforma ulaşılamadı") || part.has("Platform zamanında yanıt vermedi"));
    assert_eq!(part.attribute("data-column"), "new");
}

async fn a_card_says_how_long_is_left_and_who_carries_it(kind: Kind) {
    let town = Town::open(kind).await;
    let mut visitor = town.house.visitor().await;
    let mut ids = Vec::new();
    for (courier, said) in [
        (Courier::Restaurant, "Restoran kuryesi"),
        (Courier::Platform, "Platform kuryesi"),
    ] {
        let meal = town.order(Platform::Getir, courier).await;
        let id = record_id(&town, &meal).await;
        let shown = card(&mut visitor, &id).await;
        assert!(
            shown.has(said) && shown.has("Kalan onay süresi"),
            "{}",
            shown.text()
        );
        assert!(!shown.has("süre doldu") && !shown.html.contains("order red"));
        let by: i64 = shown.attribute("data-accept-by").parse().unwrap();
        assert!(by > shown.attribute("data-created").parse().unwrap());
        ids.push(id);
    }
    town.house.advance(Duration::from_secs(60 * 60));
    for id in ids {
        let shown = card(&mut visitor, &id).await;
        assert!(
            shown.has("süre doldu") && shown.html.contains("order red"),
            "{}",
            shown.text()
        );
    }
}

on_both! {
    a_card_says_how_long_is_left_and_who_carries_it
    reasons_of_every_platform_can_be_chosen
    a_refusal_is_shown_in_red
    what_a_platform_that_is_away_holds_up_is_red
    a_platform_that_is_away_is_said_to_be
}
