//! A shop's message is genuine when its `x-api-key` is the integration's `inboundKey`.

pub use crate::common::api_key::{claim, inbound_secret, verify};
