//! Operational notices: what an account can be informed of by its channels, each once per incident.

use serde::{Deserialize, Serialize};

/// What is wrong, or was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum NoticeKind {
    /// The webhook receiver fails again and again.
    WebhookFailing,
    /// Events were given up after their last attempt.
    DeliveryGivenUp,
    /// A webhook endpoint was disabled because it kept failing.
    EndpointDisabled,
    /// A platform refuses the credentials.
    LoginRefused,
    /// A platform cannot be reached.
    PlatformDown,
    /// A platform has closed a store by itself.
    StoreClosed,
    /// A store could not be opened at the end of its closing, or is open although it was closed.
    StoreNotAsWanted,
}

impl NoticeKind {
    pub const ALL: [Self; 7] = [
        Self::WebhookFailing,
        Self::DeliveryGivenUp,
        Self::EndpointDisabled,
        Self::LoginRefused,
        Self::PlatformDown,
        Self::StoreClosed,
        Self::StoreNotAsWanted,
    ];

    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::WebhookFailing => "webhookFailing",
            Self::DeliveryGivenUp => "deliveryGivenUp",
            Self::EndpointDisabled => "endpointDisabled",
            Self::LoginRefused => "loginRefused",
            Self::PlatformDown => "platformDown",
            Self::StoreClosed => "storeClosed",
            Self::StoreNotAsWanted => "storeNotAsWanted",
        }
    }

    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_names_are_those_of_the_api() {
        for kind in NoticeKind::ALL {
            let json = serde_json::to_string(&kind).unwrap();
            assert_eq!(json, format!("\"{}\"", kind.as_str()));
            assert_eq!(NoticeKind::named(kind.as_str()), Some(kind));
        }
    }
}
