//! What a simulated platform implements.

use serde_json::Value;

use crate::{
    call::{Call, Reply, Route},
    order::{Order, States},
    store::{Credentials, Store, StoreKey},
    views::{Courier, Step},
    world::World,
};

/// The server side of one platform. Every method runs under the world's lock and must not block.
pub(crate) trait SimulatedPlatform: Sync {
    /// The operations, by the names that the journal and faults use.
    fn operations(&self) -> &'static [&'static str];

    /// The states of its orders.
    fn states(&self) -> &'static States;

    /// A store for demonstrations: its remote id and its credentials, by the names that the service uses.
    fn sample_store(&self, number: u32) -> (String, Value);

    /// The store's own id within a remote id.
    fn store_id<'a>(&self, remote_id: &'a str) -> &'a str {
        remote_id
    }

    /// Parses the credentials of a store, which have the names that the service uses.
    fn credentials(&self, given: Value) -> Result<Credentials, String>;

    /// Which operation a call asks for, before anything is checked.
    fn route(&self, call: &Call) -> Route;

    /// The order that a call is about, if the route does not name it.
    fn order_of(&self, _: &World, _: &Call) -> Option<String> {
        None
    }

    /// Checks and executes a call as the platform would.
    fn answer(&self, world: &mut World, call: &Call, route: &Route) -> Reply;

    /// The reply to an expired token, which is revoked.
    fn expired_token(&self, world: &mut World, call: &Call) -> Reply;

    fn rate_limited(&self) -> Reply;

    /// Whether the platform has such orders at all.
    fn supports(&self, courier: Courier, is_scheduled: bool) -> Result<(), String>;

    /// Gives a new order its ids, its first state and its deadline.
    fn place(&self, world: &mut World, order: &mut Order);

    /// Queues the message for the order's current state.
    fn announce(&self, world: &mut World, store: &Store, number: u64);

    /// Cancels the order on behalf of the customer, the platform or the restaurant's tablet, and queues the message.
    fn cancel(&self, world: &mut World, store: &Store, number: u64, by: &str) -> Result<(), String>;

    /// Applies a step of the platform's courier.
    fn courier(&self, world: &mut World, store: &Store, number: u64, step: Step) -> Result<(), String>;

    /// Cancels one piece of an order and queues the message. Platforms without a message for that send the order again.
    fn remove_piece(&self, world: &mut World, store: &Store, number: u64) -> Result<(), String> {
        world.remove_piece(number)?;
        self.announce(world, store, number);
        Ok(())
    }

    /// A scheduled order becomes due.
    fn due(&self, _: &mut World, _: &Store, _: u64) -> Result<(), String> {
        Err("this platform has no orders that become due".to_owned())
    }

    /// The deadline for an answer has passed.
    fn expire(&self, _: &mut World, _: &Store, _: u64) {}

    /// The service has answered a push with this status and body.
    fn acknowledged(&self, _: &mut World, _: u64, _kind: &str, _status: u16, _body: &[u8]) {}

    /// Queues the report of the last catalog of a store, where the platform takes catalogs.
    fn report_catalog(&self, _: &mut World, _: &StoreKey) {}

    /// Whether the platform repeats a push that got this status.
    fn retries_push(&self, status: Option<u16>) -> bool {
        !status.is_some_and(|status| (200..300).contains(&status))
    }

    /// The first pause between attempts in milliseconds, and all pauses as multiples of it.
    fn push_pauses(&self) -> (u64, &'static [u64]) {
        (10_000, &[1, 3, 6])
    }
}
