//! The live board: a card for each current order, in columns by status, with its actions.

mod shared;
mod stream;

use crate::flow::admin::restaurants;
use crate::flow::intake::test_orders;
use crate::flow::read::board;
use crate::http::cursor::Cursor;
use crate::http::state::HttpState;
use crate::panel::components::card::{BoardColumn, Card};
use crate::panel::components::restaurant_header::chosen_restaurant;
use crate::panel::kit::current_user::CurrentUser;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::form::Choice;
use crate::panel::kit::form_data::FormData;
use crate::panel::kit::layout::{Layout, page};
use crate::panel::kit::navigation::NavItem;
use crate::panel::words::BoardWords;
use askama::Template;
use axum::Router;
use axum::extract::{RawQuery, State};
use axum::response::Response;
use axum::routing::get;
use garson_core::id::OrderId;
use shared::{PlatformAlerts, board_path};
use std::sync::Arc;

pub fn routes() -> Router<Arc<HttpState>> {
    Router::new()
        .route("/", get(show_board))
        .route("/board/stream", get(stream::follow_board))
}

#[derive(Template)]
#[template(path = "board.html")]
struct BoardPage {
    layout: Layout,
    t: BoardWords,
    columns: Vec<ColumnView>,
    restaurants: Vec<Choice>,
    /// The id of the chosen restaurant; empty for all.
    restaurant: String,
    alerts: PlatformAlerts,
    stream: String,
    /// The server's clock, because the tablet's may be wrong.
    now_ms: i64,
    max_done: usize,
    is_empty: bool,
    /// A test order can be sent from the simulator.
    can_send_test_order: bool,
    has_more: bool,
}

struct ColumnView {
    name: &'static str,
    title: &'static str,
    cards: Vec<Card>,
}

fn title(t: &BoardWords, column: BoardColumn) -> &'static str {
    match column {
        BoardColumn::New => t.new,
        BoardColumn::Preparing => t.preparing,
        BoardColumn::OnTheWay => t.on_the_way,
        BoardColumn::Done => t.done,
    }
}

async fn show_board(
    State(api): State<Arc<HttpState>>,
    user: CurrentUser,
    RawQuery(query): RawQuery,
) -> Result<Response, PanelError> {
    let fail = |fault| user.fail(fault);
    let account = user.account.id;
    let params = FormData::parse(query.unwrap_or_default().as_bytes());
    let restaurant = chosen_restaurant(&user, &params)?;
    let found = board::board(&api.app, account, restaurant).await.map_err(fail)?;
    let names = restaurants::names(&api.app, account).await.map_err(fail)?;
    let (t, now) = (BoardWords::of(user.lang), api.app.now());
    let mut columns = BoardColumn::ALL.map(|column| ColumnView {
        name: column.name(),
        title: title(&t, column),
        cards: Vec::new(),
    });
    let is_empty = found.open.is_empty() && found.done.is_empty();
    let can_send_test_order = is_empty
        && test_orders::can_order_any(&api.app, account, restaurant)
            .await
            .map_err(fail)?;
    for card in found.open.into_iter().chain(found.done) {
        let card = Card::new(user.lang, &user.csrf, &board_path(restaurant), card, now);
        if let Some(column) = columns.iter_mut().find(|it| it.name == card.column.name()) {
            column.cards.push(card);
        }
    }
    let filter = restaurant.map_or_else(String::new, |id| format!("&restaurant={id}"));
    // The stream sends these again, in case that they have changed since.
    let unsettled = found.unsettled.union(&found.noticed);
    let unsettled: Vec<String> = unsettled.map(OrderId::to_string).collect();
    let unsettled = if unsettled.is_empty() {
        String::new()
    } else {
        format!("&unsettled={}", unsettled.join(","))
    };
    let layout = user.layout(NavItem::Board);
    Ok(page(&BoardPage {
        alerts: PlatformAlerts::new(&layout, found.away),
        layout,
        t,
        columns: columns.into(),
        restaurants: names
            .into_iter()
            .map(|(id, name)| Choice::new(id.to_string(), name, restaurant == Some(id)))
            .collect(),
        restaurant: restaurant.map_or_else(String::new, |id| id.to_string()),
        stream: format!("/board/stream?after={}{filter}{unsettled}", Cursor(found.place)),
        now_ms: now.as_millis(),
        max_done: board::SHOWN_DONE,
        is_empty,
        can_send_test_order,
        has_more: found.has_more,
    }))
}
