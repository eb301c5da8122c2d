//! The states of an event's delivery to the account's webhook.

/// The state of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeliveryState {
    /// Not delivered yet; attempts go on.
    Pending,
    /// The account's receiver answered 2xx.
    Delivered,
    /// All attempts have failed.
    Failed,
    /// There was nowhere to send it.
    Skipped,
}

impl DeliveryState {
    pub const ALL: [Self; 4] = [Self::Pending, Self::Delivered, Self::Failed, Self::Skipped];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Delivered => "delivered",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }

    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == name)
    }
}

macro_rules! reasons {
    ($($(#[$doc:meta])* $variant:ident $name:literal,)*) => {
        /// The one reason why an event is not delivered.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum UndeliveredReason {
            $($(#[$doc])* $variant,)*
        }

        impl UndeliveredReason {
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }
    };
}

reasons! {
    /// It waits for its first attempt.
    Waiting "waiting",
    /// The event before it in its order comes first.
    Earlier "earlier_event",
    /// No webhook URL was registered when the event happened.
    NoUrl "no_url",
    /// The webhook URL was removed before it could be delivered.
    UrlRemoved "url_removed",
    /// The endpoint does not want such events.
    Filtered "filtered",
    /// The endpoint was paused when the event happened, or before it could be delivered.
    EndpointPaused "endpoint_paused",
    /// The endpoint was disabled because it kept failing.
    EndpointDisabled "endpoint_disabled",
    /// The receiver answered, but not with 2xx.
    Status "bad_status",
    /// The receiver answered with a redirect, which is not followed.
    Redirect "redirect",
    /// The address must not be called.
    NotAllowed "target_not_allowed",
    /// The receiver's name has no address.
    Name "name_not_resolved",
    /// No connection could be made.
    Connect "cannot_connect",
    /// The connection could not be made safe.
    Tls "tls_failed",
    /// The connection broke before an answer came.
    Broken "connection_broken",
    /// No answer came in time.
    TimedOut "timed_out",
}

/// After this many failures the next event of the order stops waiting.
pub const FAILURES_THAT_HOLD: i64 = 2;
