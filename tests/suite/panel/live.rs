//! The stream that keeps a board up to date.

use crate::support::{EventStream, House, Page, StealAwareInstant, until};
use std::time::Duration;

cases! {
    a_new_order_comes_by_itself
    a_board_misses_nothing_between_page_and_stream
    a_board_goes_on_where_it_was
    a_board_shows_only_what_it_was_opened_for
    a_board_ends_with_its_session
    a_board_ends_with_its_restaurant
    what_customers_write_is_text_in_the_stream
    boards_and_programs_do_not_take_each_others_places
    two_hundred_boards_cost_little
}

/// The next card; how the platforms are is told before.
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

async fn a_new_order_comes_by_itself(house: House) {
    let shop = house.shop(&house.a, "s").await;
    let mut visitor = house.visitor().await;
    let page = visitor.open("/").await;
    let mut stream = visitor.follow_board(&page).await;
    assert_eq!(stream.header("content-type"), Some("text/event-stream"));
    assert_eq!(stream.header("cache-control"), Some("no-store"));
    let id = shop.order("1").await;
    let shown = next_card(&mut stream).await;
    assert_eq!(
        (shown.attribute("id"), shown.attribute("data-column")),
        (format!("o-{id}"), "new".to_owned())
    );
    assert!(shown.has("Lahmacun") && shown.has("100,00 ₺"), "{}", shown.text());
    assert_eq!(stream.next().await.unwrap().event, "place");
    // Its form works.
    let after = visitor
        .submit_part(&shown.form(&format!("/board/orders/{id}")), &[("do", "verify")])
        .await;
    assert_eq!(after.attribute("data-column"), "preparing");
    let shown = next_card(&mut stream).await;
    assert_eq!(shown.attribute("data-column"), "preparing");
}

async fn a_board_misses_nothing_between_page_and_stream(house: House) {
    let shop = house.shop(&house.a, "s").await;
    let mut visitor = house.visitor().await;
    let page = visitor.open("/").await;
    shop.order("between").await;
    let mut stream = visitor.follow_board(&page).await;
    assert!(next_card(&mut stream).await.has("between"));
}

async fn a_board_goes_on_where_it_was(house: House) {
    let shop = house.shop(&house.a, "s").await;
    let mut visitor = house.visitor().await;
    let page = visitor.open("/").await;
    let mut stream = visitor.follow_board(&page).await;
    shop.order("first").await;
    assert!(next_card(&mut stream).await.has("first"));
    stream.next().await.unwrap();
    let last = stream.last_id.clone();
    drop(stream);
    shop.order("second").await;
    let path = page.attribute("data-stream");
    let cookie = visitor.cookie_header();
    let headers = [("cookie", cookie.as_str()), ("last-event-id", last.as_str())];
    let mut stream = EventStream::open(house.addr, &path, &headers).await.unwrap();
    // Everything that is on the board, since how platforms answered meanwhile is no event; each card once.
    let shown = [next_card(&mut stream).await, next_card(&mut stream).await];
    assert!(shown.iter().any(|card| card.has("first")) && shown.iter().any(|card| card.has("second")));
    shop.order("third").await;
    assert!(next_card(&mut stream).await.has("third"));
    // A place that was never given out is refused, and the page is loaded anew.
    let refused = visitor
        .stream_refused("/board/stream?after=7fffffffffffffff")
        .await;
    assert_eq!(refused.status, 422);
}

async fn a_board_shows_only_what_it_was_opened_for(house: House) {
    let (one, two) = (
        house.shop(&house.a, "bir").await,
        house.shop(&house.a, "iki").await,
    );
    let theirs = house.shop(&house.b, "onlar").await;
    let mut visitor = house.visitor().await;
    let page = visitor.open(&format!("/?restaurant={}", two.restaurant)).await;
    let mut stream = visitor.follow_board(&page).await;
    theirs.order("THEIRS").await;
    one.order("ONE").await;
    two.order("TWO").await;
    assert!(next_card(&mut stream).await.has("TWO"));
    let refused = house.stranger().stream_refused("/board/stream").await;
    assert_eq!(refused.status, 303);
}

async fn a_board_ends_with_its_session(house: House) {
    let shop = house.shop(&house.a, "s").await;
    let mut visitor = house.visitor().await;
    let page = visitor.open("/").await;
    let mut stream = visitor.follow_board(&page).await;
    visitor.submit(&page.form("/sign-out"), &[]).await;
    shop.order("1").await;
    while let Some(told) = stream.next().await {
        assert_ne!(told.event, "card");
    }
}

async fn a_board_ends_with_its_restaurant(house: House) {
    let (goes, stays) = (
        house.shop(&house.a, "kapanan").await,
        house.shop(&house.a, "kalan").await,
    );
    let mut visitor = house.visitor().await;
    let page = visitor.open(&format!("/?restaurant={}", goes.restaurant)).await;
    let mut stream = visitor.follow_board(&page).await;
    let gone = house.a.delete(&format!("/restaurants/{}", goes.restaurant)).await;
    gone.success();
    // Whatever happens in the account has it look.
    stays.order("1").await;
    while let Some(told) = stream.next().await {
        assert_ne!(told.event, "card");
    }
    let refused = visitor.stream_refused(&page.attribute("data-stream")).await;
    assert_eq!(refused.status, 404, "and the page is loaded anew");
}

async fn what_customers_write_is_text_in_the_stream(house: House) {
    let shop = house.shop(&house.a, "s").await;
    let mut visitor = house.visitor().await;
    let page = visitor.open("/").await;
    let mut stream = visitor.follow_board(&page).await;
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

async fn boards_and_programs_do_not_take_each_others_places(house: House) {
    let mut visitor = house.visitor().await;
    let page = visitor.open("/").await;
    let mut boards = Vec::new();
    for _ in 0..120 {
        boards.push(visitor.follow_board(&page).await);
    }
    house.a.follow().await;
    drop(boards);
    until("boards are closed", async || {
        house.app.store.account_watch().watcher_count() == 0
    })
    .await;
}

async fn two_hundred_boards_cost_little(house: House) {
    let shop = house.shop(&house.a, "s").await;
    for n in 0..20 {
        shop.order(&n.to_string()).await;
    }
    let mut visitor = house.visitor().await;
    let page = visitor.open("/").await;
    let mut boards = Vec::new();
    for _ in 0..200 {
        boards.push(visitor.follow_board(&page).await);
    }
    let began = StealAwareInstant::now();
    shop.order("everywhere").await;
    for board in &mut boards {
        assert!(next_card(board).await.has("everywhere"));
    }
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
}
