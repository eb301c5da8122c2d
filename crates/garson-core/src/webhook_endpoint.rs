//! Webhook endpoints: the receivers of an account's events, what each of them gets, and how.

use crate::account::AuthorizationForm;
use crate::id::{AccountId, EndpointId, RestaurantId};
use crate::platform::Provider;
use crate::retry::Schedule;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The most endpoints that an account may have besides the one of `PUT /webhook`.
pub const MAX_ENDPOINTS: usize = 20;
/// How long an old signing secret is valid beside the new one, unless the request says otherwise.
pub const ROTATION_OVERLAP: Duration = Duration::from_secs(24 * 3600);
/// The longest that two signing secrets may be valid together.
pub const LONGEST_OVERLAP: Duration = Duration::from_secs(7 * 24 * 3600);

/// A receiver of an account's events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookEndpoint {
    pub id: EndpointId,
    pub label: String,
    /// None for the endpoint of `PUT /webhook` while no address is registered.
    pub url: Option<String>,
    pub state: EndpointState,
    /// Since when it is not active.
    pub state_at: Option<Timestamp>,
    pub filter: EndpointFilter,
    pub authorization: EndpointAuthorization,
    pub is_signed: bool,
    /// Until when the signing secret before the current one is valid, too.
    pub old_secret_until: Option<Timestamp>,
    pub body: EventBody,
    pub retries: RetryPlan,
    /// Since when every attempt has failed.
    pub failing_since: Option<Timestamp>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl EndpointId {
    /// The endpoint of an account that `PUT /webhook` describes.
    #[must_use]
    pub fn default_of(account: AccountId) -> Self {
        Self(account.0)
    }

    #[must_use]
    pub fn is_default_of(self, account: AccountId) -> bool {
        self.0 == account.0
    }
}

macro_rules! named {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        pub enum $name {
            $($(#[$variant_doc])* #[serde(rename = $text)] $variant,)*
        }

        impl $name {
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The name that is stored, and that the API uses.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)*
                }
            }

            #[must_use]
            pub fn named(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|it| it.as_str() == name)
            }
        }
    };
}

named! {
    /// Does an endpoint get events?
    EndpointState {
        #[default]
        Active "active",
        /// The account has paused it.
        Paused "paused",
        /// It kept failing.
        Disabled "disabled",
    }
}

named! {
    /// What the `Authorization` header of a request holds.
    EndpointAuthorization {
        /// `Bearer` and the account's primary key.
        #[default]
        Key "key",
        /// The account's primary key alone.
        BareKey "bareKey",
        /// `Bearer` and a token of the endpoint.
        Token "token",
        /// There is no such header.
        None "none",
    }
}

impl EndpointAuthorization {
    /// The form in which it carries the account's key, if it does.
    #[must_use]
    pub const fn key_form(self) -> Option<AuthorizationForm> {
        match self {
            Self::Key => Some(AuthorizationForm::Bearer),
            Self::BareKey => Some(AuthorizationForm::Bare),
            Self::Token | Self::None => None,
        }
    }
}

impl From<AuthorizationForm> for EndpointAuthorization {
    fn from(form: AuthorizationForm) -> Self {
        match form {
            AuthorizationForm::Bearer => Self::Key,
            AuthorizationForm::Bare => Self::BareKey,
        }
    }
}

named! {
    /// What a request's body holds.
    EventBody {
        /// The event as it is stored.
        #[default]
        Event "event",
        /// The event with its order as `veri.order`, as the order is when it is sent.
        WithOrder "withOrder",
    }
}

named! {
    /// How often a delivery is tried again.
    RetryPlan {
        /// The operator's schedule: three retries by default.
        #[default]
        Standard "standard",
        /// Growing pauses for up to three days.
        Long "long",
    }
}

impl RetryPlan {
    #[must_use]
    pub fn schedule(self, standard: &Schedule) -> Schedule {
        match self {
            Self::Standard => standard.clone(),
            Self::Long => Schedule::three_days(),
        }
    }
}

/// Which events an endpoint gets. An empty list allows all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct EndpointFilter {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub restaurants: Vec<RestaurantId>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub platforms: Vec<Provider>,
}

impl EndpointFilter {
    #[must_use]
    pub fn allows_all(&self) -> bool {
        self.events.is_empty() && self.restaurants.is_empty() && self.platforms.is_empty()
    }

    /// Does the endpoint get an event with this name, of this restaurant? `platform` reads the event's platform, if it has one.
    #[must_use]
    pub fn allows(
        &self,
        name: &str,
        restaurant: RestaurantId,
        platform: impl FnOnce() -> Option<Provider>,
    ) -> bool {
        (self.events.is_empty() || self.events.iter().any(|it| it == name))
            && (self.restaurants.is_empty() || self.restaurants.contains(&restaurant))
            && (self.platforms.is_empty() || platform().is_some_and(|it| self.platforms.contains(&it)))
    }
}

/// An endpoint as the writer of events needs it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Route {
    pub endpoint: EndpointId,
    #[serde(default)]
    pub state: EndpointState,
    #[serde(flatten)]
    pub filter: EndpointFilter,
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    const GETIR: Provider = Provider::new("getir");

    #[test]
    fn each_list_of_a_filter_narrows() {
        let (mine, other) = (RestaurantId(Uuid::from_u128(1)), RestaurantId(Uuid::from_u128(2)));
        let allows =
            |filter: &EndpointFilter, name: &str, restaurant| filter.allows(name, restaurant, || Some(GETIR));
        let mut filter = EndpointFilter::default();
        assert!(filter.allows_all() && allows(&filter, "a", mine));
        filter.events = vec!["a".to_owned()];
        assert!(allows(&filter, "a", mine) && !allows(&filter, "b", mine));
        filter.restaurants = vec![mine];
        assert!(allows(&filter, "a", mine) && !allows(&filter, "a", other));
        filter.platforms = vec![Provider::new("migros")];
        assert!(!allows(&filter, "a", mine));
        filter.platforms.push(GETIR);
        assert!(allows(&filter, "a", mine));
        assert!(!filter.allows("a", mine, || None), "an event without a platform");
    }

    #[test]
    fn route_is_stored_with_what_narrows_it_only() {
        let route = Route {
            endpoint: EndpointId(Uuid::nil()),
            state: EndpointState::Active,
            filter: EndpointFilter::default(),
        };
        let json = serde_json::to_string(&route).unwrap();
        assert_eq!(
            json,
            format!(r#"{{"endpoint":"{}","state":"active"}}"#, Uuid::nil())
        );
        assert_eq!(serde_json::from_str::<Route>(&json).unwrap(), route);
    }
}
