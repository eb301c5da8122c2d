//! Reads an exported account from its file into this database.
//!
//! First comes the history, in chunks between other writes; nothing looks at it while there is no such account. Then one transaction
//! writes the account and everything that workers act on. Until then the account is marked as importing, and an interrupted import
//! is removed and started over by the next one.

use super::account_export::{blob, set};
use super::account_file::{Description, Mark, Reader, Record};
use crate::engine::{Insert, Location, Owned, Param, Partition};
use crate::error::StoreErrorKind;
use crate::store::Engine;
use crate::tables::row::value;
use crate::tables::schema::TABLES;
use crate::tables::sealed::SEALED;
use crate::tables::{account_states, accounts, key_rotation};
use crate::upkeep::account_removal;
use crate::{ALL_TABLES, INTEGRATIONS, Result, StoreError, Tx, Vault, params};
use garson_core::account_state::AccountState;
use garson_core::clock::SharedClock;
use garson_core::id::AccountId;
use garson_core::integration::Credentials;
use garson_core::secret::Secret;
use parking_lot::Mutex;
use std::io::{Read, Seek};
use std::sync::Arc;
use std::time::Duration;

/// How many rows, and bytes, one transaction writes.
const CHUNK_ROWS: usize = 200;
const CHUNK_BYTES: usize = 1024 * 1024;
/// An import without progress for this time was interrupted.
const SILENCE: Duration = Duration::from_secs(60);

/// The secret with which a platform (by its name) presents itself to an integration with these credentials.
pub type InboundSecret = dyn Fn(&str, &Credentials) -> Option<Secret<Vec<u8>>> + Send + Sync;

/// Where an account goes.
#[derive(Clone)]
pub struct Target {
    pub engine: Engine,
    pub vault: Arc<Vault>,
    pub account: AccountId,
    pub inbound: Arc<InboundSecret>,
    pub clock: SharedClock,
}

/// Imports the account; it is disabled then. Returns the number of rows. Whatever fails is undone.
pub async fn import<R>(target: &Target, description: &Description, mut reader: Reader<R>) -> Result<u64>
where
    R: Read + Seek + Send + 'static,
{
    prepare(target, description).await?;
    let written = async {
        let history = write_history(target, &mut reader).await?;
        let mark = reader.mark()?;
        let work = write_work(target, reader, mark).await?;
        Ok(history + work)
    }
    .await;
    if written.is_err() {
        remove_written(target, description).await?;
        let account = target.account;
        target
            .engine
            .write(Partition::COMMON, move |tx| account_states::remove(tx, account))
            .await?;
    }
    written
}

/// Refuses what is there already, and marks the account as importing.
async fn prepare(target: &Target, description: &Description) -> Result<()> {
    let (account, now, email) = (target.account, target.clock.now(), description.email.clone());
    let is_left_over = target
        .engine
        .write(Partition::COMMON, move |tx| {
            if accounts::by_id(tx, account)?.is_some() {
                return Err(StoreError::refused(format!(
                    "there is an account {account} already"
                )));
            }
            if accounts::by_email(tx, &email)?.is_some() {
                return Err(StoreError::refused(format!(
                    "the e-mail address {email} has an account already"
                )));
            }
            if key_rotation::find(tx)?.is_some() {
                return Err(StoreError::refused(
                    "the master key is being rotated: finish that first (garson key rotate)",
                ));
            }
            let found = account_states::find(tx, account)?;
            let is_left_over = match (found.state, found.changed_at) {
                (AccountState::Importing, Some(at)) if now.since(at) < SILENCE => {
                    return Err(StoreError::refused(
                        "this account is being imported; if that was interrupted, try again in a minute",
                    ));
                }
                (AccountState::Importing, _) => true,
                (AccountState::Deleting, _) => {
                    return Err(StoreError::refused(
                        "this account is being deleted here: finish that first (garson account delete)",
                    ));
                }
                _ => false,
            };
            account_states::write_state(tx, account, AccountState::Importing, None, now)?;
            Ok(is_left_over)
        })
        .await?;
    if is_left_over {
        remove_written(target, description).await?;
    }
    Ok(())
}

