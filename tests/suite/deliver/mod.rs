//! Events go out by themselves: real receivers, real sockets, and a ledger of what arrived.

mod attempts;
mod clock_changes;
mod crash;
mod failure_reasons;
mod isolation;
mod many_accounts;
mod misbehaving_receivers;
mod ordering;
mod resend;
mod running_program;
mod setup;
mod webhook_changes;
