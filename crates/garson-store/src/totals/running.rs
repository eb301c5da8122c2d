//! The rows of the running sums, by spans of time.
//!
//! There are three levels of spans: units of five minutes, 64 units, and 64 of those (two weeks). For each span in which an order
//! arrived there is one row of its account and one of its restaurant. A row holds the sums of its span and of the earlier spans
//! in the same group of 64; the longest spans form one group. So everything before a unit is one row of each level, and a change
//! touches only rows of three groups that are not older than it: usually one of each, since orders arrive in order of time.
//!
//! Changing rows requires the account's lock: they are read, changed and written.

use super::packed::{pack, unpack, unpack_onto};
use crate::engine::{Param, Row};
use crate::tables::row::{Cells, each, tuple};
use crate::transaction::{Sums, SumsKey, add, add_all};
use crate::{PAYMENT_TOTALS, Result, Tx, params};
use garson_core::id::{AccountId, RestaurantId};
use garson_core::order::Order;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::LazyLock;

/// The shortest span, in milliseconds.
pub const UNIT: i64 = 5 * 60 * 1000;
/// Two to this power is the number of spans in a group.
const GROUP_BITS: i64 = 6;
const LEVELS: [i64; 3] = [0, 1, 2];
const LAST_LEVEL: i64 = 2;

/// The span of a level that contains a unit.
fn span(unit: i64, level: i64) -> i64 {
    unit >> (GROUP_BITS * level)
}

/// The spans whose sums are accumulated with this one.
fn group(level: i64, span: i64) -> Range<i64> {
    if level == LAST_LEVEL {
        return i64::MIN..i64::MAX;
    }
    let start = span >> GROUP_BITS << GROUP_BITS;
    start..start + (1 << GROUP_BITS)
}

/// Selects the newest row of a level between two parameters.
fn newest(what: &str, scope: &str, level: i64, (low, high): (i64, i64)) -> String {
    format!(
        "SELECT {what} FROM (SELECT span, sums FROM payment_totals WHERE scope = {scope} AND level = {level}
         AND span >= ?{low} AND span < ?{high} ORDER BY span DESC LIMIT 1) AS newest"
    )
}

fn all_of(selects: Vec<String>) -> String {
    selects.join(" UNION ALL ")
}

static BEFORE: LazyLock<String> = LazyLock::new(|| {
    let of_level = |level| newest("sums", "?1", level, (2 + 2 * level, 3 + 2 * level));
    all_of(LEVELS.map(of_level).to_vec())
});

/// [`BEFORE`] without the longest spans, and these alone.
static BEFORE_NEARBY: LazyLock<String> = LazyLock::new(|| {
    let of_level = |level| newest("sums", "?1", level, (2 + 2 * level, 3 + 2 * level));
    all_of([0, 1].map(of_level).to_vec())
});
static BEFORE_LONG_AGO: LazyLock<String> = LazyLock::new(|| newest("sums", "?1", LAST_LEVEL, (2, 3)));

/// Adds the sums of each row.
fn each_sums(sign: i64, sums: &mut Sums) -> impl FnMut(&Row<'_>) -> Result<()> {
    move |row| unpack_onto(row.text(0)?, sign, sums)
}

/// Reads the sums before several units in order. Most share the sums of the longest spans, which are read once for them.
pub struct Walk<'a> {
    scope: Param<'a>,
    /// The sums before one of the longest spans.
    long_ago: Option<(i64, Sums)>,
}

impl<'a> Walk<'a> {
    pub fn new(scope: Param<'a>) -> Self {
        Self {
            scope,
            long_ago: None,
        }
    }

    /// Adds the sums before a unit.
    pub fn add_before(&mut self, tx: &mut Tx<'_>, unit: i64, sums: &mut Sums) -> Result<()> {
        let [near, middle, far] = LEVELS.map(|level| span(unit, level));
        let params = [
            self.scope,
            group(0, near).start.into(),
            near.into(),
            group(1, middle).start.into(),
            middle.into(),
        ];
        tx.on(PAYMENT_TOTALS)
            .query(&BEFORE_NEARBY, &params, each_sums(1, sums))?;
        let known = self.long_ago.take().filter(|(of, _)| *of == far);
        let (_, long_ago) = match known {
            Some(known) => self.long_ago.insert(known),
            None => {
                let mut read = Sums::new();
                let params = [self.scope, group(LAST_LEVEL, far).start.into(), far.into()];
                tx.on(PAYMENT_TOTALS)
                    .query(&BEFORE_LONG_AGO, &params, each_sums(1, &mut read))?;
                self.long_ago.insert((far, read))
            }
        };
        add_all(sums, long_ago, 1);
        Ok(())
    }
}

