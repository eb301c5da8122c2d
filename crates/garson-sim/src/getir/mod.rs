//! Getir Yemek: a login per restaurant, numbered states, a minute between moves, pushes with a key and lists to ask for.

mod auth;
mod credentials;
mod errors;
mod menu;
mod moves;
mod orders;
mod shop;
mod states;

use http::Method;
use serde_json::{Value, json};

use self::{
    credentials::GetirCredentials,
    errors::{Answer, Refusal},
    states::{
        CANCELLED_BY_GETIR, CANCELLED_BY_RESTAURANT, DELIVERED, HANDED_OVER, NEW, ON_THE_WAY, PREPARED,
        PREPARING, REACHED, SCHEDULED, SCHEDULED_ACCEPTED, STATES,
    },
};
use crate::{
    call::{Call, Reply, Route},
    clock,
    message::Message,
    order::{Cancellation, Order, States},
    platform::Platform,
    shop::Closing,
    simulated_platform::SimulatedPlatform,
    store::{Credentials, Store},
    views::{ClosedBy, Courier, Step},
    world::{TimedEvent, World},
};

pub(crate) struct Getir;

impl SimulatedPlatform for Getir {
    fn states(&self) -> &'static States {
        &STATES
    }

    fn sample_store(&self, number: u32) -> (String, Value) {
        (
            format!("64b7f0c2a1d3e5f6789000{number:02}"),
            json!({
                "appSecretKey": "demo-getir-app-secret",
                "restaurantSecretKey": format!("demo-getir-restaurant-{number}"),
                "inboundKey": "demo-getir-inbound-key",
            }),
        )
    }

    fn operations(&self) -> &'static [&'static str] {
        &[
            "login",
            "pos-status",
            "verify",
            "verify-scheduled",
            "prepare",
            "handover",
            "deliver",
            "cancel",
            "cancel-options",
            "active",
            "unapproved",
            "cancelled",
            "order",
            "menu",
            "option-products",
            "restaurant",
            "open",
            "close",
            "busyness",
            "working-hours",
            "set-working-hours",
            "item-status",
            "set-item-status",
            "set-option-status",
            "update-prices",
        ]
    }

    fn credentials(&self, given: Value) -> Result<Credentials, String> {
        Credentials::parse::<GetirCredentials>(given)
    }

    fn route(&self, call: &Call) -> Route {
        let parts = call.parts();
        let (operation, order) = match (&call.method, parts.as_slice()) {
            (&Method::POST, ["auth", "login"]) => ("login", None),
            (&Method::POST | &Method::PUT, ["restaurants", "pos-status"]) => ("pos-status", None),
            (&Method::GET, ["restaurants"]) => ("restaurant", None),
            (&Method::GET, ["restaurants", "menu"]) => ("menu", None),
            (&Method::GET, ["restaurants", "option-products"]) => ("option-products", None),
            (&Method::PUT, ["restaurants", "status", "open"]) => ("open", None),
            (&Method::PUT, ["restaurants", "status", "close"]) => ("close", None),
            (&Method::PUT, ["restaurants", "delivery-duration", "busyness"]) => ("busyness", None),
            (&Method::GET, ["restaurants", "working-hours"]) => ("working-hours", None),
            (&Method::PUT, ["restaurants", "working-hours"]) => ("set-working-hours", None),
            (&Method::GET, ["products", _, "status"]) => ("item-status", None),
            (&Method::PUT, ["products", _, "status"]) => ("set-item-status", None),
            (&Method::PUT, ["products", _, "option-categories", _, "options", _, "status"]) => {
                ("set-option-status", None)
            }
            (&Method::POST, ["chain-menus", _, "update-prices"]) => ("update-prices", None),
            (&Method::POST, ["food-orders", "active"]) => ("active", None),
            (&Method::POST, ["food-orders", "periodic", "unapproved"]) => ("unapproved", None),
            (&Method::POST, ["food-orders", "periodic", "cancelled"]) => ("cancelled", None),
            (&Method::GET, ["food-orders", id]) => ("order", Some(*id)),
            (&Method::GET, ["food-orders", id, "cancel-options"]) => ("cancel-options", Some(*id)),
            (&Method::POST, ["food-orders", id, "verify"]) => ("verify", Some(*id)),
            (&Method::POST, ["food-orders", id, "verify-scheduled"]) => ("verify-scheduled", Some(*id)),
            (&Method::POST, ["food-orders", id, "prepare"]) => ("prepare", Some(*id)),
            (&Method::POST, ["food-orders", id, "handover"]) => ("handover", Some(*id)),
            (&Method::POST, ["food-orders", id, "deliver"]) => ("deliver", Some(*id)),
            (&Method::POST, ["food-orders", id, "cancel"]) => ("cancel", Some(*id)),
            _ => return Route::unknown(),
        };
        Route::new(operation, order)
    }

    fn answer(&self, world: &mut World, call: &Call, route: &Route) -> Reply {
        let store = auth::check(world, call).ok().map(|(_, store)| store);
        let reply = match answer(world, call, route) {
            Ok(body) => Reply::ok(&body),
            Err(refusal) => refusal.reply(),
        };
        match store {
            Some(store) => reply.of_store(&store.remote_id, shop::journal_body(call, route)),
            None => reply,
        }
    }

    fn expired_token(&self, world: &mut World, call: &Call) -> Reply {
        if let Some(token) = call.header("token") {
            world.tokens.revoke(Platform::Getir, token);
        }
        Refusal::unauthorized("the token is not valid any more").reply()
    }

    fn rate_limited(&self) -> Reply {
        Refusal::too_many().reply()
    }

    fn supports(&self, courier: Courier, _: bool) -> Result<(), String> {
        match courier {
            Courier::Pickup => Err("Getir has no orders that customers collect".to_owned()),
            Courier::Platform | Courier::Restaurant => Ok(()),
        }
    }

    fn place(&self, world: &mut World, order: &mut Order) {
        let now = world.now();
        // An id begins with the second in which it was made, as ids of this kind do.
        order.id = format!("{:08x}{}", now.as_second(), world.ids.hex(16));
        order.short_code = world.ids.letters(b"0123456789", 6);
        order.stamps.insert("checkoutDate", now);
        if order.scheduled_for.is_some() {
            return order.enter(SCHEDULED, "customer", now);
        }
        order.enter(NEW, "customer", now);
        order.expires_at = answer_until(world, now);
    }

    fn announce(&self, world: &mut World, store: &Store, number: u64) {
        let Some(order) = world.orders.get(number) else {
            return;
        };
        let kind = if order.cancellation.is_some() {
            "cancel-order"
        } else {
            "new-order"
        };
        if let Some(push) = message(kind, store, order) {
            world.enqueue(number, push);
        }
    }

    fn cancel(&self, world: &mut World, store: &Store, number: u64, by: &str) -> Result<(), String> {
        let (state, reason) = match by {
            "restaurant" => (CANCELLED_BY_RESTAURANT, "Restoran siparişi iptal etti"),
            "customer" => (CANCELLED_BY_GETIR, "Müşteri siparişi iptal etti"),
            _ => (CANCELLED_BY_GETIR, "Sipariş Getir tarafından iptal edildi"),
        };
        self.end(world, store, number, by, state, reason)
    }

    fn courier(&self, world: &mut World, _: &Store, number: u64, step: Step) -> Result<(), String> {
        let name = crate::generate::people::courier_name(&mut world.content);
        let Some(order) = world.orders.get_mut(number) else {
            return Ok(());
        };
        if order.courier != Courier::Platform {
            return Err("the restaurant delivers this order itself".to_owned());
        }
        let state = order.state.clone();
        let may = match step {
            Step::Assigned | Step::Arrived => [PREPARING, PREPARED, HANDED_OVER].contains(&state.as_str()),
            Step::PickedUp => [PREPARED, HANDED_OVER].contains(&state.as_str()),
            Step::Delivered => [ON_THE_WAY, REACHED].contains(&state.as_str()),
        };
        if !may {
            return Err(format!("the order is at {state}"));
        }
        order.courier_step = Some(step);
        order.courier_name.get_or_insert_with(|| name.to_owned());
        match step {
            Step::Assigned | Step::Arrived => {}
            Step::PickedUp => {
                if state == PREPARED {
                    world.stamp(number, "handoverDate");
                    world.enter(number, HANDED_OVER, "courier");
                }
                world.enter(number, ON_THE_WAY, "courier");
            }
            Step::Delivered => {
                world.stamp(number, "reachDate");
                world.enter(number, REACHED, "courier");
                world.stamp(number, "deliverDate");
                world.enter(number, DELIVERED, "courier");
            }
        }
        Ok(())
    }

    fn due(&self, world: &mut World, store: &Store, number: u64) -> Result<(), String> {
        let Some(order) = world.orders.get(number) else {
            return Ok(());
        };
        if order.state != SCHEDULED_ACCEPTED {
            return Err(format!(
                "only an order at 350 becomes due; this one is at {}",
                order.state
            ));
        }
        world.enter(number, NEW, "platform");
        if let Some(at) = answer_until(world, world.now()) {
            world.timed_events.insert((at, number, TimedEvent::Expire));
        }
        self.announce(world, store, number);
        Ok(())
    }

    fn expire(&self, world: &mut World, store: &Store, number: u64) {
        let waits = world.orders.get(number).is_some_and(|order| order.state == NEW);
        if waits {
            // Getir closes the restaurant and cancels on its behalf.
            let reason = "Restoran siparişi zamanında onaylamadı";
            let ended = self.end(world, store, number, "platform", CANCELLED_BY_RESTAURANT, reason);
            world.shop(&store.key()).close(Closing {
                until: None,
                is_for_today: false,
                by: ClosedBy::UnansweredOrder,
                reason: None,
            });
            tracing::debug!(number, ?ended, "nobody answered");
        }
    }
}

