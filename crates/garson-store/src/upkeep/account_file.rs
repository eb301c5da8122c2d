//! The file that holds one account: records, encrypted in frames.
//!
//! ```text
//! file    = magic, version, salt, nonce prefix, frames
//! frame   = length (4 bytes), up to 64 KiB of records, sealed with XChaCha20-Poly1305
//! records = description, table, rows …, work, table, rows …, end
//! ```
//!
//! The nonce of a frame is the prefix, the frame's number and whether it is the last one. So frames cannot be exchanged, repeated or
//! left out, and a file that was cut off is recognised. The end has the number of rows and the SHA-256 of everything before it.
//! A frame at a time is in memory.

mod frames;
mod records;

pub use frames::{KEY_SALT, Salt};
pub use records::{Description, Mark, Reader, Record, Writer};
