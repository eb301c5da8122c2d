//! Delivery of events to real receivers, with a ledger of arrivals.

mod attempts;
mod clock_changes;
mod crash;
mod endpoints;
mod failure_reasons;
mod isolation;
mod many_accounts;
mod misbehaving_receivers;
mod ordering;
mod resend;
mod running_program;
mod setup;
mod traces;
mod webhook_changes;