impl Getir {
    /// Ends an order from outside of the API, and tells of it.
    fn end(
        &self,
        world: &mut World,
        store: &Store,
        number: u64,
        by: &str,
        state: &str,
        reason: &str,
    ) -> Result<(), String> {
        let Some(order) = world.orders.get_mut(number) else {
            return Ok(());
        };
        if order.is_final() {
            return Err(format!("the order is at {} already", order.state));
        }
        order.cancellation = Some(Cancellation {
            by: by.to_owned(),
            reason_id: moves::reason_id(reason),
            reason: reason.to_owned(),
            note: String::new(),
        });
        world.stamp(number, "cancelDate");
        world.enter(number, state, by);
        self.announce(world, store, number);
        Ok(())
    }
}

fn answer_until(world: &World, now: jiff::Timestamp) -> Option<jiff::Timestamp> {
    let seconds = world.settings.getir_answer_seconds;
    (seconds > 0).then(|| clock::add_seconds(now, seconds))
}

fn message(kind: &'static str, store: &Store, order: &Order) -> Option<Message> {
    let credentials = store.credentials.get::<GetirCredentials>()?;
    let url = format!("{}/hooks/getir/{kind}", store.hook_url.as_ref()?);
    let order = orders::render(order, store);
    let body = if store.quirks.flat {
        order
    } else {
        json!({"foodOrder": order})
    };
    Some(Message::post(kind, url, &body).with_header("x-api-key", &credentials.inbound_key))
}

