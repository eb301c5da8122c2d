//! The live board, kept open all day: orders by where they stand, each with what can be done now.

use super::card::{Card, Column};
use crate::api::{Api, Cursor};
use crate::flow::Fault;
use crate::flow::admin::restaurants;
use crate::flow::fault::Thing;
use crate::flow::intake::test_orders;
use crate::flow::order_actions::{act, reasons};
use crate::flow::read::board;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::fields::Fields;
use crate::panel::kit::form::Choice;
use crate::panel::kit::frame::{Frame, Place, page, part};
use crate::panel::kit::lang::safe_path;
use crate::panel::kit::restaurant_header::chosen_restaurant;
use crate::panel::kit::visitor::{Sent, Visitor};
use crate::panel::kit::{explain, names};
use crate::panel::words::BoardWords;
use askama::Template;
use axum::Router;
use axum::extract::{Path, RawQuery, State};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use garson_core::field_problem::FieldProblem;
use garson_core::id::{OrderId, RestaurantId};
use garson_core::order::{Reason, Status};
use std::sync::Arc;

pub fn routes() -> Router<Arc<Api>> {
    Router::new()
        .route("/", get(show_board))
        .route("/board/stream", get(stream::follow_board))
        .route("/board/orders/{id}", post(take_step))
        .route("/board/orders/{id}/cancel", get(show_cancel).post(cancel_order))
}

mod stream;

#[derive(Template)]
#[template(path = "board.html")]
struct BoardPage {
    frame: Frame,
    t: BoardWords,
    columns: Vec<Shown>,
    restaurants: Vec<Choice>,
    /// The one whose board it is; nothing for all.
    only: String,
    away: AwayLines,
    stream: String,
    /// The service's time in milliseconds: the tablet's own clock may be wrong.
    now_ms: i64,
    /// The most cards of what is done.
    most_done: usize,
    is_empty: bool,
    /// Can a simulated customer order?
    can_be_tested: bool,
    has_more: bool,
}

struct Shown {
    name: &'static str,
    title: &'static str,
    cards: Vec<Card>,
}

/// The platforms that are in trouble.
#[derive(Template)]
#[template(path = "away.html")]
struct AwayLines {
    t: BoardWords,
    lines: Vec<AwayLine>,
}

struct AwayLine {
    provider: String,
    restaurants: String,
    message: String,
    at: String,
}

impl AwayLines {
    fn new(frame: &Frame, away: Vec<board::Away>) -> Self {
        let line = |it: board::Away| AwayLine {
            provider: frame.provider(&it.provider),
            restaurants: it.restaurants.into_iter().collect::<Vec<_>>().join(", "),
            message: explain::text(frame.lang, &it.message),
            at: frame.moment(&it.at),
        };
        Self {
            t: BoardWords::of(frame.lang),
            lines: away.into_iter().map(line).collect(),
        }
    }
}

/// Where the board is, of all restaurants or of one.
fn address(only: Option<RestaurantId>) -> String {
    only.map_or_else(|| "/".to_owned(), |id| format!("/?restaurant={id}"))
}

fn title(t: &BoardWords, column: Column) -> &'static str {
    match column {
        Column::New => t.new,
        Column::Preparing => t.preparing,
        Column::OnTheWay => t.on_the_way,
        Column::Done => t.done,
    }
}

async fn show_board(
    State(api): State<Arc<Api>>,
    visitor: Visitor,
    RawQuery(query): RawQuery,
) -> Result<Response, PanelError> {
    let fail = |fault| visitor.fail(fault);
    let account = visitor.account.id;
    let asked = Fields::parse(query.unwrap_or_default().as_bytes());
    let only = chosen_restaurant(&visitor, &asked)?;
    let found = board::board(&api.app, account, only).await.map_err(fail)?;
    let names = restaurants::names(&api.app, account).await.map_err(fail)?;
    let (t, now) = (BoardWords::of(visitor.lang), api.app.now());
    let mut columns = Column::ALL.map(|column| Shown {
        name: column.name(),
        title: title(&t, column),
        cards: Vec::new(),
    });
    let is_empty = found.open.is_empty() && found.done.is_empty();
    let can_be_tested = is_empty
        && test_orders::can_order_any(&api.app, account, only)
            .await
            .map_err(fail)?;
    for card in found.open.into_iter().chain(found.done) {
        let card = Card::new(visitor.lang, &visitor.csrf, &address(only), card, now);
        if let Some(column) = columns.iter_mut().find(|it| it.name == card.column.name()) {
            column.cards.push(card);
        }
    }
    let filter = only.map_or_else(String::new, |id| format!("&restaurant={id}"));
    let unsettled: Vec<String> = found.unsettled.iter().map(OrderId::to_string).collect();
    let unsettled = match unsettled.is_empty() {
        true => String::new(),
        false => format!("&unsettled={}", unsettled.join(",")),
    };
    let frame = Frame::new(&visitor, Place::Board);
    Ok(page(&BoardPage {
        away: AwayLines::new(&frame, found.away),
        frame,
        t,
        columns: columns.into(),
        restaurants: names
            .into_iter()
            .map(|(id, name)| Choice::new(id.to_string(), name, only == Some(id)))
            .collect(),
        only: only.map_or_else(String::new, |id| id.to_string()),
        stream: format!("/board/stream?after={}{filter}{unsettled}", Cursor(found.place)),
        now_ms: now.as_millis(),
        most_done: board::SHOWN_DONE,
        is_empty,
        can_be_tested,
        has_more: found.has_more,
    }))
}

