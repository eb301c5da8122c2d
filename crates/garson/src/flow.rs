//! The story, in order: an order is received, acted upon, its platform called, its account told, and swept away.
//!
//! This is the only place where platforms and storage meet. The API, the hooks and the command line all enter here,
//! so that a rule stands once.

pub mod accounts;
pub mod act;
pub mod businesses;
pub mod call;
pub mod fault;
pub mod integrations;
pub mod matching;
pub mod menu;
mod persist;
pub mod receive;
pub mod reports;
pub mod resend;
pub mod restaurants;
pub mod sweep;

pub use fault::Fault;
