//! The rows of the running sums: what has arrived so far, by spans of time.
//!
//! There are three levels of spans: units of five minutes, 64 of those, and 64 of those again (two weeks). A row is
//! there for each span in which an order arrived, of its account and of its restaurant; it sums up the span itself
//! and those before it in the same group of 64. The longest spans are one group, from the first on. So what lies
//! before a unit is one row of each level, however much that is, and a change touches only rows of three groups that
//! are not older than it: one of each as a rule, since orders arrive in the order of time.
//!
//! Whoever changes rows holds the account's lock: they are read, changed and written.

use super::packed::{pack, unpack, unpack_onto};
use crate::engine::Param;
use crate::transaction::{PAYMENT_TOTALS, Sums, SumsKey, add, add_all};
use crate::{Result, Tx, params};
use garson_core::id::{AccountId, RestaurantId};
use garson_core::order::Order;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::LazyLock;

/// The shortest span, in milliseconds.
pub const UNIT: i64 = 5 * 60 * 1000;
/// Spans of a level that make one of the next: two to this power.
const GROUP_BITS: i64 = 6;
const LEVELS: [i64; 3] = [0, 1, 2];
const LAST_LEVEL: i64 = 2;

/// The span of a level in which a unit lies.
fn span(unit: i64, level: i64) -> i64 {
    unit >> (GROUP_BITS * level)
}

/// The spans that are summed up together with this one.
fn group(level: i64, span: i64) -> Range<i64> {
    if level == LAST_LEVEL {
        return i64::MIN..i64::MAX;
    }
    let start = span >> GROUP_BITS << GROUP_BITS;
    start..start + (1 << GROUP_BITS)
}

/// The newest row of a level between two parameters.
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

/// The same without the longest spans, and those alone.
static BEFORE_NEARBY: LazyLock<String> = LazyLock::new(|| {
    let of_level = |level| newest("sums", "?1", level, (2 + 2 * level, 3 + 2 * level));
    all_of([0, 1].map(of_level).to_vec())
});
static BEFORE_LONG_AGO: LazyLock<String> = LazyLock::new(|| newest("sums", "?1", LAST_LEVEL, (2, 3)));

/// Asks for one moment after the other. What lies long before them is the same for most, and read once for those.
pub struct Walk<'a> {
    scope: Param<'a>,
    /// Before this one of the longest spans.
    long_ago: Option<(i64, Sums)>,
}

impl<'a> Walk<'a> {
    pub fn new(scope: Param<'a>) -> Self {
        Self {
            scope,
            long_ago: None,
        }
    }

    /// Adds what arrived before a unit.
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
            .query(&BEFORE_NEARBY, &params, |row| unpack_onto(row.text(0)?, 1, sums))?;
        let known = self.long_ago.take().filter(|(of, _)| *of == far);
        let (_, long_ago) = match known {
            Some(known) => self.long_ago.insert(known),
            None => {
                let mut read = Sums::new();
                let params = [self.scope, group(LAST_LEVEL, far).start.into(), far.into()];
                tx.on(PAYMENT_TOTALS).query(&BEFORE_LONG_AGO, &params, |row| {
                    unpack_onto(row.text(0)?, 1, &mut read)
                })?;
                self.long_ago.insert((far, read))
            }
        };
        add_all(sums, long_ago, 1);
        Ok(())
    }
}

/// Adds what arrived before a unit.
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
        .query(&BEFORE, &params, |row| unpack_onto(row.text(0)?, sign, sums))?;
    Ok(())
}

/// Adds everything that ever arrived.
pub fn add_all_time(tx: &mut Tx<'_>, scope: Param<'_>, sign: i64, sums: &mut Sums) -> Result<()> {
    let params = [scope, i64::MIN.into(), i64::MAX.into()];
    tx.on(PAYMENT_TOTALS).query(&BEFORE_LONG_AGO, &params, |row| {
        unpack_onto(row.text(0)?, sign, sums)
    })?;
    Ok(())
}

struct Row<'a> {
    scope: Param<'a>,
    level: i64,
    span: i64,
    sums: Sums,
}

/// The newest rows of all groups that an order belongs to, in one question: the account's, then the restaurant's.
static NEWEST: LazyLock<String> = LazyLock::new(|| {
    let of = |scope: i64| {
        LEVELS.map(|level| {
            let what = format!("CAST({scope} AS BIGINT), CAST({level} AS BIGINT), span, sums");
            newest(&what, &format!("?{scope}"), level, (3 + 2 * level, 4 + 2 * level))
        })
    };
    all_of([of(1), of(2)].concat())
});

/// Adds an order to the sums of its account and its restaurant, or takes it out. It is written with all others of the
/// transaction.
pub fn shift(tx: &mut Tx<'_>, order: &Order, sign: i64) {
    let place = SumsKey {
        account: order.account_id,
        restaurant: order.restaurant_id,
        unit: order.created_at.as_millis().div_euclid(UNIT),
    };
    let key = (order.payment_type, order.currency);
    add(tx.deferred().totals(place), key, (sign, sign * order.total.0));
}

/// Writes what is to be added.
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
        Ok((
            (row.get::<i64>(0)?, row.get::<i64>(1)?),
            (row.get::<i64>(2)?, unpack(row.text(3)?)?),
        ))
    })? {
        newest.insert(key, row);
    }
    let mut rows = Vec::with_capacity(scopes.len() * LEVELS.len());
    for (number, scope) in (1..).zip(scopes) {
        for level in LEVELS {
            let span = span(unit, level);
            let row = |span, sums| Row {
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
        |row| Ok((row.get(0)?, unpack(row.text(1)?)?)),
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

/// As many rows as an order has as a rule.
const USUAL_ROWS: usize = 6;
static INSERT_USUAL: LazyLock<String> = LazyLock::new(|| insert(USUAL_ROWS));
static INSERT_ONE: LazyLock<String> = LazyLock::new(|| insert(1));

fn write_rows(tx: &mut Tx<'_>, rows: &[Row<'_>]) -> Result<()> {
    let texts: Vec<String> = rows.iter().map(|row| pack(&row.sums)).collect();
    let of_row = |(row, text)| -> [Param<'_>; 4] {
        let (row, text): (&Row<'_>, &String) = (row, text);
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

/// Takes some of a deleted restaurant's sums out of its account's, group by group; says how many rows it removed.
pub fn sweep(tx: &mut Tx<'_>, account: AccountId, restaurant: RestaurantId, limit: i64) -> Result<u64> {
    let mut removed = 0;
    while removed < limit.unsigned_abs() {
        let next = tx.on(PAYMENT_TOTALS).query_opt(
            "SELECT level, span FROM payment_totals WHERE scope = ?1 ORDER BY level, span LIMIT 1",
            params![&restaurant],
            |row| Ok((row.get::<i64>(0)?, row.get::<i64>(1)?)),
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
    let gone = read_group(tx, of_restaurant, level, spans.clone())?;
    let (mut changed, mut last) = (Vec::new(), Sums::new());
    for span in all.keys().chain(gone.keys()).copied().collect::<BTreeSet<_>>() {
        let mut sums = until(&all, span);
        for (key, (count, total)) in until(&gone, span) {
            add(&mut sums, key, (-count, -total));
        }
        if sums == last {
            // Nobody else's orders are in this span: the row before it says the same.
            tx.on(PAYMENT_TOTALS).execute(
                "DELETE FROM payment_totals WHERE scope = ?1 AND level = ?2 AND span = ?3",
                params![&account, level, span],
            )?;
            continue;
        }
        last.clone_from(&sums);
        if all.get(&span) != Some(&sums) {
            changed.push(Row {
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