/// Does with an order what the pressed button says.
async fn take_step(
    State(api): State<Arc<Api>>,
    Path(id): Path<String>,
    Sent { visitor, fields }: Sent,
) -> Result<Response, PanelError> {
    let (app, account) = (&api.app, visitor.account.id);
    let seen = fields.get("seen").parse().ok().and_then(Status::from_code);
    let done = match fields.get("do") {
        "verify" => act::verify(app, account, id.clone()).await,
        // Pressed twice, or on two tablets, it is still one step.
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
    answer(&api, &visitor, &id, &fields, done).await
}

async fn cancel_order(
    State(api): State<Arc<Api>>,
    Path(id): Path<String>,
    Sent { visitor, fields }: Sent,
) -> Result<Response, PanelError> {
    let (reason, note) = (fields.given("reason"), fields.given("note"));
    let done = act::cancel(&api.app, visitor.account.id, id.clone(), reason, note).await;
    answer(&api, &visitor, &id, &fields, done).await
}

/// Back to where the visitor was; the script gets the card as it is now.
async fn answer(
    api: &Api,
    visitor: &Visitor,
    id: &str,
    fields: &Fields,
    done: Result<act::Step, Fault>,
) -> Result<Response, PanelError> {
    let failed = done.err().map(|fault| visitor.fail(fault));
    let back = safe_path(fields.get("back"));
    if visitor.wants_part {
        return show_card(api, visitor, id, back, failed).await;
    }
    match failed {
        None => Ok(Redirect::to(back).into_response()),
        // What is not there has no page to go back to.
        Some(error) if error.status == http::StatusCode::NOT_FOUND => Err(error),
        Some(error) => Ok(visitor.refused(back, error.text())),
    }
}

async fn show_card(
    api: &Api,
    visitor: &Visitor,
    id: &str,
    back: &str,
    failed: Option<PanelError>,
) -> Result<Response, PanelError> {
    let order: OrderId = id
        .parse()
        .map_err(|_| visitor.fail(Fault::not_found(Thing::Order, id)))?;
    let card = board::one(&api.app, visitor.account.id, order)
        .await
        .map_err(|fault| visitor.fail(fault))?;
    let card = Card::new(visitor.lang, &visitor.csrf, back, card, api.app.now());
    Ok(match failed {
        None => part(&card),
        Some(error) => (error.status, part(&card.saying(error.text()))).into_response(),
    })
}

#[derive(Template)]
#[template(path = "cancel.html")]
struct CancelPage {
    frame: Frame,
    t: BoardWords,
    id: String,
    code: String,
    reasons: Vec<Reason>,
    back: String,
}

/// The reasons as the script puts them on the card.
#[derive(Template)]
#[template(path = "reasons.html")]
struct ReasonsPart {
    t: BoardWords,
    reasons: Vec<Reason>,
}

/// The reasons that the platform accepts now, to choose from.
async fn show_cancel(
    State(api): State<Arc<Api>>,
    Path(id): Path<String>,
    visitor: Visitor,
    RawQuery(query): RawQuery,
) -> Result<Response, PanelError> {
    let (app, account) = (&api.app, visitor.account.id);
    let asked = Fields::parse(query.unwrap_or_default().as_bytes());
    let detail = act::detail(app, account, id.clone())
        .await
        .map_err(|fault| visitor.fail(fault))?;
    // When the list cannot be had, the usual reason is taken.
    let reasons = reasons::list(app, account, id.clone()).await.unwrap_or_default();
    let reasons = names::reasons(visitor.lang, reasons);
    let t = BoardWords::of(visitor.lang);
    if visitor.wants_part {
        return Ok(part(&ReasonsPart { t, reasons }));
    }
    let order = detail.order;
    Ok(page(&CancelPage {
        frame: Frame::new(&visitor, Place::Board),
        t,
        code: order.short_code.unwrap_or(order.provider_order_id),
        id,
        reasons,
        back: safe_path(asked.get("back")).to_owned(),
    }))
}
