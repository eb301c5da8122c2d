//! Why a platform has not done what it was asked to.

use serde::{Deserialize, Serialize};
use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PlatformFailure {
    // The request was not sent.
    Unsupported {
        task: PlatformTask,
    },
    MissingCredential {
        name: String,
    },
    MissingData {
        data: MissingData,
    },
    RequestNotWritable,
    DotSegment,
    NoFreeSlot,
    LoginInProgress,
    RateLimited {
        calls: u32,
        seconds: u32,
    },
    PauseBetweenMoves {
        seconds: u64,
    },
    NotSentInTime,
    Withdrawn,
    OrderToBeCancelled,
    IntegrationRemoved,
    IntegrationOff,
    BranchNotProven,
    UnknownPlatform,
    CredentialsUnreadable,
    CallUnreadable {
        error: String,
    },

    // The answer is not the one that was asked for.
    SessionNotAccepted,
    NoSessions,
    NoToken,
    NoSessionInAnswer,
    NoOrderInAnswer,
    NoPackageInAnswer,
    OrderMissing {
        error: String,
    },
    OrderListMissing {
        error: String,
    },
    FieldUnreadable {
        path: String,
        error: String,
    },
    NotAnOrder,
    OrderUnreadable {
        path: String,
        error: String,
    },
    EndlessList,
    MenuTooLong,
    /// It has the request, and the result later.
    NoResultYet,
    /// It does not let the store be changed now; its own word for the reason.
    StoreNotChangeable {
        reason: Option<String>,
    },
    /// It does not offer this state, or none of the lengths or reasons, now.
    NotOffered,
    /// The restaurant is not connected to it now.
    NotConnected,
    /// The store is missing in its list.
    StoreMissing,
    /// The item is not in its menu.
    ItemMissing {
        id: String,
    },
    Says {
        text: String,
    },

    // What the platform shows of the order.
    OrderCancelled,
    NotDone,
    NotDoneYet,
    FailedAndNotDone,
    /// The request may have reached it, and it cannot be asked.
    OutcomeUnknown,
    /// It says that the step was done already, but its order shows another status.
    Contradicted {
        status: i64,
        name: String,
    },

    // The round of polling failed here.
    OrdersNotStored,
    PollPanicked {
        error: String,
    },
}

impl fmt::Display for PlatformFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::Unsupported { task } => return write!(f, "the platform has no way to {task}"),
            Self::MissingCredential { name } => {
                return write!(f, "the integration has no credential `{name}`");
            }
            Self::MissingData { data } => return write!(f, "the order was kept without its {data}"),
            Self::RateLimited { calls, seconds } => {
                return write!(f, "the platform takes {calls} such calls in {seconds} s");
            }
            Self::PauseBetweenMoves { seconds } => {
                return write!(f, "the platform wants {seconds} s between two moves");
            }
            Self::CallUnreadable { error } => {
                return write!(f, "what the call needs cannot be read: {error}");
            }
            Self::OrderMissing { error } => return write!(f, "the answer holds no order: {error}"),
            Self::OrderListMissing { error } => {
                return write!(f, "the answer holds no list of orders: {error}");
            }
            Self::FieldUnreadable { path, error } => return write!(f, "the answer's {path} {error}"),
            Self::OrderUnreadable { path, error } => {
                return write!(f, "the platform's order cannot be read: {path} {error}");
            }
            Self::StoreNotChangeable { reason: Some(reason) } => {
                return write!(f, "the platform does not let the store be changed now: {reason}");
            }
            Self::ItemMissing { id } => return write!(f, "the platform's menu has no item {id}"),
            Self::Says { text } => return write!(f, "says: {text}"),
            Self::Contradicted { status, name } => {
                return write!(
                    f,
                    "the platform says that it was so already, but its order is at {status} ({name})"
                );
            }
            Self::PollPanicked { error } => return write!(f, "asking ended badly: {error}"),
            Self::RequestNotWritable => "the request cannot be written",
            Self::DotSegment => "an id of only dots cannot be part of an address",
            Self::NoFreeSlot => "too many platforms are being asked just now",
            Self::LoginInProgress => "another log-in is still in progress",
            Self::NotSentInTime => "it was not sent in time",
            Self::Withdrawn => "it was withdrawn before it was sent",
            Self::OrderToBeCancelled => "the order is to be cancelled",
            Self::IntegrationRemoved => "the integration was removed",
            Self::IntegrationOff => "the integration is switched off",
            Self::BranchNotProven => "the branch is not known to be the account's",
            Self::UnknownPlatform => "the platform is not one of this version",
            Self::CredentialsUnreadable => "Its stored credentials cannot be read; connect it again.",
            Self::SessionNotAccepted => "the platform does not accept our session",
            Self::NoSessions => "the platform has no sessions",
            Self::NoToken => "answered without a token",
            Self::NoSessionInAnswer => "the answer to the log-in holds no session",
            Self::NoOrderInAnswer => "answered without the order",
            Self::NoPackageInAnswer => "the answer holds no package",
            Self::NotAnOrder => "the platform showed something else than an order",
            Self::EndlessList => "the platform's list has no end",
            Self::MenuTooLong => "the menu needs too many questions",
            Self::NoResultYet => "the platform has no result yet",
            Self::StoreNotChangeable { reason: None } => "the platform does not let the store be changed now",
            Self::NotOffered => "the platform does not offer this now",
            Self::NotConnected => "the restaurant is not connected to the platform",
            Self::StoreMissing => "the platform's list lacks the store",
            Self::OrderCancelled => "the order was cancelled",
            Self::NotDone => "the platform has not done it",
            Self::NotDoneYet => "the platform has not done it yet",
            Self::FailedAndNotDone => "the platform failed, and has not done it",
            Self::OutcomeUnknown => "it is not known whether the platform has taken it",
            Self::OrdersNotStored => "the orders could not be stored",
        };
        f.write_str(text)
    }
}

macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($variant:ident $english:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum $name {
            $($variant,)*
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self {
                    $(Self::$variant => $english,)*
                })
            }
        }
    };
}

words! {
    /// What a platform may have no way to do. The text reads well after "no way to".
    PlatformTask {
        ReadOrder "read an order",
        ReadMenu "read a menu",
        ListOrders "be asked for orders",
        ListReasons "be asked for reasons",
        MorePages "show more pages",
        Questions "be asked",
        AnotherQuestion "be asked again",
        TestConnection "be tried",
        Enlist "be told",
        Ready "hear that this order is ready",
        Step "be told of this step",
        ReadStore "read the state of a store",
        ChangeStore "open or close a store",
        BusyMode "show a store as busy",
        ReadHours "read opening hours",
        WriteHours "change opening hours",
        TheseHours "hold these opening hours",
        ChangeItems "switch products on or off",
        ChangeOptions "switch options on or off",
        ManyItems "switch so many items at once",
        ReadItem "read the state of an item",
        ChangePrices "change prices",
        ChangeOptionPrices "change prices of options",
        ChangeBranchPrices "change the prices of one branch only",
        ManyPrices "change so many prices at once",
        ReadPrices "be asked about changed prices",
        PushCatalog "take a whole menu",
    }
}

words! {
    /// What is missing in an order. The text reads well after "its".
    MissingData {
        Reason "reason",
        ReasonNumber "reason as a number",
        PackageItems "package item ids",
        OptionPlace "option group and product",
    }
}
