//! Where a search reads its orders: from the index that examines the fewest of them.

use super::query::{MAX_EXAMINED, SearchQuery};
use super::word_index::{PER_STATEMENT, params_of};
use crate::engine::Param;
use crate::engine::in_list::{filled, marks};
use crate::lists::candidates;
use crate::lists::candidates::{COLUMNS, Candidate, candidate};
use crate::lists::feed;
use crate::lists::feed::{ALL_POSITIONS, Feed, Scope};
use crate::tables::row::{Cells, value};
use crate::{Result, Tx, params};
use garson_core::id::AccountId;
use garson_core::search::Asked;
use std::collections::BTreeSet;

/// The most words with one prefix that are searched one by one; with more, most orders match anyway.
const MAX_WORDS: usize = 32;
/// How many positions of each word are compared: the word whose positions reach furthest is the rarest.
const PROBE: usize = 200;

pub enum Source {
    /// All orders of the account or of a restaurant.
    Orders(Scope),
    /// The open orders, oldest first: always few.
    Open(Vec<Candidate>),
    /// The orders with one of these words.
    Words(AccountId, Vec<Vec<u8>>),
    /// All indexed orders.
    Indexed(AccountId),
}

impl Source {
    pub fn choose(
        tx: &mut Tx<'_>,
        account: AccountId,
        query: &SearchQuery,
        between: (i64, i64),
        is_older: bool,
    ) -> Result<Self> {
        if query.words.is_empty() {
            let is_open = !query.statuses.is_empty() && query.statuses.iter().all(|it| !it.is_over());
            if is_open && let Some(open) = open(tx, account)? {
                return Ok(Self::Open(open));
            }
            let of_account = Scope::Account(account);
            return Ok(Self::Orders(
                query.restaurant.map_or(of_account, Scope::Restaurant),
            ));
        }
        let mut selective = Vec::new();
        for word in &query.words {
            if let Some(words) = words_with_prefix(tx, account, word)? {
                if words.is_empty() {
                    // No order has such a word.
                    return Ok(Self::Open(Vec::new()));
                }
                selective.push(words);
            }
        }
        match selective.len() {
            0 => Ok(Self::Indexed(account)),
            1 => Ok(Self::Words(account, selective.swap_remove(0))),
            _ => Ok(Self::Words(
                account,
                rarest(tx, account, selective, between, is_older)?,
            )),
        }
    }

    /// Reads the next orders from one end of an interval; those without the words are left out.
    pub fn next(
        &self,
        tx: &mut Tx<'_>,
        words: &[Asked],
        between: (i64, i64),
        limit: usize,
        newest_first: bool,
    ) -> Result<Chunk> {
        match self {
            Self::Orders(scope) => {
                let feed = Feed {
                    table: "orders",
                    columns: COLUMNS,
                    scope: *scope,
                    conditions: &[""],
                    any_of: None,
                    filters_deleted: false,
                    between: ALL_POSITIONS,
                };
                let candidates = feed::chunk(tx, &feed, between, limit, newest_first, |position, cells| {
                    candidate(cells, position)
                })?;
                Ok(Chunk::whole(candidates))
            }
            Self::Open(all) => {
                let is_between = |it: &&Candidate| between.0 < it.position && it.position < between.1;
                let mut candidates: Vec<Candidate> = all.iter().filter(is_between).copied().collect();
                if newest_first {
                    candidates.reverse();
                }
                candidates.truncate(limit);
                Ok(Chunk::whole(candidates))
            }
            Self::Words(account, any_of) => {
                let (sql, params) = positions_of(account, any_of, between, limit, newest_first);
                let positions: Vec<i64> = tx.query(&sql, &params, value)?;
                // With a single word, every order that has one of these matches.
                let matching = match words.len() {
                    1 => positions.clone(),
                    _ => with_all_words(tx, *account, &positions, words)?,
                };
                Chunk::read(tx, *account, &positions, &matching, newest_first)
            }
            Self::Indexed(account) => {
                let sql = format!(
                    "SELECT position, words FROM order_words WHERE account_id = ?1 AND position > ?2 AND position < ?3
                     ORDER BY position {} LIMIT ?4",
                    way(newest_first)
                );
                let limit = i64::try_from(limit).unwrap_or(i64::MAX);
                let mut matching = Vec::new();
                let positions = tx.query(&sql, params![account, between.0, between.1, limit], |row| {
                    let mut cells = Cells::new(row);
                    let position = cells.read()?;
                    if has_all(cells.text()?, words) {
                        matching.push(position);
                    }
                    Ok(position)
                })?;
                Chunk::read(tx, *account, &positions, &matching, newest_first)
            }
        }
    }
}

fn has_all(has: &str, words: &[Asked]) -> bool {
    words.iter().all(|word| word.is_in(has))
}

/// Those of these positions whose orders have all words, in the same order. The words are read by position, not joined: SQLite
/// would choose to scan all of the account's.
fn with_all_words(
    tx: &mut Tx<'_>,
    account: AccountId,
    positions: &[i64],
    words: &[Asked],
) -> Result<Vec<i64>> {
    let sql = format!(
        "SELECT position, words FROM order_words WHERE account_id = ?1 AND position IN ({})",
        marks(2, PER_STATEMENT)
    );
    let mut matching = BTreeSet::new();
    for chunk in positions.chunks(PER_STATEMENT) {
        tx.query(&sql, &params_of(&account, chunk), |row| {
            let mut cells = Cells::new(row);
            let position: i64 = cells.read()?;
            if has_all(cells.text()?, words) {
                matching.insert(position);
            }
            Ok(())
        })?;
    }
    Ok(positions
        .iter()
        .copied()
        .filter(|position| matching.contains(position))
        .collect())
}

