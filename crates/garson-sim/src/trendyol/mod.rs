//! Trendyol Go: packages to ask for, webhooks that name their event only in the path, moves that check every field.

mod auth;
mod credentials;
mod errors;
mod menu;
mod moves;
mod packages;
mod shop;
mod states;
mod webhooks;

use http::{Method, StatusCode};
use serde_json::{Value, json};

use self::{
    credentials::TrendyolCredentials,
    errors::{Answer, Refusal},
    states::{CANCELLED, CREATED, DELIVERED, INVOICED, PICKING, SHIPPED, STATES, UNSUPPLIED},
};
use crate::{
    call::{Call, Reply, Route},
    order::{Cancellation, Order, States},
    simulated_platform::SimulatedPlatform,
    store::{Credentials, Store},
    views::{Courier, Step},
    world::World,
};

pub(crate) struct Trendyol;

const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

impl SimulatedPlatform for Trendyol {
    fn states(&self) -> &'static States {
        &STATES
    }

    fn sample_store(&self, number: u32) -> (String, Value) {
        (
            format!("2738:{}", 100 + number),
            json!({
                "supplierId": "2738",
                "apiKey": "demo-trendyol-api-key",
                "apiSecret": "demo-trendyol-api-secret",
                "integratorName": "Garson",
                "executorUser": "demo@example.com",
                "inboundHeaders": { "x-garson-key": "demo-trendyol-inbound-key" },
            }),
        )
    }

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
            "stores",
            "store-status",
            "working-hours",
            "product-status",
            "section-status",
            "prices",
            "batch",
        ]
    }

    /// Branches are named by supplier and store; the store's own id comes last.
    fn store_id<'a>(&self, remote_id: &'a str) -> &'a str {
        remote_id.rsplit(':').next().unwrap_or(remote_id)
    }

    fn credentials(&self, given: Value) -> Result<Credentials, String> {
        Credentials::parse::<TrendyolCredentials>(given)
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
            (&Method::GET, "store", ["stores"]) => Route::new("stores", None),
            (&Method::PUT, "store", ["stores", _, "status"]) => Route::new("store-status", None),
            (&Method::PUT, "store", ["stores", _, "working-hours"]) => Route::new("working-hours", None),
            (&Method::PUT, "product", ["stores", _, "products", _, "status"]) => {
                Route::new("product-status", None)
            }
            (&Method::PUT, "product", ["stores", _, "sections", _, "status"]) => {
                Route::new("section-status", None)
            }
            (&Method::POST, "product", ["products", "price"]) => Route::new("prices", None),
            (&Method::GET, "product", ["batch-requests", _]) => Route::new("batch", None),
            _ => Route::unknown(),
        }
    }

    fn answer(&self, world: &mut World, call: &Call, route: &Route) -> Reply {
        let mut reply = match answer(world, call, route) {
            Ok(Some(body)) => Reply::ok(&body),
            Ok(None) => Reply::empty(StatusCode::OK),
            Err(refusal) => refusal.reply(),
        };
        if shop::OPERATIONS.contains(&route.operation) {
            reply.store = call
                .segments
                .get(6)
                .filter(|_| call.segments.get(5).is_some_and(|it| it == "stores"))
                .cloned();
            reply.request =
                Some(String::from_utf8_lossy(&call.body).into_owned()).filter(|body| !body.is_empty());
        }
        reply
    }

    fn expired_token(&self, _: &mut World, _: &Call) -> Reply {
        Refusal::unauthorized().reply()
    }

    fn rate_limited(&self) -> Reply {
        Refusal::too_many().reply()
    }

    fn supports(&self, _: Courier, is_scheduled: bool) -> Result<(), String> {
        if is_scheduled {
            Err("nothing is known of scheduled meals at Trendyol".to_owned())
        } else {
            Ok(())
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
        webhooks::announce(world, store, number);
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
        webhooks::enqueue(world, store, number, "unsupplied");
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
            Step::Assigned => webhooks::enqueue(world, store, number, "pickupEtaCalculated"),
            Step::Arrived => webhooks::enqueue(world, store, number, "courierNearby"),
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
            shop::settle(world);
            let shop = world.shop_of(&store.key());
            Ok(Some(menu::render(&store, &shop, world.now())))
        }
        operation if shop::OPERATIONS.contains(&operation) => shop::answer(world, call, operation, &supplier),
        operation => moves::make(world, call, operation, &supplier, id).map(|()| None),
    }
}
