//! Where the orders of a search come from: the index that leads past the fewest of them.

use super::{LOOK, Wanted};
use crate::engine::Param;
use crate::engine::in_list::{filled, marks};
use crate::lists::candidates;
use crate::lists::candidates::{Candidate, SELECT, candidate};
use crate::lists::feed::{EVERYWHERE, Feed, Scope, stretch};
use crate::{Result, Tx, params};
use garson_core::id::AccountId;
use garson_core::search::Asked;
use std::collections::BTreeSet;

/// So many different words may begin alike; beyond, the orders themselves are walked through, since most of them have one.
const MOST_WORDS: usize = 32;
/// Places by which words are compared: the one that leads furthest with these is the rarest.
const PROBE: usize = 200;

pub enum Source {
    /// All orders of the account or of a restaurant.
    Orders(Scope),
    /// Those that are not over: few, whatever else there is. Oldest first.
    Open(Vec<Candidate>),
    /// Those that have one of these words.
    Words(AccountId, Vec<Vec<u8>>),
    /// All that have words.
    Indexed(AccountId),
}

impl Source {
    pub fn choose(
        tx: &mut Tx<'_>,
        account: AccountId,
        wanted: &Wanted,
        between: (i64, i64),
        is_older: bool,
    ) -> Result<Self> {
        if wanted.words.is_empty() {
            let is_open = !wanted.statuses.is_empty() && wanted.statuses.iter().all(|it| !it.is_over());
            if is_open && let Some(open) = open(tx, account)? {
                return Ok(Self::Open(open));
            }
            let of_account = Scope::Account(account);
            return Ok(Self::Orders(
                wanted.restaurant.map_or(of_account, Scope::Restaurant),
            ));
        }
        let mut narrow = Vec::new();
        for word in &wanted.words {
            if let Some(words) = words_that_begin(tx, account, word)? {
                if words.is_empty() {
                    // Nobody has such a word.
                    return Ok(Self::Open(Vec::new()));
                }
                narrow.push(words);
            }
        }
        match narrow.len() {
            0 => Ok(Self::Indexed(account)),
            1 => Ok(Self::Words(account, narrow.swap_remove(0))),
            _ => Ok(Self::Words(
                account,
                rarest(tx, account, narrow, between, is_older)?,
            )),
        }
    }

    /// Looks at the next orders from one end of these places; those without the words are left out.
    pub fn next(
        &self,
        tx: &mut Tx<'_>,
        words: &[Asked],
        between: (i64, i64),
        limit: usize,
        newest_first: bool,
    ) -> Result<Stretch> {
        match self {
            Self::Orders(scope) => {
                let feed = Feed {
                    select: SELECT,
                    scope: *scope,
                    conditions: &[""],
                    any_of: None,
                    passes_over: false,
                    between: EVERYWHERE,
                };
                let some = stretch(tx, &feed, between, limit, newest_first, candidate)?;
                Ok(Stretch::whole(some))
            }
            Self::Open(all) => {
                let is_between = |it: &&Candidate| between.0 < it.place && it.place < between.1;
                let mut some: Vec<Candidate> = all.iter().filter(is_between).cloned().collect();
                if newest_first {
                    some.reverse();
                }
                some.truncate(limit);
                Ok(Stretch::whole(some))
            }
            Self::Words(account, driving) => {
                let (sql, params) = places_of(account, driving, between, limit, newest_first);
                let places: Vec<i64> = tx.query(&sql, &params, |row| row.get(0))?;
                // Whoever has one of these has what is asked for, if it is all that is asked for.
                let fitting = match words.len() {
                    1 => places.clone(),
                    _ => with_all_words(tx, *account, &places, words)?,
                };
                Stretch::read(tx, *account, &places, &fitting, newest_first)
            }
            Self::Indexed(account) => {
                let sql = format!(
                    "SELECT position, words FROM order_words WHERE account_id = ?1 AND position > ?2 AND position < ?3
                     ORDER BY position {} LIMIT ?4",
                    way(newest_first)
                );
                let limit = i64::try_from(limit).unwrap_or(i64::MAX);
                let mut fitting = Vec::new();
                let places = tx.query(&sql, params![account, between.0, between.1, limit], |row| {
                    let place = row.get::<i64>(0)?;
                    if has_all(row.text(1)?, words) {
                        fitting.push(place);
                    }
                    Ok(place)
                })?;
                Stretch::read(tx, *account, &places, &fitting, newest_first)
            }
        }
    }
}

fn has_all(has: &str, words: &[Asked]) -> bool {
    words.iter().all(|word| word.is_in(has))
}

/// Those of these places whose orders have all that is asked for, in the same order. The words are read by their places, not
/// joined to them: SQLite would rather look through all of the account's.
fn with_all_words(tx: &mut Tx<'_>, account: AccountId, places: &[i64], words: &[Asked]) -> Result<Vec<i64>> {
    let sql = format!(
        "SELECT position, words FROM order_words WHERE account_id = ?1 AND position IN ({})",
        marks(2, AT_ONCE)
    );
    let mut fitting = BTreeSet::new();
    for some in places.chunks(AT_ONCE) {
        tx.query(&sql, &params_of(&account, some), |row| {
            if has_all(row.text(1)?, words) {
                fitting.insert(row.get::<i64>(0)?);
            }
            Ok(())
        })?;
    }
    Ok(places
        .iter()
        .copied()
        .filter(|place| fitting.contains(place))
        .collect())
}