/// Adds the sums before a unit.
pub fn add_before(tx: &mut Tx<'_>, scope: Param<'_>, unit: i64, sign: i64, sums: &mut Sums) -> Result<()> {
    let [near, middle, far] = LEVELS.map(|level| span(unit, level));
    let start = |level, span| group(level, span).start;
    let params = [
        scope,
        start(0, near).into(),
        near.into(),
        start(1, middle).into(),
        middle.into(),
        start(2, far).into(),
        far.into(),
    ];
    tx.on(PAYMENT_TOTALS)
        .query(&BEFORE, &params, each_sums(sign, sums))?;
    Ok(())
}

/// Adds the sums of all time.
pub fn add_all_time(tx: &mut Tx<'_>, scope: Param<'_>, sign: i64, sums: &mut Sums) -> Result<()> {
    let params = [scope, i64::MIN.into(), i64::MAX.into()];
    tx.on(PAYMENT_TOTALS)
        .query(&BEFORE_LONG_AGO, &params, each_sums(sign, sums))?;
    Ok(())
}

struct TotalsRow<'a> {
    scope: Param<'a>,
    level: i64,
    span: i64,
    sums: Sums,
}

/// The newest rows of all groups that an order belongs to, in one statement: the account's, then the restaurant's.
static NEWEST: LazyLock<String> = LazyLock::new(|| {
    let of = |scope: i64| {
        LEVELS.map(|level| {
            let what = format!("CAST({scope} AS BIGINT), CAST({level} AS BIGINT), span, sums");
            newest(&what, &format!("?{scope}"), level, (3 + 2 * level, 4 + 2 * level))
        })
    };
    all_of([of(1), of(2)].concat())
});

/// Adds an order to the sums of its account and its restaurant, or subtracts it with a negative sign. Written once for all
/// orders of the transaction.
pub fn shift(tx: &mut Tx<'_>, order: &Order, sign: i64) {
    let place = SumsKey {
        account: order.account_id,
        restaurant: order.restaurant_id,
        unit: order.created_at.as_millis().div_euclid(UNIT),
    };
    let key = (order.payment_type, order.currency);
    add(tx.deferred().totals(place), key, (sign, sign * order.total.0));
}

/// Writes the additions of a transaction.
pub fn write(tx: &mut Tx<'_>, place: &SumsKey, added: &Sums) -> Result<()> {
    let unit = place.unit;
    let scopes = [Param::from(&place.account), Param::from(&place.restaurant)];
    let mut params = scopes.to_vec();
    for level in LEVELS {
        let Range { start, end } = group(level, span(unit, level));
        params.extend_from_slice(params![start, end]);
    }
    let mut newest = BTreeMap::new();
    for (key, row) in tx.on(PAYMENT_TOTALS).query(&NEWEST, &params, |row| {
        let mut cells = Cells::new(row);
        let key: (i64, i64) = (cells.read()?, cells.read()?);
        let newest: (i64, Sums) = (cells.read()?, unpack(cells.text()?)?);
        Ok((key, newest))
    })? {
        newest.insert(key, row);
    }
    let mut rows = Vec::with_capacity(scopes.len() * LEVELS.len());
    for (number, scope) in (1..).zip(scopes) {
        for level in LEVELS {
            let span = span(unit, level);
            let row = |span, sums| TotalsRow {
                scope,
                level,
                span,
                sums,
            };
            match newest.remove(&(number, level)) {
                Some((newer, _)) if newer > span => {
                    let mut of_group = read_group(tx, scope, level, group(level, span))?;
                    of_group.insert(span, until(&of_group, span));
                    rows.extend(
                        of_group
                            .into_iter()
                            .filter(|(at, _)| *at >= span)
                            .map(|(at, sums)| row(at, sums)),
                    );
                }
                found => rows.push(row(span, found.map(|(_, sums)| sums).unwrap_or_default())),
            }
        }
    }
    for row in &mut rows {
        for (key, sum) in added {
            add(&mut row.sums, *key, *sum);
        }
    }
    write_rows(tx, &rows)
}

