//! What an API key may do: its scopes, its restaurants, and the networks that it may be used from.

use crate::network::Network;
use crate::permission::{Permission, RestaurantScope};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::net::IpAddr;

/// What keys can be issued for. Each scope stands for some of the permissions that users have by their roles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Scope {
    #[serde(rename = "orders:read")]
    OrdersRead,
    #[serde(rename = "orders:act")]
    OrdersAct,
    #[serde(rename = "reports")]
    Reports,
    #[serde(rename = "restaurants:read")]
    RestaurantsRead,
    #[serde(rename = "stores")]
    Stores,
    #[serde(rename = "menus")]
    Menus,
    #[serde(rename = "settings")]
    Settings,
    #[serde(rename = "webhooks")]
    Webhooks,
    #[serde(rename = "keys")]
    Keys,
    #[serde(rename = "users")]
    Users,
    #[serde(rename = "audit")]
    Audit,
    #[serde(rename = "privacy")]
    Privacy,
}

impl Scope {
    pub const ALL: [Self; 12] = [
        Self::OrdersRead,
        Self::OrdersAct,
        Self::Reports,
        Self::RestaurantsRead,
        Self::Stores,
        Self::Menus,
        Self::Settings,
        Self::Webhooks,
        Self::Keys,
        Self::Users,
        Self::Audit,
        Self::Privacy,
    ];

    /// As the API names it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OrdersRead => "orders:read",
            Self::OrdersAct => "orders:act",
            Self::Reports => "reports",
            Self::RestaurantsRead => "restaurants:read",
            Self::Stores => "stores",
            Self::Menus => "menus",
            Self::Settings => "settings",
            Self::Webhooks => "webhooks",
            Self::Keys => "keys",
            Self::Users => "users",
            Self::Audit => "audit",
            Self::Privacy => "privacy",
        }
    }

    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == name)
    }

    /// The permissions that it stands for.
    #[must_use]
    pub const fn permissions(self) -> &'static [Permission] {
        use Permission as P;
        match self {
            Self::OrdersRead => &[P::ReadOrders],
            Self::OrdersAct => &[P::ReadOrders, P::ActOnOrders],
            Self::Reports => &[P::ReadReports, P::MarkReported],
            Self::RestaurantsRead => &[P::ReadRestaurants],
            Self::Stores => &[P::ReadRestaurants, P::ControlStores, P::ChangeHours],
            Self::Menus => &[P::ReadRestaurants, P::ChangeProducts],
            Self::Settings => &[
                P::ReadRestaurants,
                P::ChangeRestaurants,
                P::ManageRestaurants,
                P::ConnectPlatforms,
                P::ReadBusinesses,
                P::ChangeBusinesses,
                P::ManageNotices,
            ],
            Self::Webhooks => &[P::ReadStatus, P::ReadWebhook, P::ChangeWebhook],
            Self::Keys => &[P::ManageKeys, P::ManagePrimaryKey],
            Self::Users => &[P::ManageUsers],
            Self::Audit => &[P::ReadAudit],
            Self::Privacy => &[P::ManagePrivacy],
        }
    }

    /// Does a key with this scope reach what only some of those who manage keys may see or change: people, the log, customers?
    #[must_use]
    pub const fn is_sensitive(self) -> bool {
        matches!(self, Self::Users | Self::Audit | Self::Privacy)
    }
}

fn permissions(scopes: &BTreeSet<Scope>) -> impl Iterator<Item = Permission> {
    scopes.iter().flat_map(|scope| scope.permissions()).copied()
}

/// What a key may do. The default is everything, from everywhere.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyAccess {
    /// None: everything.
    pub scopes: Option<BTreeSet<Scope>>,
    pub restaurants: RestaurantScope,
    /// The networks that it may be used from; empty: all.
    pub networks: BTreeSet<Network>,
}

impl KeyAccess {
    #[must_use]
    pub fn is_unlimited(&self) -> bool {
        *self == Self::default()
    }

    /// May the key do this, if it is done for one of its restaurants?
    #[must_use]
    pub fn may(&self, permission: Permission) -> bool {
        let is_in_scope = |scopes| permissions(scopes).any(|it| it == permission);
        self.scopes.as_ref().is_none_or(is_in_scope)
            && (self.restaurants.is_all() || !permission.is_of_account())
    }

    /// May it be used from this address? Without a limit also where the address is not known.
    #[must_use]
    pub fn allows_address(&self, address: Option<IpAddr>) -> bool {
        self.networks.is_empty()
            || address.is_some_and(|address| self.networks.iter().any(|it| it.contains(address)))
    }

