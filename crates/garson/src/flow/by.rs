//! Who does something in the name of an account, and from where. The flows get it from the API, the panel or the command line, and
//! write it to the audit log in the transaction of the change.

use crate::flow::Fault;
use garson_core::audit::{ActorKind, AuditAction, AuditActor, NewAuditEntry, RecordKind, Verb};
use garson_core::id::{AccountId, KeyId, RestaurantId, UserId};
use garson_core::permission::Permission;
use garson_core::platform::Provider;
use garson_core::time::Timestamp;
use garson_core::user::User;
use garson_store::tables::{audit, keys, users};
use garson_store::{Tx, Vault};
use serde_json::{Map, Value, json};
use std::net::IpAddr;
use std::sync::Arc;

/// The account that something is done for, who does it, and from which address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct By {
    pub account: AccountId,
    pub who: Who,
    pub address: Option<IpAddr>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Who {
    /// A person who is signed in to the panel, or tries to.
    User {
        id: UserId,
        email: Arc<str>,
    },
    /// A program with a key.
    Key(KeyId),
    /// The operator, with this command.
    Operator(&'static str),
    Platform(Provider),
    /// The service itself, by a rule that was set before.
    System,
}

impl By {
    #[must_use]
    pub fn key(account: AccountId, key: KeyId, address: Option<IpAddr>) -> Self {
        Self {
            account,
            who: Who::Key(key),
            address,
        }
    }

    #[must_use]
    pub fn user(user: &User, address: Option<IpAddr>) -> Self {
        Self {
            account: user.account_id,
            who: Who::User {
                id: user.id,
                email: user.email.as_str().into(),
            },
            address,
        }
    }

    /// The operator of the installation, with a command such as `key issue`.
    #[must_use]
    pub const fn operator(account: AccountId, command: &'static str) -> Self {
        Self {
            account,
            who: Who::Operator(command),
            address: None,
        }
    }

    #[must_use]
    pub const fn platform(account: AccountId, provider: Provider) -> Self {
        Self {
            account,
            who: Who::Platform(provider),
            address: None,
        }
    }

    #[must_use]
    pub const fn system(account: AccountId) -> Self {
        Self {
            account,
            who: Who::System,
            address: None,
        }
    }

    /// Refuses any key but the primary one, and users who are not as powerful. Webhooks carry the primary key, so whoever decides
    /// where they go, or which key that is, could otherwise have it sent to an address of their own.
    pub(crate) fn must_hold_primary(&self, tx: &mut Tx<'_>) -> Result<(), Fault> {
        match &self.who {
            Who::Key(key) if !keys::is_primary(tx, self.account, *key)? => Err(Fault::PrimaryKeyRequired),
            Who::User { id, .. } => {
                let user = users::find(tx, self.account, *id)?;
                if user.is_some_and(|user| user.may(Permission::ManagePrimaryKey)) {
                    Ok(())
                } else {
                    Err(Fault::NotAllowed)
                }
            }
            _ => Ok(()),
        }
    }

    /// Refuses who may not decide about a receiver: any key but the primary one, and where the receiver gets the primary key also
    /// users who are not as powerful.
    pub(crate) fn must_decide_receiver(&self, tx: &mut Tx<'_>, gets_key: bool) -> Result<(), Fault> {
        match &self.who {
            Who::User { .. } if !gets_key => Ok(()),
            _ => self.must_hold_primary(tx),
        }
    }

    fn actor(&self) -> AuditActor {
        let (kind, id, name) = match &self.who {
            Who::User { id, email } => (ActorKind::User, Some(id.0), Some(email.to_string())),
            Who::Key(key) => (ActorKind::Key, Some(key.0), None),
            Who::Operator(command) => (ActorKind::Operator, None, Some((*command).to_owned())),
            Who::Platform(provider) => (ActorKind::Platform, None, Some(provider.to_string())),
            Who::System => (ActorKind::System, None, None),
        };
        AuditActor { kind, id, name }
    }

    /// Writes an action to the account's audit log, in this transaction. A change that changes nothing is not written.
    pub(crate) fn record(&self, tx: &mut Tx<'_>, action: Recorded, now: Timestamp) {
        if action.is_change && action.before == action.after {
            return;
        }
        let entry = NewAuditEntry {
            at: now,
            actor: self.actor(),
            address: self.address.map(|address| address.to_canonical().to_string()),
            action: action.action,
            record_id: action.record_id,
            restaurant_id: action.restaurant,
            before: shown(action.before),
            after: shown(action.after),
        };
        audit::record(tx, self.account, entry);
    }
}

/// The longest side of a change that is recorded, in bytes.
const LONGEST: usize = 16 * 1024;

/// The fields as JSON; none if there are none. Of too many fields only the size is recorded.
fn shown(fields: Map<String, Value>) -> Option<String> {
    if fields.is_empty() {
        return None;
    }
    let text = Value::Object(fields).to_string();
    Some(if text.len() > LONGEST {
        json!({ "bytes": text.len() }).to_string()
    } else {
        text
    })
}

/// An action as it is recorded.
#[derive(Clone, Debug)]
pub(crate) struct Recorded {
    action: AuditAction,
    record_id: Option<String>,
    restaurant: Option<RestaurantId>,
    before: Map<String, Value>,
    after: Map<String, Value>,
    is_change: bool,
}

impl Recorded {
    pub fn new(record: RecordKind, verb: Verb) -> Self {
        Self {
            action: AuditAction::new(record, verb),
            record_id: None,
            restaurant: None,
            before: Map::new(),
            after: Map::new(),
            is_change: false,
        }
    }

    pub fn id(mut self, id: impl ToString) -> Self {
        self.record_id = Some(id.to_string());
        self
    }

    pub fn restaurant(mut self, id: RestaurantId) -> Self {
        self.restaurant = Some(id);
        self
    }

    /// The fields that a new record has, or the details of an action.
    pub fn after(mut self, fields: Value) -> Self {
        self.after = without_nulls(fields);
        self
    }

    /// The fields that a deleted record had.
    pub fn before(mut self, fields: Value) -> Self {
        self.before = without_nulls(fields);
        self
    }

    /// The fields that differ.
    pub fn change(mut self, before: Value, after: Value) -> Self {
        let (mut before, mut after) = (object(before), object(after));
        before.retain(|name, old| match after.get(name) {
            Some(new) if new == old => {
                after.remove(name);
                false
            }
            _ => true,
        });
        // Only one side has what was NULL on the other.
        before.retain(|_, value| !value.is_null());
        after.retain(|name, value| !value.is_null() || before.contains_key(name));
        (self.before, self.after, self.is_change) = (before, after, true);
        self
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        other => Map::from_iter([("value".to_owned(), other)]),
    }
}

fn without_nulls(value: Value) -> Map<String, Value> {
    let mut fields = object(value);
    fields.retain(|_, value| !value.is_null());
    fields
}

/// A fingerprint of a secret: it shows whether two secrets are the same, and nothing else. It needs the master key, so that a secret
/// cannot be guessed with a copy of the database.
pub(crate) fn fingerprint(vault: &Vault, secret: &str) -> String {
    let hash = vault.lookup_hash(&[b"audit fingerprint\0", secret.as_bytes()].concat());
    let digits: String = hash.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    format!("#{digits}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use garson_core::secret::Secret;

    fn changed(before: Value, after: Value) -> (Value, Value) {
        let change = Recorded::new(RecordKind::Restaurant, Verb::Changed).change(before, after);
        (change.before.into(), change.after.into())
    }

    #[test]
    fn only_changed_fields_are_recorded() {
        assert_eq!(
            changed(
                json!({"a": 1, "b": 2, "c": null}),
                json!({"a": 1, "b": 3, "c": 4})
            ),
            (json!({"b": 2}), json!({"b": 3, "c": 4}))
        );
        assert_eq!(
            changed(json!({"a": 1, "b": 2}), json!({"a": null, "b": 2})),
            (json!({"a": 1}), json!({"a": null}))
        );
        assert_eq!(changed(json!({"a": 1}), json!({"a": 1})), (json!({}), json!({})));
    }

    #[test]
    fn long_change_is_recorded_by_its_size() {
        let fields = |text: String| Map::from_iter([("text".to_owned(), json!(text))]);
        assert_eq!(shown(Map::new()), None);
        assert_eq!(shown(fields("x".to_owned())).unwrap(), r#"{"text":"x"}"#);
        assert_eq!(shown(fields("x".repeat(20_000))).unwrap(), r#"{"bytes":20011}"#);
    }

    #[test]
    fn fingerprint_depends_on_secret_and_master_key() {
        let vault = |key| Vault::new(&Secret::new([key; 32]));
        assert_eq!(
            fingerprint(&vault(1), "hunter2"),
            fingerprint(&vault(1), "hunter2")
        );
        assert_ne!(
            fingerprint(&vault(1), "hunter2"),
            fingerprint(&vault(1), "hunter3")
        );
        assert_ne!(
            fingerprint(&vault(1), "hunter2"),
            fingerprint(&vault(2), "hunter2")
        );
        assert_eq!(fingerprint(&vault(1), "").len(), 13);
    }
}
