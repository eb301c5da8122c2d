//! The users of accounts, their passwords and their second factors.

use crate::tables::row::{columns, each, insert, tuple, value};
use crate::tables::user_tokens::Purpose;
use crate::tables::{restaurant_scope, sessions, user_tokens};
use crate::vault::Vault;
use crate::{Result, StoreError, Tx, params};
use garson_core::channel::Language;
use garson_core::id::{AccountId, UserId};
use garson_core::role::Role;
use garson_core::secret::Secret;
use garson_core::time::Timestamp;
use garson_core::user::User;

/// Where the vault says that sealed secrets are stored.
pub(crate) const TOTP: &str = "users/totp";

columns! {
    const COLUMNS = "" of users {
        id, account_id, email, name, language: String, role: String, restaurants: Option<String>, is_disabled,
        has_password: i64 = "CAST(CASE WHEN password_hash IS NULL THEN 0 ELSE 1 END AS BIGINT)",
        has_two_factor: i64 = "CAST(CASE WHEN totp IS NULL THEN 0 ELSE 1 END AS BIGINT)",
        has_openid: i64 = "CAST(CASE WHEN openid_subject IS NULL THEN 0 ELSE 1 END AS BIGINT)",
        created_at, last_sign_in_at
    }
    fn user() -> User {
        Ok(User {
            id,
            account_id,
            email,
            name,
            language: Language::named(&language).unwrap_or_default(),
            role: Role::named(&role).ok_or_else(|| StoreError::corrupt("a user has an unknown role"))?,
            restaurants: restaurant_scope::read(restaurants.as_deref())?,
            is_disabled,
            has_password: has_password != 0,
            has_two_factor: has_two_factor != 0,
            has_openid: has_openid != 0,
            created_at,
            last_sign_in_at,
        })
    }
}

/// Creates a user; `false` when the e-mail address is taken.
pub fn create(tx: &mut Tx<'_>, user: &User, password_hash: Option<&str>) -> Result<bool> {
    let created = insert!(
        tx,
        users {
            id: &user.id,
            account_id: &user.account_id,
            email: &user.email,
            name: &user.name,
            language: user.language.as_str(),
            role: user.role.as_str(),
            restaurants: restaurant_scope::write(&user.restaurants)?.as_ref(),
            password_hash: password_hash,
            created_at: user.created_at,
        },
        "ON CONFLICT (email) DO NOTHING"
    )?;
    Ok(created == 1)
}

/// The users of an account, the oldest first.
pub fn list(tx: &mut Tx<'_>, account: AccountId) -> Result<Vec<User>> {
    let sql = format!("SELECT {COLUMNS} FROM users WHERE account_id = ?1 ORDER BY created_at, id");
    tx.query(&sql, params![&account], each(user))
}

pub fn count(tx: &mut Tx<'_>, account: AccountId) -> Result<i64> {
    let sql = "SELECT COUNT(*) FROM users WHERE account_id = ?1";
    tx.query_one(sql, params![&account], value)
}

/// A user of an account.
pub fn find(tx: &mut Tx<'_>, account: AccountId, id: UserId) -> Result<Option<User>> {
    let sql = format!("SELECT {COLUMNS} FROM users WHERE account_id = ?1 AND id = ?2");
    tx.query_opt(&sql, params![&account, &id], each(user))
}

/// A user of any account: for sign-in and for links.
pub fn by_id(tx: &mut Tx<'_>, id: UserId) -> Result<Option<User>> {
    let sql = format!("SELECT {COLUMNS} FROM users WHERE id = ?1");
    tx.query_opt(&sql, params![&id], each(user))
}

pub fn by_email(tx: &mut Tx<'_>, email: &str) -> Result<Option<User>> {
    let sql = format!("SELECT {COLUMNS} FROM users WHERE email = ?1");
    tx.query_opt(&sql, params![email], each(user))
}

/// The user who is this for an OpenID Connect provider.
pub fn by_openid(tx: &mut Tx<'_>, issuer: &str, subject: &str) -> Result<Option<User>> {
    let sql = format!("SELECT {COLUMNS} FROM users WHERE openid_issuer = ?1 AND openid_subject = ?2");
    tx.query_opt(&sql, params![issuer, subject], each(user))
}

/// Issuer and subject of the user.
pub fn openid(tx: &mut Tx<'_>, id: UserId) -> Result<Option<(String, String)>> {
    let sql = "SELECT openid_issuer, openid_subject FROM users WHERE id = ?1 AND openid_subject IS NOT NULL";
    tx.query_opt(sql, params![&id], tuple)
}

pub fn set_openid(tx: &mut Tx<'_>, id: UserId, issuer: &str, subject: &str) -> Result<()> {
    tx.execute(
        "UPDATE users SET openid_issuer = ?2, openid_subject = ?3 WHERE id = ?1",
        params![&id, issuer, subject],
    )?;
    Ok(())
}

pub fn remove_openid(tx: &mut Tx<'_>, id: UserId) -> Result<()> {
    tx.execute(
        "UPDATE users SET openid_issuer = NULL, openid_subject = NULL WHERE id = ?1",
        params![&id],
    )?;
    Ok(())
}

/// Writes what can be changed of a user, besides secrets. The e-mail address must be free. A user with another address is another
/// one for OpenID Connect.
pub fn update(tx: &mut Tx<'_>, user: &User) -> Result<()> {
    tx.execute(
        "UPDATE users SET email = ?2, name = ?3, language = ?4, role = ?5, restaurants = ?6, is_disabled = ?7,
             openid_issuer = CASE WHEN email = ?2 THEN openid_issuer END,
             openid_subject = CASE WHEN email = ?2 THEN openid_subject END
         WHERE id = ?1",
        params![
            &user.id,
            &user.email,
            &user.name,
            user.language.as_str(),
            user.role.as_str(),
            restaurant_scope::write(&user.restaurants)?.as_ref(),
            user.is_disabled
        ],
    )?;
    Ok(())
}

