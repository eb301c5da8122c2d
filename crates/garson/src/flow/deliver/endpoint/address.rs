//! Where an account's deliveries go, and the two kinds of attempts.

use crate::flow::deliver::target::Target;
use std::sync::Arc;

/// First attempts and retries run side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttemptKind {
    First,
    Retry,
}

/// The account's webhook address, as far as it is known.
#[derive(Clone, Debug, Default)]
pub enum Address {
    #[default]
    Unknown,
    /// There is none: due deliveries are skipped.
    None,
    At(Arc<Target>),
}

impl Address {
    pub(super) fn url(&self) -> Option<&str> {
        match self {
            Self::Unknown | Self::None => None,
            Self::At(target) => Some(&target.url),
        }
    }
}