/// The rows of a group by their spans.
fn read_group(
    tx: &mut Tx<'_>,
    scope: Param<'_>,
    level: i64,
    spans: Range<i64>,
) -> Result<BTreeMap<i64, Sums>> {
    let rows = tx.on(PAYMENT_TOTALS).query(
        "SELECT span, sums FROM payment_totals WHERE scope = ?1 AND level = ?2 AND span >= ?3 AND span < ?4",
        &[scope, level.into(), spans.start.into(), spans.end.into()],
        each(|cells| Ok((cells.read()?, unpack(cells.text()?)?))),
    )?;
    Ok(rows.into_iter().collect())
}

/// The sums of a group up to a span.
fn until(group: &BTreeMap<i64, Sums>, span: i64) -> Sums {
    let newest = group.range(..=span).next_back();
    newest.map(|(_, sums)| sums.clone()).unwrap_or_default()
}

fn insert(rows: usize) -> String {
    let values = (0..rows)
        .map(|n| 4 * n)
        .map(|n| format!("(?{}, ?{}, ?{}, ?{})", n + 1, n + 2, n + 3, n + 4));
    format!(
        "INSERT INTO payment_totals (scope, level, span, sums) VALUES {}
         ON CONFLICT (scope, level, span) DO UPDATE SET sums = excluded.sums",
        values.collect::<Vec<_>>().join(", ")
    )
}

/// How many rows an order usually changes.
const USUAL_ROWS: usize = 6;
static INSERT_USUAL: LazyLock<String> = LazyLock::new(|| insert(USUAL_ROWS));
static INSERT_ONE: LazyLock<String> = LazyLock::new(|| insert(1));

fn write_rows(tx: &mut Tx<'_>, rows: &[TotalsRow<'_>]) -> Result<()> {
    let texts: Vec<String> = rows.iter().map(|row| pack(&row.sums)).collect();
    let of_row = |(row, text)| -> [Param<'_>; 4] {
        let (row, text): (&TotalsRow<'_>, &String) = (row, text);
        [row.scope, row.level.into(), row.span.into(), text.into()]
    };
    let params: Vec<_> = rows.iter().zip(&texts).map(of_row).collect();
    if params.len() == USUAL_ROWS {
        tx.on(PAYMENT_TOTALS)
            .write(&INSERT_USUAL, params.as_flattened())?;
    } else {
        for row in &params {
            tx.on(PAYMENT_TOTALS).write(&INSERT_ONE, row)?;
        }
    }
    Ok(())
}

/// Subtracts some of a deleted restaurant's sums from its account's, group by group, and returns how many rows it removed.
pub fn sweep(tx: &mut Tx<'_>, account: AccountId, restaurant: RestaurantId, limit: i64) -> Result<u64> {
    let mut removed = 0;
    while removed < limit.unsigned_abs() {
        let next = tx.on(PAYMENT_TOTALS).query_opt(
            "SELECT level, span FROM payment_totals WHERE scope = ?1 ORDER BY level, span LIMIT 1",
            params![&restaurant],
            tuple::<(i64, i64)>,
        )?;
        let Some((level, span)) = next else { break };
        removed += sweep_group(tx, account, restaurant, level, group(level, span))?;
    }
    Ok(removed)
}

fn sweep_group(
    tx: &mut Tx<'_>,
    account: AccountId,
    restaurant: RestaurantId,
    level: i64,
    spans: Range<i64>,
) -> Result<u64> {
    let (of_account, of_restaurant) = (Param::from(&account), Param::from(&restaurant));
    let all = read_group(tx, of_account, level, spans.clone())?;
    let removed = read_group(tx, of_restaurant, level, spans.clone())?;
    let (mut changed, mut last) = (Vec::new(), Sums::new());
    for span in all.keys().chain(removed.keys()).copied().collect::<BTreeSet<_>>() {
        let mut sums = until(&all, span);
        for (key, (count, total)) in until(&removed, span) {
            add(&mut sums, key, (-count, -total));
        }
        if sums == last {
            // No other restaurant has orders in this span: the row before it has the same sums.
            tx.on(PAYMENT_TOTALS).execute(
                "DELETE FROM payment_totals WHERE scope = ?1 AND level = ?2 AND span = ?3",
                params![&account, level, span],
            )?;
            continue;
        }
        last.clone_from(&sums);
        if all.get(&span) != Some(&sums) {
            changed.push(TotalsRow {
                scope: of_account,
                level,
                span,
                sums,
            });
        }
    }
    write_rows(tx, &changed)?;
    tx.on(PAYMENT_TOTALS).execute(
        "DELETE FROM payment_totals WHERE scope = ?1 AND level = ?2 AND span >= ?3 AND span < ?4",
        params![&restaurant, level, spans.start, spans.end],
    )
}
