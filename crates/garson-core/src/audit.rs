//! The audit log: who did what, from where, to which record, and what it changed.

use crate::id::RestaurantId;
use crate::time::Timestamp;
use uuid::Uuid;

macro_rules! words {
    ($(#[$type_meta:meta])* $type:ident { $($(#[$meta:meta])* $variant:ident $name:literal,)* }) => {
        $(#[$type_meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $type {
            $($(#[$meta])* $variant,)*
        }

        impl $type {
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            #[must_use]
            pub fn named(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|it| it.as_str() == name)
            }
        }
    };
}

words! {
    /// What kind of actor did something.
    ActorKind {
        /// A person who is signed in to the panel.
        User "user",
        /// A program with an API key.
        Key "key",
        /// The operator of the installation, by a command.
        Operator "operator",
        /// A delivery platform.
        Platform "platform",
        /// The service itself, by a rule that was set before.
        System "system",
    }
}

words! {
    /// The kind of record that an action is about.
    RecordKind {
        Account "account",
        Password "password",
        Session "session",
        User "user",
        TwoFactor "two_factor",
        ApiKey "api_key",
        Webhook "webhook",
        Event "event",
        Business "business",
        Restaurant "restaurant",
        Package "package",
        Integration "integration",
        Branch "branch",
        Channel "channel",
        Notices "notices",
        Escalation "escalation",
        PaymentMatching "payment_matching",
        Printer "printer",
        Order "order",
        Store "store",
        Hours "hours",
        Throttle "throttle",
        Product "product",
        Price "price",
        Menu "menu",
        /// A file with data, or a list of an account's data.
        Export "export",
        /// The personal data of customers.
        Customer "customer",
        /// How long personal data is kept.
        Privacy "privacy",
        /// A stored message of a platform.
        Message "message",
        /// The whole database.
        Database "database",
        /// The key that secrets are sealed with.
        MasterKey "master_key",
    }
}

words! {
    /// What was done.
    Verb {
        Created "created",
        Changed "changed",
        Deleted "deleted",
        /// A person got a link to become a user.
        Invited "invited",
        /// An invitation was accepted.
        Accepted "accepted",
        Linked "linked",
        Unlinked "unlinked",
        Merged "merged",
        Separated "separated",
        Assigned "assigned",
        Released "released",
        SignedIn "signed_in",
        /// A sign-in was refused.
        Refused "refused",
        SignedOut "signed_out",
        Verified "verified",
        Advanced "advanced",
        Readied "readied",
        Cancelled "cancelled",
        /// Its platform is informed again.
        Repeated "repeated",
        Acknowledged "acknowledged",
        Reported "reported",
        Unreported "unreported",
        Printed "printed",
        /// Sent again, or processed again.
        Retried "retried",
        /// Sent as a test.
        Tested "tested",
        /// Sent to the platforms.
        Sent "sent",
        Exported "exported",
        Searched "searched",
        Erased "erased",
        /// Erased because of its age.
        Expired "expired",
        Copied "copied",
        Imported "imported",
    }
}

/// An action: a verb and the kind of record that it is about; written `restaurant.changed`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AuditAction {
    pub record: RecordKind,
    pub verb: Verb,
}

impl AuditAction {
    #[must_use]
    pub const fn new(record: RecordKind, verb: Verb) -> Self {
        Self { record, verb }
    }

    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let (record, verb) = name.split_once('.')?;
        Some(Self::new(RecordKind::named(record)?, Verb::named(verb)?))
    }
}

impl std::fmt::Display for AuditAction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.record.as_str(), self.verb.as_str())
    }
}

/// Who did something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditActor {
    pub kind: ActorKind,
    /// The id of the user or the key.
    pub id: Option<Uuid>,
    /// A user's e-mail address, an operator's command, a platform.
    pub name: Option<String>,
}

/// An entry that is to be written. It gets its number and its hash when it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewAuditEntry {
    pub at: Timestamp,
    pub actor: AuditActor,
    /// The network address that the request came from.
    pub address: Option<String>,
    pub action: AuditAction,
    /// The id of the record, or what else names it.
    pub record_id: Option<String>,
    pub restaurant_id: Option<RestaurantId>,
    /// The changed fields before and after, as JSON.
    pub before: Option<String>,
    pub after: Option<String>,
}

/// A stored entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEntry {
    /// Counts the entries of an account, from 1 on without gaps.
    pub number: i64,
    pub entry: NewAuditEntry,
    pub hash: [u8; 32],
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_are_read_as_they_are_written() {
        for record in RecordKind::ALL {
            for verb in Verb::ALL {
                let action = AuditAction::new(*record, *verb);
                assert_eq!(AuditAction::named(&action.to_string()), Some(action));
            }
        }
        for kind in ActorKind::ALL {
            assert_eq!(ActorKind::named(kind.as_str()), Some(*kind));
        }
        assert_eq!(AuditAction::named("restaurant"), None);
        assert_eq!(AuditAction::named("restaurant.x"), None);
    }
}
