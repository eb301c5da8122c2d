//! Yemeksepeti, which is Delivery Hero's POS middleware: signed pushes, callbacks by token, and no list of new orders.

mod auth;
mod credentials;
mod errors;
mod moves;
mod orders;
mod reports;
mod shop;
mod states;

use http::{Method, StatusCode};
use serde_json::{Value, json};

use self::{
    credentials::YemeksepetiCredentials,
    errors::{Answer, Refusal},
    states::{
        ACCEPTED, CANCELLED, DELIVERED, DISPATCHING, PICKED_UP, PREPARED, RECEIVED, REJECTED, STATES, WAITING,
    },
};
use crate::{
    call::{Call, Reply, Route, encode},
    clock, crypt,
    message::Message,
    order::{Cancellation, Order, States},
    platform::Platform,
    simulated_platform::SimulatedPlatform,
    store::{Credentials, Store, StoreKey},
    views::{Courier, Step},
    world::World,
};

pub(crate) struct Yemeksepeti;

const MODIFIED: &str = "PRODUCT_ORDER_MODIFICATION_SUCCESSFUL";
const STATUSES: &[&str] = &["order_accepted", "order_rejected", "order_picked_up"];

impl SimulatedPlatform for Yemeksepeti {
    fn states(&self) -> &'static States {
        &STATES
    }

    fn sample_store(&self, number: u32) -> (String, Value) {
        (
            format!("demo-{number}"),
            json!({
                "username": "demo-yemeksepeti",
                "password": "demo-yemeksepeti-password",
                "chainCode": "demo-chain",
                "pluginSecret": "demo-yemeksepeti-plugin-secret",
            }),
        )
    }

    fn operations(&self) -> &'static [&'static str] {
        &[
            "login",
            "status",
            "order_accepted",
            "order_rejected",
            "order_picked_up",
            "prepared",
            "orders-ids",
            "order",
            "availability",
            "set-availability",
            "item-availability",
            "modify-product",
            "catalog",
            "catalog-log",
        ]
    }

    fn credentials(&self, given: Value) -> Result<Credentials, String> {
        Credentials::parse::<YemeksepetiCredentials>(given)
    }

    fn route(&self, call: &Call) -> Route {
        let parts = call.parts();
        match (&call.method, parts.as_slice()) {
            (&Method::POST, ["v2", "login"]) => Route::new("login", None),
            (&Method::POST, ["v2", "order", "status", token]) => {
                let body: Value = serde_json::from_slice(&call.body).unwrap_or_default();
                let status = STATUSES.iter().find(|status| body["status"] == **status);
                Route {
                    family: "status",
                    ..Route::new(status.copied().unwrap_or("status"), Some(token))
                }
            }
            (&Method::POST, ["v2", "orders", token, "preparation-completed"]) => {
                Route::new("prepared", Some(token))
            }
            (&Method::GET, ["v2", "chains", _, "remoteVendors", _, "availability"]) => {
                Route::new("availability", None)
            }
            (&Method::PUT, ["v2", "chains", _, "remoteVendors", _, "availability"]) => {
                Route::new("set-availability", None)
            }
            (
                &Method::PUT,
                [
                    "v2",
                    "chains",
                    _,
                    "vendors",
                    _,
                    "catalog",
                    "items",
                    "availability",
                ],
            ) => Route::new("item-availability", None),
            (
                &Method::PUT,
                [
                    "v2",
                    "chains",
                    _,
                    "globalEntityId",
                    _,
                    "restaurant",
                    _,
                    "modify-product",
                ],
            ) => Route::new("modify-product", None),
            (&Method::PUT, ["v2", "chains", _, "catalog"]) => Route::new("catalog", None),
            (&Method::GET, ["v2", "chains", _, "vendors", _, "menu-import-logs"]) => {
                Route::new("catalog-log", None)
            }
            (&Method::GET, ["v2", "chains", _, "orders", "ids"]) => Route::new("orders-ids", None),
            (&Method::GET, ["v2", "chains", _, "orders", id]) => Route::new("order", Some(id)),
            _ => Route::unknown(),
        }
    }

    fn answer(&self, world: &mut World, call: &Call, route: &Route) -> Reply {
        if shop::OPERATIONS.contains(&route.operation) {
            let mut reply = shop::answer(world, call, route.operation).unwrap_or_else(Refusal::reply);
            reply.store = shop::branch(call).map(str::to_owned);
            reply.request =
                Some(String::from_utf8_lossy(&call.body).into_owned()).filter(|body| !body.is_empty());
            return reply;
        }
        match answer(world, call, route) {
            Ok(body) => Reply::ok(&body),
            Err(refusal) => refusal.reply(),
        }
    }

    fn expired_token(&self, world: &mut World, call: &Call) -> Reply {
        if let Some(token) = auth::bearer(call) {
            world.tokens.revoke(Platform::Yemeksepeti, token);
        }
        Refusal::unauthorized("the access token has run out").reply()
    }

    fn rate_limited(&self) -> Reply {
        Refusal::new(StatusCode::TOO_MANY_REQUESTS, "POS_ERROR", "too many requests").reply()
    }

    fn supports(&self, _: Courier, _: bool) -> Result<(), String> {
        Ok(())
    }

    fn place(&self, world: &mut World, order: &mut Order) {
        const LETTERS: &[u8] = b"abcdefghjkmnpqrstuvwxyz0123456789";
        let now = world.now();
        let week = world.ids.between(1000, 9999);
        order.id = format!(
            "{}-{week}-{}",
            world.ids.letters(LETTERS, 4),
            world.ids.letters(LETTERS, 4)
        );
        order.token = Some(world.ids.uuid());
        order.short_code = world.ids.between(1, 999).to_string();
        let seconds = world.settings.yemeksepeti_expiry_seconds;
        order.expires_at = (seconds > 0).then(|| clock::add_seconds(now, seconds));
        order.enter(DISPATCHING, "customer", now);
    }

    fn announce(&self, world: &mut World, store: &Store, number: u64) {
        let Some(order) = world.orders.get(number) else {
            return;
        };
        let push = match order.state.as_str() {
            CANCELLED => status_message(store, order, "ORDER_CANCELLED", now_text(world)),
            PICKED_UP | DELIVERED => status_message(store, order, "ORDER_PICKED_UP", now_text(world)),
            _ => dispatch(world, store, order),
        };
        if let Some(push) = push {
            world.enqueue(number, push);
        }
    }

    fn cancel(&self, world: &mut World, store: &Store, number: u64, by: &str) -> Result<(), String> {
        let reason = match by {
            "restaurant" => "TOO_BUSY",
            "customer" => "CUSTOMER_CANCELLED",
            _ => "TECHNICAL_PROBLEM",
        };
        self.end(world, store, number, by, reason)
    }

    fn remove_piece(&self, world: &mut World, store: &Store, number: u64) -> Result<(), String> {
        world.remove_piece(number)?;
        let at = now_text(world);
        let order = world.orders.get(number);
        let push = order.and_then(|order| {
            let updated = orders::render(order, store, &world.public_url);
            let body = json!({"status": MODIFIED, "message": "", "updatedOrder": updated, "occurredAt": at});
            status_push(store, MODIFIED, &body)
        });
        if let Some(push) = push {
            world.enqueue(number, push);
        }
        Ok(())
    }

    fn courier(&self, world: &mut World, store: &Store, number: u64, step: Step) -> Result<(), String> {
        let Some(order) = world.orders.get_mut(number) else {
            return Ok(());
        };
        if order.courier != Courier::Platform {
            return Err("no rider of the platform carries this order".to_owned());
        }
        let may = match step {
            Step::Assigned | Step::Arrived | Step::PickedUp => {
                [ACCEPTED, PREPARED].contains(&order.state.as_str())
            }
            Step::Delivered => order.state == PICKED_UP,
        };
        if !may {
            return Err(format!("the order is {}", order.state));
        }
        order.courier_step = Some(step);
        match step {
            Step::Assigned => {}
            Step::Arrived => {
                let at = now_text(world);
                let push = world.orders.get(number);
                let push =
                    push.and_then(|order| status_message(store, order, "COURIER_ARRIVED_AT_VENDOR", at));
                if let Some(push) = push {
                    world.enqueue(number, push);
                }
            }
            Step::PickedUp => {
                world.enter(number, PICKED_UP, "courier");
                self.announce(world, store, number);
            }
            Step::Delivered => world.enter(number, DELIVERED, "courier"),
        }
        Ok(())
    }

    fn expire(&self, world: &mut World, store: &Store, number: u64) {
        let state = world
            .orders
            .get(number)
            .map(|order| order.state.clone())
            .unwrap_or_default();
        if [DISPATCHING, WAITING, RECEIVED].contains(&state.as_str()) {
            let ended = self.end(world, store, number, "platform", "NO_RESPONSE");
            tracing::debug!(number, ?ended, "nobody answered");
        }
    }

    fn acknowledged(&self, world: &mut World, number: u64, kind: &str, status: u16, body: &[u8]) {
        if kind != "order" {
            return;
        }
        let wait = world.settings.not_ready_seconds > 0;
        let Some(order) = world.orders.get_mut(number) else {
            return;
        };
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        let id = body["remoteResponse"]["remoteOrderId"].as_str();
        if let (200..=202, Some(id)) = (status, id) {
            order.remote_order_id = Some(id.to_owned());
        }
        if order.state != DISPATCHING {
            return;
        }
        match status {
            200..=202 => {
                world.stamp(number, "acknowledged");
                world.enter(number, if wait { WAITING } else { RECEIVED }, "platform");
            }
            // The old way of saying no.
            400 => {
                let reason = body["reason"].as_str().unwrap_or("TECHNICAL_PROBLEM").to_owned();
                let note = body["message"].as_str().unwrap_or_default().to_owned();
                order.cancellation = Some(Cancellation {
                    by: "restaurant".to_owned(),
                    reason_id: reason.clone(),
                    reason,
                    note,
                });
                world.enter(number, REJECTED, "restaurant");
            }
            _ => {}
        }
    }

    fn report_catalog(&self, world: &mut World, store: &StoreKey) {
        shop::report_catalog(world, store);
    }

    fn retries_push(&self, status: Option<u16>) -> bool {
        status.is_none_or(|status| status == 429 || status >= 500)
    }

    fn push_pauses(&self) -> (u64, &'static [u64]) {
        (30_000, &[1, 2, 3, 4, 5, 6, 7, 8, 8, 8])
    }
}

