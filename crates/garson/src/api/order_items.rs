//! Orders as items of lists.

use super::order_view::{AmountView, OrderView};
use crate::flow::read::order_detail::OrderDetail;
use crate::flow::read::reports::Pending;
use crate::flow::read::{Charge, OrderSummary};
use garson_core::id::{OrderId, RestaurantId};
use garson_core::money::Minor;
use garson_core::payment::PaymentType;
use garson_core::time::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

/// An order in a list.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OrderItem {
    #[schema(value_type = String, format = Uuid)]
    pub id: OrderId,
    /// The order's id on its platform.
    pub provider_order_id: String,
    #[schema(value_type = String, format = Uuid)]
    pub restaurant_id: RestaurantId,
    /// The platform's key.
    #[schema(value_type = String)]
    pub provider: garson_core::platform::Provider,
    /// What people say aloud.
    pub short_code: Option<String>,
    /// 325 scheduled, 350 scheduled_accepted, 400 new, 500 preparing, 600 on_the_way, 900 delivered,
    /// 1500 cancelled_by_platform, 1600 cancelled.
    pub status: i64,
    pub status_name: &'static str,
    /// Stamped as reported?
    pub is_report: bool,
    /// What the customer pays, in minor units.
    #[schema(value_type = i64)]
    pub total: Minor,
    #[schema(value_type = String)]
    pub currency: garson_core::money::Currency,
    #[schema(value_type = String)]
    pub payment_type: PaymentType,
    #[schema(value_type = String, format = DateTime)]
    pub placed_at: Timestamp,
    /// When it must be accepted at the latest.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub accept_by: Option<Timestamp>,
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When it has changed last; only with `updatedSince`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub updated_at: Option<Timestamp>,
}

/// An order in a list with everything that is known of it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DetailedItem {
    #[serde(flatten)]
    order: OrderView,
    /// What the customer pays, in minor units.
    #[schema(value_type = i64)]
    total: Minor,
    #[schema(value_type = String)]
    currency: garson_core::money::Currency,
    #[schema(value_type = String)]
    payment_type: PaymentType,
}

impl From<OrderDetail> for DetailedItem {
    fn from(detail: OrderDetail) -> Self {
        let pid = detail.order.provider_order_id.clone();
        Self {
            total: detail.order.total,
            currency: detail.order.currency,
            payment_type: detail.order.payment_type,
            order: OrderView::new(detail, pid),
        }
    }
}

impl From<OrderSummary> for OrderItem {
    fn from(order: OrderSummary) -> Self {
        Self {
            id: order.id,
            provider_order_id: order.provider_order_id,
            restaurant_id: order.restaurant_id,
            provider: order.provider,
            short_code: order.short_code,
            status: order.status.code(),
            status_name: order.status.name(),
            is_report: order.is_report,
            total: order.total,
            currency: order.currency,
            payment_type: order.payment_type,
            placed_at: order.placed_at,
            accept_by: order.accept_by,
            created_at: order.created_at,
            updated_at: None,
        }
    }
}

/// An order that waits to be reported.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PendingItem {
    #[serde(flatten)]
    pub order: OrderItem,
    pub amount: AmountView,
    pub payment: PendingPayment,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PendingPayment {
    #[serde(rename = "type")]
    #[schema(value_type = String)]
    pub kind: PaymentType,
    /// What the type is called, as in `grouped-payments`.
    pub name: &'static str,
    /// What the platform calls this way of paying: `payment.name` of the order's detail.
    pub provider_name: Option<String>,
    pub provider_code: Option<String>,
    pub is_paid: bool,
    /// What the courier has to collect.
    #[schema(value_type = i64)]
    pub collect: Minor,
    /// The POS's own id for this way of paying.
    pub matched_id: Option<String>,
}

impl From<Pending> for PendingItem {
    fn from(pending: Pending) -> Self {
        let Charge { amount, payment } = pending.charge;
        Self {
            amount: amount.into(),
            payment: PendingPayment {
                kind: payment.kind,
                name: payment.kind.name(),
                provider_name: payment.name,
                provider_code: payment.provider_code,
                is_paid: payment.is_paid,
                collect: payment.collect,
                matched_id: pending.matched_id,
            },
            order: pending.order.into(),
        }
    }
}
