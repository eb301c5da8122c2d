//! Builds the word index after orders are stored, in small jobs, so that accepting an order does not wait for it.
//!
//! Within an account orders are committed by position, so one position is enough to store the progress, also after a crash and
//! with any number of nodes. Adding words and deleting orders requires the account's lock.

use super::word_index::{PER_STATEMENT, params_of};
use crate::engine::Insert;
use crate::engine::in_list::marks;
use crate::tables::accounts;
use crate::tables::row::{Cells, column_list, each, tuple, value};
use crate::{ACCOUNTS, Result, Tx, params};
use garson_core::id::AccountId;
use garson_core::search::Subject;
use serde::Deserialize;

/// The part of an order's content that is indexed.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Content {
    customer: Customer,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Customer {
    name: Option<String>,
    phone: Option<String>,
}

struct Unindexed {
    position: i64,
    words: String,
}

/// The position up to which an account's orders are indexed.
pub fn indexed_up_to(tx: &mut Tx<'_>, account: AccountId) -> Result<i64> {
    let sql = "SELECT reached FROM search_progress WHERE account_id = ?1";
    let reached = tx.query_opt(sql, params![&account], value)?;
    Ok(reached.unwrap_or(0))
}

/// Reports whether the account has orders that are not indexed.
pub fn is_behind(tx: &mut Tx<'_>, account: AccountId) -> Result<bool> {
    let reached = indexed_up_to(tx, account)?;
    let sql = "SELECT position FROM orders WHERE account_id = ?1 AND position > ?2 ORDER BY position LIMIT 1";
    let next = tx.query_opt(sql, params![&account, reached], value::<i64>)?;
    Ok(next.is_some())
}

/// The accounts of a chunk that have orders to index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backlog {
    /// Those with orders that are not indexed.
    pub accounts: Vec<AccountId>,
    /// The last account of the chunk; `None` when there are no more.
    pub last: Option<AccountId>,
}

/// Checks the next accounts after another one.
pub fn accounts_behind(tx: &mut Tx<'_>, after: Option<AccountId>, limit: i64) -> Result<Backlog> {
    let after = after.map_or_else(Vec::new, |account| account.as_bytes().to_vec());
    let sql = "SELECT a.id, (SELECT o.position FROM orders o WHERE o.account_id = a.id
                               AND o.position > COALESCE((SELECT s.reached FROM search_progress s
                                                          WHERE s.account_id = a.id), 0)
                             ORDER BY o.position LIMIT 1)
               FROM accounts a WHERE a.id > ?1 ORDER BY a.id LIMIT ?2";
    let checked = tx
        .on(ACCOUNTS)
        .query(sql, params![&after, limit], tuple::<(AccountId, Option<i64>)>)?;
    Ok(Backlog {
        last: checked.last().map(|(account, _)| *account),
        accounts: checked
            .into_iter()
            .filter(|(_, next)| next.is_some())
            .map(|(account, _)| account)
            .collect(),
    })
}

const INSERT_WORDS: Insert<'_> = Insert::into(
    "order_words",
    column_list!(order_words {
        account_id,
        position,
        words
    }),
);
const INSERT_POSITION: Insert<'_> = Insert::into(
    "word_places",
    column_list!(word_places {
        account_id,
        word,
        position
    }),
);

/// Indexes the account's next orders, at most `limit`, and returns how many there were.
pub fn index(tx: &mut Tx<'_>, account: AccountId, limit: i64) -> Result<u64> {
    accounts::lock(tx, account)?;
    let reached = indexed_up_to(tx, account)?;
    let next = tx.query(
        "SELECT o.position, o.provider_order_id, o.short_code, c.body
         FROM orders o JOIN order_contents c ON c.order_id = o.id
         WHERE o.account_id = ?1 AND o.position > ?2 ORDER BY o.position LIMIT ?3",
        params![&account, reached, limit],
        each(unindexed),
    )?;
    let Some(last) = next.last() else { return Ok(0) };
    add(tx, account, &next)?;
    tx.write(
        "INSERT INTO search_progress (account_id, reached) VALUES (?1, ?2)
         ON CONFLICT (account_id) DO UPDATE SET reached = ?2",
        params![&account, last.position],
    )?;
    Ok(next.len() as u64)
}

/// The words of an order, from its ids and its content.
fn unindexed(cells: &mut Cells<'_, '_>) -> Result<Unindexed> {
    let position = cells.read()?;
    let (provider_order_id, short_code) = (cells.text()?, cells.optional_text()?);
    // An order with damaged content is still found by its ids.
    let content: Content = serde_json::from_str(cells.text()?).unwrap_or_default();
    let subject = Subject {
        provider_order_id,
        short_code,
        customer: content.customer.name.as_deref(),
        phone: content.customer.phone.as_deref(),
    };
    Ok(Unindexed {
        position,
        words: subject.words().into_iter().collect::<Vec<_>>().join(" "),
    })
}

fn add(tx: &mut Tx<'_>, account: AccountId, orders: &[Unindexed]) -> Result<()> {
    for order in orders {
        tx.insert(&INSERT_WORDS, params![&account, order.position, &order.words])?;
        for word in order.words.split(' ').filter(|word| !word.is_empty()) {
            tx.insert(
                &INSERT_POSITION,
                params![&account, word.as_bytes(), order.position],
            )?;
        }
    }
    Ok(())
}

/// Indexes an order anew whose content has changed, if it was indexed. The caller holds the account's lock.
pub fn reindex(tx: &mut Tx<'_>, account: AccountId, position: i64) -> Result<()> {
    remove(tx, account, &[position])?;
    if position > indexed_up_to(tx, account)? {
        return Ok(());
    }
    let order = tx.query(
        "SELECT o.position, o.provider_order_id, o.short_code, c.body
         FROM orders o JOIN order_contents c ON c.order_id = o.id
         WHERE o.account_id = ?1 AND o.position = ?2",
        params![&account, position],
        each(unindexed),
    )?;
    add(tx, account, &order)
}

/// Removes deleted orders from the index, by their positions. The caller holds the account's lock.
pub fn remove(tx: &mut Tx<'_>, account: AccountId, positions: &[i64]) -> Result<()> {
    let condition = format!("account_id = ?1 AND position IN ({})", marks(2, PER_STATEMENT));
    let (read, delete) = (
        format!("SELECT position, words FROM order_words WHERE {condition}"),
        format!("DELETE FROM order_words WHERE {condition}"),
    );
    for chunk in positions.chunks(PER_STATEMENT) {
        let params = params_of(&account, chunk);
        let indexed = tx.query(&read, &params, tuple::<(i64, String)>)?;
        for (position, words) in &indexed {
            for word in words.split(' ') {
                tx.write(
                    "DELETE FROM word_places WHERE account_id = ?1 AND word = ?2 AND position = ?3",
                    params![&account, word.as_bytes(), *position],
                )?;
            }
        }
        tx.write(&delete, &params)?;
    }
    Ok(())
}
