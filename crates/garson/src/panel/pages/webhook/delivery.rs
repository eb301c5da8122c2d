//! The page of one delivery with every attempt and its timing.

use crate::flow::Fault;
use crate::flow::admin::{endpoint_log, endpoints};
use crate::flow::deliver::endpoint_sends;
use crate::flow::fault::Thing;
use crate::http::state::HttpState;
use crate::panel::components::delivery_row::{LogRow, NameLookup};
use crate::panel::components::send_result::{SendTexts, redirect_with_result};
use crate::panel::kit::current_user::CurrentUser;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::explain;
use crate::panel::kit::format;
use crate::panel::kit::layout::{Layout, page};
use crate::panel::kit::names;
use crate::panel::kit::navigation::NavItem;
use crate::panel::kit::readable::readable;
use crate::panel::kit::user_form::UserForm;
use crate::panel::words::DeliveryWords;
use crate::panel::words::Lang;
use askama::Template;
use axum::Router;
use axum::extract::{Path, State};
use axum::response::Response;
use axum::routing::{get, post};
use garson_core::id::{EndpointId, EventId};
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
    /// What the receiver answered, if it did.
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
    back: String,
    resend: String,
    elsewhere: Vec<Elsewhere>,
}

/// The delivery of the same event to another endpoint.
struct Elsewhere {
    name: String,
    href: String,
    state: &'static str,
    tone: &'static str,
}

pub fn parse(user: &CurrentUser, id: &str) -> Result<EventId, PanelError> {
    id.parse()
        .map_err(|_| user.fail(Fault::not_found(Thing::WebhookRecord, id)))
}

async fn show_delivery(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    user: CurrentUser,
) -> Result<Response, PanelError> {
    let id = parse(&user, &id)?;
    let endpoint = EndpointId::default_of(user.account.id);
    show_delivery_to(&api, &user, endpoint, id).await
}

/// The pages of a delivery: where it is shown, and where its endpoint is.
fn paths(user: &CurrentUser, endpoint: EndpointId, id: EventId) -> (String, String) {
    if endpoint.is_default_of(user.account.id) {
        return (format!("/webhook/deliveries/{id}"), "/webhook".to_owned());
    }
    let of = format!("/webhook/endpoints/{endpoint}");
    (format!("{of}/deliveries/{id}"), of)
}

/// The page of an event's delivery to an endpoint.
pub async fn show_delivery_to(
    api: &HttpState,
    user: &CurrentUser,
    endpoint: EndpointId,
    id: EventId,
) -> Result<Response, PanelError> {
    let (app, account) = (&api.app, user.account.id);
    let fail = |fault| user.fail(fault);
    let (here, back) = paths(user, endpoint, id);
    let layout = Layout {
        here: here.clone(),
        ..user.layout(NavItem::Webhook)
    };
    let mut delivery = endpoint_log::find(app, account, endpoint, id)
        .await
        .map_err(fail)?;
    let all = endpoints::list(app, account).await.map_err(fail)?;
    let has_webhook = all.iter().any(|it| it.id == endpoint && it.url.is_some());
    let t = DeliveryWords::of(user.lang);
    let mut elsewhere = Vec::new();
    for (other, state) in endpoint_log::elsewhere(app, account, endpoint, id)
        .await
        .map_err(fail)?
    {
        let found = all.iter().find(|it| it.id == other);
        let label = found.map(|it| it.label.clone()).filter(|label| !label.is_empty());
        let url = found.and_then(|it| it.url.clone());
        let (state, tone) = names::delivery_state(&t, state);
        elsewhere.push(Elsewhere {
            name: label.or(url).unwrap_or_else(|| t.first_endpoint.to_owned()),
            href: paths(user, other, id).0,
            state,
            tone,
        });
    }
    let body = readable(std::mem::take(&mut delivery.event.body).as_bytes());
    let next_at = delivery.event.due_at;
    let attempts = delivery.attempts.clone();
    let lookup = NameLookup::read(api, user, std::slice::from_ref(&delivery)).await?;
    let row = LogRow::new(&layout, &lookup, delivery);
    Ok(page(&DeliveryPage {
        t,
        next_attempt: next_at.map(|at| format::timestamp_with_seconds(user.lang, &layout.zone, at)),
        attempts: attempts
            .into_iter()
            .map(|it| AttemptRow::new(&layout, it))
            .collect(),
        layout,
        has_webhook,
        resend: format!("{here}/resend"),
        back,
        elsewhere,
        row,
        body,
    }))
}

async fn resend_one(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    UserForm { user, .. }: UserForm,
) -> Result<Response, PanelError> {
    let id = parse(&user, &id)?;
    resend_to(&api, &user, EndpointId::default_of(user.account.id), id).await
}

/// Sends an event once more to an endpoint, and shows what came of it.
pub async fn resend_to(
    api: &HttpState,
    user: &CurrentUser,
    endpoint: EndpointId,
    id: EventId,
) -> Result<Response, PanelError> {
    let t = DeliveryWords::of(user.lang);
    let sent = endpoint_sends::again(&api.app, user.by(), endpoint, id).await;
    let (back, _) = paths(user, endpoint, id);
    let texts = SendTexts {
        accepted: t.resent,
        refused: t.resend_refused,
        unreachable: t.resend_unreached,
    };
    redirect_with_result(user, &back, sent, &texts)
}
