//! Orders as clients see them.

mod parts;

pub use self::parts::{AmountView, ChangeView};

use self::parts::{FulfilmentView, ReadingNoteView};
use garson_core::id::{OrderId, RestaurantId};
use garson_core::money::Minor;
use garson_core::order::{Actor, Item, ItemOption, ProviderSync, Reason, TimelineLine};
use garson_core::payment::PaymentType;
use garson_core::time::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use crate::flow::Fault;
use crate::flow::read::order_detail;
use crate::flow::read::order_detail::OrderDetail;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use garson_core::id::AccountId;
use garson_store::Engine;

/// An order as the API shows it, for events that carry their order.
pub fn order_document(
    store: Engine,
    account: AccountId,
    order: OrderId,
) -> BoxFuture<'static, Result<Option<String>, ()>> {
    async move {
        let id = order.to_string();
        match order_detail::read(&store, account, id.clone()).await {
            Ok(found) => Ok(serde_json::to_string(&OrderView::new(found, id)).ok()),
            Err(Fault::NotFound(_)) => Ok(None),
            Err(fault) => {
                tracing::warn!(%account, %order, ?fault, "the order of an event could not be read");
                Err(())
            }
        }
    }
    .boxed()
}

/// An order with everything that is known of it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OrderView {
    #[schema(value_type = String, format = Uuid)]
    id: OrderId,
    /// The id as it was used in the path.
    pid: String,
    provider: String,
    provider_order_id: String,
    /// The app in which the customer ordered, where it is another brand than the platform, such as `GetirYemek` for orders that
    /// Trendyol Go passes on; missing otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    storefront: Option<String>,
    short_code: Option<String>,
    #[schema(value_type = String, format = Uuid)]
    restaurant_id: RestaurantId,
    status: i64,
    status_name: &'static str,
    /// What the platform itself calls the state.
    provider_status: Option<String>,
    is_report: bool,
    #[schema(value_type = Option<String>, format = DateTime)]
    reported_at: Option<Timestamp>,
    #[schema(value_type = String, format = DateTime)]
    placed_at: Timestamp,
    #[schema(value_type = Option<String>, format = DateTime)]
    accept_by: Option<Timestamp>,
    #[schema(value_type = Option<String>, format = DateTime)]
    scheduled_for: Option<Timestamp>,
    #[schema(value_type = Option<String>, format = DateTime)]
    ready_at: Option<Timestamp>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
    /// The version of lines, amounts, payment and note: 1 as the order arrived, one more with each change by the platform.
    revision: i64,
    note: Option<String>,
    /// Why it should be looked at although it was taken: `integration_off`, `package_expired` or
    /// `unknown_to_platform` (its platform has said for some time that it has no such order).
    flag: Option<&'static str>,
    fulfilment: FulfilmentView,
    customer: CustomerView,
    items: Vec<ItemView>,
    amount: AmountView,
    payment: PaymentView,
    /// What of the platform's message could not be read, or does not add up; missing where all of it could.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    reading_notes: Vec<ReadingNoteView>,
    cancellation: Option<CancellationView>,
    timeline: Vec<TimelineView>,
    provider_sync: SyncView,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct CustomerView {
    name: Option<String>,
    phone: Option<String>,
    /// The extension of a masked number.
    phone_code: Option<String>,
    email: Option<String>,
    address: Option<AddressView>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct AddressView {
    text: Option<String>,
    city: Option<String>,
    district: Option<String>,
    neighbourhood: Option<String>,
    apartment: Option<String>,
    floor: Option<String>,
    door: Option<String>,
    directions: Option<String>,
    lat: Option<f64>,
    lon: Option<f64>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ItemView {
    id: Option<String>,
    product_id: Option<String>,
    name: String,
    quantity: i64,
    #[schema(value_type = i64)]
    unit_price: Minor,
    #[schema(value_type = i64)]
    total: Minor,
    note: Option<String>,
    options: Vec<OptionView>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(no_recursion)]
struct OptionView {
    group: Option<String>,
    name: String,
    quantity: i64,
    #[schema(value_type = i64)]
    price: Minor,
    /// The customer wants it left out.
    removed: bool,
    options: Vec<OptionView>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct PaymentView {
    #[serde(rename = "type")]
    #[schema(value_type = String)]
    kind: PaymentType,
    /// What the platform calls this way of paying. Orders that wait to be reported have it as `providerName`.
    name: Option<String>,
    provider_code: Option<String>,
    is_paid: bool,
    /// What the courier has to collect.
    #[schema(value_type = i64)]
    collect: Minor,
    /// The POS's own id for this way of paying.
    matched_id: Option<String>,
}

#[derive(Serialize, ToSchema)]
struct CancellationView {
    /// `account`, `platform`, `customer` or `system`.
    #[schema(value_type = String)]
    by: Actor,
    reason: Option<ReasonView>,
    note: Option<String>,
    #[schema(value_type = String, format = DateTime)]
    at: Timestamp,
}

/// Why an order is cancelled.
#[derive(Serialize, ToSchema)]
pub struct ReasonView {
    id: String,
    name: String,
}

impl From<Reason> for ReasonView {
    fn from(reason: Reason) -> Self {
        Self {
            id: reason.id,
            name: reason.name,
        }
    }
}

#[derive(Serialize, ToSchema)]
struct TimelineView {
    #[schema(value_type = String, format = DateTime)]
    at: Timestamp,
    from: Option<i64>,
    to: i64,
    /// `account`, `platform`, `customer` or `system`.
    #[schema(value_type = String)]
    by: Actor,
    why: Option<String>,
    /// The version that the order has had since, on lines that tell of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    revision: Option<i64>,
    /// What that version has changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    changes: Vec<ChangeView>,
}

impl From<TimelineLine> for TimelineView {
    fn from(line: TimelineLine) -> Self {
        Self {
            at: line.at,
            from: line.from.map(garson_core::order::Status::code),
            to: line.to.code(),
            by: line.by,
            why: line.why.map(|why| why.to_string()),
            revision: line.revision.as_ref().map(|said| said.revision),
            changes: line.revision.map_or_else(Vec::new, |said| {
                said.changes.into_iter().map(Into::into).collect()
            }),
        }
    }
}

/// How far the platform knows of the newest step.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SyncView {
    /// `done`, `pending`, `not_needed` or `failed`.
    state: &'static str,
    /// When the platform will be told, while that is pending.
    #[schema(value_type = Option<String>, format = DateTime)]
    due_at: Option<Timestamp>,
    /// The platform's words when it finally refused.
    message: Option<String>,
}

impl From<ProviderSync> for SyncView {
    fn from(sync: ProviderSync) -> Self {
        let state = sync.as_str();
        let (due_at, message) = match sync {
            ProviderSync::Done | ProviderSync::NotNeeded => (None, None),
            ProviderSync::Pending { due_at } => (Some(due_at), None),
            ProviderSync::Failed { message } => (None, Some(message.to_string())),
        };
        Self {
            state,
            due_at,
            message,
        }
    }
}

impl From<Item> for ItemView {
    fn from(item: Item) -> Self {
        Self {
            id: item.id,
            product_id: item.product_id,
            name: item.name,
            quantity: item.quantity,
            unit_price: item.unit_price,
            total: item.total,
            note: item.note,
            options: item.options.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<ItemOption> for OptionView {
    fn from(option: ItemOption) -> Self {
        Self {
            group: option.group,
            name: option.name,
            quantity: option.quantity,
            price: option.price,
            removed: option.removed,
            options: option.options.into_iter().map(Into::into).collect(),
        }
    }
}

impl OrderView {
    /// The order as the detail answers it, for the id that was used in the path.
    #[must_use]
    pub fn new(detail: OrderDetail, pid: String) -> Self {
        let OrderDetail {
            order,
            content,
            timeline,
            matched_id,
        } = detail;
        let (fulfilment, customer, amount, payment) = (
            content.fulfilment,
            content.customer,
            content.amount,
            content.payment,
        );
        Self {
            id: order.id,
            pid,
            provider: order.provider.to_string(),
            provider_order_id: order.provider_order_id,
            storefront: content.storefront,
            short_code: order.short_code,
            restaurant_id: order.restaurant_id,
            status: order.status.code(),
            status_name: order.status.name(),
            provider_status: order.provider_status,
            is_report: order.reported_at.is_some(),
            reported_at: order.reported_at,
            placed_at: order.placed_at,
            accept_by: order.accept_by,
            scheduled_for: order.scheduled_for,
            ready_at: order.ready_at,
            created_at: order.created_at,
            updated_at: order.updated_at,
            revision: order.revision,
            note: content.note,
            flag: order.flag.map(garson_core::order::Flag::as_str),
            fulfilment: fulfilment.into(),
            customer: CustomerView {
                name: customer.name,
                phone: customer.phone,
                phone_code: customer.phone_code,
                email: customer.email,
                address: customer.address.map(|a| AddressView {
                    text: a.text,
                    city: a.city,
                    district: a.district,
                    neighbourhood: a.neighbourhood,
                    apartment: a.apartment,
                    floor: a.floor,
                    door: a.door,
                    directions: a.directions,
                    lat: a.lat,
                    lon: a.lon,
                }),
            },
            items: content.items.into_iter().map(Into::into).collect(),
            amount: amount.into(),
            reading_notes: content.reading_notes.into_iter().map(Into::into).collect(),
            payment: PaymentView {
                kind: payment.kind,
                name: payment.name,
                provider_code: payment.provider_code,
                is_paid: payment.is_paid,
                collect: payment.collect,
                matched_id,
            },
            cancellation: order.cancellation.map(|c| CancellationView {
                by: c.by,
                reason: c.reason.map(Into::into),
                note: c.note,
                at: c.at,
            }),
            timeline: timeline.into_iter().map(Into::into).collect(),
            provider_sync: order.sync.into(),
        }
    }
}