/// Ends the links for a new password: the user has another address or password, or was disabled.
pub fn end_resets(tx: &mut Tx<'_>, id: UserId) -> Result<()> {
    user_tokens::remove(tx, id, Purpose::PasswordReset)
}

/// Removes a user with everything that lets it sign in. Its open boards end.
pub fn remove(tx: &mut Tx<'_>, account: AccountId, id: UserId) -> Result<bool> {
    let rows = tx.execute(
        "DELETE FROM users WHERE account_id = ?1 AND id = ?2",
        params![&account, &id],
    )?;
    if rows == 0 {
        return Ok(false);
    }
    tx.execute("DELETE FROM recovery_codes WHERE user_id = ?1", params![&id])?;
    user_tokens::remove_all(tx, id)?;
    sessions::end_all(tx, account, id)?;
    Ok(true)
}

pub fn record_sign_in(tx: &mut Tx<'_>, id: UserId, now: Timestamp) -> Result<()> {
    tx.execute(
        "UPDATE users SET last_sign_in_at = ?2 WHERE id = ?1",
        params![&id, now],
    )?;
    Ok(())
}

pub fn password_hash(tx: &mut Tx<'_>, id: UserId) -> Result<Option<String>> {
    let sql = "SELECT password_hash FROM users WHERE id = ?1";
    Ok(tx
        .query_opt(sql, params![&id], value::<Option<String>>)?
        .flatten())
}

pub fn set_password_hash(tx: &mut Tx<'_>, id: UserId, hash: &str) -> Result<()> {
    tx.execute(
        "UPDATE users SET password_hash = ?2 WHERE id = ?1",
        params![&id, hash],
    )?;
    end_resets(tx, id)
}

/// The secret of the second factor and the last time step whose code was used. Locks the row in a write job.
pub fn totp(tx: &mut Tx<'_>, vault: &Vault, id: UserId) -> Result<Option<(Secret<Vec<u8>>, i64)>> {
    let sql = "SELECT totp, totp_step FROM users WHERE id = ?1 {lock}";
    let found = tx.query_opt(sql, params![&id], tuple::<(Option<Vec<u8>>, i64)>)?;
    let Some((Some(sealed), step)) = found else {
        return Ok(None);
    };
    Ok(Some((vault.open(TOTP, id.as_bytes(), &sealed)?, step)))
}

/// Records the time step whose code was used, so that the code does not work again.
pub fn set_totp_step(tx: &mut Tx<'_>, id: UserId, step: i64) -> Result<()> {
    tx.execute(
        "UPDATE users SET totp_step = ?2 WHERE id = ?1",
        params![&id, step],
    )?;
    Ok(())
}

/// The secret that the user has been shown but has not confirmed.
pub fn new_totp(tx: &mut Tx<'_>, vault: &Vault, id: UserId) -> Result<Option<Secret<Vec<u8>>>> {
    let sql = "SELECT totp_new FROM users WHERE id = ?1";
    let sealed = tx
        .query_opt(sql, params![&id], value::<Option<Vec<u8>>>)?
        .flatten();
    sealed
        .map(|sealed| vault.open(TOTP, id.as_bytes(), &sealed))
        .transpose()
}

pub fn set_new_totp(tx: &mut Tx<'_>, vault: &Vault, id: UserId, secret: &[u8]) -> Result<()> {
    let sealed = vault.seal(TOTP, id.as_bytes(), secret)?;
    tx.execute(
        "UPDATE users SET totp_new = ?2 WHERE id = ?1",
        params![&id, &sealed],
    )?;
    Ok(())
}

/// Makes the new secret the one in use, with these recovery codes.
pub fn confirm_totp(tx: &mut Tx<'_>, id: UserId, step: i64, codes: &[[u8; 32]]) -> Result<()> {
    tx.execute(
        "UPDATE users SET totp = totp_new, totp_new = NULL, totp_step = ?2 WHERE id = ?1",
        params![&id, step],
    )?;
    set_recovery_codes(tx, id, codes)
}

pub fn remove_totp(tx: &mut Tx<'_>, id: UserId) -> Result<()> {
    tx.execute(
        "UPDATE users SET totp = NULL, totp_new = NULL WHERE id = ?1",
        params![&id],
    )?;
    set_recovery_codes(tx, id, &[])
}

pub fn set_recovery_codes(tx: &mut Tx<'_>, id: UserId, codes: &[[u8; 32]]) -> Result<()> {
    tx.execute("DELETE FROM recovery_codes WHERE user_id = ?1", params![&id])?;
    for code in codes {
        insert!(
            tx,
            recovery_codes {
                user_id: &id,
                hash: code
            }
        )?;
    }
    Ok(())
}

pub fn recovery_codes_left(tx: &mut Tx<'_>, id: UserId) -> Result<i64> {
    let sql = "SELECT COUNT(*) FROM recovery_codes WHERE user_id = ?1";
    tx.query_one(sql, params![&id], value)
}

/// Uses up a recovery code; `false` when there is no such code.
pub fn use_recovery_code(tx: &mut Tx<'_>, id: UserId, code: &[u8; 32]) -> Result<bool> {
    let rows = tx.execute(
        "DELETE FROM recovery_codes WHERE user_id = ?1 AND hash = ?2",
        params![&id, code],
    )?;
    Ok(rows > 0)
}
