//! What a platform is to us: a dialect that turns messages into changes and wishes into requests.
//!
//! A platform performs no I/O. What comes in is a [`HookRequest`], what goes out an [`HttpRequest`]; both are
//! values, so that a platform's tests are files.

mod capability;
mod inbound;
mod outbound;
mod provider;

pub use capability::{Capability, CredentialField, CredentialKind, Limit, PollStyle, Polling};
pub use inbound::{
    Claim, FETCHED, HookReply, HookRequest, HookRoute, Message, News, Reception, Sighting, Unreadable,
    Verified, Which,
};
pub use outbound::{
    Errand, HttpRequest, HttpResponse, Link, MenuStep, Outcome, Page, PlatformError, RefusalCause, Session,
    Success, Trouble, Trust, Window, is_dots,
};
pub use provider::Provider;

use crate::explanation::{PlatformFailure, PlatformTask};
use crate::field_problem::FieldProblem;
use crate::integration::Credentials;
use crate::order::{CallKind, Order, Reason};
use crate::secret::Secret;

/// A platform's dialect.
pub trait Platform: Send + Sync {
    fn provider(&self) -> Provider;

    /// What people call it.
    fn name(&self) -> &'static str;

    fn capability(&self) -> &'static Capability;

    fn credential_fields(&self) -> &'static [CredentialField];

    fn hooks(&self) -> &'static [HookRoute];

    /// Can a branch be called so? What is wrong reads well after its name.
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

    /// On what the message's claim to be genuine rests; asked before the body is there.
    fn claim(&self, request: &HookRequest) -> Claim;

    /// The secret that messages for these credentials present, where the platform's claims are [`Claim::Secrets`].
    fn inbound_secret(&self, credentials: &Credentials) -> Option<Secret<Vec<u8>>>;

    /// Checks a message. There is no default: every platform says what makes its messages genuine.
    fn verify<'a>(&self, request: &'a HookRequest, credentials: &Credentials) -> Option<Verified<'a>>;

    /// Understands a message, or one order that was fetched ([`FETCHED`]).
    fn read(&self, message: &Verified<'_>) -> Result<Message, Unreadable>;

    fn reply(&self, reception: &Reception, request_id: &str) -> HookReply;

    /// The reasons with which this order can be cancelled, where they are a fixed list.
    fn fixed_reasons(&self, order: Option<&Order>) -> Vec<Reason>;

    /// Does the platform want this call for this order?
    fn wants(&self, call: CallKind, order: &Order, credentials: &Credentials) -> bool;

    /// Is this step done for this order without a call? Then none is made, and the order moves on.
    fn is_implied(&self, _call: CallKind, _order: &Order) -> bool {
        false
    }

    /// The address that a message gave for this call and that is not called, because the operator does not allow its host.
    fn refused_address(&self, _errand: &Errand<'_>, _link: &Link<'_>) -> Option<String> {
        None
    }

    /// The request that makes the call.
    fn write(&self, errand: &Errand<'_>, link: &Link<'_>) -> Result<HttpRequest, PlatformError>;

    /// What the answer to a call means.
    fn outcome(&self, call: CallKind, link: &Link<'_>, response: &HttpResponse) -> Outcome;

    /// The platform's own word for where an order stands after this call was done, of an order as it stood before; nothing where it
    /// is not known.
    fn word_after(&self, _call: CallKind, _order: &Order) -> Option<&'static str> {
        None
    }

    /// The request that begins a session; nothing where the platform has none.
    fn login(&self, _link: &Link<'_>) -> Result<Option<HttpRequest>, PlatformError> {
        Ok(None)
    }

    /// The session in the answer to a log-in.
    fn session(&self, _response: &HttpResponse) -> Result<Session, Trouble> {
        Err(Trouble::refused(PlatformFailure::NoSessions))
    }

    /// The request that tells the platform that orders may come; nothing where none is needed.
    fn enlist(&self, _link: &Link<'_>) -> Result<Option<HttpRequest>, PlatformError> {
        Ok(None)
    }

    /// The request that reads one order, where [`Capability::look`] says that it can be read.
    fn look(&self, _order: &Order, _link: &Link<'_>) -> Result<HttpRequest, PlatformError> {
        Err(unsupported(PlatformTask::ReadOrder))
    }

    /// Does an order that is read back show whether this step was done?
    fn shows(&self, _call: CallKind) -> bool {
        self.capability().look
    }

    /// Is an order missing when it is read back, as long as it has been neither accepted nor cancelled?
    fn hides_unaccepted(&self) -> bool {
        false
    }

    /// The order in the answer, as a document that [`Platform::read`] takes as [`FETCHED`].
    fn looked(&self, _link: &Link<'_>, _response: &HttpResponse) -> Result<Vec<u8>, Trouble> {
        Err(Trouble::refused(
            unsupported(PlatformTask::ReadOrder).explanation(),
        ))
    }

    /// The request for a page of orders (the first is 0), where [`Capability::polling`] says that they can be asked for.
    fn poll(&self, _link: &Link<'_>, _window: &Window, _page: u32) -> Result<HttpRequest, PlatformError> {
        Err(unsupported(PlatformTask::ListOrders))
    }

    /// The orders in the answer to the request for that page.
    fn polled(&self, _link: &Link<'_>, _page: u32, _response: &HttpResponse) -> Result<Page, Trouble> {
        Err(Trouble::refused(
            unsupported(PlatformTask::ListOrders).explanation(),
        ))
    }

    /// The request for the reasons with which an order can be cancelled, where [`Capability::live_reasons`] says so.
    fn reasons(&self, _order: &Order, _link: &Link<'_>) -> Result<HttpRequest, PlatformError> {
        Err(unsupported(PlatformTask::ListReasons))
    }

    fn read_reasons(&self, _link: &Link<'_>, _response: &HttpResponse) -> Result<Vec<Reason>, Trouble> {
        Err(Trouble::refused(
            unsupported(PlatformTask::ListReasons).explanation(),
        ))
    }

    /// The next question on the way to the menu, given the answers so far, or the menu.
    fn menu(&self, _link: &Link<'_>, _answers: &[HttpResponse]) -> Result<MenuStep, PlatformError> {
        Err(unsupported(PlatformTask::ReadMenu))
    }
}

fn unsupported(what: PlatformTask) -> PlatformError {
    PlatformError::Unsupported { what }
}
