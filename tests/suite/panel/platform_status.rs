//! The board and the platforms: cancel reasons, refusals, and outages.

use crate::support::{Backend, EventStream, Page, PanelUser, PlatformWorld, wait_until};
use garson_sim::Platform;
use garson_sim::views::{Courier, Fault};
use serde_json::json;
use std::time::Duration;

async fn record_id(world: &PlatformWorld, placed: &crate::support::PlatformOrder) -> String {
    world.find_order(placed).await.unwrap()["id"]
        .as_str()
        .unwrap()
        .to_owned()
}

async fn card(user: &mut PanelUser, id: &str) -> Page {
    user.open("/").await.within(&format!("o-{id}"), "article")
}

async fn reasons_of_every_platform_can_be_chosen(backend: Backend) {
    let world = PlatformWorld::open(backend).await;
    let mut user = world.service.user().await;
    for platform in Platform::ALL {
        let placed = world.order(platform, Courier::Restaurant).await;
        let id = record_id(&world, &placed).await;
        let form = user.open("/").await.form(&format!("/board/orders/{id}/cancel"));
        // The page asks the platform where it has to; the card knows them from then on.
        let page = user.open(&format!("/board/orders/{id}/cancel")).await;
        let reason = world.reasons(&placed).await.pop().unwrap();
        assert!(
            page.html.contains(&format!("value=\"{reason}\"")),
            "{platform}: {}",
            page.html
        );
        assert!(
            card(&mut user, &id)
                .await
                .html
                .contains(&format!("value=\"{reason}\""))
        );
        let wrong = user.submit_part(&form, &[("reason", "because")]).await;
        assert_eq!(wrong.status, 422, "{platform}");
        assert!(
            wrong.has("Platform bu iptal nedenini kabul etmiyor"),
            "{}",
            wrong.text()
        );
        let filled = [("reason", reason.as_str())];
        let part = user.submit_part(&form, &filled).await;
        assert_eq!(
            part.attribute("data-column"),
            "done",
            "{platform}: {}",
            part.text()
        );
        let order = world.find_order(&placed).await.unwrap();
        assert_eq!(order["cancellation"]["reason"]["id"], json!(reason));
    }
}

/// An order that is advanced while its platform responds like that, and an open board that shows it.
struct Stuck {
    world: PlatformWorld,
    user: PanelUser,
    id: String,
    page: Page,
    stream: EventStream,
}

impl Stuck {
    async fn with(backend: Backend, on: &str, status: u16) -> Self {
        let world = PlatformWorld::open(backend).await;
        let mut user = world.service.user().await;
        let placed = world.verified(Platform::Migros, Courier::Restaurant).await;
        let id = record_id(&world, &placed).await;
        let page = user.open("/").await;
        let stream = user.follow_board(&page).await;
        let fault = Fault::Status { status, body: None };
        world.fault(Platform::Migros, on, fault, None).await;
        let form = page.form(&format!("/board/orders/{id}"));
        user.submit(&form, &[("do", "next")]).await;
        Self {
            world,
            user,
            id,
            page,
            stream,
        }
    }
}

async fn a_refusal_is_shown_in_red(backend: Backend) {
    // Only the step is refused: a platform that refused the polling as well would be in trouble.
    let mut stuck = Stuck::with(backend, "update-status", 400).await;
    let user = &mut stuck.user;
    wait_until("the card is red", async || {
        let card = card(user, &stuck.id).await;
        card.html.starts_with("<article class=\"order red\"") && card.has("platform reddetti")
    })
    .await;
    // The open board is updated without reloading, although it is not an event.
    while !stuck.stream.next().await.unwrap().data.contains("order red") {}
    // That one order is refused does not mean that the platform is in trouble; the error is kept.
    let page = stuck.user.open("/").await;
    assert_eq!(page.within("away", "div").text().trim(), "");
    let connections = stuck.user.open("/status").await.within("platforms", "table");
    assert!(connections.has("400 yanıtı verdi"), "{}", connections.text());
}

async fn calls_delayed_by_an_outage_are_shown_in_red(backend: Backend) {
    let Stuck {
        world,
        mut user,
        id,
        page,
        mut stream,
    } = Stuck::with(backend, "*", 503).await;
    // The open board gets both.
    let (mut is_red, mut is_away) = (false, false);
    while !(is_red && is_away) {
        let told = stream.next().await.unwrap();
        is_red |= told.event == "card" && told.data.contains("order red");
        is_away |= told.event == "away" && told.data.contains("Migros");
    }
    assert!(card(&mut user, &id).await.has("platforma ulaşılamıyor"));
    let away = user.open("/").await.within("away", "div");
    assert!(away.has("bağlantıda sorun var"), "{}", away.text());
    let connections = user.open("/status").await.within("platforms", "table");
    assert!(connections.has("Sorun var"), "{}", connections.text());
    assert!(
        connections.has("platform hata veriyor (503)"),
        "{}",
        connections.text()
    );
    // A reconnected board gets the result.
    let last = stream.last_id.clone();
    drop(stream);
    world.control.clear_faults().await.unwrap();
    wait_until("the platform knows", async || {
        world.advance_clock(30).await;
        !card(&mut user, &id).await.html.contains("order red")
    })
    .await;
    let cookie = user.cookie_header();
    let headers = [("cookie", cookie.as_str()), ("last-event-id", last.as_str())];
    let path = page.attribute("data-stream");
    let mut stream = EventStream::open(world.service.addr, &path, &headers)
        .await
        .unwrap();
    loop {
        let told = stream.next().await.unwrap();
        if told.event == "card" && told.data.contains(&id) {
            assert!(!told.data.contains("order red"), "{}", told.data);
            break;
        }
    }
}

async fn platform_outage_is_shown(backend: Backend) {
    let world = PlatformWorld::open(backend).await;
    let mut user = world.service.user().await;
    let placed = world.order(Platform::Yemeksepeti, Courier::Restaurant).await;
    let id = record_id(&world, &placed).await;
    world.fault(Platform::Yemeksepeti, "*", Fault::Drop, None).await;
    let form = user.open("/").await.form(&format!("/board/orders/{id}"));
    let part = user.submit_part(&form, &[("do", "verify")]).await;
    assert!(matches!(part.status, 502 | 504), "{}", part.status);
    assert!(
        part.html.starts_with("<article class=\"order red\""),
        "{}",
        part.html
    );
    assert!(part.has("Platforma ulaşılamadı") || part.has("Platform zamanında yanıt vermedi"));
    assert_eq!(part.attribute("data-column"), "new");
}

async fn card_shows_the_deadline_and_the_courier(backend: Backend) {
    let world = PlatformWorld::open(backend).await;
    let mut user = world.service.user().await;
    let mut ids = Vec::new();
    for (courier, said) in [
        (Courier::Restaurant, "Restoran kuryesi"),
        (Courier::Platform, "Platform kuryesi"),
    ] {
        let placed = world.order(Platform::Getir, courier).await;
        let id = record_id(&world, &placed).await;
        let shown = card(&mut user, &id).await;
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
    world.service.advance(Duration::from_secs(60 * 60));
    for id in ids {
        let shown = card(&mut user, &id).await;
        assert!(
            shown.has("süre doldu") && shown.html.contains("order red"),
            "{}",
            shown.text()
        );
    }
}

on_both! {
    a_refusal_is_shown_in_red
    ; sqlite_only:
    card_shows_the_deadline_and_the_courier
    reasons_of_every_platform_can_be_chosen
    calls_delayed_by_an_outage_are_shown_in_red
    platform_outage_is_shown
}
