//! Getir's message is genuine when its `x-api-key` is the `inboundKey` that it was given.

pub use crate::common::api_key::{claim, inbound_secret, verify};
