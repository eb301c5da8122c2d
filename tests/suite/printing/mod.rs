//! Tickets and the print agent, with a printer of our own that executes what it receives.

mod agent;
mod golden;
mod presence;
mod requests;
mod setup;
mod tickets;
mod trouble;
