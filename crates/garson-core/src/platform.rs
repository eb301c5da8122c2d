//! The connector of a platform: it turns messages into changes and actions into requests.
//!
//! A connector performs no I/O. Its input is a [`HookRequest`] or [`HttpResponse`], its output an [`HttpRequest`]; all are
//! values, so that its tests are files.

mod capability;
mod inbound;
mod outbound;
mod provider;

pub use capability::{Capability, CredentialField, CredentialKind, Limit, PollStyle, Polling};
pub use inbound::{
    Claim, FETCHED, HookReply, HookRequest, HookRoute, IntakeOutcome, Message, News, Sighting, Unreadable,
    Verified, Which,
};
pub use outbound::{
    CallError, CallRequest, HttpRequest, HttpResponse, Link, MenuStep, Outcome, Page, PlatformError,
    RefusalCause, Session, Success, Trust, Window, is_dots,
};
pub use provider::Provider;

use crate::explanation::{PlatformFailure, PlatformTask};
use crate::field_problem::FieldProblem;
use crate::integration::Credentials;
use crate::order::{CallKind, Order, Reason};
use crate::secret::Secret;

/// The connector of one platform.
pub trait Platform: Send + Sync {
    fn provider(&self) -> Provider;

    /// Its display name.
    fn name(&self) -> &'static str;

    fn capability(&self) -> &'static Capability;

    fn credential_fields(&self) -> &'static [CredentialField];

    fn hooks(&self) -> &'static [HookRoute];

    /// Checks the form of a branch id.
    fn check_branch(&self, _branch: &str) -> Result<(), FieldProblem> {
        Ok(())
    }

    /// The credentials that only the owner of a branch has. When an integration has all of these itself, a session or a list of
    /// orders that they open proves its right to the branch. None: nothing that the platform answers proves it.
    fn branch_credentials(&self) -> &'static [&'static str] {
        &[]
    }

    /// What an operator can set for it, as a commented `[platforms.<key>]` table of TOML: `base_url`, `poll_seconds`,
    /// `seconds_between_moves`, and credentials (in snake case) that all integrations share.
    fn settings(&self) -> &'static str {
        ""
    }

    /// How a message can be authenticated; called before the body is read.
    fn claim(&self, request: &HookRequest) -> Claim;

    /// The secret that messages for these credentials present, where the platform's claims are [`Claim::Secrets`].
    fn inbound_secret(&self, credentials: &Credentials) -> Option<Secret<Vec<u8>>>;

    /// Authenticates a message. There is no default: every platform must say what makes its messages genuine.
    fn verify<'a>(&self, request: &'a HookRequest, credentials: &Credentials) -> Option<Verified<'a>>;

    /// Reads a message, or one order that was fetched ([`FETCHED`]).
    fn read(&self, message: &Verified<'_>) -> Result<Message, Unreadable>;

    fn reply(&self, reception: &IntakeOutcome, request_id: &str) -> HookReply;

    /// The reasons with which this order can be cancelled, if they are a fixed list.
    fn fixed_reasons(&self, order: Option<&Order>) -> Vec<Reason>;

    /// Whether the platform expects this call for this order.
    fn wants(&self, call: CallKind, order: &Order, credentials: &Credentials) -> bool;

    /// Whether the step needs no call for this order. Then the order advances without one.
    fn is_implied(&self, _call: CallKind, _order: &Order) -> bool {
        false
    }

    /// Whether the platform receives the time that the kitchen needs when this order is accepted.
    fn takes_preparation_time(&self, _order: &Order) -> bool {
        false
    }

    /// The URL that a message gave for this call, if it is not called because the operator does not allow its host.
    fn refused_address(&self, _request: &CallRequest<'_>, _link: &Link<'_>) -> Option<String> {
        None
    }

    /// The request that makes the call.
    fn write(&self, call_request: &CallRequest<'_>, link: &Link<'_>) -> Result<HttpRequest, PlatformError>;

    /// Interprets the response to a call.
    fn outcome(&self, call: CallKind, link: &Link<'_>, response: &HttpResponse) -> Outcome;

    /// The platform's own status of an order after this call, given the order before it, if known.
    fn word_after(&self, _call: CallKind, _order: &Order) -> Option<&'static str> {
        None
    }

    /// The request that starts a session, if the platform has sessions.
    fn login(&self, _link: &Link<'_>) -> Result<Option<HttpRequest>, PlatformError> {
        Ok(None)
    }

    /// The session in the response to a login.
    fn session(&self, _response: &HttpResponse) -> Result<Session, CallError> {
        Err(CallError::refused(PlatformFailure::NoSessions))
    }

    /// The request that switches order reception on at the platform, if one is needed.
    fn enlist(&self, _link: &Link<'_>) -> Result<Option<HttpRequest>, PlatformError> {
        Ok(None)
    }

    /// The request that reads one order, if [`Capability::look`].
    fn look(&self, _order: &Order, _link: &Link<'_>) -> Result<HttpRequest, PlatformError> {
        Err(unsupported(PlatformTask::ReadOrder))
    }

    /// Whether an order that is read back shows if this step was done.
    fn shows(&self, _call: CallKind) -> bool {
        self.capability().look
    }

    /// Whether orders cannot be read before they are accepted or cancelled.
    fn hides_unaccepted(&self) -> bool {
        false
    }

    /// The order in the response, as a document that [`Platform::read`] accepts as [`FETCHED`].
    fn looked(&self, _link: &Link<'_>, _response: &HttpResponse) -> Result<Vec<u8>, CallError> {
        Err(CallError::refused(
            unsupported(PlatformTask::ReadOrder).explanation(),
        ))
    }

    /// The request for a page of orders (the first is 0), if [`Capability::polling`].
    fn poll(&self, _link: &Link<'_>, _window: &Window, _page: u32) -> Result<HttpRequest, PlatformError> {
        Err(unsupported(PlatformTask::ListOrders))
    }

    /// The orders in the response for that page.
    fn polled(&self, _link: &Link<'_>, _page: u32, _response: &HttpResponse) -> Result<Page, CallError> {
        Err(CallError::refused(
            unsupported(PlatformTask::ListOrders).explanation(),
        ))
    }

    /// The request for the reasons with which an order can be cancelled, if [`Capability::live_reasons`].
    fn reasons(&self, _order: &Order, _link: &Link<'_>) -> Result<HttpRequest, PlatformError> {
        Err(unsupported(PlatformTask::ListReasons))
    }

    fn read_reasons(&self, _link: &Link<'_>, _response: &HttpResponse) -> Result<Vec<Reason>, CallError> {
        Err(CallError::refused(
            unsupported(PlatformTask::ListReasons).explanation(),
        ))
    }

    /// The next request for the menu, given the responses so far, or the menu.
    fn menu(&self, _link: &Link<'_>, _answers: &[HttpResponse]) -> Result<MenuStep, PlatformError> {
        Err(unsupported(PlatformTask::ReadMenu))
    }
}

fn unsupported(what: PlatformTask) -> PlatformError {
    PlatformError::Unsupported { what }
}