impl Yemeksepeti {
    fn end(
        &self,
        world: &mut World,
        store: &Store,
        number: u64,
        by: &str,
        reason: &str,
    ) -> Result<(), String> {
        let Some(order) = world.orders.get_mut(number) else {
            return Ok(());
        };
        if order.is_final() || order.state == PICKED_UP {
            return Err(format!("the order is {} already", order.state));
        }
        order.cancellation = Some(Cancellation {
            by: by.to_owned(),
            reason_id: reason.to_owned(),
            reason: reason.to_owned(),
            note: String::new(),
        });
        world.enter(number, CANCELLED, by);
        self.announce(world, store, number);
        Ok(())
    }
}

fn now_text(world: &World) -> String {
    clock::text(world.now())
}

fn dispatch(world: &World, store: &Store, order: &Order) -> Option<Message> {
    let url = format!(
        "{}/hooks/yemeksepeti/order/{}",
        store.hook_url.as_ref()?,
        encode(&store.remote_id)
    );
    let body = orders::render(order, store, &world.public_url);
    signed(Message::post("order", url, &body), store)
}

/// A status message; its URL contains the service's own order id.
fn status_message(store: &Store, order: &Order, status: &'static str, at: String) -> Option<Message> {
    let message = order
        .cancellation
        .as_ref()
        .map_or(status, |cancellation| &cancellation.reason);
    let body = json!({"status": status, "message": message, "occurredAt": at});
    status_push(store, status, &body)
}