/// A part of the way.
pub struct Stretch {
    /// How many orders were looked at, and the place of the last.
    pub looked: usize,
    pub last: Option<i64>,
    pub candidates: Vec<Candidate>,
}

/// Orders that are read with one statement.
pub const AT_ONCE: usize = 32;

/// An account, and behind it so many places.
pub fn params_of<'a>(account: &'a AccountId, places: &[i64]) -> Vec<Param<'a>> {
    let places = filled(places, AT_ONCE).map(|place| Param::from(*place));
    std::iter::once(Param::from(account)).chain(places).collect()
}

impl Stretch {
    fn whole(candidates: Vec<Candidate>) -> Self {
        Self {
            looked: candidates.len(),
            last: candidates.last().map(|it| it.place),
            candidates,
        }
    }

    /// All of these places were looked at, and some of them fit.
    fn read(
        tx: &mut Tx<'_>,
        account: AccountId,
        places: &[i64],
        fitting: &[i64],
        newest_first: bool,
    ) -> Result<Self> {
        let sql = format!(
            "{SELECT} WHERE account_id = ?1 AND position IN ({}) ORDER BY position {}",
            marks(2, AT_ONCE),
            way(newest_first)
        );
        let mut candidates = Vec::with_capacity(fitting.len());
        for some in fitting.chunks(AT_ONCE) {
            candidates.extend(tx.query(&sql, &params_of(&account, some), candidate)?);
        }
        Ok(Self {
            looked: places.len(),
            last: places.last().copied(),
            candidates,
        })
    }
}

fn way(newest_first: bool) -> &'static str {
    if newest_first { "DESC" } else { "ASC" }
}

/// The account's open orders, oldest first; nothing if there are too many to read them all.
fn open(tx: &mut Tx<'_>, account: AccountId) -> Result<Option<Vec<Candidate>>> {
    let limit = i64::try_from(LOOK).unwrap_or(i64::MAX) + 1;
    let mut open = candidates::open(tx, account, limit)?;
    open.sort_by_key(|it| it.place);
    Ok((open.len() <= LOOK).then_some(open))
}

/// The words of the account's orders that begin as is asked for; nothing if there are too many. It leaps from word to word,
/// however many orders have each.
fn words_that_begin(tx: &mut Tx<'_>, account: AccountId, asked: &Asked) -> Result<Option<Vec<Vec<u8>>>> {
    let most = i64::try_from(MOST_WORDS).unwrap_or(i64::MAX) + 1;
    let sql = "WITH RECURSIVE leaps (word, number) AS (
                   SELECT (SELECT word FROM word_places WHERE account_id = ?1 AND word >= ?2 AND word < ?3
                           ORDER BY word LIMIT 1), CAST(1 AS BIGINT)
                   UNION ALL
                   SELECT (SELECT p.word FROM word_places p
                           WHERE p.account_id = ?1 AND p.word > leaps.word AND p.word < ?3 ORDER BY p.word LIMIT 1),
                          number + 1
                   FROM leaps WHERE word IS NOT NULL AND number < ?4)
               SELECT word FROM leaps WHERE word IS NOT NULL";
    let mut words = Vec::new();
    for beginning in &asked.0 {
        let from = beginning.as_bytes().to_vec();
        let mut to = from.clone();
        // No byte of a text is the last one that there is.
        if let Some(last) = to.last_mut() {
            *last = last.saturating_add(1);
        }
        words.extend(tx.query(sql, params![&account, &from, &to, most], |row| row.get(0))?);
    }
    words.sort();
    words.dedup();
    Ok((words.len() <= MOST_WORDS).then_some(words))
}

/// The number of ranges in a statement for so many words: few statements, whatever is asked.
fn arms(words: usize) -> usize {
    words.next_power_of_two()
}

/// A statement for the places of orders with any of these words, from one end.
fn places_of<'a>(
    account: &'a AccountId,
    words: &'a [Vec<u8>],
    between: (i64, i64),
    limit: usize,
    newest_first: bool,
) -> (String, Vec<Param<'a>>) {
    let way = way(newest_first);
    let ranges: Vec<String> = (0..arms(words.len()))
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

/// Of several words the one that leads past the fewest orders.
fn rarest(
    tx: &mut Tx<'_>,
    account: AccountId,
    narrow: Vec<Vec<Vec<u8>>>,
    between: (i64, i64),
    is_older: bool,
) -> Result<Vec<Vec<u8>>> {
    let mut best: Option<(i64, Vec<Vec<u8>>)> = None;
    for words in narrow {
        let (sql, params) = places_of(&account, &words, between, PROBE, is_older);
        let places = tx.query(&sql, &params, |row| row.get::<i64>(0))?;
        let reach = match places.last() {
            Some(last) if places.len() == PROBE => {
                if is_older {
                    between.1.saturating_sub(*last)
                } else {
                    last.saturating_sub(between.0)
                }
            }
            _ => i64::MAX - i64::try_from(places.len()).unwrap_or(i64::MAX),
        };
        if best.as_ref().is_none_or(|(furthest, _)| reach > *furthest) {
            best = Some((reach, words));
        }
    }
    Ok(best.map(|(_, words)| words).unwrap_or_default())
}
