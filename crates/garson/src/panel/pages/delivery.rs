//! The log of deliveries, and one delivery with every attempt: when, where the time went, and what happened.

use super::webhook::told;
use crate::flow::Fault;
use crate::flow::admin::accounts::Delivery;
use crate::flow::admin::{accounts, restaurants};
use crate::flow::deliver::resend;
use crate::flow::read::search;
use crate::http::state::HttpState as Api;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::explain;
use crate::panel::kit::fields::Fields;
use crate::panel::kit::form::{Choice, Pager};
use crate::panel::kit::frame::{Frame, Place, page};
use crate::panel::kit::lang::Lang;
use crate::panel::kit::visitor::{Sent, Visitor};
use crate::panel::kit::{format, paging};
use crate::panel::words::DeliveryWords;
use askama::Template;
use axum::Router;
use axum::extract::{Path, State};
use axum::response::Response;
use axum::routing::{get, post};
use garson_core::delivery::DeliveryState;
use garson_core::id::{EventId, OrderId, RestaurantId};
use garson_core::time::Zone;
use garson_store::lists::feed::Page;
use garson_store::tables::attempts::Attempt;
use std::collections::HashMap;
use std::sync::Arc;

/// Deliveries on a page of the log.
const ON_A_PAGE: usize = 25;

pub fn routes() -> Router<Arc<Api>> {
    Router::new()
        .route("/webhook/deliveries/{id}", get(show_delivery))
        .route("/webhook/deliveries/{id}/resend", post(resend_one))
}

/// How a state is called, and in which tone.
pub fn state_name(t: &DeliveryWords, state: DeliveryState) -> (&'static str, &'static str) {
    match state {
        DeliveryState::Pending => (t.pending, "warn"),
        DeliveryState::Delivered => (t.delivered, "good"),
        DeliveryState::Failed => (t.failed, "bad"),
        DeliveryState::Skipped => (t.skipped, ""),
    }
}

/// A line of the log.
pub struct Line {
    pub id: EventId,
    pub name: String,
    pub at: String,
    pub restaurant: String,
    pub order: Option<LineOrder>,
    pub state: &'static str,
    pub tone: &'static str,
    pub reason: String,
    pub attempts: usize,
    pub last: String,
}

/// The order that a line of the log is about.
pub struct LineOrder {
    pub href: String,
    pub code: String,
}

/// What the restaurants and orders of some lines are called.
struct Names {
    restaurants: HashMap<RestaurantId, String>,
    orders: HashMap<OrderId, String>,
}

impl Names {
    async fn read(api: &Api, visitor: &Visitor, shown: &[Delivery]) -> Result<Self, PanelError> {
        let (app, account) = (&api.app, visitor.account.id);
        let fail = |fault| visitor.fail(fault);
        let orders = shown.iter().filter_map(|it| it.event.order_id).collect();
        let restaurants = restaurants::names(app, account).await.map_err(fail)?;
        Ok(Self {
            restaurants: restaurants.into_iter().collect(),
            orders: accounts::order_codes(app, account, orders).await.map_err(fail)?,
        })
    }
}

impl Line {
    fn new(lang: Lang, names: &Names, delivery: Delivery) -> Self {
        let t = DeliveryWords::of(lang);
        let event = delivery.event;
        let (state, tone) = state_name(&t, event.state);
        let last = delivery.attempts.last();
        Self {
            id: event.id,
            at: format::moment(lang, &Zone::istanbul(), event.created_at),
            restaurant: names
                .restaurants
                .get(&event.restaurant_id)
                .cloned()
                .unwrap_or_default(),
            order: event.order_id.and_then(|id| {
                let code = names.orders.get(&id)?.clone();
                let href = format!("/orders/{id}");
                Some(LineOrder { href, code })
            }),
            reason: event
                .reason
                .map_or_else(String::new, |it| explain::reason(&t, &it)),
            attempts: delivery.attempts.len(),
            last: last.map_or_else(String::new, |it| explain::attempt(lang, &it.explanation)),
            name: event.name,
            state,
            tone,
        }
    }
}

/// The log as a part of a page: what it is narrowed to, its lines, and the ways on.
pub struct LogPart {
    pub states: Vec<Choice>,
    pub order: String,
    pub is_narrowed: bool,
    /// What the order filter could not find.
    pub has_no_order: bool,
    /// Where all orders of the same code are listed, if there are others.
    pub namesakes: Option<String>,
    pub lines: Vec<Line>,
    pub pager: Pager,
}

