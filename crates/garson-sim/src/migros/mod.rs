//! Migros Yemek: a key per branch, encrypted bodies, states in strict order, three webhooks and lists to ask for.

mod auth;
mod credentials;
mod envelope;
mod menu;
mod moves;
mod orders;
mod shop;
mod states;

use http::{Method, StatusCode};
use serde_json::{Value, json};

use self::{
    credentials::MigrosCredentials,
    envelope::Refusal,
    states::{APPROVED, CANCELLED, COMPLETED, DELIVERY, NEW, PREPARED, REJECTED, STATES},
};
use crate::{
    call::{Call, Reply, Route},
    message::Message,
    order::{Cancellation, Order, States},
    simulated_platform::SimulatedPlatform,
    store::{Credentials, Store},
    views::{Courier, Step},
    world::World,
};

pub(crate) struct Migros;

impl SimulatedPlatform for Migros {
    fn states(&self) -> &'static States {
        &STATES
    }

    fn sample_store(&self, number: u32) -> (String, Value) {
        (
            (5_000 + number).to_string(),
            json!({
                "apiKey": format!("demo-migros-api-key-{number}"),
                "secretKey": "demo-migros-secret-of-32-bytes!!",
                "inboundUser": "garson",
                "inboundPassword": "demo-migros-inbound",
            }),
        )
    }

    fn operations(&self) -> &'static [&'static str] {
        &[
            "update-status",
            "cancel-order",
            "pending",
            "active",
            "detail",
            "reasons",
            "statuses",
            "store",
            "menu",
            "keys",
            "view-status",
            "add-off-date",
            "remove-off-date",
            "activate",
            "deactivate",
            "time-slots",
            "upsert-time-slots",
            "product-status",
            "option-on",
            "option-off",
            "batch-price",
        ]
    }

    fn credentials(&self, given: Value) -> Result<Credentials, String> {
        let credentials = Credentials::parse::<MigrosCredentials>(given)?;
        let key = credentials.get().and_then(auth::key);
        key.ok_or("credentials: a raw secretKey must have 32 bytes")?;
        Ok(credentials)
    }

    fn route(&self, call: &Call) -> Route {
        let parts = call.parts();
        let operation = match (&call.method, parts.as_slice()) {
            (&Method::POST, ["Order", "v2", "UpdateOrderStatus"]) => "update-status",
            (&Method::POST, ["Order", "v2", "CancelOrder"]) => "cancel-order",
            (&Method::POST, ["Order", "PendingOrdersWithStores"]) => "pending",
            (&Method::POST, ["Order", "ActiveOrdersWithStores"]) => "active",
            (&Method::GET, ["Order", "v2", "GetOrderDetail"]) => {
                return Route::new("detail", call.query("orderId"));
            }
            (&Method::GET, ["Mapping", "v2", "GetCancelReasons"]) => "reasons",
            (&Method::GET, ["Mapping", "GetOrderStatusList"]) => "statuses",
            (&Method::GET, ["Store", "GetStoreDetail"]) => "store",
            (&Method::POST, ["Menu", "GetMenuDetailsByStoreAndStoreGroupId"]) => "menu",
            (&Method::POST, ["Store", "GetDefinedActiveRestaurantApiKeys"]) => "keys",
            (&Method::POST, ["Store", "GetStoreViewStatus"]) => "view-status",
            (&Method::POST, ["Store", "AddStoreOffDate"]) => "add-off-date",
            (&Method::POST, ["Store", "RemoveStoreOffDate"]) => "remove-off-date",
            (&Method::POST, ["Store", "ActivateStore"]) => "activate",
            (&Method::POST, ["Store", "DeActivateStore"]) => "deactivate",
            (&Method::POST, ["WorkingHour", "GetStoreTimeSlot"]) => "time-slots",
            (&Method::POST, ["WorkingHour", "UpsertStoreTimeSlot"]) => "upsert-time-slots",
            (&Method::POST, ["Menu", "UpdateProductStatusByStoreId"]) => "product-status",
            (&Method::POST, ["OptionItem", "ActivateOptionItemStatusByStore"]) => "option-on",
            (&Method::POST, ["OptionItem", "DeActivateOptionItemStatusByStore"]) => "option-off",
            (&Method::POST, ["Menu", "UpdateBatchPrice"]) => "batch-price",
            _ => Route::UNKNOWN,
        };
        Route::new(operation, None)
    }

    fn answer(&self, world: &mut World, call: &Call, route: &Route) -> Reply {
        let mut order = None;
        let reply = answer(world, call, route, &mut order).unwrap_or_else(Refusal::reply);
        Reply { order, ..reply }
    }

    fn expired_token(&self, _: &mut World, _: &Call) -> Reply {
        Refusal::unauthorized().reply()
    }

    fn rate_limited(&self) -> Reply {
        Refusal::new(StatusCode::TOO_MANY_REQUESTS, "TooManyRequests", "too many calls").reply()
    }

    fn supports(&self, courier: Courier, is_scheduled: bool) -> Result<(), String> {
        match (courier, is_scheduled) {
            (Courier::Pickup, _) => Err("nothing is known of collected orders at Migros".to_owned()),
            (_, true) => Err("nothing is known of scheduled orders at Migros".to_owned()),
            _ => Ok(()),
        }
    }

    fn order_of(&self, world: &World, call: &Call) -> Option<String> {
        let (_, key) = auth::check(world, call).ok()?;
        let body = envelope::open(call, &key).ok()?;
        body["orderId"].as_u64().map(|id| id.to_string())
    }

    fn place(&self, world: &mut World, order: &mut Order) {
        let now = world.now();
        // Numbers that grow over the runs, with room for a thousand orders a second.
        let number = (now.as_millisecond() - 1_700_000_000_000) * 10 + world.ids.between(0, 9);
        let is_free = |id: &i64| world.orders.find(order.platform, &id.to_string()).is_none();
        order.id = (number..).find(is_free).unwrap_or(number).to_string();
        order.short_code = world.ids.letters(b"0123456789", 4);
        order.enter(NEW, "customer", now);
    }

    fn announce(&self, world: &mut World, store: &Store, number: u64) {
        let Some(order) = world.orders.get(number) else {
            return;
        };
        let push = match order.state.as_str() {
            CANCELLED | REJECTED => message("order-cancelled", store, &orders::cancelled(order)),
            _ => message("order-created", store, &orders::render(order, store)),
        };
        if let Some(push) = push {
            world.enqueue(number, push);
        }
    }

    fn cancel(&self, world: &mut World, store: &Store, number: u64, by: &str) -> Result<(), String> {
        let Some(order) = world.orders.get_mut(number) else {
            return Ok(());
        };
        if order.is_final() {
            return Err(format!("the order is {} already", order.state));
        }
        order.cancellation = Some(Cancellation {
            by: by.to_owned(),
            reason_id: by.to_owned(),
            reason: "Sipariş iptal edildi".to_owned(),
            note: String::new(),
        });
        world.enter(number, CANCELLED, by);
        self.announce(world, store, number);
        Ok(())
    }

    fn courier(&self, world: &mut World, store: &Store, number: u64, step: Step) -> Result<(), String> {
        let name = crate::generate::people::courier_name(&mut world.content);
        let Some(order) = world.orders.get_mut(number) else {
            return Ok(());
        };
        if order.courier != Courier::Platform {
            return Err("the restaurant delivers this order itself".to_owned());
        }
        let may = match step {
            Step::Assigned | Step::Arrived => [APPROVED, PREPARED].contains(&order.state.as_str()),
            Step::PickedUp => order.state == PREPARED,
            Step::Delivered => order.state == DELIVERY,
        };
        if !may {
            return Err(format!("the order is {}", order.state));
        }
        order.courier_step = Some(step);
        order.courier_name.get_or_insert_with(|| name.to_owned());
        match step {
            Step::Assigned | Step::Arrived => {}
            Step::PickedUp => world.enter(number, DELIVERY, "courier"),
            Step::Delivered => world.enter(number, COMPLETED, "courier"),
        }
        let status = match step {
            Step::Assigned => "ASSIGNED_FOR_DELIVERY",
            Step::Arrived => "COURIER_ARRIVED",
            Step::PickedUp => "IN_DELIVERY",
            Step::Delivered => "DELIVERED",
        };
        let body = world
            .orders
            .get(number)
            .map(|order| orders::delivery_status(order, status));
        if let Some(push) = body.and_then(|body| message("delivery-status", store, &body)) {
            world.enqueue(number, push);
        }
        Ok(())
    }
}

