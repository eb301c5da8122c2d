//! The second factor of users: an authenticator app, and recovery codes for the day on which the phone is gone.

use super::randomness::random;
use super::totp;
use crate::app::App;
use crate::flow::by::Recorded;
use crate::flow::{By, Fault};
use garson_core::audit::{RecordKind, Verb};
use garson_core::field_problem::FieldProblem;
use garson_core::id::UserId;
use garson_core::secret::Secret;
use garson_core::time::Timestamp;
use garson_core::user::User;
use garson_store::Tx;
use garson_store::tables::{accounts, users};
use serde_json::json;
use std::sync::Arc;

const RECOVERY_CODES: usize = 10;
/// Random bytes of a recovery code: 16 letters.
const RECOVERY_BYTES: usize = 10;
/// Between the groups of letters of a recovery code.
const GROUP: usize = 4;

/// What an authenticator app has to be given.
pub struct Enrolment {
    /// For typing.
    pub secret: Secret<String>,
    /// For a QR code.
    pub address: Secret<String>,
}

impl Enrolment {
    fn new(secret: &[u8], user: &User) -> Self {
        Self {
            address: totp::address(secret, &user.email),
            secret: totp::base32(secret),
        }
    }
}

/// A new secret, which the user has to confirm. It replaces one that was shown before, which another person may have seen.
pub async fn enrol(app: &App, user: &User) -> Result<Enrolment, Fault> {
    let fresh = Secret::new(random::<{ totp::SECRET_BYTES }>()?);
    let enrolment = Enrolment::new(fresh.expose(), user);
    let (vault, id) = (Arc::clone(&app.vault), user.id);
    app.store
        .write(user.account_id, move |tx| {
            Ok::<_, Fault>(users::set_new_totp(tx, &vault, id, fresh.expose())?)
        })
        .await?;
    Ok(enrolment)
}

/// The secret that was shown last, after a wrong code.
pub async fn shown_enrolment(app: &App, user: &User) -> Result<Enrolment, Fault> {
    let (vault, id) = (Arc::clone(&app.vault), user.id);
    let shown = app
        .store
        .read(move |tx| Ok::<_, Fault>(users::new_totp(tx, &vault, id)?))
        .await?;
    match shown {
        Some(secret) => Ok(Enrolment::new(secret.expose(), user)),
        None => enrol(app, user).await,
    }
}

fn record(tx: &mut Tx<'_>, by: &By, verb: Verb, user: UserId, now: Timestamp) {
    by.record(tx, Recorded::new(RecordKind::TwoFactor, verb).id(user), now);
}

/// Confirms the new secret with a code of the app; returns the recovery codes, which are shown this once.
pub async fn confirm(
    app: &App,
    by: By,
    user: &User,
    code: &Secret<String>,
) -> Result<Vec<Secret<String>>, Fault> {
    let codes = new_recovery_codes()?;
    let hashes = hashes(app, &codes);
    let (vault, id, now) = (Arc::clone(&app.vault), user.id, app.now());
    let code = totp::typed(code.expose());
    app.store
        .write(user.account_id, move |tx| {
            let secret = users::new_totp(tx, &vault, id)?;
            let step = secret.and_then(|secret| totp::valid_step(secret.expose(), &code, now, 0));
            let Some(step) = step else {
                return Err(Fault::invalid("code", FieldProblem::WrongCode));
            };
            users::confirm_totp(tx, id, step, &hashes)?;
            record(tx, &by, Verb::Created, id, now);
            Ok(())
        })
        .await?;
    Ok(codes)
}

/// Makes new recovery codes; the old ones stop working.
pub async fn renew_recovery_codes(app: &App, by: By, user: &User) -> Result<Vec<Secret<String>>, Fault> {
    let codes = new_recovery_codes()?;
    let (hashes, id, now) = (hashes(app, &codes), user.id, app.now());
    app.store
        .write(user.account_id, move |tx| {
            users::set_recovery_codes(tx, id, &hashes)?;
            let action = Recorded::new(RecordKind::TwoFactor, Verb::Changed).id(id);
            by.record(tx, action.after(json!({ "recoveryCodes": hashes.len() })), now);
            Ok::<_, Fault>(())
        })
        .await?;
    Ok(codes)
}

pub async fn recovery_codes_left(app: &App, id: UserId) -> Result<i64, Fault> {
    app.store
        .read(move |tx| Ok(users::recovery_codes_left(tx, id)?))
        .await
}

/// Removes the second factor, unless the owner wants all users to have one.
pub async fn disable(app: &App, by: By, user: &User) -> Result<(), Fault> {
    let (account, id, now) = (user.account_id, user.id, app.now());
    app.store
        .write(account, move |tx| {
            if accounts::requires_two_factor(tx, account)? {
                return Err(Fault::TwoFactorRequired);
            }
            users::remove_totp(tx, id)?;
            record(tx, &by, Verb::Deleted, id, now);
            Ok(())
        })
        .await
}

/// Removes the second factor of a user who has lost it, on the word of an owner or the operator.
pub async fn remove(app: &App, by: By, user: &User) -> Result<(), Fault> {
    let (id, now) = (user.id, app.now());
    app.store
        .write(user.account_id, move |tx| {
            users::remove_totp(tx, id)?;
            record(tx, &by, Verb::Deleted, id, now);
            Ok(())
        })
        .await
}

/// Is it a code of the user's app that was not used yet, or a recovery code? Either works once.
pub(super) async fn is_right(app: &App, user: &User, code: &Secret<String>) -> Result<bool, Fault> {
    let typed = totp::typed(code.expose());
    let recovery = recovery_hash(app, &typed);
    let (vault, id, now) = (Arc::clone(&app.vault), user.id, app.now());
    app.store
        .write(user.account_id, move |tx| {
            let Some((secret, used)) = users::totp(tx, &vault, id)? else {
                return Ok::<_, Fault>(false);
            };
            if let Some(step) = totp::valid_step(secret.expose(), &typed, now, used) {
                users::set_totp_step(tx, id, step)?;
                return Ok(true);
            }
            Ok(users::use_recovery_code(tx, id, &recovery)?)
        })
        .await
}

/// The codes as they are shown, such as `ABCD-EFGH-IJKL-MNOP`.
fn new_recovery_codes() -> Result<Vec<Secret<String>>, Fault> {
    let mut codes = Vec::with_capacity(RECOVERY_CODES);
    for _ in 0..RECOVERY_CODES {
        let text = totp::base32(&random::<RECOVERY_BYTES>()?);
        let letters: Vec<char> = text.expose().chars().collect();
        let groups: Vec<String> = letters
            .chunks(GROUP)
            .map(|group| group.iter().collect())
            .collect();
        codes.push(Secret::new(groups.join("-")));
    }
    Ok(codes)
}

fn hashes(app: &App, codes: &[Secret<String>]) -> Vec<[u8; 32]> {
    codes
        .iter()
        .map(|code| recovery_hash(app, &totp::typed(code.expose())))
        .collect()
}

fn recovery_hash(app: &App, typed: &str) -> [u8; 32] {
    app.vault.lookup_hash(typed.to_uppercase().as_bytes())
}
