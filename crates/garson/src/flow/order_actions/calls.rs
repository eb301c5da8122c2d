//! Makes the stored calls to platforms: at once, again after a pause, and after every restart.

pub mod attempt;
pub mod conclude;
mod make;
mod retry;
mod runner;
mod slots;
mod timing;

pub use runner::{run, step};
pub use timing::{DEADLINE, LEASE};
