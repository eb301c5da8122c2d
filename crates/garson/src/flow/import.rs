//! Takes over businesses, restaurants and orders of another service that implements the same API.
//!
//! Ids stay as they are where they are free in this installation; otherwise an id is derived from the account and the other
//! service's id, so that a repeated import finds what is here already. What is imported has no events, no calls to platforms, no
//! deadlines and no tickets.
//!
//! Positions and times of arrival must have the same order, so a run reserves a block of positions at its beginning for everything that
//! arrived elsewhere until then; orders that arrive here meanwhile come behind the block. A page of orders is written in one transaction.
//! The fingerprint of its content tells an imported order from others.

mod ids;
mod orders;
mod shops;

pub use ids::Found;
pub use orders::{Compared, ImportedOrder, Run, Written};
pub use shops::{
    ImportedIntegration, ShopSettings, business, complete_restaurant, connect, find_business,
    find_restaurant, restaurant,
};
