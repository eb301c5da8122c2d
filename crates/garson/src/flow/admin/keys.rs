//! API keys: issue, list, revoke, replace, choose the primary one.

use super::{quotas, recorded_fields};
use crate::app::App;
use crate::flow::by::{Recorded, Who};
use crate::flow::fault::Thing;
use crate::flow::{By, Fault};
use garson_core::account::{ApiKey, IssuedKey};
use garson_core::audit::{RecordKind, Verb};
use garson_core::field_problem::FieldProblem;
use garson_core::id::{AccountId, KeyId};
use garson_core::key_access::KeyAccess;
use garson_core::permission::RestaurantScope;
use garson_core::secret::Secret;
use garson_core::time::Timestamp;
use garson_store::tables::keys::Revoked;
use garson_store::tables::{accounts, keys, restaurants, users};
use garson_store::{StoreError, Tx};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

/// The longest time for which a key and its replacement are both valid.
pub const LONGEST_OVERLAP: Duration = Duration::from_secs(30 * 24 * 3600);
/// For how long both are valid unless said otherwise.
pub const OVERLAP: Duration = Duration::from_secs(24 * 3600);
/// How long an expired key is listed.
const KEEP_EXPIRED: Duration = Duration::from_secs(30 * 24 * 3600);
/// Whoever presses twice, or whose browser sends again by itself, does so within this time.
const SAME_PRESS: Duration = Duration::from_secs(10);
/// The most restaurants and networks of a key.
pub const MAX_RESTAURANTS: usize = 200;
pub const MAX_NETWORKS: usize = 50;

/// What a new key is for, and what it may do.
#[derive(Clone, Debug, Default)]
pub struct NewKey {
    pub label: Option<String>,
    pub access: KeyAccess,
    pub expires_at: Option<Timestamp>,
}

#[expect(clippy::disallowed_methods, reason = "needs real randomness")]
pub(super) fn new_key(new: NewKey, id: KeyId, now: Timestamp) -> Result<IssuedKey, Fault> {
    use base64::Engine as _;
    let mut random = [0; 32];
    getrandom::fill(&mut random)
        .map_err(|_| Fault::Store(StoreError::unavailable("no randomness to be had")))?;
    let text = base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(random);
    let hint = text.chars().skip(text.len().saturating_sub(4)).collect();
    let record = ApiKey {
        id,
        label: new.label,
        hint,
        is_primary: false,
        access: new.access,
        expires_at: new.expires_at,
        replaced_by: None,
        created_at: now,
        last_used_at: None,
        last_used_from: None,
    };
    Ok(IssuedKey {
        record,
        secret: Secret::new(format!("gsn_{text}")),
    })
}

pub(super) fn record(tx: &mut Tx<'_>, by: &By, verb: Verb, key: &ApiKey, now: Timestamp) {
    let action = Recorded::new(RecordKind::ApiKey, verb).id(key.id);
    let fields = recorded_fields::key(key);
    let action = match verb {
        Verb::Deleted => action.before(fields),
        _ => action.after(fields),
    };
    by.record(tx, action, now);
}

fn find(tx: &mut Tx<'_>, account: AccountId, id: KeyId) -> Result<ApiKey, Fault> {
    keys::get(tx, account, id)?.ok_or_else(|| Fault::not_found(Thing::Key, id))
}

/// Checks what a new key may do and for how long, apart from who issues it.
fn check(tx: &mut Tx<'_>, account: AccountId, new: &NewKey, now: Timestamp) -> Result<(), Fault> {
    let access = &new.access;
    if access.scopes.as_ref().is_some_and(|scopes| scopes.is_empty()) {
        return Err(Fault::invalid("scopes", FieldProblem::Required));
    }
    if access.networks.len() > MAX_NETWORKS {
        let max = MAX_NETWORKS;
        return Err(Fault::invalid("networks", FieldProblem::TooMany { max }));
    }
    if new.expires_at.is_some_and(|at| at <= now) {
        return Err(Fault::invalid(
            "expiresAt",
            FieldProblem::text("must be in the future"),
        ));
    }
    let RestaurantScope::Only(ids) = &access.restaurants else {
        return Ok(());
    };
    if ids.is_empty() {
        return Err(Fault::invalid("restaurantIds", FieldProblem::Required));
    }
    if ids.len() > MAX_RESTAURANTS {
        let max = MAX_RESTAURANTS;
        return Err(Fault::invalid("restaurantIds", FieldProblem::TooMany { max }));
    }
    for (row, id) in ids.iter().enumerate() {
        if !restaurants::exists(tx, account, *id)? {
            let problem = FieldProblem::text("is not a restaurant of this account");
            return Err(Fault::invalid(format!("restaurantIds[{row}]"), problem));
        }
    }
    Ok(())
}

