//! An order: its content, its status, and the rules by which it changes.
//!
//! An [`Order`] is the part that changes; its [`content`](OrderContent) is replaced only by a later version ([`revise()`]).
//! A platform reports a [`Change`], the account requests an [`Action`]; [`apply()`] decides the result of either: the changed
//! order, entries of its timeline, events, and calls to the platform.

mod action;
mod apply;
mod change;
mod content;
mod content_change;
mod line;
mod record;
mod revision;
mod status;
mod timeline_reason;

pub use action::{Action, CallArgument, CallKind, MAX_PREPARATION_MINUTES};
pub use apply::{Decision, Input, OrderOwner, Refusal, apply, place};
pub use change::{Actor, Cancellation, Change, NewOrder, Reason};
pub use content::{Address, Amount, Courier, Customer, Discount, Fulfilment, FulfilmentFlags, FundedBy};
pub use content::{FulfilmentType, OrderContent, Payment, ReadingNote};
pub use content_change::{ChangedField, ChangedValue, ContentChange, ContentVersion, RevisionLine};
pub use line::{Item, ItemOption};
pub use record::{Flag, Order, ProviderSync, TimelineLine};
pub use revision::{Revised, compared, revise};
pub use status::Status;
pub use timeline_reason::TimelineReason;
