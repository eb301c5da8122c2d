//! The simulator over real sockets: each platform as the service meets it, with a receiver in the service's place.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod connectors;
mod control;
mod faults;
mod gateway;
mod getir;
mod migros;
mod support;
mod trendyol;
mod yemeksepeti;
