//! Background work that keeps the service running: cluster membership, sweeping, retention, health.

pub mod health;
pub mod membership;
pub mod retention;
pub mod sweep;
