//! The four platforms by name, and what each of them must be able to do here.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{
    call::{Call, Reply, Route},
    order::Order,
    store::{Credentials, Store},
    views::{Courier, Step},
    world::World,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Platform {
    Getir,
    Yemeksepeti,
    Trendyol,
    Migros,
}

impl Platform {
    pub const ALL: [Platform; 4] = [Self::Getir, Self::Yemeksepeti, Self::Trendyol, Self::Migros];

    pub fn name(self) -> &'static str {
        match self {
            Self::Getir => "getir",
            Self::Yemeksepeti => "yemeksepeti",
            Self::Trendyol => "trendyol",
            Self::Migros => "migros",
        }
    }

    pub(crate) fn side(self) -> &'static dyn Side {
        match self {
            Self::Getir => &crate::getir::Getir,
            Self::Yemeksepeti => &crate::yemeksepeti::Yemeksepeti,
            Self::Trendyol => &crate::trendyol::Trendyol,
            Self::Migros => &crate::migros::Migros,
        }
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Platform {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|platform| platform.name() == text)
            .ok_or_else(|| format!("no platform {text}; there are getir, yemeksepeti, trendyol, migros"))
    }
}

/// One platform's side of the wire. Everything runs under the world's lock and returns at once.
pub(crate) trait Side: Sync {
    /// The names under which calls stand in the journal and faults are ordered.
    fn operations(&self) -> &'static [&'static str];

    /// The credentials of a store, as the service calls them.
    fn credentials(&self, given: serde_json::Value) -> Result<Credentials, String>;

    /// Which operation a call asks for, before anything is checked.
    fn route(&self, call: &Call) -> Route;

    /// The order that a call is about, where the route does not say it.
    fn order_of(&self, _: &World, _: &Call) -> Option<String> {
        None
    }

    /// Checks the call as the platform would, does the work, and answers.
    fn answer(&self, world: &mut World, call: &Call, route: &Route) -> Reply;

    /// What the platform answers to a login that has run out; the login ends here too.
    fn expired_token(&self, world: &mut World, call: &Call) -> Reply;

    fn rate_limited(&self) -> Reply;

    /// Whether the platform has such orders at all.
    fn takes(&self, courier: Courier, is_scheduled: bool) -> Result<(), String>;

    /// Gives a fresh order its ids, its first state and its deadline.
    fn place(&self, world: &mut World, order: &mut Order);

    /// Queues the message that tells of the order as it is now.
    fn announce(&self, world: &mut World, store: &Store, number: u64);

    /// Ends the order from the customer's, the platform's or the restaurant's own side, and tells of it.
    fn cancel(&self, world: &mut World, store: &Store, number: u64, by: &str) -> Result<(), String>;

    /// Lets the platform's courier do something.
    fn courier(&self, world: &mut World, store: &Store, number: u64, step: Step) -> Result<(), String>;

    /// Takes one piece out of an order that goes on, and tells of it: as the order once more, where the platform has no
    /// message of its own for that.
    fn remove_piece(&self, world: &mut World, store: &Store, number: u64) -> Result<(), String> {
        world.remove_piece(number)?;
        self.announce(world, store, number);
        Ok(())
    }

    /// A scheduled order's time has come.
    fn due(&self, _: &mut World, _: &Store, _: u64) -> Result<(), String> {
        Err("this platform has no orders that become due".to_owned())
    }

    /// The time to answer is over.
    fn expire(&self, _: &mut World, _: &Store, _: u64) {}

    /// A push was answered; `body` is what the service said.
    fn acknowledged(&self, _: &mut World, _: u64, _kind: &str, _status: u16, _body: &[u8]) {}

    /// Whether nothing more can happen to the order.
    fn is_final(&self, order: &Order) -> bool;

    /// Whether the platform's courier can take the order now.
    fn is_ready(&self, state: &str) -> bool;

    /// Which answers to a push make the platform try again.
    fn push_again(&self, status: Option<u16>) -> bool {
        !status.is_some_and(|status| (200..300).contains(&status))
    }

    /// The pauses between tries, in multiples of the first one, and the first one in milliseconds.
    fn push_pauses(&self) -> (u64, &'static [u64]) {
        (10_000, &[1, 3, 6])
    }
}
