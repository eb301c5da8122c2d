//! The live board: a card for each current order, in columns by status, with its actions.

mod kitchen;
mod shared;
mod stream;
pub mod view;

use crate::flow::Fault;
use crate::flow::admin::{printers, restaurants};
use crate::flow::intake::test_orders;
use crate::flow::read::board;
use crate::flow::stores;
use crate::http::state::HttpState;
use crate::panel::components::card::{BoardColumn, Card};
use crate::panel::components::printers::PrinterNotice;
use crate::panel::components::store_strip::{PauseForm, StoreStrip};
use crate::panel::kit::current_user::CurrentUser;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::form_data::FormData;
use crate::panel::kit::layout::{Layout, page};
use crate::panel::kit::navigation::NavItem;
use crate::panel::words::{BoardToolWords, BoardWords, PrintWords, StoreWords};
use askama::Template;
use axum::Router;
use axum::extract::{RawQuery, State};
use axum::response::Response;
use axum::routing::get;
use http::HeaderMap;
use shared::PlatformAlerts;
use std::sync::Arc;
use view::{BoardPlace, FilterForm, path, stream_path};

pub fn routes() -> Router<Arc<HttpState>> {
    Router::new()
        .route("/", get(show_board))
        .route("/kitchen", get(kitchen::show_kitchen))
        .route("/board/stream", get(stream::follow_board))
}

#[derive(Template)]
#[template(path = "board.html")]
struct BoardPage {
    layout: Layout,
    t: BoardWords,
    w: BoardToolWords,
    /// The texts of `print_switch.html`.
    p: PrintWords,
    printers: PrinterNotice,
    columns: Vec<ColumnView>,
    form: FilterForm,
    /// Orders that have to be accepted.
    waiting: usize,
    alerts: PlatformAlerts,
    stores: StoreStrip,
    pause: Option<PauseForm>,
    s: StoreWords,
    stream: String,
    /// The server's clock, because the tablet's may be wrong.
    now_ms: i64,
    max_done: usize,
    empty: Option<EmptyBoard>,
    has_more: bool,
}

/// A board without cards.
struct EmptyBoard {
    /// A platform is connected already.
    is_connected: bool,
    /// A test order can be sent from the simulator.
    can_send_test_order: bool,
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
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Result<Response, PanelError> {
    let fail = |fault| user.fail(fault);
    let account = user.account.id;
    let params = FormData::parse(query.unwrap_or_default().as_bytes());
    let names = user.own_names(restaurants::names(&api.app, account).await.map_err(fail)?);
    let view = view::chosen_view(&user, &headers, &params, &names, BoardPlace::Board)?;
    if let Some(redirect) = view.remembered(&headers, &params) {
        return Ok(redirect);
    }
    let found = board::board(&api.app, account, view.filter).await.map_err(fail)?;
    let restaurant = view.filter.restaurant;
    let troubled = printers::in_trouble(&api.app, account, restaurant)
        .await
        .map_err(fail)?;
    let stores = stores::overview_now(&api.app, account, restaurant)
        .await
        .map_err(fail)?;
    let (t, now) = (BoardWords::of(user.lang), api.app.now());
    let mut columns = BoardColumn::ALL.map(|column| ColumnView {
        name: column.name(),
        title: title(&t, column),
        cards: Vec::new(),
    });
    let empty = if found.open.is_empty() && found.done.is_empty() {
        Some(empty_board(&api, &user, view.filter).await.map_err(fail)?)
    } else {
        None
    };
    let stream = stream_path(BoardPlace::Board, view.filter, &found);
    let back = path(BoardPlace::Board, view.filter);
    for card in found.open.into_iter().chain(found.done) {
        let card = Card::new(user.lang, &user.csrf, &back, card, now);
        if let Some(column) = columns.iter_mut().find(|it| it.name == card.column.name()) {
            column.cards.push(card);
        }
    }
    let layout = user.layout(NavItem::Board);
    let waiting = columns.iter().flat_map(|it| &it.cards);
    Ok(page(&BoardPage {
        alerts: PlatformAlerts::new(&layout, found.away),
        stores: StoreStrip::new(user.lang, &user.csrf, &back, &stores, now),
        pause: PauseForm::new(user.lang, &user.csrf, &back, &stores, false),
        s: StoreWords::of(user.lang),
        printers: PrinterNotice::new(&layout, restaurant, &troubled, now),
        p: PrintWords::of(user.lang),
        layout,
        t,
        w: BoardToolWords::of(user.lang),
        waiting: waiting.filter(|card| card.is_waiting).count(),
        columns: columns.into(),
        form: FilterForm::new(&user, &view, names),
        stream,
        now_ms: now.as_millis(),
        max_done: board::SHOWN_DONE,
        empty,
        has_more: found.has_more,
    }))
}

async fn empty_board(
    api: &HttpState,
    user: &CurrentUser,
    filter: board::Filter,
) -> Result<EmptyBoard, Fault> {
    let (app, account) = (&api.app, user.account.id);
    let mut restaurants = restaurants::list(app, account, None).await?;
    restaurants.retain(|it| user.scope().has(it.id));
    let mut integrations = restaurants.iter().flat_map(|it| &it.integrations);
    Ok(EmptyBoard {
        is_connected: integrations.any(|it| it.is_active),
        can_send_test_order: test_orders::can_order_any(app, account, filter.restaurant).await?,
    })
}