/// Removes what an import has written that did not come to its end.
async fn remove_written(target: &Target, description: &Description) -> Result<()> {
    let restaurants = description.restaurants.iter().map(|id| id.0);
    for scope in restaurants.chain([target.account.0]) {
        account_removal::remove_orphaned_sums(&target.engine, scope).await?;
    }
    account_removal::remove_rows(&target.engine, target.account, |_| {}).await?;
    Ok(())
}

/// The table that rows are written to.
#[derive(Clone, Debug)]
struct Into {
    table: String,
    columns: Vec<String>,
}

impl Into {
    fn checked(name: String, columns: Vec<String>) -> Result<Self> {
        let table = TABLES.iter().find(|table| table.name == name);
        let is_known = table.is_some_and(|table| {
            columns
                .iter()
                .all(|column| table.columns.contains(&column.as_str()))
        });
        if is_known {
            Ok(Self { table: name, columns })
        } else {
            Err(StoreError::refused(format!(
                "the file was written by a newer version of the program: {name} is not known here in that form"
            )))
        }
    }
}

async fn write_history<R: Read + Seek>(target: &Target, reader: &mut Reader<R>) -> Result<u64> {
    let (mut into, mut rows, mut bytes, mut count) = (None, Vec::new(), 0, 0);
    loop {
        let record = reader.next_record()?;
        let is_full = rows.len() >= CHUNK_ROWS || bytes >= CHUNK_BYTES;
        if let Some(into) = into
            .as_ref()
            .filter(|_| is_full || !matches!(record, Record::Row(_)))
        {
            count += rows.len() as u64;
            write_chunk(target, into, std::mem::take(&mut rows)).await?;
            bytes = 0;
        }
        match record {
            Record::Table { name, columns } => into = Some(Into::checked(name, columns)?),
            Record::Row(row) => {
                bytes += row.iter().map(size).sum::<usize>();
                rows.push(row);
            }
            Record::Work => return Ok(count),
            Record::End => return Err(StoreError::refused("the file has no account")),
        }
    }
}

fn size(value: &Owned) -> usize {
    match value {
        Owned::Text(text) => text.len(),
        Owned::Blob(blob) => blob.len(),
        _ => size_of::<i64>(),
    }
}

async fn write_chunk(target: &Target, into: &Into, rows: Vec<Vec<Owned>>) -> Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let (copy, into, now) = (target.clone(), into.clone(), target.clock.now());
    target
        .engine
        .write(Partition::COMMON, move |tx| {
            for row in &rows {
                write_row(tx, &copy, &into, row.clone())?;
            }
            // Shows that it goes on.
            account_states::write_state(tx, copy.account, AccountState::Importing, None, now)
        })
        .await
        .map_err(explain)
}

/// Writes everything that must appear at once. The file is read again if the transaction is.
async fn write_work<R>(target: &Target, reader: Reader<R>, mark: Mark) -> Result<u64>
where
    R: Read + Seek + Send + 'static,
{
    let (copy, reader) = (target.clone(), Mutex::new(reader));
    target
        .engine
        .write(Partition::COMMON, move |tx| {
            let mut reader = reader.lock();
            reader.restore(&mark)?;
            let (mut into, mut count) = (None, 0);
            loop {
                match (reader.next_record()?, &into) {
                    (Record::Table { name, columns }, _) => into = Some(Into::checked(name, columns)?),
                    (Record::Row(row), Some(into)) => {
                        write_row(tx, &copy, into, row)?;
                        count += 1;
                    }
                    (Record::End, _) => break,
                    _ => return Err(StoreError::refused("the file is damaged")),
                }
            }
            if accounts::by_id(tx, copy.account)?.is_none() {
                return Err(StoreError::refused("the file has no account"));
            }
            if key_rotation::find(tx)?.is_some() {
                return Err(StoreError::refused(
                    "the master key is being rotated: finish that first (garson key rotate)",
                ));
            }
            let now = copy.clock.now();
            account_states::write_state(tx, copy.account, AccountState::Disabled, Some("imported"), now)?;
            Ok(count)
        })
        .await
        .map_err(explain)
}