fn answer(world: &mut World, call: &Call, route: &Route) -> Answer {
    let operation = route.operation;
    match operation {
        "login" => return auth::login(world, call),
        "pos-status" => return auth::pos_status(world, call),
        Route::UNKNOWN => return Err(Refusal::route_not_found()),
        _ => {}
    }
    let (token, store) = auth::check(world, call)?;
    auth::count(world, &token, operation, call)?;
    let key = store.key();
    let list = |world: &World, wanted: &dyn Fn(&Order) -> bool| {
        world
            .orders
            .of_store(&key)
            .filter(|order| wanted(order))
            .map(|order| orders::render(order, &store))
            .collect()
    };
    match operation {
        "active" => Ok(list(world, &|order| !order.is_final())),
        "unapproved" => Ok(list(world, &|order| {
            [SCHEDULED, NEW].contains(&order.state.as_str())
        })),
        "cancelled" => {
            let day_ago = clock::add(world.now(), jiff::SignedDuration::from_hours(-24));
            Ok(list(world, &|order| {
                order.cancellation.is_some() && order.changed_at > day_ago
            }))
        }
        "menu" => Ok(menu::Shown::new(world, &store).render()),
        "option-products" => Ok(menu::Shown::new(world, &store).option_products()),
        _ if shop::OPERATIONS.contains(&operation) => shop::answer(world, call, operation, &store),
        _ => {
            let id = route.order.as_deref().unwrap_or_default();
            let order = world
                .orders
                .find(Platform::Getir, id)
                .filter(|order| order.remote_id == store.remote_id);
            let order = order.ok_or_else(Refusal::order_not_found)?;
            match operation {
                "order" => Ok(orders::render(order, &store)),
                "cancel-options" => Ok(moves::cancel_options(order)),
                _ => moves::make(world, call, operation, order.number, &store),
            }
        }
    }
}
