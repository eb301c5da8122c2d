//! Trendyol Go: packages to ask for, webhooks that name their event only in the path, moves that check every field.

mod auth;
mod errors;
mod menu;
mod moves;
mod packages;

use http::{Method, StatusCode};
use serde_json::{Value, json};

use self::errors::Refusal;
use crate::{
    call::{Call, Reply, Route},
    order::{Cancellation, Order},
    platform::Side,
    push::Push,
    store::{Credentials, Store},
    views::{Courier, Step},
    world::World,
};

pub(crate) struct Trendyol;

/// Nothing in the body means an empty one.
type Answer = Result<Option<Value>, Refusal>;

const CREATED: &str = "Created";
const PICKING: &str = "Picking";
const INVOICED: &str = "Invoiced";
const SHIPPED: &str = "Shipped";
const DELIVERED: &str = "Delivered";
const CANCELLED: &str = "Cancelled";
const UNSUPPLIED: &str = "UnSupplied";

const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

impl Side for Trendyol {
    fn operations(&self) -> &'static [&'static str] {
        &[
            "packages",
            "package",
            "picked",
            "invoiced",
            "manual-shipped",
            "manual-delivered",
            "unsupplied",
            "products",
        ]
    }

    fn credentials(&self, given: Value) -> Result<Credentials, String> {
        serde_json::from_value(given)
            .map(Credentials::Trendyol)
            .map_err(|error| format!("credentials: {error}"))
    }

    fn route(&self, call: &Call) -> Route {
        let parts = call.parts();
        let ["integrator", area, "meal", "suppliers", _, rest @ ..] = parts.as_slice() else {
            return Route::unknown();
        };
        let body = || serde_json::from_slice::<Value>(&call.body).unwrap_or_default();
        let in_body = |operation| Route::new(operation, body()["packageId"].as_str());
        match (&call.method, *area, rest) {
            (&Method::GET, "order", ["packages"]) => Route::new("packages", None),
            (&Method::GET, "order", ["packages", id]) => Route::new("package", Some(id)),
            (&Method::PUT, "order", ["packages", "picked"]) => in_body("picked"),
            (&Method::PUT, "order", ["packages", "invoiced"]) => in_body("invoiced"),
            (&Method::PUT, "order", ["packages", "unsupplied"]) => in_body("unsupplied"),
            (&Method::PUT, "order", ["packages", id, "manual-shipped"]) => {
                Route::new("manual-shipped", Some(id))
            }
            (&Method::PUT, "order", ["packages", id, "manual-delivered"]) => {
                Route::new("manual-delivered", Some(id))
            }
            (&Method::GET, "product", ["stores", _, "products"]) => Route::new("products", None),
            _ => Route::unknown(),
        }
    }

    fn answer(&self, world: &mut World, call: &Call, route: &Route) -> Reply {
        match answer(world, call, route) {
            Ok(Some(body)) => Reply::ok(&body),
            Ok(None) => Reply::empty(StatusCode::OK),
            Err(refusal) => refusal.reply(),
        }
    }

    fn expired_token(&self, _: &mut World, _: &Call) -> Reply {
        Refusal::unauthorized().reply()
    }

    fn rate_limited(&self) -> Reply {
        Refusal::too_many().reply()
    }

    fn takes(&self, _: Courier, is_scheduled: bool) -> Result<(), String> {
        match is_scheduled {
            true => Err("nothing is known of scheduled meals at Trendyol".to_owned()),
            false => Ok(()),
        }
    }

    fn place(&self, world: &mut World, order: &mut Order) {
        let now = world.now();
        let store = world.store(order.platform, &order.remote_id);
        let is_uber = store.is_some_and(|store| store.quirks.uber);
        order.id = world.ids.letters(LETTERS, 64);
        order.short_code = world
            .ids
            .letters(b"ABCDEFGHJKLMNPRSTUVYZ0123456789", if is_uber { 5 } else { 3 });
        order.enter(CREATED, "customer", now);
    }

    fn announce(&self, world: &mut World, store: &Store, number: u64) {
        let Some(order) = world.orders.get(number) else {
            return;
        };
        let event = match order.state.as_str() {
            SHIPPED => "shipped",
            DELIVERED => "delivered",
            CANCELLED => "cancelled",
            UNSUPPLIED => "unsupplied",
            _ => "created",
        };
        tell(world, store, number, event);
    }

    fn cancel(&self, world: &mut World, store: &Store, number: u64, by: &str) -> Result<(), String> {
        let Some(order) = world.orders.get_mut(number) else {
            return Ok(());
        };
        if order.is_final() {
            return Err(format!("the package is {} already", order.state));
        }
        let (state, code, reason) = match by {
            "restaurant" => (UNSUPPLIED, "623", "Mağaza siparişi hazırlayamıyor"),
            "customer" => (CANCELLED, "604", "Müşteri iptal etti"),
            _ => (CANCELLED, "605", "Sipariş gecikti"),
        };
        order.cancellation = Some(Cancellation {
            by: by.to_owned(),
            reason_id: code.to_owned(),
            reason: reason.to_owned(),
            note: String::new(),
        });
        world.enter(number, state, by);
        self.announce(world, store, number);
        Ok(())
    }

    /// A partial cancellation: the package goes on in its state, and the message lists its pieces.
    fn remove_piece(&self, world: &mut World, store: &Store, number: u64) -> Result<(), String> {
        world.remove_piece(number)?;
        tell(world, store, number, "unsupplied");
        Ok(())
    }

    fn courier(&self, world: &mut World, store: &Store, number: u64, step: Step) -> Result<(), String> {
        let Some(order) = world.orders.get_mut(number) else {
            return Ok(());
        };
        if order.courier != Courier::Platform {
            return Err("no courier of the platform carries this package".to_owned());
        }
        let may = match step {
            Step::Assigned | Step::Arrived | Step::PickedUp => {
                [PICKING, INVOICED].contains(&order.state.as_str())
            }
            Step::Delivered => order.state == SHIPPED,
        };
        if !may {
            return Err(format!("the package is {}", order.state));
        }
        order.courier_step = Some(step);
        let now = world.now();
        if let (Step::Assigned | Step::Arrived, Some(order)) = (step, world.orders.get_mut(number)) {
            order.changed_at = now;
        }
        match step {
            Step::Assigned => tell(world, store, number, "pickupEtaCalculated"),
            Step::Arrived => tell(world, store, number, "courierNearby"),
            Step::PickedUp => {
                world.enter(number, SHIPPED, "courier");
                self.announce(world, store, number);
            }
            Step::Delivered => {
                world.enter(number, DELIVERED, "courier");
                self.announce(world, store, number);
            }
        }
        Ok(())
    }

    fn is_final(&self, order: &Order) -> bool {
        [DELIVERED, CANCELLED, UNSUPPLIED].contains(&order.state.as_str())
    }

    fn is_ready(&self, state: &str) -> bool {
        state == INVOICED
    }
}