/// An id or another value that must be unique is there already.
fn explain(error: StoreError) -> StoreError {
    if error.kind == StoreErrorKind::Constraint {
        StoreError::refused("something of this account is here already, and nothing was imported")
            .caused_by(error)
    } else {
        error
    }
}

fn write_row(tx: &mut Tx<'_>, target: &Target, into: &Into, mut row: Vec<Owned>) -> Result<()> {
    if into.table == "integrations" {
        hash_inbound(target, into, &mut row)?;
        refuse_owned_branch(tx, into, &row)?;
    }
    for sealed in SEALED.iter().filter(|sealed| sealed.table == into.table) {
        let record = blob(&into.columns, &row, sealed.record).map(<[u8]>::to_vec);
        if let (Some(secret), Some(record)) = (blob(&into.columns, &row, sealed.column), record) {
            let secret = Secret::new(secret.to_vec());
            let value = target.vault.seal(sealed.place, &record, secret.expose())?;
            set(&into.columns, &mut row, sealed.column, Owned::Blob(value));
        }
    }
    if matches!(target.engine.location(), Location::Postgres(_)) {
        for value in &mut row {
            // PostgreSQL accepts no NUL in text, but SQLite does.
            if let Owned::Text(text) = value
                && text.contains('\0')
            {
                *text = text.replace('\0', "\u{fffd}");
            }
        }
    }
    let columns = into.columns.join(", ");
    let params: Vec<Param<'_>> = row.iter().map(Param::from).collect();
    let insert = Insert::into(&into.table, &columns);
    tx.on(ALL_TABLES).insert(&insert, &params)?;
    Ok(())
}

/// The hash of an inbound secret is keyed with the master key, which is another one here.
fn hash_inbound(target: &Target, into: &Into, row: &mut [Owned]) -> Result<()> {
    let provider = text(into, row, "provider").unwrap_or_default();
    let hash = match blob(&into.columns, row, "credentials") {
        None => None,
        Some(json) => {
            let credentials: Credentials = serde_json::from_slice(json)
                .map_err(|_| StoreError::refused("the credentials of an integration are damaged"))?;
            (target.inbound)(&provider, &credentials).map(|secret| target.vault.lookup_hash(secret.expose()))
        }
    };
    let value = hash.map_or(Owned::Null, |hash| Owned::Blob(hash.to_vec()));
    set(&into.columns, row, "inbound_hash", value);
    Ok(())
}

fn text(into: &Into, row: &[Owned], column: &str) -> Option<String> {
    let at = into.columns.iter().position(|name| name == column)?;
    match row.get(at)? {
        Owned::Text(text) => Some(text.clone()),
        _ => None,
    }
}

/// A branch has one owner. Which account that should be is the operator's decision.
fn refuse_owned_branch(tx: &mut Tx<'_>, into: &Into, row: &[Owned]) -> Result<()> {
    let at = into.columns.iter().position(|name| name == "owns_branch");
    let owns = at.and_then(|at| row.get(at)) == Some(&Owned::Int(1));
    let (Some(provider), Some(branch), true) =
        (text(into, row, "provider"), text(into, row, "remote_id"), owns)
    else {
        return Ok(());
    };
    let sql =
        "SELECT owns_branch FROM integrations WHERE provider = ?1 AND remote_id = ?2 AND owns_branch = 1";
    let found = tx
        .on(INTEGRATIONS)
        .query_opt(sql, params![&provider, &branch], value::<i64>)?;
    match found {
        None => Ok(()),
        Some(_) => Err(StoreError::refused(format!(
            "the branch {branch} of {provider} has another owner here: release it first \
             (garson branch release --provider {provider} --branch {branch})"
        ))),
    }
}
