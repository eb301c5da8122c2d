//! The channels of accounts. Where a channel's messages go is sealed as a whole: URLs and bodies of gateways hold secrets, too.

use crate::tables::json::{from_json, to_json};
use crate::tables::row::{Cells, columns, insert, value};
use crate::vault::Vault;
use crate::{Result, StoreError, Tx, params};
use garson_core::channel::{Channel, ChannelKind, HttpMethod, HttpTemplate, Language, Target};
use garson_core::id::{AccountId, ChannelId};
use garson_core::secret::Secret;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Where the vault says that sealed targets are stored.
pub(crate) const TARGET: &str = "channels/target";

/// A target as it is sealed.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct StoredTarget {
    recipients: Vec<String>,
    method: Option<HttpMethod>,
    url: String,
    headers: BTreeMap<String, String>,
    body: String,
    secrets: BTreeMap<String, String>,
}

impl StoredTarget {
    fn of(target: &Target) -> Self {
        let exposed = |map: &BTreeMap<String, Secret<String>>| {
            let pairs = map.iter();
            pairs
                .map(|(name, value)| (name.clone(), value.expose().clone()))
                .collect()
        };
        match target {
            Target::Email { recipients } => Self {
                recipients: recipients.clone(),
                ..Self::default()
            },
            Target::Http(template) => Self {
                method: Some(template.method),
                url: template.url.clone(),
                headers: exposed(&template.headers),
                body: template.body.clone(),
                secrets: exposed(&template.secrets),
                ..Self::default()
            },
        }
    }

    fn into_target(self, kind: ChannelKind) -> Target {
        let secret = |map: BTreeMap<String, String>| {
            let pairs = map.into_iter();
            pairs.map(|(name, value)| (name, Secret::new(value))).collect()
        };
        match kind {
            ChannelKind::Email => Target::Email {
                recipients: self.recipients,
            },
            ChannelKind::Http => Target::Http(HttpTemplate {
                method: self.method.unwrap_or(HttpMethod::Post),
                url: self.url,
                headers: secret(self.headers),
                body: self.body,
                secrets: secret(self.secrets),
            }),
        }
    }
}

columns! {
    const COLUMNS = "" of channels {
        id: ChannelId, name, kind: String, language: String, target: Vec<u8>, created_at, updated_at
    }
    fn channel(vault: &Vault) -> Channel {
        let kind = ChannelKind::named(&kind).ok_or_else(|| StoreError::corrupt("a channel of an unknown kind"))?;
        let json = vault.open_text(TARGET, id.as_bytes(), &target)?;
        let target: StoredTarget = from_json("target of a channel", json.expose())?;
        Ok(Channel {
            id,
            name,
            language: Language::named(&language).unwrap_or_default(),
            target: target.into_target(kind),
            created_at,
            updated_at,
        })
    }
}

/// Creates or updates a channel. Does nothing if the id belongs to another account.
pub fn save(tx: &mut Tx<'_>, vault: &Vault, account: AccountId, channel: &Channel) -> Result<()> {
    let json = Secret::new(to_json(
        "target of a channel",
        &StoredTarget::of(&channel.target),
    )?);
    let sealed = vault.seal_text(TARGET, channel.id.as_bytes(), &json)?;
    insert!(
        tx,
        channels {
            id: &channel.id,
            account_id: &account,
            name: &channel.name,
            kind: channel.target.kind().as_str(),
            language: channel.language.as_str(),
            target: &sealed,
            created_at: channel.created_at,
            updated_at: channel.updated_at,
        },
        "ON CONFLICT (id) DO UPDATE SET name = excluded.name, kind = excluded.kind, language = excluded.language,
             target = excluded.target, updated_at = excluded.updated_at
         WHERE channels.account_id = excluded.account_id"
    )?;
    Ok(())
}

pub fn list(tx: &mut Tx<'_>, vault: &Vault, account: AccountId) -> Result<Vec<Channel>> {
    let sql = format!("SELECT {COLUMNS} FROM channels WHERE account_id = ?1 ORDER BY id");
    tx.query(&sql, params![&account], |row| {
        channel(&mut Cells::new(row), vault)
    })
}

pub fn find(tx: &mut Tx<'_>, vault: &Vault, account: AccountId, id: ChannelId) -> Result<Option<Channel>> {
    let sql = format!("SELECT {COLUMNS} FROM channels WHERE account_id = ?1 AND id = ?2");
    tx.query_opt(&sql, params![&account, &id], |row| {
        channel(&mut Cells::new(row), vault)
    })
}

/// The name of a channel; empty if it no longer exists.
pub fn name(tx: &mut Tx<'_>, id: ChannelId) -> Result<String> {
    let sql = "SELECT name FROM channels WHERE id = ?1";
    Ok(tx.query_opt(sql, params![&id], value)?.unwrap_or_default())
}

pub fn exists(tx: &mut Tx<'_>, account: AccountId, id: ChannelId) -> Result<bool> {
    let sql = "SELECT created_at FROM channels WHERE account_id = ?1 AND id = ?2";
    let found = tx.query_opt(sql, params![&account, &id], value::<i64>)?;
    Ok(found.is_some())
}

pub fn count(tx: &mut Tx<'_>, account: AccountId) -> Result<i64> {
    let sql = "SELECT COUNT(*) FROM channels WHERE account_id = ?1";
    tx.query_one(sql, params![&account], value)
}

/// Removes a channel; `false` when the account has no such channel.
pub fn delete(tx: &mut Tx<'_>, account: AccountId, id: ChannelId) -> Result<bool> {
    let rows = tx.execute(
        "DELETE FROM channels WHERE account_id = ?1 AND id = ?2",
        params![&account, &id],
    )?;
    Ok(rows > 0)
}
