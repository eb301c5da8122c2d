//! Work on the whole database: retention, sweeping of deleted records, copies.

pub mod copy;
pub mod disk_space;
pub mod retention;
pub mod sweep;
