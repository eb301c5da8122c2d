//! A model of the protocol by which nodes share a database, deliver events and call platforms, for a model checker.
//!
//! Nothing of the service uses this crate. `README.md` says what is modelled, what is not, and which code each step stands for.

pub mod calls;
pub mod check;
pub mod cluster;
pub mod delivery;
pub mod membership;
pub mod slots;
