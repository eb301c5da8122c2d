//! Who is connected to an account's orders: open boards, event streams, programs that poll, and printers.

use crate::id::{KeyId, RestaurantId};
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// What a connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PresenceKind {
    /// A live board of the panel, open in a browser.
    Board,
    /// A program that reads `GET /events` as a stream.
    Stream,
    /// A program that asks for events or orders again and again.
    Poller,
    /// A program that only prints: `garson print`, or another that says so.
    Printer,
}

impl PresenceKind {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Board => "board",
            Self::Stream => "stream",
            Self::Poller => "poller",
            Self::Printer => "printer",
        }
    }

    /// Can a person or a program notice a new order by it? A printed ticket accepts nothing.
    #[must_use]
    pub const fn is_watching(self) -> bool {
        match self {
            Self::Board | Self::Stream | Self::Poller => true,
            Self::Printer => false,
        }
    }
}

/// Connections of one browser session or API key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Presence {
    pub kind: PresenceKind,
    /// The only restaurant that it shows; none when it shows all of them.
    pub restaurant: Option<RestaurantId>,
    /// The API key of a program.
    pub key: Option<KeyId>,
    /// How many connections there are, at least 1.
    pub connections: usize,
    pub since: Timestamp,
}

impl Presence {
    /// Is it connected to the orders of this restaurant?
    #[must_use]
    pub fn concerns(&self, restaurant: RestaurantId) -> bool {
        self.restaurant.is_none_or(|only| only == restaurant)
    }

    /// Are the orders of this restaurant watched by it?
    #[must_use]
    pub fn watches(&self, restaurant: RestaurantId) -> bool {
        self.kind.is_watching() && self.concerns(restaurant)
    }
}
