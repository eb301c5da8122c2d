//! Decides which targets may be called, so that no account can use the service to reach a private network.
//!
//! Nothing here does I/O. The caller parses the text into a [`Target`], asks [`check_name`],
//! resolves the host, asks [`check`] about *all* addresses, and then connects only to addresses
//! from that same list: resolving again would let the answer change after the check. A redirect
//! is a new target and goes through the same steps.

mod blocks;
mod exception;
mod names;
mod origin;
mod policy;
mod target;
#[cfg(test)]
mod tests;

pub use blocks::classify;
pub use exception::{Exception, InvalidException};
pub use origin::{Host, Origin, Scheme};
pub use policy::{Policy, check, check_name, is_clear_text};
pub use target::{MAX_URL_BYTES, Target};

/// How to allow private targets, for the operator's log beside a refusal.
pub const HINT: &str = "To call private targets in development, set `allow_private_targets = true` \
    (or the variable GARSON_ALLOW_PRIVATE_TARGETS=true); to allow single targets only, list them: \
    `allow_targets = [\"10.0.4.7:8443\"]`.";
