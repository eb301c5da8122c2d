//! Why a request fails: one closed set for the API, the panel and the command line. `Display` is the text for clients.

use crate::net::guard;
use crate::supervisor::TurnError;
use garson_core::account_state::QuotaKind;
use garson_core::explanation::{Explanation, TargetRefusal};
use garson_core::field_problem::FieldProblem;
use garson_core::id::OrderId;
use garson_core::key_access::Scope;
use garson_core::order::{Reason, Refusal};
use garson_core::platform::PlatformError;
use garson_store::StoreError;
use std::fmt;
use thiserror::Error;

/// What an id names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thing {
    Account,
    Business,
    Integration,
    InboxMessage,
    HookRoute,
    BranchOwner,
    CatalogPush,
    Channel,
    Erasure,
    Endpoint,
    Key,
    Order,
    PriceChange,
    Printer,
    Product,
    Restaurant,
    Retry,
    User,
    WebhookRecord,
}

impl fmt::Display for Thing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Account => "account",
            Self::Business => "business",
            Self::Integration => "integration",
            Self::InboxMessage => "message",
            Self::HookRoute => "route",
            Self::BranchOwner => "owner",
            Self::CatalogPush => "catalog push",
            Self::Channel => "channel",
            Self::Erasure => "erasure",
            Self::Endpoint => "endpoint",
            Self::Key => "key",
            Self::Order => "order",
            Self::PriceChange => "price change",
            Self::Printer => "printer",
            Self::Product => "product",
            Self::Restaurant => "restaurant",
            Self::Retry => "retry",
            Self::User => "user",
            Self::WebhookRecord => "webhook record",
        })
    }
}

/// Something that the account does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    pub thing: Thing,
    pub id: String,
}

/// The longest id that is repeated in a message.
const MAX_SHOWN_ID: usize = 100;

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id: String = self.id.chars().take(MAX_SHOWN_ID).collect();
        match self.thing {
            Thing::Account => write!(f, "There is no account {id}."),
            thing => write!(f, "No {thing} {id} in this account."),
        }
    }
}

/// Why a request fails.
#[derive(Debug, Error)]
pub enum Fault {
    /// The cause may contain data; it is for the operator, not for clients.
    #[error("{}", storage_text(.0))]
    Store(#[source] StoreError),
    #[error("{0}")]
    NotFound(Missing),
    /// The platform's id names several orders.
    #[error("{id} names several orders; use a record id.")]
    AmbiguousOrder { id: String, candidates: Vec<OrderId> },
    /// The order's state does not allow it.
    #[error("{0}")]
    Refused(Refusal),
    /// The order has another status than the client has seen.
    #[error("The order has moved on since it was seen.")]
    MovedOn,
    #[error("The platform does not accept this reason.")]
    ReasonNotAccepted { accepted: Vec<Reason> },
    #[error("{field} {problem}.")]
    Invalid { field: String, problem: FieldProblem },
    #[error("The target is not allowed: {refusal}.")]
    TargetNotAllowed {
        field: &'static str,
        refusal: TargetRefusal,
    },
    #[error("The target did not answer: {explanation}.")]
    TargetUnreachable { explanation: Explanation },
    /// It decides where the primary key is sent, and another key was used.
    #[error(
        "Only the account's primary key may do this, or an owner of the account who is signed in to the panel."
    )]
    PrimaryKeyRequired,
    /// Another integration of the account has that branch.
    #[error("The branch {remote_id} belongs to another integration of this platform.")]
    RemoteIdTaken { remote_id: String },
    #[error("There is no platform {provider}; GET /providers lists them.")]
    UnknownProvider { provider: String },
    #[error("The restaurant is not connected to {provider}.")]
    NotConnected { provider: String },
    #[error("{}", sentence(.0))]
    Platform(PlatformError),
    /// No package covers the platform now.
    #[error("No package of the restaurant covers {provider} now, so it cannot be switched on.")]
    NotCovered { provider: String },
    /// The cursor or event id is unknown.
    #[error("{given} {UNKNOWN_PLACE}.")]
    UnknownPlace { given: &'static str },
    /// Events after the cursor are not kept any more.
    #[error("{given} {FORGOTTEN_PLACE}.")]
    ForgottenPlace { given: &'static str },
    #[error("As many streams and waiting requests are open as may be; end some, or try again later.")]
    TooManyStreams,
    /// The limit of calls by hand to the account's own addresses is reached.
    #[error(
        "As many of the account's addresses are being called by hand as may be at the same time; wait until one of them has \
         answered."
    )]
    TooManySends,
    #[error("As many of these run as may; GET /webhook/deliveries/retries lists them.")]
    TooManyRetries,
    #[error("As many erasures run as may; GET /privacy/erasures lists them.")]
    TooManyErasures,
    /// The key of a waiting request was revoked.
    #[error("The key was revoked.")]
    KeyRevoked,
    /// Escalations or notices use the channel.
    #[error("The channel is still used by {}. Remove it there first.", used_by(.restaurants, *.by_notices))]
    ChannelInUse {
        restaurants: Vec<String>,
        by_notices: bool,
    },
    #[error("There are as many channels as an account may have.")]
    TooManyChannels,
    #[error("The last key of an account, or the last without limits and end, cannot be revoked here.")]
    LastKey,
    #[error("The key has expired.")]
    KeyExpired,
    /// The key's scopes or restaurants do not allow it.
    #[error("The key may not do this: it {}.", needed(.scopes))]
    KeyNotAllowed { scopes: Vec<Scope> },
    #[error("The key may not be used from this address.")]
    AddressNotAllowed,
    /// It would be able to do more than whoever issues it, or last longer.
    #[error("A key cannot be given what its issuer may not do itself.")]
    KeyTooPowerful,
    #[error("The key has expired, or another one replaces it already.")]
    KeyReplaced,
    #[error("A key with limits or an end cannot become the primary one.")]
    PrimaryKeyLimited,
    /// The operator has disabled the account, or is deleting it.
    #[error(
        "The account is disabled; the operator of this service can enable it. Orders of platforms are still recorded."
    )]
    AccountDisabled,
    #[error("The account is being deleted.")]
    AccountDeleting,
    #[error("The account is in use: disable it first (garson account disable).")]
    NotDisabled,
    #[error("The account has reached its quota of {limit} {}; the operator of this service can raise it.", .kind.as_str())]
    QuotaReached { kind: QuotaKind, limit: i64 },
    #[error(
        "The account has reached its quota of {limit} orders for today; the operator of this service can raise it."
    )]
    OrderQuotaReached { limit: i64 },
    #[error("The e-mail address or the password is wrong.")]
    SignInRefused,
    /// There were too many wrong passwords lately.
    #[error("There were too many wrong passwords; try again later.")]
    SignInLocked,
    /// Too many attempts to sign in, from this address or altogether.
    #[error("There were too many attempts to sign in; try again later.")]
    SignInFlood,
    /// The user's role or restaurants do not allow it.
    #[error("Your role does not allow this.")]
    NotAllowed,
    /// The user is responsible for restaurants that were all deleted.
    #[error("All restaurants that you are responsible for were deleted.")]
    NoRestaurantLeft,
    /// A link or a step of signing in that is unknown, was used, or has ended.
    #[error("The link is not valid any more. Ask for another one.")]
    LinkInvalid,
    #[error("The account needs an owner who can sign in.")]
    LastOwner,
    #[error("The invitation was accepted already.")]
    AlreadyAccepted,
    #[error("There are as many users as an account may have.")]
    TooManyUsers,
    #[error("The owner of the account requires a second factor.")]
    TwoFactorRequired,
    #[error("There is no user {email}.")]
    NoSuchUser { email: String },
    /// As many printers are registered, or tickets wait for the printer, as may.
    #[error("There are as many of these as may be; remove some, or wait.")]
    TooManyPrints,
    #[error("No webhook URL is registered; PUT /webhook sets one.")]
    NoWebhook,
    #[error("The e-mail address has an account already, or belongs to a user.")]
    EmailTaken,
    /// The platform refuses, in its own words.
    #[error("The platform {message}.")]
    ProviderRefused { message: Explanation },
    /// The platform could not be asked; nothing has changed.
    #[error("The platform could not be asked, and nothing has changed: {message}.")]
    ProviderUnreachable { message: Explanation },
    /// The platform did not answer in time; the order is read from it to find out what it did.
    #[error(
        "The platform did not answer in time. The order is read from it again; if it was done there, it moves."
    )]
    ProviderTimeout,
    /// The platform answered with an error that does not say whether it did it.
    #[error(
        "The platform answers with an error, and the order is read from it to find out what it did: {message}."
    )]
    ProviderUnclear { message: Explanation },
}