fn status_push(store: &Store, status: &'static str, body: &Value) -> Option<Message> {
    let base = store.hook_url.as_ref()?;
    let remote_id = encode(&store.remote_id);
    let url =
        format!("{base}/hooks/yemeksepeti/remoteId/{remote_id}/remoteOrder/{{remoteOrderId}}/posOrderStatus");
    signed(
        Message {
            method: Method::PUT,
            ..Message::post(status, url, body)
        },
        store,
    )
}

fn signed(push: Message, store: &Store) -> Option<Message> {
    let credentials = store.credentials.get::<YemeksepetiCredentials>()?;
    let token = crypt::sign_token(&json!({"service": "middleware"}), &credentials.plugin_secret)?;
    Some(push.with_header("authorization", format!("Bearer {token}")))
}

fn answer(world: &mut World, call: &Call, route: &Route) -> Answer {
    let id = route.order.as_deref().unwrap_or_default();
    match route.operation {
        "login" => auth::login(world, call),
        Route::UNKNOWN => Err(Refusal::new(
            StatusCode::NOT_FOUND,
            "NOT_FOUND",
            "there is nothing here",
        )),
        operation => {
            let user = auth::check(world, call)?;
            match operation {
                "prepared" => moves::prepared(world, &user, id),
                "orders-ids" => reports::ids(world, call, &user),
                "order" => reports::order(world, call, &user, id),
                _ => moves::status(world, call, &user, id),
            }
        }
    }
}
