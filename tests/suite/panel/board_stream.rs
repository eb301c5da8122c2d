//! The stream that updates a board.

use crate::support::{EventStream, Page, StealAwareInstant, TestService, wait_until};
use serde_json::json;
use std::time::Duration;

cases! {
    new_order_is_pushed_to_the_board
    no_order_is_missed_between_page_and_stream
    board_stream_resumes
    order_made_ready_elsewhere_is_pushed
    order_that_nobody_accepts_is_pushed_as_urgent
    board_stream_ends_with_its_session
    board_stream_ends_with_its_restaurant
    ; sqlite_only:
    board_stream_applies_the_filter
    kitchen_stream_takes_cards_away
    customer_text_is_escaped_in_the_stream
    boards_and_api_streams_have_separate_limits
    two_hundred_boards_use_little_memory
}

/// The next card; the state of the platforms comes first.
async fn next_card(stream: &mut EventStream) -> Page {
    loop {
        let told = stream.next().await.unwrap();
        if told.event == "card" {
            return Page {
                path: String::new(),
                status: 200,
                headers: Vec::new(),
                html: told.data,
            };
        }
    }
}

async fn new_order_is_pushed_to_the_board(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let mut user = service.user().await;
    let page = user.open("/").await;
    let mut stream = user.follow_board(&page).await;
    assert_eq!(stream.header("content-type"), Some("text/event-stream"));
    assert_eq!(stream.header("cache-control"), Some("no-store"));
    let id = shop.order("1").await;
    let shown = next_card(&mut stream).await;
    assert_eq!(
        (shown.attribute("id"), shown.attribute("data-column")),
        (format!("o-{id}"), "new".to_owned())
    );
    assert!(shown.has("Lahmacun") && shown.has("100 ₺"), "{}", shown.text());
    assert_eq!(stream.next().await.unwrap().event, "place");
    // Its form works.
    let after = user
        .submit_part(&shown.form(&format!("/board/orders/{id}")), &[("do", "verify")])
        .await;
    assert_eq!(after.attribute("data-column"), "preparing");
    let shown = next_card(&mut stream).await;
    assert_eq!(shown.attribute("data-column"), "preparing");
}

async fn no_order_is_missed_between_page_and_stream(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let mut user = service.user().await;
    let page = user.open("/").await;
    shop.order("between").await;
    let mut stream = user.follow_board(&page).await;
    assert!(next_card(&mut stream).await.has("between"));
}

async fn board_stream_resumes(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let mut user = service.user().await;
    let page = user.open("/").await;
    let mut stream = user.follow_board(&page).await;
    shop.order("first").await;
    assert!(next_card(&mut stream).await.has("first"));
    stream.next().await.unwrap();
    let last = stream.last_id.clone();
    drop(stream);
    shop.order("second").await;
    let path = page.attribute("data-stream");
    let cookie = user.cookie_header();
    let headers = [("cookie", cookie.as_str()), ("last-event-id", last.as_str())];
    let mut stream = EventStream::open(service.addr, &path, &headers).await.unwrap();
    // Everything that is on the board, since how platforms answered meanwhile is no event; each card once.
    let shown = [next_card(&mut stream).await, next_card(&mut stream).await];
    assert!(shown.iter().any(|card| card.has("first")) && shown.iter().any(|card| card.has("second")));
    shop.order("third").await;
    assert!(next_card(&mut stream).await.has("third"));
    // A place that was never given out is refused, and the page is loaded anew.
    let refused = user.stream_refused("/board/stream?after=7fffffffffffffff").await;
    assert_eq!(refused.status, 422);
}

async fn order_made_ready_elsewhere_is_pushed(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let id = shop.order("1").await;
    shop.order("over").await;
    service.a.act("/orders/verify/1").await.data();
    service.a.act("/orders/cancel/over").await.data();
    let mut user = service.user().await;
    let page = user.open("/").await;
    let (mut board, mut kitchen) = (
        user.follow_board(&page).await,
        user.follow_board(&user.clone().open("/kitchen").await).await,
    );
    // Being ready is no event. That an order that has come to an end was reported is not shown.
    let body = serde_json::json!({ "providerOrderIds": ["over"] });
    service.a.post("/orders/reports/mark", &body).await.success();
    service.a.act("/orders/ready/1").await.data();
    let began = StealAwareInstant::now();
    let shown = next_card(&mut board).await;
    // It is woken, and does not find it by chance with a later look.
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    assert_eq!(shown.attribute("id"), format!("o-{id}"));
    assert!(shown.has("Hazır"), "{}", shown.text());
    assert_eq!(next_card(&mut kitchen).await.attribute("data-column"), "gone");
}