/// Fails if a key could do more than its issuer may give. A key gives what it may do itself, no longer than it lasts. Users who
/// manage keys give what programs need; what concerns people, the audit log and customers only if they may do it themselves.
fn check_issuer(tx: &mut Tx<'_>, by: &By, new: &NewKey) -> Result<(), Fault> {
    let may_give = match &by.who {
        Who::Key(id) => {
            let own = keys::get(tx, by.account, *id)?.ok_or(Fault::KeyRevoked)?;
            // The primary key has no end of its own, only that of its replacement.
            let own_end = own.expires_at.filter(|_| !own.is_primary);
            let lasts_longer = match (own_end, new.expires_at) {
                (None, _) => false,
                (Some(own), new) => new.is_none_or(|new| new > own),
            };
            own.access.covers(&new.access) && !lasts_longer
        }
        Who::User { id, .. } => {
            let user = users::find(tx, by.account, *id)?.ok_or(Fault::NotAllowed)?;
            let given: Vec<_> = garson_core::key_access::Scope::ALL
                .into_iter()
                .filter(|scope| new.access.scopes.as_ref().is_none_or(|it| it.contains(scope)))
                .collect();
            given
                .iter()
                .filter(|scope| scope.is_sensitive())
                .flat_map(|scope| scope.permissions())
                .all(|permission| user.may(*permission))
        }
        Who::Operator(_) | Who::Platform(_) | Who::System => true,
    };
    if may_give {
        Ok(())
    } else {
        Err(Fault::KeyTooPowerful)
    }
}

/// Issues a key; it is shown this once. The id is there already when an earlier run of the same keyed request got
/// this far: then it is the same key.
pub async fn issue(app: &App, by: By, id: KeyId, new: NewKey) -> Result<IssuedKey, Fault> {
    let (account, now, defaults) = (by.account, app.now(), app.settings.quotas);
    let fresh = new_key(new.clone(), id, now)?;
    let vault = Arc::clone(&app.vault);
    app.store
        .write(account, move |tx| {
            let secret = match keys::secret(tx, &vault, account, id)? {
                Some(secret) => secret,
                None => {
                    accounts::lock(tx, account)?;
                    check(tx, account, &new, now)?;
                    check_issuer(tx, &by, &new)?;
                    quotas::check_keys(tx, account, &defaults)?;
                    let issued = keys::issue(tx, &vault, account, &fresh)?;
                    record(tx, &by, Verb::Created, &issued, now);
                    fresh.secret.clone()
                }
            };
            let record = find(tx, account, id)?;
            Ok(IssuedKey { record, secret })
        })
        .await
}

/// Makes a key that the receiver of events knows already the account's primary key, for a temporary account.
pub async fn adopt(app: &App, by: By, secret: Secret<String>) -> Result<(), Fault> {
    let (account, now) = (by.account, app.now());
    let id = KeyId::at(now);
    let new = NewKey {
        label: Some("Key of the receiver".to_owned()),
        ..NewKey::default()
    };
    let issued = IssuedKey {
        secret,
        ..new_key(new, id, now)?
    };
    let vault = Arc::clone(&app.vault);
    app.store
        .write(account, move |tx| {
            let key = keys::issue(tx, &vault, account, &issued)?;
            record(tx, &by, Verb::Created, &key, now);
            keys::make_primary(tx, account, id)?;
            Ok(())
        })
        .await
}

/// Was the key that a form has chosen the id for issued already, and shown? Whoever has pressed twice is shown the same key.
async fn was_shown(app: &App, account: AccountId, id: KeyId) -> Result<bool, Fault> {
    let shown_before = app.now().minus(SAME_PRESS);
    let before = list(app, account).await?;
    Ok(before
        .iter()
        .any(|key| key.id == id && key.created_at < shown_before))
}

/// Issues the key that a form has chosen the id for, so that a form that is sent again makes no second one. Nothing when it was
/// issued already, and shown.
pub async fn issue_once(app: &App, by: By, id: KeyId, new: NewKey) -> Result<Option<IssuedKey>, Fault> {
    if was_shown(app, by.account, id).await? {
        return Ok(None);
    }
    issue(app, by, id, new).await.map(Some)
}

pub async fn list(app: &App, account: AccountId) -> Result<Vec<ApiKey>, Fault> {
    app.store.read(move |tx| Ok(keys::list(tx, account)?)).await
}

/// Revokes a key; the primary one, whose place another takes then, only for who holds it.
pub async fn revoke(app: &App, by: By, id: KeyId) -> Result<(), Fault> {
    let (account, now) = (by.account, app.now());
    app.store
        .write(account, move |tx| {
            accounts::lock(tx, account)?;
            if keys::is_primary(tx, account, id)? {
                by.must_hold_primary(tx)?;
            }
            let key = find(tx, account, id)?;
            match keys::revoke(tx, account, id)? {
                Revoked::Done => {
                    record(tx, &by, Verb::Deleted, &key, now);
                    Ok(())
                }
                Revoked::NotFound => Err(Fault::not_found(Thing::Key, id)),
                Revoked::IsLast => Err(Fault::LastKey),
            }
        })
        .await
}

