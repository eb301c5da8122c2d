//! What users may do: one table of permissions and roles. The checks of the panel and the API, the panel's menus and the table in
//! the documentation are made from it.

use crate::id::RestaurantId;
use crate::role::Role;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Something that a user may or may not do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Permission {
    ReadOrders,
    ActOnOrders,
    ControlStores,
    ReadReports,
    MarkReported,
    ReadRestaurants,
    ChangeRestaurants,
    ChangeHours,
    ChangeProducts,
    ManageRestaurants,
    ConnectPlatforms,
    ReadBusinesses,
    ChangeBusinesses,
    ManageNotices,
    ReadStatus,
    ReadWebhook,
    ChangeWebhook,
    ManageKeys,
    ManagePrimaryKey,
    ManageUsers,
    ReadAudit,
    ManagePrivacy,
}

/// A row of the table.
struct Rule {
    permission: Permission,
    /// What it allows, for the documentation.
    text: &'static str,
    /// It concerns the account as a whole, so a user of named restaurants does not have it, whatever the role.
    is_of_account: bool,
    roles: &'static [Role],
}

const EVERYBODY: &[Role] = &Role::ALL;

/// The table.
const RULES: &[Rule] = {
    use Permission as P;
    use Role::{Accountant, Developer, Manager, Owner, ReadOnly, Shift};
    &[
        rule(
            P::ReadOrders,
            "see the board and the orders, print tickets",
            false,
            EVERYBODY,
        ),
        rule(
            P::ActOnOrders,
            "accept, advance and cancel orders",
            false,
            &[Owner, Manager, Shift],
        ),
        rule(
            P::ControlStores,
            "open and close stores, mark products as sold out",
            false,
            &[Owner, Manager, Shift],
        ),
        rule(
            P::ReadReports,
            "see sales, reports and payments, download files",
            false,
            &[Owner, Manager, Accountant, ReadOnly],
        ),
        rule(
            P::MarkReported,
            "mark orders as reported",
            false,
            &[Owner, Manager, Accountant],
        ),
        rule(
            P::ReadRestaurants,
            "see restaurants, products, menus and history",
            false,
            &[Owner, Manager, Shift, Developer, ReadOnly],
        ),
        rule(
            P::ChangeRestaurants,
            "change settings of restaurants",
            false,
            &[Owner, Manager],
        ),
        rule(
            P::ChangeHours,
            "change opening hours and the throttle of stores",
            false,
            &[Owner, Manager],
        ),
        rule(
            P::ChangeProducts,
            "change products, prices and menus",
            false,
            &[Owner, Manager],
        ),
        rule(
            P::ManageRestaurants,
            "add and delete restaurants",
            true,
            &[Owner, Manager],
        ),
        rule(
            P::ConnectPlatforms,
            "connect platforms and enter their credentials",
            false,
            &[Owner, Manager, Developer],
        ),
        rule(
            P::ReadBusinesses,
            "see businesses",
            true,
            &[Owner, Manager, Accountant, ReadOnly],
        ),
        rule(P::ChangeBusinesses, "change businesses", true, &[Owner, Manager]),
        rule(
            P::ManageNotices,
            "change channels and operational notices",
            true,
            &[Owner, Manager],
        ),
        rule(
            P::ReadStatus,
            "see the status of platforms and deliveries",
            true,
            &[Owner, Manager, Shift, Developer, ReadOnly],
        ),
        rule(
            P::ReadWebhook,
            "see the webhook, its deliveries and the API requests",
            true,
            &[Owner, Manager, Developer, ReadOnly],
        ),
        rule(
            P::ChangeWebhook,
            "change the webhook, send events again",
            true,
            &[Owner, Developer],
        ),
        rule(
            P::ManageKeys,
            "see, issue and revoke API keys",
            true,
            &[Owner, Developer],
        ),
        rule(
            P::ManagePrimaryKey,
            "choose, replace or revoke the primary key, and decide where it is sent",
            true,
            &[Owner],
        ),
        rule(P::ManageUsers, "invite, change and remove users", true, &[Owner]),
        rule(P::ReadAudit, "see the audit log", true, &[Owner, Manager]),
        rule(
            P::ManagePrivacy,
            "find, export and erase personal data of customers",
            true,
            &[Owner],
        ),
    ]
};

