//! Records that accounts and operators manage: accounts, keys, restaurants, integrations, sessions.

pub mod accounts;
pub mod branches;
pub mod businesses;
pub mod common_passwords;
pub mod connection_test;
pub mod integrations;
pub mod matching_problem;
pub mod menu;
pub mod passwords;
pub mod payment_matching;
pub mod restaurants;
pub mod sessions;