/// Issues a key in the place of another one, with the same label and access. The other one stays valid until the overlap is over;
/// if it is the primary one, it stays so until then. The replacement of one that expires does so at the same time.
pub async fn rotate(
    app: &App,
    by: By,
    (old, id): (KeyId, KeyId),
    overlap: Duration,
) -> Result<IssuedKey, Fault> {
    let (account, now) = (by.account, app.now());
    let vault = Arc::clone(&app.vault);
    app.store
        .write(account, move |tx| {
            accounts::lock(tx, account)?;
            let before = find(tx, account, old)?;
            // An earlier run of the same keyed request got this far.
            if let (Some(secret), true) = (
                keys::secret(tx, &vault, account, id)?,
                before.replaced_by == Some(id),
            ) {
                let record = find(tx, account, id)?;
                return Ok(IssuedKey { record, secret });
            }
            if before.is_primary {
                by.must_hold_primary(tx)?;
            }
            if before.replaced_by.is_some() || before.is_expired(now) {
                return Err(Fault::KeyReplaced);
            }
            let new = NewKey {
                label: before.label.clone(),
                access: before.access.clone(),
                expires_at: before.expires_at,
            };
            if by.who != Who::Key(old) {
                check_issuer(tx, &by, &new)?;
            }
            let fresh = new_key(new, id, now)?;
            let issued = keys::issue(tx, &vault, account, &fresh)?;
            let ends_at = now.plus(overlap);
            let ends_at = before.expires_at.map_or(ends_at, |at| at.min(ends_at));
            keys::replace(tx, account, old, id, ends_at)?;
            record(tx, &by, Verb::Created, &issued, now);
            let change = Recorded::new(RecordKind::ApiKey, Verb::Changed).id(old);
            let after = recorded_fields::key(&find(tx, account, old)?);
            by.record(tx, change.change(recorded_fields::key(&before), after), now);
            if overlap.is_zero() {
                end(tx, &By::system(account), old, id, now)?;
            }
            let record = find(tx, account, id)?;
            Ok(IssuedKey {
                record,
                secret: fresh.secret,
            })
        })
        .await
}

/// The same for a form that has chosen the id of the new key.
pub async fn rotate_once(
    app: &App,
    by: By,
    (old, id): (KeyId, KeyId),
    overlap: Duration,
) -> Result<Option<IssuedKey>, Fault> {
    if was_shown(app, by.account, id).await? {
        return Ok(None);
    }
    rotate(app, by, (old, id), overlap).await.map(Some)
}

/// A key has come to its end: if it is the primary one, its replacement becomes that.
fn end(tx: &mut Tx<'_>, by: &By, old: KeyId, new: KeyId, now: Timestamp) -> Result<(), Fault> {
    let account = by.account;
    if keys::is_primary(tx, account, old)? && keys::make_primary(tx, account, new)? {
        let change = Recorded::new(RecordKind::ApiKey, Verb::Changed).id(new);
        by.record(
            tx,
            change.change(json!({ "primary": old }), json!({ "primary": new })),
            now,
        );
    }
    tx.wake_watchers(account);
    Ok(())
}

/// Makes replacements of expired primary keys primary, and removes keys that expired long ago.
pub async fn end_expired(app: &App, limit: i64) -> Result<bool, Fault> {
    let now = app.now();
    let (primaries, old) = app
        .store
        .read(move |tx| {
            let primaries = keys::expired_primaries(tx, now, limit)?;
            Ok::<_, StoreError>((
                primaries,
                keys::expired_before(tx, now.minus(KEEP_EXPIRED), limit)?,
            ))
        })
        .await?;
    for (account, expired, replacement) in &primaries {
        let (account, expired, replacement) = (*account, *expired, *replacement);
        app.store
            .write(account, move |tx| {
                accounts::lock(tx, account)?;
                end(tx, &By::system(account), expired, replacement, now)
            })
            .await?;
    }
    for (account, key) in &old {
        let (account, key) = (*account, *key);
        app.store
            .write(account, move |tx| {
                accounts::lock(tx, account)?;
                let Some(removed) = keys::get(tx, account, key)? else {
                    return Ok::<_, Fault>(());
                };
                if keys::revoke(tx, account, key)? == Revoked::Done {
                    record(tx, &By::system(account), Verb::Deleted, &removed, now);
                }
                Ok(())
            })
            .await?;
    }
    Ok(!primaries.is_empty() || !old.is_empty())
}

pub async fn make_primary(app: &App, by: By, id: KeyId) -> Result<ApiKey, Fault> {
    let (account, now) = (by.account, app.now());
    app.store
        .write(account, move |tx| {
            accounts::lock(tx, account)?;
            by.must_hold_primary(tx)?;
            let key = find(tx, account, id)?;
            if key.expires_at.is_some() || !key.access.is_unlimited() {
                return Err(Fault::PrimaryKeyLimited);
            }
            let primary = |keys: Vec<ApiKey>| keys.into_iter().find(|key| key.is_primary).map(|key| key.id);
            let before = primary(keys::list(tx, account)?);
            keys::make_primary(tx, account, id)?;
            let change = Recorded::new(RecordKind::ApiKey, Verb::Changed).id(id);
            by.record(
                tx,
                change.change(json!({ "primary": before }), json!({ "primary": id })),
                now,
            );
            find(tx, account, id)
        })
        .await
}
