//! The page of one delivery with every attempt and its timing.

use super::log::{LogRow, NameLookup};
use crate::flow::Fault;
use crate::flow::admin::accounts;
use crate::flow::deliver::resend;
use crate::flow::fault::Thing;
use crate::http::state::HttpState;
use crate::panel::components::send_result::{SendTexts, redirect_with_result};
use crate::panel::kit::current_user::{CurrentUser, UserForm};
use crate::panel::kit::error::PanelError;
use crate::panel::kit::explain;
use crate::panel::kit::format;
use crate::panel::kit::layout::{Layout, page};
use crate::panel::kit::navigation::NavItem;
use crate::panel::kit::readable::readable;
use crate::panel::words::DeliveryWords;
use crate::panel::words::Lang;
use askama::Template;
use axum::Router;
use axum::extract::{Path, State};
use axum::response::Response;
use axum::routing::{get, post};
use garson_core::id::EventId;
use garson_store::tables::attempts::Attempt;
use std::sync::Arc;

pub fn routes() -> Router<Arc<HttpState>> {
    Router::new()
        .route("/webhook/deliveries/{id}", get(show_delivery))
        .route("/webhook/deliveries/{id}/resend", post(resend_one))
}

struct AttemptRow {
    number: i64,
    at: String,
    url: String,
    status: Option<i64>,
    duration: String,
    /// The duration of each phase.
    phases: Vec<(&'static str, String)>,
    explanation: String,
    /// What the receiver answered, if the attempt failed.
    response: Option<String>,
}

impl AttemptRow {
    fn new(layout: &Layout, attempt: Attempt) -> Self {
        let lang = layout.lang;
        let t = DeliveryWords::of(lang);
        let timing = attempt.timing;
        let phases = [
            (t.name, timing.name),
            (t.connect, timing.connect),
            (t.tls, timing.tls),
            (t.first_byte, timing.first_byte),
        ];
        Self {
            number: attempt.number,
            at: format::timestamp_with_seconds(lang, &layout.zone, attempt.at),
            url: attempt.url,
            status: attempt.status,
            duration: format!("{} ms", attempt.duration_ms),
            phases: phases
                .into_iter()
                .filter_map(|(name, micros)| Some((name, millis(lang, micros?))))
                .collect(),
            explanation: explain::text(lang, &attempt.explanation),
            response: attempt.response,
        }
    }
}

/// `12,3 ms`
fn millis(lang: Lang, micros: i64) -> String {
    let point = match lang {
        Lang::Tr => ',',
        Lang::En => '.',
    };
    let tenths = micros.max(0) / 100;
    format!("{}{point}{} ms", tenths / 10, tenths % 10)
}

#[derive(Template)]
#[template(path = "delivery.html")]
struct DeliveryPage {
    layout: Layout,
    t: DeliveryWords,
    row: LogRow,
    next_attempt: Option<String>,
    attempts: Vec<AttemptRow>,
    body: String,
    has_webhook: bool,
}

fn parse(user: &CurrentUser, id: &str) -> Result<EventId, PanelError> {
    id.parse()
        .map_err(|_| user.fail(Fault::not_found(Thing::WebhookRecord, id)))
}

async fn show_delivery(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    user: CurrentUser,
) -> Result<Response, PanelError> {
    let (app, account) = (&api.app, user.account.id);
    let layout = user.layout(NavItem::Webhook);
    let fail = |fault| user.fail(fault);
    let id = parse(&user, &id)?;
    let mut delivery = accounts::delivery(app, account, id).await.map_err(fail)?;
    let webhook = accounts::webhook(app, account).await.map_err(fail)?;
    let body = readable(std::mem::take(&mut delivery.event.body).as_bytes());
    let next_at = delivery.event.due_at;
    let attempts = delivery.attempts.clone();
    let lookup = NameLookup::read(&api, &user, std::slice::from_ref(&delivery)).await?;
    let row = LogRow::new(&layout, &lookup, delivery);
    Ok(page(&DeliveryPage {
        t: DeliveryWords::of(user.lang),
        next_attempt: next_at.map(|at| format::timestamp_with_seconds(user.lang, &layout.zone, at)),
        attempts: attempts
            .into_iter()
            .map(|it| AttemptRow::new(&layout, it))
            .collect(),
        layout,
        has_webhook: webhook.is_some(),
        row,
        body,
    }))
}

async fn resend_one(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    UserForm { user, .. }: UserForm,
) -> Result<Response, PanelError> {
    let t = DeliveryWords::of(user.lang);
    let id = parse(&user, &id)?;
    let sent = resend::again(&api.app, user.account.id, id).await;
    let back = format!("/webhook/deliveries/{id}");
    let texts = SendTexts {
        accepted: t.resent,
        refused: t.resend_refused,
        unreachable: t.resend_unreached,
    };
    redirect_with_result(&user, &back, sent, &texts)
}
