//! Records that accounts and operators manage: accounts, keys, restaurants, integrations, sessions.

pub mod account_control;
pub mod account_move;
pub mod accounts;
pub mod api_auth;
pub mod branch_proofs;
pub mod branches;
pub mod businesses;
pub mod channels;
pub mod common_passwords;
pub mod connection_test;
pub mod escalation;
pub mod inbound_secrets;
pub mod input;
mod integration_checks;
pub mod integrations;
pub mod matching_problem;
pub mod menu;
pub mod notices;
pub mod payment_matching;
pub mod printers;
pub mod quotas;
pub mod restaurants;
pub mod sessions;