impl LogPart {
    pub async fn read(api: &Api, visitor: &Visitor, asked: &Fields) -> Result<Self, PanelError> {
        let (app, account, lang) = (&api.app, visitor.account.id, visitor.lang);
        let fail = |fault| visitor.fail(fault);
        let state = DeliveryState::named(asked.get("state"));
        let request = paging::wanted(asked, ON_A_PAGE);
        let list = |order| accounts::list_deliveries(app, account, state, order, request);
        let (mut has_no_order, mut has_namesakes) = (false, false);
        let found = match list(asked.given("order")).await {
            Ok(found) => found,
            Err(Fault::NotFound { .. } | Fault::AmbiguousOrder { .. }) => {
                // It is no number of an order; people know orders by their codes.
                let meant = search::by_code(app, account, asked.get("order"))
                    .await
                    .map_err(fail)?;
                has_namesakes = meant.len() > 1;
                has_no_order = meant.is_empty();
                match meant.first() {
                    Some(newest) => list(Some(newest.to_string())).await.map_err(fail)?,
                    None => Page::empty(request),
                }
            }
            Err(fault) => return Err(fail(fault)),
        };
        let filters = [
            ("state", state.map_or("", DeliveryState::as_str)),
            ("order", asked.get("order")),
        ];
        let pager = paging::ways("/webhook", &filters, request, &found);
        let names = Names::read(api, visitor, &found.items).await?;
        let t = DeliveryWords::of(lang);
        let mut states = vec![Choice::new("", t.any, state.is_none())];
        states.extend(
            DeliveryState::ALL.map(|it| Choice::new(it.as_str(), state_name(&t, it).0, state == Some(it))),
        );
        Ok(Self {
            states,
            order: asked.get("order").to_owned(),
            is_narrowed: filters.iter().any(|(_, value)| !value.is_empty()),
            has_no_order,
            namesakes: has_namesakes.then(|| paging::address("/orders", &[("q", asked.get("order"))])),
            lines: found
                .items
                .into_iter()
                .map(|it| Line::new(lang, &names, it))
                .collect(),
            pager,
        })
    }
}

/// An attempt as it is shown.
struct Tried {
    number: i64,
    at: String,
    url: String,
    status: Option<i64>,
    took: String,
    /// What took how long.
    split: Vec<(&'static str, String)>,
    explanation: String,
}

impl Tried {
    fn new(lang: Lang, attempt: Attempt) -> Self {
        let t = DeliveryWords::of(lang);
        let split = attempt.timing;
        let stages = [
            (t.name, split.name),
            (t.connect, split.connect),
            (t.tls, split.tls),
            (t.first_byte, split.first_byte),
        ];
        Self {
            number: attempt.number,
            at: format::moment_to_the_second(lang, &Zone::istanbul(), attempt.at),
            url: attempt.url,
            status: attempt.status,
            took: format!("{} ms", attempt.duration_ms),
            split: stages
                .into_iter()
                .filter_map(|(name, micros)| Some((name, millis(lang, micros?))))
                .collect(),
            explanation: explain::attempt(lang, &attempt.explanation),
        }
    }
}

/// Milliseconds with one decimal: `12,3 ms`.
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
    frame: Frame,
    t: DeliveryWords,
    line: Line,
    next_attempt: Option<String>,
    attempts: Vec<Tried>,
    body: String,
    has_webhook: bool,
}

fn parse(visitor: &Visitor, id: &str) -> Result<EventId, PanelError> {
    id.parse()
        .map_err(|_| visitor.fail(Fault::not_found("webhook record", id)))
}

async fn show_delivery(
    State(api): State<Arc<Api>>,
    Path(id): Path<String>,
    visitor: Visitor,
) -> Result<Response, PanelError> {
    let (app, account, lang) = (&api.app, visitor.account.id, visitor.lang);
    let fail = |fault| visitor.fail(fault);
    let id = parse(&visitor, &id)?;
    let mut delivery = accounts::delivery(app, account, id).await.map_err(fail)?;
    let webhook = accounts::webhook(app, account).await.map_err(fail)?;
    let body = std::mem::take(&mut delivery.event.body);
    let next_at = delivery.event.due_at;
    let attempts = delivery.attempts.clone();
    let names = Names::read(&api, &visitor, std::slice::from_ref(&delivery)).await?;
    let line = Line::new(lang, &names, delivery);
    Ok(page(&DeliveryPage {
        frame: Frame::new(&visitor, Place::Webhook),
        t: DeliveryWords::of(lang),
        next_attempt: next_at.map(|at| format::moment(lang, &Zone::istanbul(), at)),
        attempts: attempts.into_iter().map(|it| Tried::new(lang, it)).collect(),
        has_webhook: webhook.is_some(),
        line,
        body,
    }))
}

async fn resend_one(
    State(api): State<Arc<Api>>,
    Path(id): Path<String>,
    Sent { visitor, .. }: Sent,
) -> Result<Response, PanelError> {
    let t = DeliveryWords::of(visitor.lang);
    let id = parse(&visitor, &id)?;
    let sent = resend::again(&api.app, visitor.account.id, id).await;
    let back = format!("/webhook/deliveries/{id}");
    told(
        &visitor,
        &back,
        sent,
        [t.resent, t.resend_refused, t.resend_unreached],
    )
}
