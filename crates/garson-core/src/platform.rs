//! The connector of a platform: it turns messages into changes and actions into requests.
//!
//! A connector performs no I/O. Its input is a [`HookRequest`] or [`HttpResponse`], its output an [`HttpRequest`]; all are
//! values, so that its tests are files.

mod capability;
mod inbound;
mod operations;
mod outbound;
mod provider;
mod store_support;

pub use capability::{Capability, CredentialField, CredentialKind, Limit, LimitScope, PollStyle, Polling};
pub use inbound::{
    Claim, FETCHED, HookReply, HookRequest, HookRoute, IntakeOutcome, Message, News, Sighting, Unreadable,
    Verified, Which,
};
pub use operations::{Operations, StepResult};
pub use outbound::{
    CallError, CallRequest, HttpRequest, HttpResponse, Link, MenuStep, Outcome, Page, PlatformError,
    RefusalCause, Session, Step, Success, Trust, Window, is_dots,
};
pub use provider::Provider;
pub use store_support::{
    CatalogSupport, ClosingDurations, HoursSupport, ItemSupport, ItemTimer, PriceSupport, StoreSupport,
};

use crate::catalog::{CatalogImport, CatalogLogEntry, CatalogPush, CatalogSubmitted};
use crate::explanation::{PlatformFailure, PlatformTask};
use crate::field_problem::FieldProblem;
use crate::integration::Credentials;
use crate::item::{ItemChange, ItemReading, ItemRef, ItemsChanged};
use crate::opening_hours::Week;
use crate::order::{CallKind, Order, Reason};
use crate::price_change::{BatchReading, PriceChange, PricesChanged};
use crate::secret::Secret;
use crate::store_status::{StoreChange, StoreChanged, StoreReading};
use crate::time::Timestamp;

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

    /// What it can do with menus, stores, hours, items and prices.
    fn operations(&self) -> &'static Operations {
        &Operations::NONE
    }

    // The following methods call the functions of [`Platform::operations`]. They work in steps: given the responses so far, they return
    // the next request or the result. A response without a result is an `Answered(NotYet)`: the same request is made again after the
    // pause, without that response.

    /// Reads the menu, if [`Capability::menu`].
    fn menu(&self, link: &Link<'_>, answers: &[HttpResponse]) -> Result<MenuStep, PlatformError> {
        let menu = offered(self.operations().menu, PlatformTask::ReadMenu)?;
        menu(link, answers)
    }

    /// Reads the state of the store, if [`Capability::store`].
    fn read_store(&self, link: &Link<'_>, answers: &[HttpResponse]) -> StepResult<StoreReading> {
        let read = offered(self.operations().read_store, PlatformTask::ReadStore)?;
        read(link, answers)
    }

    /// Opens or closes the store, or sets busy mode, if [`Capability::store`].
    fn change_store(
        &self,
        change: &StoreChange,
        link: &Link<'_>,
        answers: &[HttpResponse],
    ) -> StepResult<StoreChanged> {
        let make = offered(self.operations().change_store, PlatformTask::ChangeStore)?;
        make(change, link, answers)
    }

    /// Reads the weekly hours, if [`Capability::hours`].
    fn read_hours(&self, link: &Link<'_>, answers: &[HttpResponse]) -> StepResult<Week> {
        let read = offered(self.operations().read_hours, PlatformTask::ReadHours)?;
        read(link, answers)
    }

    /// Replaces the weekly hours, if [`Capability::hours`].
    fn write_hours(&self, week: &Week, link: &Link<'_>, answers: &[HttpResponse]) -> StepResult<()> {
        let write = offered(self.operations().write_hours, PlatformTask::WriteHours)?;
        write(week, link, answers)
    }

    /// Switches products or options on or off, if [`Capability::items`].
    fn change_items(
        &self,
        change: &ItemChange,
        link: &Link<'_>,
        answers: &[HttpResponse],
    ) -> StepResult<ItemsChanged> {
        let make = offered(self.operations().change_items, PlatformTask::ChangeItems)?;
        make(change, link, answers)
    }

    /// Reads whether an item is on, if [`ItemSupport::reads`]. Otherwise the menu shows it.
    fn read_item(
        &self,
        item: &ItemRef,
        link: &Link<'_>,
        answers: &[HttpResponse],
    ) -> StepResult<ItemReading> {
        let read = offered(self.operations().read_item, PlatformTask::ReadItem)?;
        read(item, link, answers)
    }

    /// Changes prices, if [`Capability::prices`].
    fn change_prices(
        &self,
        change: &PriceChange,
        link: &Link<'_>,
        answers: &[HttpResponse],
    ) -> StepResult<PricesChanged> {
        let make = offered(self.operations().change_prices, PlatformTask::ChangePrices)?;
        make(change, link, answers)
    }

    /// Reads the progress of a batch of prices, if [`PriceSupport::is_queued`].
    fn read_prices(
        &self,
        batch: &str,
        link: &Link<'_>,
        answers: &[HttpResponse],
    ) -> StepResult<BatchReading> {
        let read = offered(self.operations().read_prices, PlatformTask::ReadPrices)?;
        read(batch, link, answers)
    }

    /// Sends a whole menu to the platform, if [`Capability::catalog_push`] and the operator has switched it on.
    fn push_catalog(
        &self,
        push: &CatalogPush<'_>,
        link: &Link<'_>,
        answers: &[HttpResponse],
    ) -> StepResult<CatalogSubmitted> {
        let send = offered(self.operations().push_catalog, PlatformTask::PushCatalog)?;
        send(push, link, answers)
    }

    /// Reads a report about an import that the platform sends to the callback address.
    fn read_catalog_import(&self, body: &[u8]) -> Result<CatalogImport, Unreadable> {
        match self.operations().read_catalog_import {
            Some(read) => read(body),
            None => Err(Unreadable {
                path: "$".to_owned(),
                message: "the platform takes no menus".to_owned(),
            }),
        }
    }

    /// Reads the platform's log of imports of the branch since a time, newest first, if [`CatalogSupport::has_log`].
    fn read_catalog_log(
        &self,
        since: Timestamp,
        link: &Link<'_>,
        answers: &[HttpResponse],
    ) -> StepResult<Vec<CatalogLogEntry>> {
        let read = offered(self.operations().read_catalog_log, PlatformTask::PushCatalog)?;
        read(since, link, answers)
    }

    /// Whether a task of the capability is switched on for an integration with these credentials (completed with the operator's
    /// settings). Some need a setting.
    fn is_enabled(&self, _task: PlatformTask, _credentials: &Credentials) -> bool {
        true
    }

    /// Whether the platform does this for an integration with these credentials. What it does not offer is an `Unsupported` error.
    fn offers(&self, task: PlatformTask, credentials: &Credentials) -> bool {
        self.capability().has(task) && self.is_enabled(task, credentials)
    }
}

/// A function of [`Operations`], or the error that the platform does not have it.
fn offered<F>(function: Option<F>, task: PlatformTask) -> Result<F, PlatformError> {
    function.ok_or(unsupported(task))
}

fn unsupported(what: PlatformTask) -> PlatformError {
    PlatformError::Unsupported { what }
}
