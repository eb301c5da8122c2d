//! What a platform supports, and which credentials it requires.

use super::store_support::{CatalogSupport, HoursSupport, ItemSupport, PriceSupport, StoreSupport};
use crate::explanation::PlatformTask;
use crate::order::Courier;
use crate::price_change::PriceScope;

/// What a platform can do; read by the API, the panel, the flows and the conformance suite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capability {
    /// The platform must agree before an order is verified or cancelled.
    pub asks: bool,
    /// The sender numbers its orders itself, so the same id with other content is an error that it must get.
    pub own_ids: bool,
    pub cancel_after_accept: bool,
    /// Reasons are asked of the platform; otherwise they are a fixed list.
    pub live_reasons: bool,
    pub menu: bool,
    /// How the store is opened and closed, where it can be.
    pub store: Option<StoreSupport>,
    /// How opening hours are read and written, where they can be.
    pub hours: Option<HoursSupport>,
    /// How products and options are switched on and off, where they can be.
    pub items: Option<ItemSupport>,
    /// How prices are changed, where they can be.
    pub prices: Option<PriceSupport>,
    /// How a whole menu is sent to the platform, where that is possible.
    pub catalog_push: Option<CatalogSupport>,
    pub couriers: &'static [Courier],
    /// Seconds that the platform wants between two moves of an order.
    pub seconds_between_moves: u32,
    /// Seconds within which an order must be accepted.
    pub accept_within_seconds: Option<u32>,
    /// How orders can be asked for, where they can.
    pub polling: Option<Polling>,
    /// An order's state can be read from the platform.
    pub look: bool,
    /// How often the platform may be called, for each token; a request names the limit it counts against.
    pub limits: &'static [Limit],
}

impl Capability {
    /// Whether a task besides orders is among what the platform can do.
    #[must_use]
    pub fn has(&self, task: PlatformTask) -> bool {
        use PlatformTask as Task;
        match task {
            Task::ReadMenu => self.menu,
            Task::ReadStore | Task::ChangeStore => self.store.is_some(),
            Task::BusyMode => self.store.is_some_and(|store| !store.busy_minutes.is_empty()),
            Task::ReadHours | Task::WriteHours => self.hours.is_some(),
            Task::ChangeItems => self.items.is_some(),
            Task::ChangeOptions => self.items.is_some_and(|items| items.options),
            Task::ManyItems => self.items.is_some_and(|items| items.per_call > 1),
            Task::ReadItem => self.items.is_some_and(|items| items.reads),
            Task::ChangePrices => self.prices.is_some(),
            Task::ChangeOptionPrices => self.prices.is_some_and(|prices| prices.options),
            Task::ChangeBranchPrices => self
                .prices
                .is_some_and(|prices| prices.scope == PriceScope::Branch),
            Task::ManyPrices => self.prices.is_some_and(|prices| prices.per_call > 1),
            Task::ReadPrices => self.prices.is_some_and(|prices| prices.is_queued),
            Task::PushCatalog => self.catalog_push.is_some(),
            Task::ReadOrder => self.look,
            Task::ListOrders => self.polling.is_some(),
            Task::ListReasons => self.live_reasons,
            Task::TheseHours
            | Task::MorePages
            | Task::Questions
            | Task::AnotherQuestion
            | Task::TestConnection
            | Task::Enlist
            | Task::Ready
            | Task::Step => false,
        }
    }
}

/// How a platform is asked for orders, and how often by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Polling {
    pub style: PollStyle,
    pub every_seconds: u32,
}

/// What a platform answers when it is asked for orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PollStyle {
    /// All that changed within a window of time.
    Changes,
    /// All that are open now: an order that is missing has come to an end there.
    Open,
    /// Which orders were cancelled lately, and no more than that: each of [`Page::orders`](super::Page::orders) is then the
    /// identity of an order.
    Cancelled,
}

/// So many requests in so much time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    pub name: &'static str,
    pub requests: u32,
    pub per_seconds: u32,
    pub scope: LimitScope,
    /// Another limit that the request counts against too.
    pub within: Option<&'static str>,
}

/// What requests are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitScope {
    /// All requests of a token that name the limit.
    Token,
    /// Those of a token to the same path, ids included.
    Path,
}

/// A credential or setting that an integration requires or accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CredentialField {
    pub name: &'static str,
    /// Without it the integration cannot be switched on.
    pub required: bool,
    pub kind: CredentialKind,
    /// What the platform's own people call it, in Turkish and in English.
    pub label: (&'static str, &'static str),
    /// The platform issues this secret, so no minimum length is required of it.
    pub is_given: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CredentialKind {
    /// A key or password: long enough, and fit to travel in a header.
    Secret,
    /// A name or number that is not secret.
    Plain,
    /// An address that the account gives, so the guard judges it.
    Address,
    /// HTTP headers by name, as a JSON object.
    Headers,
    /// One of these words.
    Choice(&'static [&'static str]),
}

impl CredentialField {
    #[must_use]
    pub const fn required(name: &'static str, kind: CredentialKind) -> Self {
        Self {
            name,
            required: true,
            kind,
            label: (name, name),
            is_given: false,
        }
    }

    #[must_use]
    pub const fn optional(name: &'static str, kind: CredentialKind) -> Self {
        Self {
            name,
            required: false,
            kind,
            label: (name, name),
            is_given: false,
        }
    }

    /// The same, given out by the platform.
    #[must_use]
    pub const fn given(mut self) -> Self {
        self.is_given = true;
        self
    }

    /// The same with labels, in Turkish and English.
    #[must_use]
    pub const fn called(mut self, turkish: &'static str, english: &'static str) -> Self {
        self.label = (turkish, english);
        self
    }
}