const fn rule(
    permission: Permission,
    text: &'static str,
    is_of_account: bool,
    roles: &'static [Role],
) -> Rule {
    Rule {
        permission,
        text,
        is_of_account,
        roles,
    }
}

impl Permission {
    /// Every permission, in the order of the table.
    pub fn all() -> impl Iterator<Item = Self> {
        RULES.iter().map(|rule| rule.permission)
    }

    fn rule(self) -> Option<&'static Rule> {
        RULES.iter().find(|rule| rule.permission == self)
    }

    /// What it allows, for the documentation.
    #[must_use]
    pub fn text(self) -> &'static str {
        self.rule().map_or("", |rule| rule.text)
    }

    /// Does a role have it? One that is missing in the table is nobody's.
    #[must_use]
    pub fn is_of(self, role: Role) -> bool {
        self.rule().is_some_and(|rule| rule.roles.contains(&role))
    }

    /// Does it concern the account as a whole?
    #[must_use]
    pub fn is_of_account(self) -> bool {
        self.rule().is_none_or(|rule| rule.is_of_account)
    }
}

/// The restaurants that a user is responsible for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RestaurantScope {
    /// All restaurants of the account, also those that are added later.
    #[default]
    All,
    Only(BTreeSet<RestaurantId>),
}

impl RestaurantScope {
    #[must_use]
    pub fn has(&self, restaurant: RestaurantId) -> bool {
        match self {
            Self::All => true,
            Self::Only(restaurants) => restaurants.contains(&restaurant),
        }
    }

    #[must_use]
    pub fn is_all(&self) -> bool {
        *self == Self::All
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::Only(restaurants) if restaurants.is_empty())
    }

    /// Are all restaurants of the other scope in this one?
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::All, _) => true,
            (Self::Only(_), Self::All) => false,
            (Self::Only(all), Self::Only(some)) => some.is_subset(all),
        }
    }
}

/// May somebody with this role and these restaurants do it?
#[must_use]
pub fn may(role: Role, restaurants: &RestaurantScope, permission: Permission) -> bool {
    permission.is_of(role) && (restaurants.is_all() || !permission.is_of_account())
}

/// The table for the documentation, as Markdown.
#[must_use]
pub fn table() -> String {
    let mut text = "| may |".to_owned();
    for role in Role::ALL {
        // Writing to a String does not fail.
        let _ = write!(text, " {} |", role.as_str());
    }
    text.push_str(" named restaurants |\n|---|");
    text.push_str(&":-:|".repeat(Role::ALL.len() + 1));
    text.push('\n');
    for rule in RULES {
        let _ = write!(text, "| {} |", rule.text);
        for role in Role::ALL {
            text.push_str(if rule.roles.contains(&role) {
                " ✓ |"
            } else {
                "  |"
            });
        }
        text.push_str(if rule.is_of_account { "  |\n" } else { " ✓ |\n" });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Timestamp;

    #[test]
    fn owner_may_do_everything_and_each_permission_has_one_rule() {
        let all: BTreeSet<Permission> = Permission::all().collect();
        assert_eq!(all.len(), RULES.len());
        for permission in all {
            assert!(
                may(Role::Owner, &RestaurantScope::All, permission),
                "{permission:?}"
            );
        }
    }

    #[test]
    fn only_the_owner_manages_users() {
        for role in Role::ALL {
            assert_eq!(Permission::ManageUsers.is_of(role), role == Role::Owner);
        }
    }

    #[test]
    fn named_restaurants_exclude_what_concerns_the_account() {
        let restaurant = RestaurantId::at(Timestamp::from_millis(1));
        let other = RestaurantId::at(Timestamp::from_millis(2));
        let named = RestaurantScope::Only(BTreeSet::from([restaurant]));
        assert!(may(Role::Manager, &named, Permission::ActOnOrders));
        assert!(!may(Role::Manager, &named, Permission::ManageNotices));
        assert!(named.has(restaurant) && !named.has(other));
        assert!(RestaurantScope::All.covers(&named) && !named.covers(&RestaurantScope::All));
        assert!(named.covers(&named));
    }

    /// After a change of the table, the test's output is the new text.
    #[test]
    fn documentation_has_the_table() {
        let page = include_str!("../../../docs/users.md");
        assert!(
            page.contains(&table()),
            "docs/users.md needs this table:\n{}",
            table()
        );
    }
}
