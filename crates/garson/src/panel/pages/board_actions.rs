//! The actions of an order, from its card or its page: accept, next step, ready, cancel, acknowledge.
//!
//! The script of the board posts them in the background and holds one-tap actions for some seconds, in which they can be undone.
//! Without it they ask first.

use crate::flow::Fault;
use crate::flow::fault::Thing;
use crate::flow::order_actions::{Transition, acknowledge, act, reasons};
use crate::flow::read::board;
use crate::flow::read::order_detail::detail;
use crate::http::state::HttpState;
use crate::panel::components::card::Card;
use crate::panel::components::kitchen_card::KitchenCard;
use crate::panel::components::order_actions::label;
use crate::panel::kit::current_user::CurrentUser;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::form_data::FormData;
use crate::panel::kit::layout::{Layout, fragment, page};
use crate::panel::kit::names;
use crate::panel::kit::navigation::NavItem;
use crate::panel::kit::redirect::safe_path;
use crate::panel::kit::user_form::UserForm;
use crate::panel::pages::board::view::BoardPlace;
use crate::panel::words::{ActionWords, BoardWords};
use askama::Template;
use axum::Router;
use axum::extract::{Path, RawQuery, State};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use garson_core::field_problem::FieldProblem;
use garson_core::id::OrderId;
use garson_core::order::{MAX_PREPARATION_MINUTES, Reason, Status};
use std::sync::Arc;

pub fn routes() -> Router<Arc<HttpState>> {
    Router::new()
        .route("/board/orders/{id}", post(run_action))
        .route("/board/orders/{id}/cancel", get(show_cancel).post(cancel_order))
        .route("/board/orders/{id}/acknowledge", post(acknowledge_notices))
}

/// A pressed button.
struct Pressed<'a> {
    action: &'a str,
    /// The preparation time that was chosen.
    minutes: Option<u32>,
    seen: Option<Status>,
}

impl<'a> Pressed<'a> {
    fn read(fields: &'a FormData) -> Result<Self, Fault> {
        let given = fields.get("do");
        let (action, minutes) = match given.split_once(':') {
            Some(("verify", minutes)) => ("verify", Some(minutes)),
            _ if given == "verify-in" => ("verify", Some(fields.get("minutes"))),
            // Enter in the field presses the form's first button.
            _ if given == "verify" && !fields.get("minutes").is_empty() => {
                ("verify", Some(fields.get("minutes")))
            }
            _ => (given, None),
        };
        Ok(Self {
            action,
            minutes: minutes.map(read_minutes).transpose()?,
            seen: fields.get("seen").parse().ok().and_then(Status::from_code),
        })
    }
}

fn read_minutes(given: &str) -> Result<u32, Fault> {
    let minutes = given.trim().parse().ok();
    minutes
        .filter(|minutes| (1..=MAX_PREPARATION_MINUTES).contains(minutes))
        .ok_or_else(|| {
            Fault::invalid(
                "minutes",
                FieldProblem::NotBetween {
                    min: 1,
                    max: i64::from(MAX_PREPARATION_MINUTES),
                },
            )
        })
}

/// Asks whether a step is meant, where it cannot be undone.
#[derive(Template)]
#[template(path = "confirm_action.html")]
struct ConfirmPage {
    layout: Layout,
    a: ActionWords,
    id: String,
    code: String,
    label: &'static str,
    /// The form's values, which are sent again.
    action: String,
    given_minutes: String,
    seen: String,
    back: String,
    minutes: Option<u32>,
}

/// Runs the action of the pressed button.
async fn run_action(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    UserForm { user, fields }: UserForm,
) -> Result<Response, PanelError> {
    let pressed = Pressed::read(&fields);
    if let Ok(pressed) = &pressed
        && !user.wants_fragment
        && fields.get("confirmed") != "yes"
        && let Some(label) = label(user.lang, pressed.action, pressed.seen)
    {
        return confirm(&api, &user, id, &fields, pressed, label).await;
    }
    let done = match pressed {
        Ok(pressed) => run(&api, &user, id.clone(), &pressed).await,
        Err(fault) => Err(fault),
    };
    action_response(&api, &user, &id, &fields, done).await
}

async fn run(
    api: &HttpState,
    user: &CurrentUser,
    id: String,
    pressed: &Pressed<'_>,
) -> Result<Transition, Fault> {
    let (app, by) = (&api.app, user.by());
    match pressed.action {
        "verify" => act::verify(app, by, id, pressed.minutes).await,
        // Pressed twice, or on two tablets, it still advances one step only.
        "next" => match pressed.seen {
            Some(seen) => act::advance_from(app, by, id, seen).await,
            None => Err(Fault::MovedOn),
        },
        "ready" => act::ready(app, by, id).await,
        other => Err(Fault::invalid(
            "do",
            FieldProblem::CannotBe {
                value: other.to_owned(),
            },
        )),
    }
}

