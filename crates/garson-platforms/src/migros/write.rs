//! The calls for each step, and the requests for orders, reasons and menus.

use super::call_data::CallData;
use super::cipher::Key;
use super::names::API_KEY;
use crate::common::request::{header, request, segment};
use garson_core::explanation::PlatformTask;
use garson_core::order::{CallKind, Courier, Order, Status};
use garson_core::platform::{CallRequest, HttpRequest, Link, PlatformError};
use serde::{Serialize, Serializer};

/// As many orders as are asked for at once; a branch rarely has more open.
pub const PAGE: usize = 100;

pub fn wants(call: CallKind, order: &Order) -> bool {
    match call {
        CallKind::Verify | CallKind::Cancel | CallKind::Ready => true,
        // What its own courier does, the platform knows.
        CallKind::Tell(Status::OnTheWay | Status::Delivered) => {
            CallData::of(order).courier == Some(Courier::Restaurant)
        }
        CallKind::Tell(_) => false,
    }
}

/// An id that goes out as it came: as a number where it is one.
pub struct Id<'a>(pub &'a str);

impl Serialize for Id<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.parse::<i64>() {
            Ok(number) if number.to_string() == self.0 => serializer.serialize_i64(number),
            _ => serializer.serialize_str(self.0),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct UpdateStatus<'a> {
    order_id: Id<'a>,
    store_id: Id<'a>,
    order_status: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    cancel_reason_id: Option<Id<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CancelOrder<'a> {
    order_id: Id<'a>,
    store_id: Id<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user_id: Option<Id<'a>>,
    notify_user: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    cancel_reason_id: Option<Id<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ListOrders<'a> {
    store_ids: [Id<'a>; 1],
    limit: usize,
    offset: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AskMenu<'a> {
    store_id: Id<'a>,
    store_group_id: Id<'a>,
}

/// The word that an order shows after the call. Which one it is after a cancellation is not published.
pub fn word_after(call: CallKind, order: &Order) -> Option<&'static str> {
    match call {
        CallKind::Verify => Some("APPROVED"),
        CallKind::Ready => Some("PREPARED"),
        CallKind::Tell(Status::OnTheWay) => Some("DELIVERY"),
        CallKind::Tell(Status::Delivered) => Some("COMPLETED"),
        CallKind::Cancel if is_unaccepted(order) => Some("REJECTED"),
        CallKind::Cancel | CallKind::Tell(_) => None,
    }
}

/// An order that was not accepted is rejected; any other is cancelled, by another call.
fn is_unaccepted(order: &Order) -> bool {
    matches!(order.status, Status::New | Status::Scheduled)
}

pub fn write(call_request: &CallRequest<'_>, link: &Link<'_>) -> Result<HttpRequest, PlatformError> {
    let order = call_request.order;
    if !wants(call_request.call, order) {
        return Err(PlatformError::Unsupported {
            what: PlatformTask::Step,
        });
    }
    let kept = CallData::of(order);
    let store = kept.store_id.as_deref().unwrap_or(link.branch);
    // Without a reason it is for the platform to say that it wants one.
    let reason = || call_request.reason.map(|reason| Id(&reason.id));
    let (order_status, cancel_reason_id) = match call_request.call {
        CallKind::Verify => ("Approved", None),
        CallKind::Ready => ("Prepared", None),
        CallKind::Tell(Status::Delivered) => ("Completed", None),
        CallKind::Tell(_) => ("Delivery", None),
        CallKind::Cancel if is_unaccepted(order) => ("Rejected", reason()),
        CallKind::Cancel => {
            let body = CancelOrder {
                order_id: Id(&order.provider_order_id),
                store_id: Id(store),
                user_id: kept.user_id.as_deref().map(Id),
                notify_user: true,
                cancel_reason_id: reason(),
            };
            return post(link, "/Order/v2/CancelOrder", &body);
        }
    };
    let body = UpdateStatus {
        order_id: Id(&order.provider_order_id),
        store_id: Id(store),
        order_status,
        cancel_reason_id,
    };
    post(link, "/Order/v2/UpdateOrderStatus", &body)
}

pub fn look(order: &Order, link: &Link<'_>) -> Result<HttpRequest, PlatformError> {
    let kept = CallData::of(order);
    let store = kept.store_id.as_deref().unwrap_or(link.branch);
    let (order, store) = (segment(&order.provider_order_id), segment(store));
    get(
        link,
        &format!("/Order/v2/GetOrderDetail?orderId={order}&storeId={store}"),
    )
}

/// Even pages are pending orders, odd ones active: an order that moves on meanwhile is seen twice, never missed.
pub fn poll(link: &Link<'_>, page: u32) -> Result<HttpRequest, PlatformError> {
    let path = match page % 2 {
        0 => "/Order/PendingOrdersWithStores",
        _ => "/Order/ActiveOrdersWithStores",
    };
    let body = ListOrders {
        store_ids: [Id(link.branch)],
        limit: PAGE,
        offset: usize::try_from(page / 2).unwrap_or_default().saturating_mul(PAGE),
    };
    post(link, path, &body)
}

pub fn menu(link: &Link<'_>, store_group: &str) -> Result<HttpRequest, PlatformError> {
    let body = AskMenu {
        store_id: Id(link.branch),
        store_group_id: Id(store_group),
    };
    post(link, "/Menu/GetMenuDetailsByStoreAndStoreGroupId", &body)
}

/// The header's name is written as the platform writes it: it has been seen to mind.
fn keyed(method: &'static str, link: &Link<'_>, path: &str) -> Result<HttpRequest, PlatformError> {
    let key = link.credential(API_KEY)?;
    let request = request(method, format!("{}{path}", link.base));
    Ok(header(request, "XApiKey", key))
}

pub fn get(link: &Link<'_>, path: &str) -> Result<HttpRequest, PlatformError> {
    keyed("GET", link, path)
}

pub fn post<T: Serialize>(link: &Link<'_>, path: &str, body: &T) -> Result<HttpRequest, PlatformError> {
    let key = Key::of(link)?;
    let mut request = header(keyed("POST", link, path)?, "Content-Type", "application/json");
    request.body = Some(key.seal(body));
    Ok(request)
}
