//! The simulator over real sockets: each platform as the service meets it, with a receiver in the service's place.

mod control;
mod faults;
mod getir;
mod migros;
mod support;
mod trendyol;
mod yemeksepeti;
