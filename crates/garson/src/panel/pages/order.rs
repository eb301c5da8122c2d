//! The page of one order: its content, its history and its actions.

mod changes;
mod facts;
mod history;

use crate::flow::Fault;
use crate::flow::admin::printers;
use crate::flow::deliver::resend;
use crate::flow::fault::Thing;
use crate::flow::order_actions::act;
use crate::flow::read::order_record;
use crate::flow::read::order_record::Record;
use crate::http::state::HttpState;
use crate::panel::components::order_actions::OrderActions;
use crate::panel::components::order_notices::OrderNotices;
use crate::panel::components::printers::PrintSection;
use crate::panel::components::send_result::{SendTexts, redirect_with_result};
use crate::panel::kit::current_user::CurrentUser;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::layout::{Layout, page};
use crate::panel::kit::navigation::NavItem;
use crate::panel::kit::short_id::ShortId;
use crate::panel::kit::user_form::UserForm;
use crate::panel::kit::{explain, format, names};
use crate::panel::words::{BoardWords, DeliveryWords, OrderWords};
use askama::Template;
use axum::Router;
use axum::extract::{Path, State};
use axum::response::Response;
use axum::routing::{get, post};
use facts::{Fact, ItemRow, MapLink};
use garson_core::id::{EventId, OrderId};
use garson_core::order::{Actor, CallKind, Order, ProviderSync, ReadingNote};
use garson_store::tables::calls::{CallEnd, CallRecord};
use history::{CallRow, DeliveryRow, MessageRow, TimelineRow};
use std::sync::Arc;

pub fn routes() -> Router<Arc<HttpState>> {
    Router::new()
        .route("/orders/{id}", get(show_order))
        .route("/orders/{id}/resend", post(resend_event))
        .route("/orders/{id}/retry-sync", post(retry_sync))
}

#[derive(Template)]
#[template(path = "order.html")]
struct OrderPage {
    layout: Layout,
    t: OrderWords,
    id: OrderId,
    code: String,
    provider_key: String,
    provider: String,
    /// CSS class and text.
    status: (&'static str, &'static str),
    /// Why the platform refused the last step.
    sync_failed: Option<String>,
    is_syncing: bool,
    board: BoardWords,
    d: DeliveryWords,
    note: Option<String>,
    reading_notes: Vec<ReadingNote>,
    actions: OrderActions,
    notices: OrderNotices,
    print: PrintSection,
    details: Vec<Fact>,
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
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    user: CurrentUser,
) -> Result<Response, PanelError> {
    let found = order_record::open(&api.app, user.account.id, id)
        .await
        .map_err(|fault| user.fail(fault))?;
    let found_printers = printers::list(&api.app, user.account.id)
        .await
        .map_err(|fault| user.fail(fault))?;
    let order = &found.detail.order;
    let print = PrintSection::new(
        &user.layout(NavItem::Orders),
        &order.id.to_string(),
        order.restaurant_id,
        found_printers,
        api.app.now(),
    );
    Ok(page(&OrderPage::new(&user, found, print)))
}

impl OrderPage {
    fn new(user: &CurrentUser, record: Record, print: PrintSection) -> Self {
        let lang = user.lang;
        let t = OrderWords::of(lang);
        let Record {
            detail,
            restaurant,
            zone,
            calls,
            deliveries,
            messages,
            reasons,
            notices,
        } = record;
        let layout = user.layout(NavItem::Orders).in_zone(zone);
        let here = format!("/orders/{}", detail.order.id);
        let (order, content) = (&detail.order, &detail.content);
        let mut details = facts::details(&layout, &t, &detail, &restaurant);
        let mut timeline = history::timeline(&layout, &t, order.currency, &detail.timeline);
        if was_cancelled_on_platform(order, &calls) {
            let by_whom = details.iter_mut().filter(|fact| fact.name == t.cancelled_by);
            by_whom.for_each(|fact| fact.value = t.by_restaurants_side.to_owned());
            let cancelled = timeline.iter_mut().zip(&detail.timeline);
            for (row, _) in cancelled.filter(|(_, line)| line.to.is_cancelled()) {
                row.by = t.by_restaurants_side;
            }
        }
        Self {
            id: order.id,
            code: order
                .short_code
                .clone()
                .unwrap_or_else(|| ShortId::new(&order.provider_order_id).short()),
            provider_key: order.provider.to_string(),
            provider: format::order_source(lang, order.provider, content),
            status: (
                names::status_tone(order.status),
                names::status(lang, order.status),
            ),
            sync_failed: match &order.sync {
                ProviderSync::Failed { message } => Some(explain::platform(lang, message)),
                _ => None,
            },
            is_syncing: matches!(order.sync, ProviderSync::Pending { .. }),
            board: BoardWords::of(lang),
            d: DeliveryWords::of(lang),
            note: content.note.clone(),
            reading_notes: content.reading_notes.clone(),
            actions: OrderActions::on_order_page(lang, &user.csrf, order, content, reasons),
            notices: OrderNotices::new(lang, &user.csrf, order, &notices, &layout.zone, &here),
            print,
            details,
            customer: facts::customer(&t, &content.customer),
            map: content.customer.address.as_ref().and_then(MapLink::new),
            items: facts::items(&layout, content),
            amounts: facts::amounts(&layout, &t, &content.amount),
            total: format::money(lang, content.amount.total, content.amount.currency),
            payment: facts::payment(&layout, &t, &detail),
            timeline,
            calls: history::calls(&layout, &t, &calls),
            deliveries: history::deliveries(&layout, deliveries),
            messages: history::messages(&layout, messages),
            layout,
            t,
        }
    }
}

/// Was the order cancelled on the restaurant's behalf, but not from here? Some platforms do so by themselves when an order is not
/// accepted in time, and do not say whether it was the restaurant.
fn was_cancelled_on_platform(order: &Order, calls: &[CallRecord]) -> bool {
    let is_restaurants = order
        .cancellation
        .as_ref()
        .is_some_and(|it| it.by == Actor::Account);
    let asks = garson_platforms::of(order.provider).is_some_and(|it| it.capability().asks);
    let is_ours = |call: &CallRecord| call.kind == CallKind::Cancel && call.end != Some(CallEnd::Failed);
    is_restaurants && asks && !calls.iter().any(is_ours)
}

/// Sends one of the order's events again right away.
async fn resend_event(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    UserForm { user, fields }: UserForm,
) -> Result<Response, PanelError> {
    let t = DeliveryWords::of(user.lang);
    let given = fields.get("event");
    let event: EventId = given
        .parse()
        .map_err(|_| user.fail(Fault::not_found(Thing::WebhookRecord, given)))?;
    let back = format!("/orders/{id}");
    let sent = resend::again_of_order(&api.app, user.by(), id, event).await;
    let texts = SendTexts {
        accepted: t.resent,
        refused: t.resend_refused,
        unreachable: t.resend_unreached,
    };
    redirect_with_result(&user, &back, sent, &texts)
}

/// Repeats the call that the platform refused.
async fn retry_sync(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    UserForm { user, .. }: UserForm,
) -> Result<Response, PanelError> {
    let t = OrderWords::of(user.lang);
    let back = format!("/orders/{id}");
    let step = act::tell_again(&api.app, user.by(), id)
        .await
        .map_err(|fault| user.fail(fault))?;
    Ok(match step.after.sync {
        ProviderSync::Pending { .. } => user.redirect_with_notice(&back, t.retried_sync),
        _ => user.redirect_with_error(&back, t.nothing_to_retry),
    })
}
