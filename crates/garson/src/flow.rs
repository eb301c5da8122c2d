//! The story, in order: an order is received, acted upon, its platform called, its account told, and swept away.
//!
//! This is the only place where platforms and storage meet. The API, the hooks and the command line all enter here,
//! so that a rule stands once.

pub mod accounts;
pub mod act;
mod ask;
mod attempt;
pub mod board;
pub mod branches;
pub mod businesses;
pub mod call;
mod common_passwords;
mod conclude;
pub mod deliver;
pub mod early;
pub mod fault;
mod fetch;
pub mod inbox;
pub mod integrations;
pub mod kept;
pub mod line;
pub mod looks;
pub mod matching;
pub mod membership;
pub mod menu;
pub mod missing;
pub mod order_lists;
pub mod passwords;
mod persist;
pub mod poll;
pub mod reasons;
mod recall;
pub mod receive;
pub mod record;
pub mod reports;
pub mod resend;
pub mod resend_all;
pub mod restaurants;
mod retention;
mod revise;
pub mod search;
pub mod sessions;
pub mod simulator;
pub mod status;
pub mod sweep;
mod take;
pub mod tidings;
pub mod trial;
pub mod vitals;

pub use fault::Fault;