    /// May a key with this access issue one with the other: can the other do nothing more?
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        let has_scopes = match (&self.scopes, &other.scopes) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(own), Some(scopes)) => {
                let own: BTreeSet<Permission> = permissions(own).collect();
                permissions(scopes).all(|permission| own.contains(&permission))
            }
        };
        let has_networks = self.networks.is_empty()
            || !other.networks.is_empty()
                && other
                    .networks
                    .iter()
                    .all(|network| self.networks.iter().any(|it| it.covers(network)));
        has_scopes && has_networks && self.restaurants.covers(&other.restaurants)
    }
}

/// The scopes for the documentation, as Markdown.
#[must_use]
pub fn table() -> String {
    let mut text = "| scope | allows to | named restaurants |\n|---|---|:-:|\n".to_owned();
    for scope in Scope::ALL {
        let permissions = scope.permissions();
        let texts: Vec<&str> = permissions.iter().map(|it| it.text()).collect();
        let of_account = permissions.iter().filter(|it| it.is_of_account()).count();
        let named = match of_account {
            0 => "✓",
            count if count == permissions.len() => "",
            _ => "in part",
        };
        // Writing to a String does not fail.
        let _ = writeln!(text, "| `{}` | {} | {named} |", scope.as_str(), texts.join("; "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::RestaurantId;
    use crate::time::Timestamp;
    use proptest::prelude::*;
    use proptest::sample::subsequence;

    fn restaurant(number: i64) -> RestaurantId {
        RestaurantId::at(Timestamp::from_millis(number))
    }

    #[test]
    fn every_permission_belongs_to_a_scope() {
        for permission in Permission::all() {
            let found = Scope::ALL.iter().any(|it| it.permissions().contains(&permission));
            assert!(found, "{permission:?}");
        }
    }

    #[test]
    fn scope_is_named_as_it_is_stored() {
        for scope in Scope::ALL {
            let json = serde_json::to_string(&scope).unwrap();
            assert_eq!(json, format!("{:?}", scope.as_str()));
            assert_eq!(Scope::named(scope.as_str()), Some(scope));
        }
        assert_eq!(Scope::named("orders"), None);
    }

    #[test]
    fn key_of_named_restaurants_does_nothing_for_the_account() {
        let access = KeyAccess {
            restaurants: RestaurantScope::Only(BTreeSet::from([restaurant(1)])),
            ..KeyAccess::default()
        };
        assert!(access.may(Permission::ActOnOrders));
        assert!(!access.may(Permission::ManageKeys) && !access.may(Permission::ReadWebhook));
    }

    #[test]
    fn limited_key_is_not_used_from_an_unknown_address() {
        let access = KeyAccess {
            networks: BTreeSet::from(["10.0.0.0/8".parse().unwrap()]),
            ..KeyAccess::default()
        };
        assert!(access.allows_address("10.2.3.4".parse().ok()));
        assert!(!access.allows_address("192.0.2.1".parse().ok()) && !access.allows_address(None));
        assert!(KeyAccess::default().allows_address(None));
    }

    #[test]
    fn documentation_has_the_table() {
        let page = include_str!("../../../docs/keys.md");
        assert!(
            page.contains(&table()),
            "docs/keys.md needs this table:\n{}",
            table()
        );
    }

    fn any_access() -> impl Strategy<Value = KeyAccess> {
        let scopes = prop::option::of(subsequence(Scope::ALL.to_vec(), 0..=4));
        let restaurants = prop::option::of(subsequence(vec![1, 2, 3], 0..=2));
        let networks = subsequence(vec!["10.0.0.0/8", "10.1.0.0/16", "192.0.2.7", "::/0"], 0..=2);
        (scopes, restaurants, networks).prop_map(|(scopes, restaurants, networks)| KeyAccess {
            scopes: scopes.map(|it| it.into_iter().collect()),
            restaurants: restaurants.map_or(RestaurantScope::All, |it| {
                RestaurantScope::Only(it.into_iter().map(restaurant).collect())
            }),
            networks: networks.into_iter().map(|it| it.parse().unwrap()).collect(),
        })
    }

    proptest! {
        #[test]
        fn covered_key_can_do_nothing_more(one in any_access(), other in any_access()) {
            prop_assert!(one.covers(&one) && KeyAccess::default().covers(&one));
            if one.covers(&other) {
                for permission in Permission::all() {
                    prop_assert!(one.may(permission) || !other.may(permission), "{permission:?}");
                }
                for address in ["10.1.2.3", "10.9.9.9", "192.0.2.7", "192.0.2.8", "2001:db8::1"] {
                    let address = address.parse().ok();
                    prop_assert!(one.allows_address(address) || !other.allows_address(address));
                }
                for number in 1..4 {
                    prop_assert!(one.restaurants.has(restaurant(number)) || !other.restaurants.has(restaurant(number)));
                }
            }
        }
    }
}
