//! The pages, one file each: routes, what is shown, handlers.

pub mod board;
pub mod businesses;
pub mod card;
pub mod delivery;
pub mod integrations;
pub mod keys;
pub mod matching;
pub mod menu;
pub mod order;
pub mod orders;
pub mod packages;
pub mod payments;
pub mod reports;
pub mod restaurants;
pub mod sessions;
pub mod sign_in;
pub mod status;
pub mod webhook;