/// What is wrong with a cursor; reads well after its name.
pub const UNKNOWN_PLACE: &str = "is not one that was given out here, or it is not kept any more";
pub const FORGOTTEN_PLACE: &str =
    "lies before events that are no longer kept, so that some would be missing; begin anew without it";

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
    /// The fault for a URL that an account gave and that cannot or may not be called.
    #[must_use]
    pub fn target(field: &'static str, refusal: TargetRefusal) -> Self {
        // How to allow it is for the operator, not for the account.
        tracing::debug!(%refusal, hint = guard::HINT, "a target was refused");
        if refusal.is_malformed() {
            Self::invalid(field, FieldProblem::NotCallable { refusal })
        } else {
            Self::TargetNotAllowed { field, refusal }
        }
    }

    pub fn not_found(thing: Thing, id: impl ToString) -> Self {
        Self::NotFound(Missing {
            thing,
            id: id.to_string(),
        })
    }

    pub fn invalid(field: impl Into<String>, problem: impl Into<FieldProblem>) -> Self {
        Self::Invalid {
            field: field.into(),
            problem: problem.into(),
        }
    }
}

fn used_by(restaurants: &[String], by_notices: bool) -> String {
    let notices = by_notices.then_some("operational notices");
    let names = restaurants.iter().map(String::as_str).chain(notices);
    names.collect::<Vec<_>>().join(", ")
}

/// What a key lacks. Without scopes: what it needs concerns the account as a whole.
fn needed(scopes: &[Scope]) -> String {
    if scopes.is_empty() {
        return "is for named restaurants, and this concerns the account as a whole".to_owned();
    }
    let names: Vec<&str> = scopes.iter().map(|scope| scope.as_str()).collect();
    format!("needs the scope {}", names.join(" or "))
}

fn storage_text(error: &StoreError) -> &'static str {
    if error.is_temporary() {
        "Storage is not available right now; try again."
    } else {
        "Something went wrong here. The request id helps to find it."
    }
}

/// The error as a sentence.
fn sentence(error: &PlatformError) -> String {
    let text = error.to_string();
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        format!("{}{}.", first.to_uppercase(), letters.as_str())
    })
}
