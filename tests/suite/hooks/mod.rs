//! `/hooks`: platforms' way in.

mod direct;
mod kept;
mod remembered;
mod revisions;
