//! `/hooks`: platforms' way in.

mod direct;
mod inbox;
mod integration_cache;
mod revisions;
