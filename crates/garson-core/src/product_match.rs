//! Which items of several platforms are the same product of a restaurant.
//!
//! Items that already belong to a product stay there, whether a user or an earlier run linked them. A new item is matched to a product or
//! to other new items only if the match is certain: by the restaurant's own code, or by name, with options and price as tie-breakers.
//! A likely match is a suggestion. A product never has two items of one platform.

mod assign;
mod cluster;
mod suggest;

#[cfg(test)]
mod tests;

pub use assign::{Assignment, assign};
pub use cluster::{MatchItem, MatchProduct};
pub use suggest::{DeclinedPairs, Suggestion, suggest};
