//! Background work that keeps the service running: cluster membership, sweeping, retention, health, the rotation of the master key, the log
//! of API calls, backups.

pub mod account_removal;
pub mod backups;
pub mod health;
pub mod key_rotation;
pub mod master_key;
pub mod membership;
pub mod request_log;
pub mod retention;
pub mod schema_changes;
pub mod sweep;
pub mod trace_export;
