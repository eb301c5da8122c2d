//! Work on the whole database: retention, sweeping of deleted records, copies, moving and removing accounts, sealing again.

pub mod account_export;
pub mod account_file;
pub mod account_import;
pub mod account_removal;
pub mod contents;
pub mod copy;
pub mod disk_space;
pub mod erase;
pub mod reseal;
pub mod retention;
pub mod schema_change;
pub mod sweep;
