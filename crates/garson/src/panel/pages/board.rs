//! The live board: a card for each current order, in columns by status, with its actions.

mod shared;
mod stream;

use crate::flow::Fault;
use crate::flow::admin::{printers, restaurants};
use crate::flow::fault::Thing;
use crate::flow::intake::test_orders;
use crate::flow::order_actions::{Transition, act, reasons};
use crate::flow::read::board;
use crate::flow::read::order_detail::detail;
use crate::http::cursor::Cursor;
use crate::http::state::HttpState;
use crate::panel::components::card::{BoardColumn, Card};
use crate::panel::components::printers::PrinterNotice;
use crate::panel::components::restaurant_header::chosen_restaurant;
use crate::panel::kit::current_user::{CurrentUser, UserForm};
use crate::panel::kit::error::PanelError;
use crate::panel::kit::form::Choice;
use crate::panel::kit::form_data::FormData;
use crate::panel::kit::layout::{Layout, fragment, page};
use crate::panel::kit::names;
use crate::panel::kit::navigation::NavItem;
use crate::panel::kit::redirect::safe_path;
use crate::panel::words::{BoardWords, PrintWords};
use askama::Template;
use axum::Router;
use axum::extract::{Path, RawQuery, State};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use garson_core::field_problem::FieldProblem;
use garson_core::id::OrderId;
use garson_core::order::{Reason, Status};
use shared::{PlatformAlerts, board_path};
use std::sync::Arc;

pub fn routes() -> Router<Arc<HttpState>> {
    Router::new()
        .route("/", get(show_board))
        .route("/board/stream", get(stream::follow_board))
        .route("/board/orders/{id}", post(run_action))
        .route("/board/orders/{id}/cancel", get(show_cancel).post(cancel_order))
}

#[derive(Template)]
#[template(path = "board.html")]
struct BoardPage {
    layout: Layout,
    t: BoardWords,
    /// The texts of `print_switch.html`.
    p: PrintWords,
    printers: PrinterNotice,
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
    let troubled = printers::in_trouble(&api.app, account, restaurant)
        .await
        .map_err(fail)?;
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
    let unsettled: Vec<String> = found.unsettled.iter().map(OrderId::to_string).collect();
    let unsettled = if unsettled.is_empty() {
        String::new()
    } else {
        format!("&unsettled={}", unsettled.join(","))
    };
    let layout = user.layout(NavItem::Board);
    Ok(page(&BoardPage {
        alerts: PlatformAlerts::new(&layout, found.away),
        printers: PrinterNotice::new(&layout, restaurant, &troubled, now),
        p: PrintWords::of(user.lang),
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

/// Runs the action of the pressed button.
async fn run_action(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    UserForm { user, fields }: UserForm,
) -> Result<Response, PanelError> {
    let (app, account) = (&api.app, user.account.id);
    let seen = fields.get("seen").parse().ok().and_then(Status::from_code);
    let done = match fields.get("do") {
        "verify" => act::verify(app, account, id.clone()).await,
        // Pressed twice, or on two tablets, it still advances one step only.
        "next" => match seen {
            Some(seen) => act::advance_from(app, account, id.clone(), seen).await,
            None => Err(Fault::MovedOn),
        },
        "ready" => act::ready(app, account, id.clone()).await,
        other => Err(Fault::invalid(
            "do",
            FieldProblem::CannotBe {
                value: other.to_owned(),
            },
        )),
    };
    action_response(&api, &user, &id, &fields, done).await
}

async fn cancel_order(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    UserForm { user, fields }: UserForm,
) -> Result<Response, PanelError> {
    let (reason, note) = (fields.non_empty("reason"), fields.non_empty("note"));
    let done = act::cancel(&api.app, user.account.id, id.clone(), reason, note).await;
    action_response(&api, &user, &id, &fields, done).await
}

/// Redirects back; the script gets the updated card instead.
async fn action_response(
    api: &HttpState,
    user: &CurrentUser,
    id: &str,
    fields: &FormData,
    done: Result<Transition, Fault>,
) -> Result<Response, PanelError> {
    let failed = done.err().map(|fault| user.fail(fault));
    let back = safe_path(fields.get("back"));
    if user.wants_fragment {
        return show_card(api, user, id, back, failed).await;
    }
    match failed {
        None => Ok(Redirect::to(back).into_response()),
        // The page of an order that does not exist cannot show a message.
        Some(error) if error.status == http::StatusCode::NOT_FOUND => Err(error),
        Some(error) => Ok(user.redirect_with_error(back, error.text())),
    }
}

async fn show_card(
    api: &HttpState,
    user: &CurrentUser,
    id: &str,
    back: &str,
    failed: Option<PanelError>,
) -> Result<Response, PanelError> {
    let order: OrderId = id
        .parse()
        .map_err(|_| user.fail(Fault::not_found(Thing::Order, id)))?;
    let card = board::one(&api.app, user.account.id, order)
        .await
        .map_err(|fault| user.fail(fault))?;
    let card = Card::new(user.lang, &user.csrf, back, card, api.app.now());
    Ok(match failed {
        None => fragment(&card),
        Some(error) => (error.status, fragment(&card.with_error(error.text()))).into_response(),
    })
}

#[derive(Template)]
#[template(path = "cancel.html")]
struct CancelPage {
    layout: Layout,
    t: BoardWords,
    id: String,
    code: String,
    reasons: Vec<Reason>,
    back: String,
}

/// The options that the script adds to the card.
#[derive(Template)]
#[template(path = "cancel_reasons.html")]
struct CancelReasons {
    t: BoardWords,
    reasons: Vec<Reason>,
}

/// Asks the platform which reasons it accepts.
async fn show_cancel(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    user: CurrentUser,
    RawQuery(query): RawQuery,
) -> Result<Response, PanelError> {
    let (app, account) = (&api.app, user.account.id);
    let params = FormData::parse(query.unwrap_or_default().as_bytes());
    let detail = detail(app, account, id.clone())
        .await
        .map_err(|fault| user.fail(fault))?;
    // Without the list the default reason can still be used.
    let reasons = reasons::list(app, account, id.clone()).await.unwrap_or_default();
    let reasons = names::reasons(user.lang, reasons);
    let t = BoardWords::of(user.lang);
    if user.wants_fragment {
        return Ok(fragment(&CancelReasons { t, reasons }));
    }
    let order = detail.order;
    Ok(page(&CancelPage {
        layout: user.layout(NavItem::Board),
        t,
        code: order.short_code.unwrap_or(order.provider_order_id),
        id,
        reasons,
        back: safe_path(params.get("back")).to_owned(),
    }))
}
