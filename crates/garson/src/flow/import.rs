//! Takes over businesses, restaurants and orders of another service that implements the same API.
//!
//! Ids stay as they are where they are free in this installation; otherwise an id is derived from the account and the other
//! service's id, so that a repeated import finds what is here already. What is imported has no events, no calls to platforms, no
//! deadlines and no tickets.

mod ids;
mod orders;
mod shops;

pub use ids::Found;
pub use orders::{Compared, ImportedOrder, Run, Written};
pub use shops::{
    ImportedIntegration, ShopSettings, business, complete_restaurant, connect, find_business,
    find_restaurant, restaurant,
};
