//! Products of a restaurant across all platforms: menus are read and stored as versions, their items are matched to products, and
//! products are switched on and off everywhere.

pub mod availability;
pub mod catalogs;
pub mod differences;
mod due_work;
pub mod links;
pub mod list;
pub mod menus;
pub mod ordered;
pub mod prices;
mod record;
pub mod suggestions;