/// A webhook: plain JSON, with the credentials that the service gave Migros.
fn message(kind: &'static str, store: &Store, body: &Value) -> Option<Message> {
    let credentials = store.credentials.get::<MigrosCredentials>()?;
    let url = format!("{}/hooks/migros/{kind}", store.hook_url.as_ref()?);
    Some(Message::post(kind, url, body).with_header("authorization", auth::basic(credentials)))
}

/// The order id is in the encrypted body; `order` is set once that is decrypted.
fn answer(
    world: &mut World,
    call: &Call,
    route: &Route,
    order: &mut Option<String>,
) -> Result<Reply, Refusal> {
    if route.operation == "keys" {
        return auth::list_keys(world, call).map(|data| envelope::plain(&data));
    }
    if route.operation == Route::UNKNOWN {
        return Err(Refusal::new(
            StatusCode::NOT_FOUND,
            "NotFound",
            "there is nothing here",
        ));
    }
    let (store, key) = auth::check(world, call)?;
    let data = match route.operation {
        "detail" => orders::detail(world, call, &store),
        "reasons" => Ok(moves::reasons()),
        "store" => Ok(menu::store(world, &store)),
        "statuses" => Ok(json!([
            NEW, APPROVED, PREPARED, DELIVERY, COMPLETED, REJECTED, CANCELLED
        ])),
        operation => {
            let body = envelope::open(call, &key)?;
            *order = body["orderId"].as_u64().map(|id| id.to_string());
            match operation {
                "pending" => orders::list(world, &store, &body, &|order| order.state == NEW),
                "active" => orders::list(world, &store, &body, &|order| {
                    !order.is_final() && order.state != NEW
                }),
                "menu" => menu::render(world, &store, &body),
                operation if shop::OPERATIONS.contains(&operation) => {
                    let data = shop::answer(world, operation, &store, &body);
                    return Ok(data
                        .map(|data| envelope::seal(&data, store.quirks.replies, &key))
                        .unwrap_or_else(Refusal::reply)
                        .of_store(&store.remote_id, Some(body.to_string())));
                }
                "cancel-order" => moves::cancel(world, &store, &body),
                _ => moves::update(world, &store, &body),
            }
        }
    };
    data.map(|data| envelope::seal(&data, store.quirks.replies, &key))
}
