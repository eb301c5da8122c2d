//! Escalation of orders that are not accepted, message channels, operational notices and presence.

mod channels;
mod killed;
mod mail_server;
mod messages;
mod notices;
mod panel;
mod presence;
pub mod setup;
mod steps;