async fn confirm(
    api: &HttpState,
    user: &CurrentUser,
    id: String,
    fields: &FormData,
    pressed: &Pressed<'_>,
    label: &'static str,
) -> Result<Response, PanelError> {
    let order = detail(&api.app, user.account.id, id.clone())
        .await
        .map_err(|fault| user.fail(fault))?
        .order;
    Ok(page(&ConfirmPage {
        layout: user.layout(NavItem::Board),
        a: ActionWords::of(user.lang),
        code: order.short_code.unwrap_or(order.provider_order_id),
        id,
        label,
        action: fields.get("do").to_owned(),
        given_minutes: fields.get("minutes").to_owned(),
        seen: fields.get("seen").to_owned(),
        back: safe_path(fields.get("back")).to_owned(),
        minutes: pressed.minutes,
    }))
}

/// The value of the choice to cancel without a reason, which is offered where the platform gives no list.
const NO_REASON: &str = "-";

async fn cancel_order(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    UserForm { user, fields }: UserForm,
) -> Result<Response, PanelError> {
    let Some(reason) = fields.non_empty("reason") else {
        return reason_missing(&api, &user, &id, &fields).await;
    };
    let reason = Some(reason).filter(|reason| reason != NO_REASON);
    let note = fields.non_empty("note");
    let done = act::cancel(&api.app, user.by(), id.clone(), reason, note).await;
    action_response(&api, &user, &id, &fields, done).await
}

/// A browser does not send the form without a reason; this is for others.
async fn reason_missing(
    api: &HttpState,
    user: &CurrentUser,
    id: &str,
    fields: &FormData,
) -> Result<Response, PanelError> {
    if user.wants_fragment {
        let fault = Fault::invalid("reason", FieldProblem::Required);
        return action_response(api, user, id, fields, Err(fault)).await;
    }
    // The account must have the order.
    detail(&api.app, user.account.id, id.to_owned())
        .await
        .map_err(|fault| user.fail(fault))?;
    let back: String =
        url::form_urlencoded::byte_serialize(safe_path(fields.get("back")).as_bytes()).collect();
    let form = format!("/board/orders/{id}/cancel?back={back}");
    Ok(user.redirect_with_error(&form, ActionWords::of(user.lang).reason_required))
}

/// Acknowledges what the card shows, for all devices.
async fn acknowledge_notices(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    UserForm { user, fields }: UserForm,
) -> Result<Response, PanelError> {
    acknowledge::acknowledge(&api.app, user.by(), id.clone())
        .await
        .map_err(|fault| user.fail(fault))?;
    let back = safe_path(fields.get("back"));
    if user.wants_fragment {
        return show_card(&api, &user, &id, back, None).await;
    }
    Ok(Redirect::to(back).into_response())
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
    if BoardPlace::of_path(back) == BoardPlace::Kitchen {
        let card = KitchenCard::new(user.lang, &user.csrf, back, card, api.app.now());
        return Ok(match failed {
            None => fragment(&card),
            Some(error) => (error.status, fragment(&card.with_error(error.text()))).into_response(),
        });
    }
    let card = Card::new(user.lang, &user.csrf, back, card, api.app.now());
    Ok(match failed {
        None => fragment(&card),
        // The card has the notice of what the platform answered.
        Some(error) if error.is_platforms && card.has_refusal() => {
            (error.status, fragment(&card)).into_response()
        }
        Some(error) => (error.status, fragment(&card.with_error(error.text()))).into_response(),
    })
}

#[derive(Template)]
#[template(path = "cancel.html")]
struct CancelPage {
    layout: Layout,
    t: BoardWords,
    a: ActionWords,
    id: String,
    code: String,
    reasons: Vec<Reason>,
    has_no_reasons: bool,
    back: String,
}

/// The options that the script adds to the card.
#[derive(Template)]
#[template(path = "cancel_reasons.html")]
struct CancelReasons {
    a: ActionWords,
    reasons: Vec<Reason>,
    has_no_reasons: bool,
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
    // Without the list the order can be cancelled with the default reason.
    let reasons = reasons::list(app, account, id.clone()).await.unwrap_or_default();
    let reasons = names::reasons(user.lang, reasons);
    let (t, a) = (BoardWords::of(user.lang), ActionWords::of(user.lang));
    let has_no_reasons = reasons.is_empty();
    if user.wants_fragment {
        return Ok(fragment(&CancelReasons {
            a,
            reasons,
            has_no_reasons,
        }));
    }
    let order = detail.order;
    Ok(page(&CancelPage {
        layout: user.layout(NavItem::Board),
        t,
        a,
        code: order.short_code.unwrap_or(order.provider_order_id),
        id,
        reasons,
        has_no_reasons,
        back: safe_path(params.get("back")).to_owned(),
    }))
}