async fn board_stream_applies_the_filter(service: TestService) {
    let (one, two) = (
        service.shop(&service.a, "bir").await,
        service.shop(&service.a, "iki").await,
    );
    let theirs = service.shop(&service.b, "onlar").await;
    let mut user = service.user().await;
    let page = user.open(&format!("/?restaurant={}", two.restaurant)).await;
    let mut stream = user.follow_board(&page).await;
    theirs.order("THEIRS").await;
    one.order("ONE").await;
    two.order("TWO").await;
    assert!(next_card(&mut stream).await.has("TWO"));
    // By platform as well.
    let page = user.open("/?platform=direct").await;
    let other = user.open("/?platform=getir").await;
    let (mut stream, mut quiet) = (user.follow_board(&page).await, user.follow_board(&other).await);
    one.order("THREE").await;
    assert!(next_card(&mut stream).await.has("THREE"));
    let told = tokio::time::timeout(Duration::from_millis(300), next_card(&mut quiet)).await;
    assert!(told.is_err(), "a board of another platform shows the order");
    let refused = service.anonymous_user().stream_refused("/board/stream").await;
    assert_eq!(refused.status, 303);
}

async fn kitchen_stream_takes_cards_away(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let id = shop.order("1").await;
    let mut user = service.user().await;
    let page = user.open("/kitchen").await;
    let mut stream = user.follow_board(&page).await;
    service.a.act("/orders/verify/1").await.data();
    let shown = next_card(&mut stream).await;
    assert_eq!(shown.attribute("data-column"), "preparing");
    assert!(shown.has("1 × Lahmacun"), "{}", shown.text());
    // The script gets the card of the kitchen, too.
    let form = shown.form(&format!("/board/orders/{id}"));
    let gone = user.submit_part(&form, &[("do", "ready")]).await;
    assert_eq!(
        (gone.status, gone.attribute("data-column").as_str()),
        (200, "gone")
    );
    let gone = next_card(&mut stream).await;
    assert_eq!(gone.attribute("data-column"), "gone");
    assert!(!gone.has("Lahmacun"), "{}", gone.text());
}

async fn board_stream_ends_with_its_session(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let mut user = service.user().await;
    let page = user.open("/").await;
    let mut stream = user.follow_board(&page).await;
    user.submit(&page.form("/sign-out"), &[]).await;
    shop.order("1").await;
    while let Some(told) = stream.next().await {
        assert_ne!(told.event, "card");
    }
}

async fn board_stream_ends_with_its_restaurant(service: TestService) {
    let (goes, stays) = (
        service.shop(&service.a, "kapanan").await,
        service.shop(&service.a, "kalan").await,
    );
    let mut user = service.user().await;
    let page = user.open(&format!("/?restaurant={}", goes.restaurant)).await;
    let mut stream = user.follow_board(&page).await;
    let gone = service
        .a
        .delete(&format!("/restaurants/{}", goes.restaurant))
        .await;
    gone.success();
    // Whatever happens in the account has it look.
    stays.order("1").await;
    while let Some(told) = stream.next().await {
        assert_ne!(told.event, "card");
    }
    let refused = user.stream_refused(&page.attribute("data-stream")).await;
    assert_eq!(refused.status, 404, "and the page is loaded anew");
}

async fn customer_text_is_escaped_in_the_stream(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let mut user = service.user().await;
    let page = user.open("/").await;
    let mut stream = user.follow_board(&page).await;
    let mut body = crate::support::order_body("s", "1", 100);
    body["note"] = serde_json::json!("<img src=x onerror=alert(1)>\n\nevent: away\r\ndata: x");
    shop.post(body.to_string().as_bytes()).await.data();
    let shown = next_card(&mut stream).await;
    assert!(!shown.html.contains("<img"), "{}", shown.html);
    assert!(
        shown.has("<img src=x onerror=alert(1)> event: away data: x"),
        "{}",
        shown.text()
    );
    assert_eq!(stream.next().await.unwrap().event, "place");
}

async fn boards_and_api_streams_have_separate_limits(service: TestService) {
    let mut user = service.user().await;
    let page = user.open("/").await;
    let mut boards = Vec::new();
    for _ in 0..120 {
        boards.push(user.follow_board(&page).await);
    }
    service.a.follow().await;
    drop(boards);
    wait_until("boards are closed", async || {
        service.app.store.account_watch().watcher_count() == 0
    })
    .await;
}

async fn two_hundred_boards_use_little_memory(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    for n in 0..20 {
        shop.order(&n.to_string()).await;
    }
    let mut user = service.user().await;
    let page = user.open("/").await;
    let mut boards = Vec::new();
    for _ in 0..200 {
        boards.push(user.follow_board(&page).await);
    }
    let began = StealAwareInstant::now();
    shop.order("everywhere").await;
    for board in &mut boards {
        assert!(next_card(board).await.has("everywhere"));
    }
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
}

async fn order_that_nobody_accepts_is_pushed_as_urgent(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let path = format!("/restaurants/{}/escalation", shop.restaurant);
    let steps = json!({ "steps": [{ "when": "age", "seconds": 60, "action": "ring" }] });
    service.a.put(&path, &steps).await.data();
    let mut user = service.user().await;
    let page = user.open("/").await;
    let mut stream = user.follow_board(&page).await;
    let id = shop.order("1").await;
    let shown = next_card(&mut stream).await;
    assert!(!shown.html.contains("data-escalated"), "{}", shown.html);
    service.advance(Duration::from_secs(61));
    let shown = next_card(&mut stream).await;
    assert_eq!(shown.attribute("id"), format!("o-{id}"));
    assert!(shown.html.contains("data-escalated"), "{}", shown.html);
}
