//! Records that accounts and operators manage: accounts, keys, restaurants, integrations, sessions.

pub mod accounts;
pub mod api_auth;
pub mod branches;
pub mod businesses;
pub mod common_passwords;
pub mod connection_test;
pub mod input;
pub mod integrations;
pub mod menu;
pub mod passwords;
pub mod payment_matching;
pub mod restaurants;
pub mod sessions;
