//! `/web-api/v1`: every endpoint, by the rules of the contract.

mod bad_input;
mod broken;
mod businesses;
mod cancelling;
mod concurrency;
mod deleting;
mod doors;
mod events;
mod idempotency;
mod ids;
mod integrations;
mod keys;
mod large;
mod limits;
mod matching;
mod orders;
mod packages;
mod paging;
mod payments;
mod polls;
mod providers;
mod reports;
mod restaurants;
mod status;
mod streams;
mod webhook;
