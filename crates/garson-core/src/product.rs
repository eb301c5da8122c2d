//! Products and options of a restaurant: their items on platforms, and the items of a menu.

mod item;
mod menu_items;
mod name;

pub use item::{ItemKey, ListedItem, Place, references};
pub use menu_items::{MAX_OPTIONS, MAX_PLACES, MAX_PRODUCTS, menu_items};
pub use name::{name_key, name_words};
