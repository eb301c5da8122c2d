//! Stores on platforms: opened, closed and read back; timers, throttle, hours and history.
//!
//! These are tested for every platform: closing, rate limits, a platform that is away and back, and two people at once in `changes`;
//! timed closing in `timers`; opening after kill -9 and a node that is killed midway in `crash`; closing by the platform in
//! `platform_changes`; refused opening in `refusals`.

mod changes;
mod crash;
mod hours;
mod platform_changes;
mod refusals;
mod requests;
pub mod setup;
mod throttle;
mod timers;
