//! The audit log, end to end: what is recorded, what is not, and what verification finds.

mod log;
mod verify;
