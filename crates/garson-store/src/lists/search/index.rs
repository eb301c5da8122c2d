//! What search needs is written behind the orders, in small jobs, so that nobody waits for it when an order is taken.
//!
//! Within an account orders are committed in the order of their places, so a place up to which all is done says everything,
//! after a crash and on any number of nodes. Whoever adds words, and whoever deletes orders, holds the account.

use super::source::{AT_ONCE, params_of};
use crate::engine::Insert;
use crate::engine::in_list::marks;
use crate::tables::accounts;
use crate::{ACCOUNTS, Result, Tx, params};
use garson_core::id::AccountId;
use garson_core::search::Subject;
use serde::Deserialize;

/// The part of an order's content that it is found by.
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

struct Unread {
    place: i64,
    words: String,
}

fn reached(tx: &mut Tx<'_>, account: AccountId) -> Result<i64> {
    let sql = "SELECT reached FROM search_progress WHERE account_id = ?1";
    let reached = tx.query_opt(sql, params![&account], |row| row.get(0))?;
    Ok(reached.unwrap_or(0))
}

/// Has the account orders that search does not know yet?
pub fn is_behind(tx: &mut Tx<'_>, account: AccountId) -> Result<bool> {
    let reached = reached(tx, account)?;
    let sql = "SELECT position FROM orders WHERE account_id = ?1 AND position > ?2 ORDER BY position LIMIT 1";
    let next = tx.query_opt(sql, params![&account, reached], |row| row.get::<i64>(0))?;
    Ok(next.is_some())
}

/// Some accounts that were looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Behind {
    /// Those with orders that search does not know yet.
    pub accounts: Vec<AccountId>,
    /// The last one that was looked at; none when there are no more.
    pub last: Option<AccountId>,
}

/// Looks at the next accounts after another one.
pub fn behind(tx: &mut Tx<'_>, after: Option<AccountId>, limit: i64) -> Result<Behind> {
    let after = after.map_or_else(Vec::new, |account| account.as_bytes().to_vec());
    let sql = "SELECT a.id, (SELECT o.position FROM orders o WHERE o.account_id = a.id
                               AND o.position > COALESCE((SELECT s.reached FROM search_progress s
                                                          WHERE s.account_id = a.id), 0)
                             ORDER BY o.position LIMIT 1)
               FROM accounts a WHERE a.id > ?1 ORDER BY a.id LIMIT ?2";
    let looked = tx.on(ACCOUNTS).query(sql, params![&after, limit], |row| {
        Ok((row.get::<AccountId>(0)?, row.get::<Option<i64>>(1)?.is_some()))
    })?;
    Ok(Behind {
        last: looked.last().map(|(account, _)| *account),
        accounts: looked
            .into_iter()
            .filter(|(_, is_behind)| *is_behind)
            .map(|(account, _)| account)
            .collect(),
    })
}

const INSERT_WORDS: Insert<'_> = Insert::into("order_words", "account_id, position, words");
const INSERT_PLACE: Insert<'_> = Insert::into("word_places", "account_id, word, position");

/// Adds the account's next orders to what search knows, so many at most; says how many they were.
pub fn index(tx: &mut Tx<'_>, account: AccountId, limit: i64) -> Result<u64> {
    accounts::lock(tx, account)?;
    let reached = reached(tx, account)?;
    let next = tx.query(
        "SELECT o.position, o.provider_order_id, o.short_code, c.body
         FROM orders o JOIN order_contents c ON c.order_id = o.id
         WHERE o.account_id = ?1 AND o.position > ?2 ORDER BY o.position LIMIT ?3",
        params![&account, reached, limit],
        |row| {
            // An order whose content is damaged is still found by its ids.
            let content: Content = serde_json::from_str(row.text(3)?).unwrap_or_default();
            let subject = Subject {
                provider_order_id: row.text(1)?,
                short_code: row.optional_text(2)?,
                customer: content.customer.name.as_deref(),
                phone: content.customer.phone.as_deref(),
            };
            Ok(Unread {
                place: row.get(0)?,
                words: subject.words().into_iter().collect::<Vec<_>>().join(" "),
            })
        },
    )?;
    let Some(last) = next.last() else { return Ok(0) };
    for order in &next {
        tx.insert(&INSERT_WORDS, params![&account, order.place, &order.words])?;
        for word in order.words.split(' ').filter(|word| !word.is_empty()) {
            tx.insert(&INSERT_PLACE, params![&account, word.as_bytes(), order.place])?;
        }
    }
    tx.write(
        "INSERT INTO search_progress (account_id, reached) VALUES (?1, ?2)
         ON CONFLICT (account_id) DO UPDATE SET reached = ?2",
        params![&account, last.place],
    )?;
    Ok(next.len() as u64)
}

/// Takes orders that are being deleted out of what search knows, by their places. The account must be held.
pub fn forget(tx: &mut Tx<'_>, account: AccountId, places: &[i64]) -> Result<()> {
    let these = format!("account_id = ?1 AND position IN ({})", marks(2, AT_ONCE));
    let (read, remove) = (
        format!("SELECT position, words FROM order_words WHERE {these}"),
        format!("DELETE FROM order_words WHERE {these}"),
    );
    for some in places.chunks(AT_ONCE) {
        let params = params_of(&account, some);
        let known = tx.query(&read, &params, |row| {
            Ok((row.get::<i64>(0)?, row.get::<String>(1)?))
        })?;
        for (place, words) in &known {
            for word in words.split(' ') {
                tx.write(
                    "DELETE FROM word_places WHERE account_id = ?1 AND word = ?2 AND position = ?3",
                    params![&account, word.as_bytes(), *place],
                )?;
            }
        }
        tx.write(&remove, &params)?;
    }
    Ok(())
}
