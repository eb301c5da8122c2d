//! One run of a scenario: its orders, what it waits for, and what was recorded of it.

use super::super::command::CommandError;
use super::api::Placed;
use super::args::Profile;
use super::cases::Case;
use super::evidence::{Delivery, EventHead};
use super::pos::Pos;
use super::relay::{Action, Rule};
use super::world::World;
use crate::cli::check_receiver::endpoint::Reply;
use garson_core::clock::{Clock, SystemClock};
use garson_core::event::{CREATED, MOVED};
use garson_core::order::Status;
use garson_sim::Platform;
use garson_sim::views::OrderRequest;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout_at};

/// The result of a step; the error says what the POS did, or what kept the scenario from being played.
pub type Step<T = ()> = Result<T, CommandError>;

/// How long an event may take to come, with all retries of the temporary service.
const EVENT_LIMIT: Duration = Duration::from_secs(40);
/// How often the status of an order is read.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

pub fn failed<T>(why: impl Into<String>) -> Step<T> {
    Err(CommandError(why.into()))
}

pub struct Trial<'a> {
    pub world: &'a World,
    pub case: &'static Case,
    orders: Vec<Placed>,
    /// Requests that the scenario has sent itself.
    own: Vec<Delivery>,
}

impl<'a> Trial<'a> {
    pub fn new(world: &'a World, case: &'static Case) -> Self {
        Self {
            world,
            case,
            orders: Vec::new(),
            own: Vec::new(),
        }
    }

