//! Personal data of customers, end to end: found, exported, erased without a trace, while all sums stay.

mod automatic;
mod erase;
mod killed;
mod panel;
mod search;
mod setup;
