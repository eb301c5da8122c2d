//! Operational notices: what an account wants to be informed of, and what is wrong now.

use crate::tables::json::{from_json, to_json};
use crate::tables::row::{columns, each, insert, value};
use crate::{Result, StoreError, Tx, params};
use garson_core::id::{AccountId, ChannelId};
use garson_core::notice::NoticeKind;
use garson_core::time::Timestamp;

/// What an account wants to be informed of, by which channels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NoticeSettings {
    pub kinds: Vec<NoticeKind>,
    pub channels: Vec<ChannelId>,
    /// The day of the last notice, and how many there were on it.
    pub day: String,
    pub sent: i64,
}

columns! {
    const COLUMNS = "" of notice_settings { kinds: String, channels: String, day, sent }
    fn settings() -> NoticeSettings {
        Ok(NoticeSettings {
            kinds: from_json("list of notices", &kinds)?,
            channels: from_json("list of channels", &channels)?,
            day,
            sent,
        })
    }
}

pub fn find(tx: &mut Tx<'_>, account: AccountId) -> Result<Option<NoticeSettings>> {
    let sql = format!("SELECT {COLUMNS} FROM notice_settings WHERE account_id = ?1");
    tx.query_opt(&sql, params![&account], each(settings))
}

/// Replaces what an account is informed of; the count of its last day stays.
pub fn save(
    tx: &mut Tx<'_>,
    account: AccountId,
    kinds: &[NoticeKind],
    channels: &[ChannelId],
    at: Timestamp,
) -> Result<()> {
    let (kinds, channels) = (
        to_json("list of notices", kinds)?,
        to_json("list of channels", channels)?,
    );
    insert!(
        tx,
        notice_settings {
            account_id: &account,
            kinds: &kinds,
            channels: &channels,
            day: "",
            sent: 0,
            updated_at: at,
        },
        "ON CONFLICT (account_id) DO UPDATE SET kinds = excluded.kinds, channels = excluded.channels,
             updated_at = excluded.updated_at"
    )?;
    Ok(())
}

/// Stores how many notices an account got on a day.
pub fn set_sent(tx: &mut Tx<'_>, account: AccountId, day: &str, sent: i64) -> Result<()> {
    tx.execute(
        "UPDATE notice_settings SET day = ?2, sent = ?3 WHERE account_id = ?1",
        params![&account, day, sent],
    )?;
    Ok(())
}

/// The accounts after another one that have settings.
pub fn accounts(tx: &mut Tx<'_>, after: Option<AccountId>, limit: i64) -> Result<Vec<AccountId>> {
    let after = after.map_or_else(Vec::new, |account| account.as_bytes().to_vec());
    tx.query(
        "SELECT account_id FROM notice_settings WHERE account_id > ?1 ORDER BY account_id LIMIT ?2",
        params![&after, limit],
        value,
    )
}

/// Something that is wrong now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incident {
    pub kind: NoticeKind,
    /// What it is about: a platform, an integration, or nothing.
    pub subject: String,
    pub opened_at: Timestamp,
    /// A notice was sent about it.
    pub is_notified: bool,
}

columns! {
    const INCIDENT = "" of incidents { kind: String, subject, opened_at, notified }
    fn incident() -> Incident {
        Ok(Incident {
            kind: NoticeKind::named(&kind).ok_or_else(|| StoreError::corrupt("an incident of an unknown kind"))?,
            subject,
            opened_at,
            is_notified: notified,
        })
    }
}

pub fn incidents(tx: &mut Tx<'_>, account: AccountId) -> Result<Vec<Incident>> {
    let sql = format!("SELECT {INCIDENT} FROM incidents WHERE account_id = ?1 ORDER BY kind, subject");
    tx.query(&sql, params![&account], each(incident))
}

/// Opens an incident; `false` when it is open already.
pub fn open(tx: &mut Tx<'_>, account: AccountId, incident: &Incident) -> Result<bool> {
    let rows = insert!(
        tx,
        incidents {
            account_id: &account,
            kind: incident.kind.as_str(),
            subject: &incident.subject,
            opened_at: incident.opened_at,
            notified: i64::from(incident.is_notified),
        },
        "ON CONFLICT (account_id, kind, subject) DO NOTHING"
    )?;
    Ok(rows > 0)
}

pub fn close(tx: &mut Tx<'_>, account: AccountId, incident: &Incident) -> Result<bool> {
    let rows = tx.execute(
        "DELETE FROM incidents WHERE account_id = ?1 AND kind = ?2 AND subject = ?3",
        params![&account, incident.kind.as_str(), &incident.subject],
    )?;
    Ok(rows > 0)
}