    pub fn pos(&self) -> Step<&'a Pos> {
        match self.world.relay.pos() {
            Some(pos) => Ok(pos),
            None => failed("there is no POS"),
        }
    }

    /// An id for an order of this scenario.
    pub fn number(&self, suffix: impl std::fmt::Display) -> String {
        format!("C-{}-{}-{suffix}", self.world.run, self.case.id)
    }

    /// The body of an order in one of the two shops: 390 TL, paid online. Its letters are plain: others have scenarios of their own.
    pub fn body(&self, shop: usize, number: &str) -> Value {
        let store = self.world.shops.get(shop).map_or("", |shop| shop.store);
        json!({
            "storeId": store,
            "providerOrderId": number,
            "shortCode": "A12",
            "placedAt": SystemClock.now(),
            "note": "Ring twice",
            "customer": {
                "name": "Deniz Aydin",
                "phone": "+905551112233",
                "address": { "text": "Moda Cad. 12", "city": "Ankara", "district": "Mamak", "floor": "3" },
            },
            "items": [{
                "id": "1", "productId": "adana", "name": "Adana", "quantity": 2, "unitPrice": 18_000,
                "options": [{ "group": "Icecek", "name": "Ayran", "price": 1_500 }],
            }],
            "amount": { "total": 39_000 },
            "payment": { "type": "online_card", "isPaid": true },
        })
    }

    /// Places an order in one of the two shops.
    pub async fn place(&mut self, shop: usize, body: &Value) -> Step<Placed> {
        let Some(shop) = self.world.shops.get(shop) else {
            return failed("there is no such shop");
        };
        let order = self.world.api.place(shop, body).await?;
        Ok(self.add(order))
    }

    /// A plain order in the first shop.
    pub async fn place_plain(&mut self, suffix: impl std::fmt::Display) -> Step<Placed> {
        let body = self.body(0, &self.number(suffix));
        self.place(0, &body).await
    }

    /// An order of a customer on a simulated platform, once the service has it.
    pub async fn place_on(&mut self, request: OrderRequest) -> Step<Placed> {
        let placed = self.world.control.place_orders(&request).await?;
        let Some(placed) = placed.into_iter().next() else {
            return failed("the simulated platform placed no order");
        };
        let number = placed.provider_order_id;
        let deadline = Instant::now() + EVENT_LIMIT;
        loop {
            if let Some(id) = self.world.api.find(&number).await? {
                return Ok(self.add(Placed { id, number }));
            }
            if Instant::now() > deadline {
                return failed(format!("an order of {} did not arrive", request.platform));
            }
            sleep(POLL_INTERVAL).await;
        }
    }

    /// A request for an order of the restaurant that is on all platforms.
    pub fn request(platform: Platform) -> OrderRequest {
        OrderRequest {
            remote_id: Some(garson_sim::sample_store(platform, 1).0),
            ..OrderRequest::new(platform)
        }
    }

    /// Adds an order whose events belong to this scenario.
    pub fn add(&mut self, order: Placed) -> Placed {
        self.orders.push(order.clone());
        order
    }

    /// Sets a rule of the relay for an order that is placed afterwards.
    pub fn rule(&self, number: &str, olay: Option<&'static str>, action: Action, times: u32) {
        self.world.relay.add_rule(Rule {
            number: number.to_owned(),
            olay,
            action,
            times,
        });
    }

    /// What was recorded of one event of an order.
    pub fn log_of(&self, order: &Placed, olay: &str) -> Vec<Delivery> {
        self.world
            .relay
            .log(|head| head.order == order.id && head.olay == olay)
    }

    /// Waits until the POS has accepted an event of an order.
    pub async fn delivered(&self, order: &Placed, olay: &str) -> Step {
        self.delivered_times(order, olay, 1).await
    }

    /// Waits until the POS has accepted it this many times. A refusal is the end.
    pub async fn delivered_times(&self, order: &Placed, olay: &str, times: usize) -> Step {
        let mut changes = self.world.relay.changes();
        let deadline = Instant::now() + EVENT_LIMIT + 2 * self.world.answer_limit;
        loop {
            let log = self.log_of(order, olay);
            if let Some(refused) = log.iter().find(|entry| entry.is_failure()) {
                return failed(refused.describe());
            }
            if log.iter().filter(|entry| entry.is_success()).count() >= times {
                return Ok(());
            }
            if timeout_at(deadline, changes.changed()).await.is_err() {
                return failed(format!("{olay} of {} was not delivered in time", order.number));
            }
        }
    }

    /// The new order was delivered; a POS that acts has accepted it.
    pub async fn arrived(&self, order: &Placed) -> Step {
        self.delivered(order, CREATED).await?;
        self.accepted_by_pos(order, self.world.accept_limit).await
    }

    /// With a POS that acts: waits until it has accepted the order.
    pub async fn accepted_by_pos(&self, order: &Placed, limit: Duration) -> Step {
        if self.world.profile == Profile::Receive {
            return Ok(());
        }
        let deadline = Instant::now() + limit;
        loop {
            let status = self.world.api.status(order).await?;
            if is_accepted(status) {
                return Ok(());
            }
            if Instant::now() > deadline {
                let limit = limit.as_secs();
                return failed(format!(
                    "{} still has the status {status} after {limit} s: the POS has not accepted it",
                    order.number
                ));
            }
            sleep(POLL_INTERVAL).await;
        }
    }

    /// The new order was delivered and accepted, by the POS or else by the staff.
    pub async fn accept(&self, order: &Placed) -> Step {
        self.arrived(order).await?;
        if self.world.profile == Profile::Receive {
            self.world.api.verify(order).await?;
        }
        self.delivered(order, MOVED).await
    }

    /// The staff moves an accepted order on, unless the POS does.
    pub async fn advance_to(&self, order: &Placed, target: Status) -> Step {
        // From 500 to 900 there are two steps; the POS may take one at the same time.
        for _ in 0..4 {
            if self.world.api.status(order).await? >= target.code() {
                return Ok(());
            }
            self.world.api.advance(order).await?;
        }
        failed(format!(
            "{} could not be moved to {}",
            order.number,
            target.code()
        ))
    }

    /// Records a request that the scenario has sent itself.
    pub fn record(&mut self, body: &str, note: &'static str, reply: Reply) {
        self.own.push(Delivery {
            head: EventHead::read(body.as_bytes()),
            body: body.into(),
            at: SystemClock.now(),
            note,
            reply: Some(reply),
            is_early: false,
        });
    }

    /// Everything that was sent to the POS.
    pub fn evidence(&self) -> Vec<Delivery> {
        let is_ours = |head: &EventHead| self.orders.iter().any(|order| order.id == head.order);
        let mut all = self.world.relay.log(is_ours);
        all.extend(self.own.iter().cloned());
        all
    }
}

/// Has the restaurant agreed to the order? Cancelled orders need no agreement any more.
fn is_accepted(status: i64) -> bool {
    status == Status::ScheduledAccepted.code() || status >= Status::Preparing.code()
}
