//! The users of an account: people who sign in to the panel.

use crate::channel::Language;
use crate::id::{AccountId, UserId};
use crate::permission::{self, Permission, RestaurantScope};
use crate::role::Role;
use crate::time::Timestamp;

/// A person who may sign in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    pub id: UserId,
    pub account_id: AccountId,
    /// In lower case; unique in the installation.
    pub email: String,
    /// Empty for the first user of an account that was created before there were users.
    pub name: String,
    pub language: Language,
    pub role: Role,
    pub restaurants: RestaurantScope,
    pub is_disabled: bool,
    pub has_password: bool,
    /// The user has signed in with OpenID Connect.
    pub has_openid: bool,
    pub has_two_factor: bool,
    pub created_at: Timestamp,
    pub last_sign_in_at: Option<Timestamp>,
}

impl User {
    #[must_use]
    pub fn may(&self, permission: Permission) -> bool {
        permission::may(self.role, &self.restaurants, permission)
    }

    /// The invitation was accepted: there is a way to sign in.
    #[must_use]
    pub fn has_accepted(&self) -> bool {
        self.has_password || self.has_openid
    }

    /// The name, or else the e-mail address.
    #[must_use]
    pub fn shown_name(&self) -> &str {
        if self.name.is_empty() {
            &self.email
        } else {
            &self.name
        }
    }
}
