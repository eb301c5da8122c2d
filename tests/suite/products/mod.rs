//! Products on all platforms together, through the simulator.

mod availability;
pub mod catalogs;
mod killed;
mod list;
mod many_branches;
mod menus;
mod prices;
pub mod setup;