/// Queues a webhook: the whole package for a new one, else only what has changed.
fn tell(world: &mut World, store: &Store, number: u64, event: &'static str) {
    let (Some(order), Some(base)) = (world.orders.get(number), &store.hook_url) else {
        return;
    };
    let Credentials::Trendyol(credentials) = &store.credentials else {
        return;
    };
    let body = match event {
        "created" => packages::render(order, store),
        "unsupplied" if order.cancellation.is_none() => packages::partly_cancelled(order, world.now()),
        _ => packages::short(order, world.now()),
    };
    let mut push = Push::post(event, format!("{base}/hooks/trendyol/{event}"), &body);
    for (name, value) in &credentials.inbound_headers {
        push = push.with_header(name, value);
    }
    world.enqueue(number, push);
}

fn answer(world: &mut World, call: &Call, route: &Route) -> Answer {
    if route.operation == Route::UNKNOWN {
        return Err(Refusal::new(
            StatusCode::NOT_FOUND,
            "NotFound",
            "there is nothing here",
        ));
    }
    let supplier = auth::check(world, call, route.operation)?;
    let id = route.order.as_deref().unwrap_or_default();
    match route.operation {
        "packages" => packages::list(world, call, &supplier).map(Some),
        "package" => {
            let (order, store) = auth::package(world, &supplier, id)?;
            Ok(Some(packages::render(order, &store)))
        }
        "products" => {
            let store_id = call.segments.get(6).map(String::as_str).unwrap_or_default();
            let store = auth::store(world, &supplier, store_id).ok_or_else(Refusal::unauthorized)?;
            Ok(Some(menu::render(&store)))
        }
        operation => moves::make(world, call, operation, &supplier, id).map(|()| None),
    }
}

/// Trendyol's events of its own making stand beside those that the restaurant causes.
fn cancel_info(order: &Order) -> Value {
    order.cancellation.as_ref().map_or(Value::Null, |cancellation| {
        json!({"reasonCode": cancellation.reason_id.parse::<u64>().unwrap_or_default(), "reason": cancellation.reason})
    })
}