/// A chunk of examined orders.
pub struct Chunk {
    /// How many orders were examined, and the position of the last.
    pub examined: usize,
    pub last: Option<i64>,
    pub candidates: Vec<Candidate>,
}

impl Chunk {
    fn whole(candidates: Vec<Candidate>) -> Self {
        Self {
            examined: candidates.len(),
            last: candidates.last().map(|it| it.position),
            candidates,
        }
    }

    /// All of these positions were examined, and some of them match.
    fn read(
        tx: &mut Tx<'_>,
        account: AccountId,
        positions: &[i64],
        matching: &[i64],
        newest_first: bool,
    ) -> Result<Self> {
        let clauses = format!(
            "WHERE account_id = ?1 AND position IN ({}) ORDER BY position {}",
            marks(2, PER_STATEMENT),
            way(newest_first)
        );
        let mut found = Vec::with_capacity(matching.len());
        for chunk in matching.chunks(PER_STATEMENT) {
            found.extend(candidates::query(tx, &clauses, &params_of(&account, chunk))?);
        }
        Ok(Self {
            examined: positions.len(),
            last: positions.last().copied(),
            candidates: found,
        })
    }
}

fn way(newest_first: bool) -> &'static str {
    if newest_first { "DESC" } else { "ASC" }
}

/// The account's open orders, oldest first; `None` if there are too many to read them all.
fn open(tx: &mut Tx<'_>, account: AccountId) -> Result<Option<Vec<Candidate>>> {
    let limit = i64::try_from(MAX_EXAMINED).unwrap_or(i64::MAX) + 1;
    let mut open = candidates::open(tx, account, limit)?;
    open.sort_by_key(|it| it.position);
    Ok((open.len() <= MAX_EXAMINED).then_some(open))
}

/// The indexed words of the account with a prefix; `None` if there are too many. Skips from word to word, however many orders
/// have each.
fn words_with_prefix(tx: &mut Tx<'_>, account: AccountId, asked: &Asked) -> Result<Option<Vec<Vec<u8>>>> {
    let most = i64::try_from(MAX_WORDS).unwrap_or(i64::MAX) + 1;
    let sql = "WITH RECURSIVE steps (word, number) AS (
                   SELECT (SELECT word FROM word_places WHERE account_id = ?1 AND word >= ?2 AND word < ?3
                           ORDER BY word LIMIT 1), CAST(1 AS BIGINT)
                   UNION ALL
                   SELECT (SELECT p.word FROM word_places p
                           WHERE p.account_id = ?1 AND p.word > steps.word AND p.word < ?3 ORDER BY p.word LIMIT 1),
                          number + 1
                   FROM steps WHERE word IS NOT NULL AND number < ?4)
               SELECT word FROM steps WHERE word IS NOT NULL";
    let mut words = Vec::new();
    for prefix in &asked.0 {
        let from = prefix.as_bytes().to_vec();
        let mut to = from.clone();
        // UTF-8 contains no byte 0xff, so this does not overflow.
        if let Some(last) = to.last_mut() {
            *last = last.saturating_add(1);
        }
        words.extend(tx.query(sql, params![&account, &from, &to, most], value)?);
    }
    words.sort();
    words.dedup();
    Ok((words.len() <= MAX_WORDS).then_some(words))
}

/// The number of ranges in a statement for this many words: few sizes, so that each statement is prepared once.
fn ranges_for(words: usize) -> usize {
    words.next_power_of_two()
}

/// The statement for the positions of orders with any of these words, from one end of an interval.
fn positions_of<'a>(
    account: &'a AccountId,
    words: &'a [Vec<u8>],
    between: (i64, i64),
    limit: usize,
    newest_first: bool,
) -> (String, Vec<Param<'a>>) {
    let way = way(newest_first);
    let ranges: Vec<String> = (0..ranges_for(words.len()))
        .map(|n| {
            format!(
                "SELECT position FROM (SELECT position FROM word_places
                 WHERE account_id = ?1 AND word = ?{} AND position > ?2 AND position < ?3
                 ORDER BY position {way} LIMIT ?4) AS r{n}",
                n + 5
            )
        })
        .collect();
    let sql = format!(
        "SELECT DISTINCT position FROM ({}) AS ranges ORDER BY position {way} LIMIT ?4",
        ranges.join(" UNION ALL ")
    );
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut params = params![account, between.0, between.1, limit].to_vec();
    params.extend(filled(words, ranges.len()).map(Param::from));
    (sql, params)
}

/// The words of the prefix that matches the fewest orders.
fn rarest(
    tx: &mut Tx<'_>,
    account: AccountId,
    prefixes: Vec<Vec<Vec<u8>>>,
    between: (i64, i64),
    is_older: bool,
) -> Result<Vec<Vec<u8>>> {
    let mut best: Option<(i64, Vec<Vec<u8>>)> = None;
    for words in prefixes {
        let (sql, params) = positions_of(&account, &words, between, PROBE, is_older);
        let positions = tx.query(&sql, &params, value::<i64>)?;
        let reach = match positions.last() {
            Some(last) if positions.len() == PROBE => {
                if is_older {
                    between.1.saturating_sub(*last)
                } else {
                    last.saturating_sub(between.0)
                }
            }
            _ => i64::MAX - i64::try_from(positions.len()).unwrap_or(i64::MAX),
        };
        if best.as_ref().is_none_or(|(furthest, _)| reach > *furthest) {
            best = Some((reach, words));
        }
    }
    Ok(best.map(|(_, words)| words).unwrap_or_default())
}
