//! `/hooks`: messages of platforms.

mod direct;
mod inbox;
mod integration_cache;
mod revisions;
