//! The page of one order: everything that is known of it, and what can be done.

mod changes;
mod facts;
mod story;

use super::card::Doing;
use super::webhook::told;
use crate::api::Api;
use crate::flow::Fault;
use crate::flow::deliver::resend;
use crate::flow::fault::Thing;
use crate::flow::order_actions::act;
use crate::flow::read::order_record;
use crate::flow::read::order_record::Record;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::frame::{Frame, Place, page};
use crate::panel::kit::visitor::{Sent, Visitor};
use crate::panel::kit::{explain, format, names};
use crate::panel::words::{BoardWords, DeliveryWords, OrderWords};
use askama::Template;
use axum::Router;
use axum::extract::{Path, State};
use axum::response::Response;
use axum::routing::{get, post};
use facts::{Fact, ItemRow, MapLink};
use garson_core::id::{EventId, OrderId};
use garson_core::order::{ProviderSync, ReadingNote, Status};
use std::sync::Arc;
use story::{CallRow, DeliveryRow, MessageRow, TimelineRow};

pub fn routes() -> Router<Arc<Api>> {
    Router::new()
        .route("/orders/{id}", get(show_order))
        .route("/orders/{id}/resend", post(resend_event))
        .route("/orders/{id}/retry-sync", post(retry_sync))
}

/// The colour of a status.
pub fn tone(status: Status) -> &'static str {
    match status {
        Status::New | Status::Scheduled => "main",
        Status::ScheduledAccepted | Status::Preparing | Status::OnTheWay => "warn",
        Status::Delivered => "good",
        Status::Cancelled | Status::CancelledByPlatform => "bad",
    }
}

#[derive(Template)]
#[template(path = "order.html")]
struct OrderPage {
    frame: Frame,
    t: OrderWords,
    id: OrderId,
    code: String,
    key: String,
    provider: String,
    status: (&'static str, &'static str),
    /// What the platform has said no to.
    sync_failed: Option<String>,
    is_syncing: bool,
    board: BoardWords,
    d: DeliveryWords,
    note: Option<String>,
    reading_notes: Vec<ReadingNote>,
    doing: Doing,
    about: Vec<Fact>,
    customer: Vec<Fact>,
    map: Option<MapLink>,
    items: Vec<ItemRow>,
    amounts: Vec<Fact>,
    total: String,
    payment: Vec<Fact>,
    timeline: Vec<TimelineRow>,
    calls: Vec<CallRow>,
    deliveries: Vec<DeliveryRow>,
    messages: Vec<MessageRow>,
}

async fn show_order(
    State(api): State<Arc<Api>>,
    Path(id): Path<String>,
    visitor: Visitor,
) -> Result<Response, PanelError> {
    let found = order_record::open(&api.app, visitor.account.id, id)
        .await
        .map_err(|fault| visitor.fail(fault))?;
    Ok(page(&OrderPage::new(&visitor, found)))
}

impl OrderPage {
    fn new(visitor: &Visitor, record: Record) -> Self {
        let lang = visitor.lang;
        let t = OrderWords::of(lang);
        let frame = Frame::new(visitor, Place::Orders);
        let Record {
            detail,
            restaurant,
            calls,
            deliveries,
            messages,
            reasons,
        } = record;
        let (order, content) = (&detail.order, &detail.content);
        Self {
            id: order.id,
            code: order
                .short_code
                .clone()
                .unwrap_or_else(|| order.provider_order_id.clone()),
            key: order.provider.to_string(),
            provider: frame.provider(&order.provider),
            status: (tone(order.status), names::status(lang, order.status)),
            sync_failed: match &order.sync {
                ProviderSync::Failed { message } => Some(explain::text(lang, message)),
                _ => None,
            },
            is_syncing: matches!(order.sync, ProviderSync::Pending { .. }),
            board: BoardWords::of(lang),
            d: DeliveryWords::of(lang),
            note: content.note.clone(),
            reading_notes: content.reading_notes.clone(),
            doing: Doing::alone(lang, &visitor.csrf, order, reasons),
            about: facts::about(&frame, &t, &detail, &restaurant),
            customer: facts::customer(&t, &content.customer),
            map: content.customer.address.as_ref().and_then(MapLink::to),
            items: facts::items(&frame, content),
            amounts: facts::amounts(&frame, &t, &content.amount),
            total: format::money(lang, content.amount.total, content.amount.currency),
            payment: facts::payment(&frame, &t, &detail),
            timeline: story::timeline(&frame, &t, order.currency, &detail.timeline),
            calls: story::calls(&frame, &t, &calls),
            deliveries: story::deliveries(&frame, deliveries),
            messages: story::messages(&frame, messages),
            frame,
            t,
        }
    }
}

/// Sends one of the order's events again, now, to the account's own address.
async fn resend_event(
    State(api): State<Arc<Api>>,
    Path(id): Path<String>,
    Sent { visitor, fields }: Sent,
) -> Result<Response, PanelError> {
    let t = DeliveryWords::of(visitor.lang);
    let given = fields.get("event");
    let event: EventId = given
        .parse()
        .map_err(|_| visitor.fail(Fault::not_found(Thing::WebhookRecord, given)))?;
    let back = format!("/orders/{id}");
    let sent = resend::again(&api.app, visitor.account.id, event).await;
    told(
        &visitor,
        &back,
        sent,
        [t.resent, t.resend_refused, t.resend_unreached],
    )
}

/// Tells the platform again what it could not be told.
async fn retry_sync(
    State(api): State<Arc<Api>>,
    Path(id): Path<String>,
    Sent { visitor, .. }: Sent,
) -> Result<Response, PanelError> {
    let t = OrderWords::of(visitor.lang);
    let back = format!("/orders/{id}");
    let step = act::tell_again(&api.app, visitor.account.id, id)
        .await
        .map_err(|fault| visitor.fail(fault))?;
    Ok(match step.after.sync {
        ProviderSync::Pending { .. } => visitor.done(&back, t.retried_sync),
        _ => visitor.refused(&back, t.nothing_to_retry),
    })
}
