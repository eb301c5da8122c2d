//! Believable restaurants, customers and baskets, the same from the same seed.

pub(crate) mod basket;
mod kitchens;
pub(crate) mod menu;
pub(crate) mod people;
