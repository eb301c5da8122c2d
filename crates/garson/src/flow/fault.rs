//! Why something that was wanted does not happen; one closed set for every way in.

use crate::net::guard;
use crate::supervisor::TurnError;
use garson_core::id::OrderId;
use garson_core::order::{Reason, Refusal};
use garson_core::platform::PlatformError;
use garson_store::StoreError;

/// What is said of an address that nobody could call, before the reason.
pub const CANNOT_BE_CALLED: &str = "cannot be called: ";

/// A refusal or failure.
#[derive(Debug)]
pub enum Fault {
    Store(StoreError),
    /// There is no such thing in this account.
    NotFound {
        what: &'static str,
        id: String,
    },
    /// The platform's id names several orders.
    AmbiguousOrder {
        id: String,
        candidates: Vec<OrderId>,
    },
    /// The order's state does not allow it.
    Refused(Refusal),
    /// It does not stand any longer where whoever wants it has seen it.
    MovedOn,
    ReasonNotAccepted {
        accepted: Vec<Reason>,
    },
    /// A field is wrong.
    Invalid {
        field: String,
        message: String,
    },
    TargetNotAllowed {
        field: &'static str,
        reason: String,
    },
    TargetUnreachable {
        explanation: String,
    },
    /// It decides where the primary key is sent, and another key asks for it.
    PrimaryKeyRequired,
    /// Another integration of the account has that branch.
    RemoteIdTaken {
        remote_id: String,
    },
    UnknownProvider {
        provider: String,
    },
    NotConnected {
        provider: String,
    },
    Platform(PlatformError),
    /// No package covers the platform now.
    NotCovered {
        provider: String,
    },
    /// Nothing can be followed from there.
    UnknownPlace {
        given: &'static str,
    },
    /// Between there and what is still kept, events are gone.
    ForgottenPlace {
        given: &'static str,
    },
    /// As many wait for events as may.
    TooManyStreams,
    /// As many of the account's own addresses are being called by hand as may be at the same time.
    TooManySends,
    /// As much is being sent again as may be.
    TooManyRetries,
    /// The key with which somebody waited was revoked.
    KeyRevoked,
    /// The last key cannot be revoked.
    LastKey,
    /// E-mail address and password do not go together.
    SignInRefused,
    /// There were too many wrong passwords lately.
    SignInLocked,
    /// Too many attempts to sign in, from this address or altogether.
    SignInFlood,
    /// No webhook is registered.
    NoWebhook,
    EmailTaken,
    /// The platform says no, in its own words.
    ProviderRefused {
        message: String,
    },
    /// The platform could not be asked; nothing has changed.
    ProviderUnreachable {
        message: String,
    },
    /// The platform did not answer in time; what became of it is being found out.
    ProviderTimeout,
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl TurnError for Fault {
    fn is_outage(&self) -> bool {
        matches!(self, Self::Store(error) if error.is_temporary())
    }
}

impl From<Refusal> for Fault {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<PlatformError> for Fault {
    fn from(error: PlatformError) -> Self {
        Self::Platform(error)
    }
}

impl Fault {
    /// An address that an account gave cannot be called, or may not be.
    #[must_use]
    pub fn target(field: &'static str, refusal: &guard::Refusal) -> Self {
        // How to allow it is the operator's to know, not the account's.
        tracing::debug!(%refusal, hint = guard::HINT, "a target was refused");
        match refusal.is_malformed {
            true => Self::invalid(field, format!("{CANNOT_BE_CALLED}{refusal}")),
            false => Self::TargetNotAllowed {
                field,
                reason: refusal.to_string(),
            },
        }
    }

    pub fn not_found(what: &'static str, id: impl ToString) -> Self {
        Self::NotFound {
            what,
            id: id.to_string(),
        }
    }

    pub fn invalid(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Invalid {
            field: field.into(),
            message: message.into(),
        }
    }
}
