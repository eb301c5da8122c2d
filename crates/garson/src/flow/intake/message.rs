//! A verified message with its meaning, as far as that is known before anything is written.

use crate::flow::platform_client::Contact;
use garson_core::escalation::Step;
use garson_core::id::IntegrationId;
use garson_core::integration::Integration;
use garson_core::order::Flag;
use garson_core::platform::{IntakeOutcome, News, Which};
use garson_store::tables::integrations::Connected;

/// The `sender` is the integration whose credentials the message presented; `None` if it presented the operator's.
#[derive(Clone)]
pub(crate) enum Understood {
    /// It is for a known integration.
    Addressed(Box<Addressed>),
    /// It is a short message about an order that is not stored yet.
    UnknownOrder {
        sender: Option<Connected>,
        which: Which,
        /// The integrations that it may be for; empty means any, if it came with the operator's secret.
        among: Vec<IntegrationId>,
        /// The order may belong to more than one account, so holding one account's lock does not prevent that it is written
        /// at the same time.
        spans_accounts: bool,
    },
    /// It changes no order. It is only stored in the inbox, with this outcome.
    InboxOnly {
        sender: Option<Connected>,
        outcome: IntakeOutcome,
    },
}

/// A message with the integration that it is for, and what its restaurant has configured.
#[derive(Clone)]
pub(crate) struct Addressed {
    pub connected: Connected,
    pub contact: Contact,
    /// The version of a cached integration, which must still be current when the order is written.
    pub cached_version: Option<i64>,
    pub auto_verify: bool,
    /// The steps of the restaurant's escalation.
    pub escalation: Vec<Step>,
    pub flag: Option<Flag>,
    pub news: News,
}

impl Understood {
    /// The integration under which the message is stored: the one that it is for or, while that is unknown, its sender.
    pub fn integration(&self) -> Option<&Integration> {
        match self {
            Self::Addressed(addressed) => Some(&addressed.connected.integration),
            Self::UnknownOrder { sender, .. } | Self::InboxOnly { sender, .. } => {
                sender.as_ref().map(|connected| &connected.integration)
            }
        }
    }
}
