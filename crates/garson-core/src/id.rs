//! Ids made here: UUIDv7, one type for each kind of record so that they cannot be mixed up.

use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::cell::Cell;
use std::fmt;
use std::str::FromStr;
use uuid::Uuid;

thread_local! {
    /// The millisecond of the last id, and its count within it.
    static LAST: Cell<(u64, u16)> = const { Cell::new((0, 0)) };
}

/// The twelve bits of an id behind its time and version count the ids of a millisecond.
const COUNT: u16 = 0x0fff;
const VERSION: u16 = 0x7000;

/// Makes a new UUIDv7 for a timestamp. Those that a thread makes for the same millisecond, one after the other, rise as well, so
/// that what is written together lies together in an index.
#[must_use]
pub fn uuid_at(at: Timestamp) -> Uuid {
    let millis = u64::try_from(at.as_millis()).unwrap_or(0);
    let seconds = millis / 1000;
    let nanos = u32::try_from((millis % 1000) * 1_000_000).unwrap_or(0);
    let drawn = Uuid::new_v7(uuid::Timestamp::from_unix(uuid::NoContext, seconds, nanos));
    let mut bytes = drawn.into_bytes();
    let (last, count) = LAST.get();
    let count = if last == millis && count < COUNT {
        count + 1
    } else {
        // At least half of the numbers are left for later ids of the millisecond.
        (u16::from_be_bytes([bytes[6], bytes[7]]) & COUNT) / 2
    };
    LAST.set((millis, count));
    [bytes[6], bytes[7]] = (VERSION | count).to_be_bytes();
    Uuid::from_bytes(bytes)
}

/// The text is not an id of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAnId;

impl fmt::Display for NotAnId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("must be a UUID")
    }
}

impl std::error::Error for NotAnId {}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub Uuid);

        impl $name {
            /// A new id; later ids sort behind earlier ones.
            #[must_use]
            pub fn at(moment: Timestamp) -> Self {
                Self(uuid_at(moment))
            }

            /// The sixteen bytes that are stored.
            #[must_use]
            pub fn as_bytes(&self) -> &[u8] {
                self.0.as_bytes()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({})", stringify!($name), self.0)
            }
        }

        impl FromStr for $name {
            type Err = NotAnId;

            /// Only the usual text form (hyphens, 36 characters) names a record.
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                if text.len() != 36 {
                    return Err(NotAnId);
                }
                Uuid::parse_str(text).map(Self).map_err(|_| NotAnId)
            }
        }
    )*};
}

ids! {
    /// An account: the tenant that everything else belongs to.
    AccountId;
    /// An API key.
    KeyId;
    /// A person who signs in to the panel of an account.
    UserId;
    /// A business of an account.
    BusinessId;
    /// A restaurant of an account.
    RestaurantId;
    /// A restaurant's connection to one platform.
    IntegrationId;
    /// A package of a restaurant.
    PackageId;
    /// An order of any platform.
    OrderId;
    /// An event, which is also the webhook record that delivers it.
    EventId;
    /// A call to a platform.
    CallId;
    /// A message of a platform, as it came.
    InboxId;
    /// Sending again what has failed, as one piece of work.
    ResendId;
    /// A printer that a print agent serves.
    PrinterId;
    /// A ticket that a person wants printed.
    PrintJobId;
    /// A product or option of a restaurant, on all platforms together.
    ProductId;
    /// A change of prices: previewed, then sent to platforms.
    PricePushId;
    /// A menu that is sent to a platform as a whole.
    CatalogPushId;
    /// A way to send messages to people: e-mail, or a gateway for text messages and voice calls.
    ChannelId;
    /// A message to people, waiting or sent.
    MessageId;
    /// A request to erase the data of a customer.
    ErasureId;
    /// A receiver of an account's events. The endpoint of `PUT /webhook` has the id of its account.
    EndpointId;
    /// A process that serves a database. It gets a new one when others have given it up.
    NodeId;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_ids_sort_behind_earlier_ones() {
        let early = OrderId::at(Timestamp::from_millis(1_000));
        let late = OrderId::at(Timestamp::from_millis(2_000));
        assert!(early < late);
        assert_eq!(early.to_string().parse::<OrderId>().ok(), Some(early));
    }

    #[test]
    fn ids_of_a_millisecond_rise() {
        let at = Timestamp::from_millis(1_800_000_000_123);
        let ids: Vec<OrderId> = (0..2_000).map(|_| OrderId::at(at)).collect();
        assert!(ids.windows(2).all(|pair| pair[0] < pair[1]));
        for OrderId(id) in ids {
            assert_eq!(id.get_version_num(), 7);
            assert_eq!(id.get_variant(), uuid::Variant::RFC4122);
            assert_eq!(
                id.get_timestamp().map(|at| at.to_unix()),
                Some((1_800_000_000, 123_000_000))
            );
        }
    }

    /// After too many of a millisecond they rise no more, and are still those of the millisecond, each its own.
    #[test]
    fn ids_never_repeat() {
        let at = Timestamp::from_millis(7);
        let ids: std::collections::HashSet<OrderId> = (0..20_000).map(|_| OrderId::at(at)).collect();
        assert_eq!(ids.len(), 20_000);
        assert!(ids.iter().all(|id| *id < OrderId::at(Timestamp::from_millis(8))));
    }

    #[test]
    fn only_the_usual_form_is_read() {
        assert!("018f3c1e7b1a7c3e8d2a1b2c3d4e5f60".parse::<OrderId>().is_err());
        assert!(
            "{018f3c1e-7b1a-7c3e-8d2a-1b2c3d4e5f60}"
                .parse::<OrderId>()
                .is_err()
        );
        assert!("018f3c1e-7b1a-7c3e-8d2a-1b2c3d4e5f60".parse::<OrderId>().is_ok());
    }
}
