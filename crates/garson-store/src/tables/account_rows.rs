//! Which rows belong to an account: walks all of them, table by table, in chunks. Export and removal share it.

use crate::engine::in_list::marks;
use crate::engine::{Owned, Param};
use crate::tables::row::each;
use crate::tables::schema::{TABLES, Table};
use crate::{ALL_TABLES, Result, StoreError, Tx};
use garson_core::id::AccountId;

/// Rows whose table has no column for the account: found by the id of the row that they belong to.
const CHILDREN: &[(&str, &str, &str)] = &[
    ("order_contents", "order_id", "orders"),
    ("order_timeline", "order_id", "orders"),
    ("attempts", "event_id", "events"),
    ("endpoint_attempts", "event_id", "events"),
    ("packages", "restaurant_id", "restaurants"),
    ("recovery_codes", "user_id", "users"),
    ("user_tokens", "user_id", "users"),
    ("payment_totals", "scope", "restaurants"),
    ("payment_totals", "scope", "accounts"),
    ("order_stats", "scope", "restaurants"),
    ("order_stats", "scope", "accounts"),
];

/// Tables that hold nothing of any account.
const COMMON: &[&str] = &[
    "nodes",
    "sign_in_failures",
    "master_key_check",
    "key_rotation",
    "node_keys",
];

/// Tables whose rows stay: what concerns this installation and its browsers, not the account.
const NOT_MOVED: &[&str] = &["sessions", "presence", "account_states", "request_log"];

/// Large tables whose rows do nothing by themselves, so that they may be there before their account.
const HISTORY: &[&str] = &[
    "orders",
    "order_contents",
    "order_timeline",
    "order_notices",
    "events",
    "attempts",
    "endpoint_attempts",
    "endpoint_stats",
    "payment_totals",
    "order_stats",
    "order_words",
    "word_places",
    "restaurant_history",
    "audit_log",
    "menu_versions",
    "platform_items",
    "idempotency",
];

/// Tables of which some rows are history, and under which condition; the others are work.
const WORK: &[(&str, &str)] = &[
    ("calls", "finished_at IS NOT NULL"),
    ("messages", "finished_at IS NOT NULL"),
    ("inbox", "state = 'taken'"),
    ("endpoint_deliveries", "state <> 'pending'"),
];

/// How many rows of a parent are considered at once.
const PARENTS: usize = 50;

/// A part of what an account has: rows of one table that are found in the same way.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    pub table: &'static Table,
    found_by: FoundBy,
    /// Only rows for which this is true, or only those for which it is not.
    only: Option<(&'static str, bool)>,
}

#[derive(Clone, Copy, Debug)]
enum FoundBy {
    /// The column with the account's id.
    Account(&'static str),
    /// A column with the id of a row of the parent.
    Parent(&'static str, &'static Table),
}

/// What of an account is walked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    History,
    /// What must appear at once, so that no worker sees a part of it.
    Work,
}

fn table(name: &str) -> Option<&'static Table> {
    TABLES.iter().find(|table| table.name == name)
}

fn own_column(table: &Table) -> Option<&'static str> {
    if table.name == "accounts" {
        return Some("id");
    }
    let has_account = table.columns.contains(&"account_id");
    has_account.then_some("account_id")
}

fn parts_of(table: &'static Table) -> Vec<Part> {
    let part = |found_by| Part {
        table,
        found_by,
        only: None,
    };
    let children = CHILDREN.iter().filter(|(name, ..)| *name == table.name);
    let children: Vec<Part> = children
        .filter_map(|(_, column, parent)| Some(part(FoundBy::Parent(column, self::table(parent)?))))
        .collect();
    if children.is_empty() {
        own_column(table)
            .map(|column| part(FoundBy::Account(column)))
            .into_iter()
            .collect()
    } else {
        children
    }
}

/// The parts of an account that are exported in a section.
#[must_use]
pub fn moved(section: Section) -> Vec<Part> {
    let mut parts = Vec::new();
    for table in TABLES.iter().filter(|table| !NOT_MOVED.contains(&table.name)) {
        let is_history = HISTORY.contains(&table.name);
        let work = WORK.iter().find(|(name, _)| *name == table.name);
        let is_wanted = match section {
            Section::History => is_history || work.is_some(),
            Section::Work => !is_history,
        };
        if is_wanted {
            let only = work.map(|(_, condition)| (*condition, section == Section::History));
            parts.extend(parts_of(table).into_iter().map(|part| Part { only, ..part }));
        }
    }
    parts
}

/// All parts of an account, in the order in which they are removed: a row is removed after those that are found by it.
#[must_use]
pub fn removed() -> Vec<Part> {
    let all = TABLES.iter().filter(|table| table.name != "account_states");
    let (mut parts, mut parents): (Vec<Part>, Vec<Part>) =
        all.flat_map(parts_of).partition(|part| !part.is_parent());
    // The account itself is last.
    parents.sort_by_key(|part| part.table.name == "accounts");
    parts.append(&mut parents);
    parts
}

/// Does each table belong to accounts, or to none?
#[must_use]
pub fn unclassified() -> Vec<&'static str> {
    let names = TABLES.iter().filter(|table| parts_of(table).is_empty());
    names
        .map(|table| table.name)
        .filter(|name| !COMMON.contains(name))
        .collect()
}

impl Part {
    fn is_parent(&self) -> bool {
        CHILDREN.iter().any(|(_, _, parent)| *parent == self.table.name)
    }

    /// The columns of the primary key.
    #[must_use]
    pub fn key(&self) -> &'static [&'static str] {
        self.table
            .columns
            .get(..self.table.key_columns)
            .unwrap_or_default()
    }
}

/// Walks the rows of a part, in the order of their keys.
#[derive(Clone, Debug)]
pub struct Walk {
    part: Part,
    account: AccountId,
    /// The key of the last row.
    after: Vec<Owned>,
    /// Ids of the parents that are being considered, and the last one that was read.
    parents: Vec<Owned>,
    last_parent: Option<Owned>,
    is_done: bool,
}

impl Walk {
    #[must_use]
    pub fn new(part: Part, account: AccountId) -> Self {
        Self {
            part,
            account,
            after: Vec::new(),
            parents: Vec::new(),
            last_parent: None,
            is_done: false,
        }
    }

    /// The next rows, with these columns, of which the first form the primary key; empty at the end.
    pub fn next(&mut self, tx: &mut Tx<'_>, columns: &[&str], limit: usize) -> Result<Vec<Vec<Owned>>> {
        loop {
            if self.is_done {
                return Ok(Vec::new());
            }
            let condition = match self.part.found_by {
                FoundBy::Account(column) => format!("{column} = ?1"),
                FoundBy::Parent(column, parent) => {
                    if self.parents.is_empty() && !self.read_parents(tx, parent)? {
                        self.is_done = true;
                        continue;
                    }
                    format!("{column} IN ({})", marks(1, self.parents.len()))
                }
            };
            let rows = self.read(tx, columns, &condition, limit)?;
            match rows.last() {
                Some(last) => {
                    self.after = last.iter().take(self.part.table.key_columns).cloned().collect();
                    return Ok(rows);
                }
                None if matches!(self.part.found_by, FoundBy::Account(_)) => self.is_done = true,
                None => {
                    self.parents.clear();
                    self.after.clear();
                }
            }
        }
    }

    fn read(
        &self,
        tx: &mut Tx<'_>,
        columns: &[&str],
        condition: &str,
        limit: usize,
    ) -> Result<Vec<Vec<Owned>>> {
        let account = Owned::Blob(self.account.as_bytes().to_vec());
        let found_by = match self.part.found_by {
            FoundBy::Account(_) => std::slice::from_ref(&account),
            FoundBy::Parent(..) => &self.parents,
        };
        let mut params: Vec<Param<'_>> = found_by.iter().map(Param::from).collect();
        let key = self.part.key().join(", ");
        let mut sql = format!(
            "SELECT {} FROM {} WHERE {condition}",
            columns.join(", "),
            self.part.table.name
        );
        match self.part.only {
            Some((only, true)) => sql.push_str(&format!(" AND ({only})")),
            Some((except, false)) => sql.push_str(&format!(" AND NOT ({except})")),
            None => {}
        }
        if !self.after.is_empty() {
            sql.push_str(&format!(
                " AND ({key}) > ({})",
                marks(params.len() + 1, self.after.len())
            ));
            params.extend(self.after.iter().map(Param::from));
        }
        sql.push_str(&format!(" ORDER BY {key} LIMIT ?{}", params.len() + 1));
        params.push(i64::try_from(limit).unwrap_or(i64::MAX).into());
        let read = each(|cells| columns.iter().map(|_| cells.read()).collect());
        tx.on(ALL_TABLES).query(&sql, &params, read)
    }

    /// Reads the next parents; `false` when there are no more.
    fn read_parents(&mut self, tx: &mut Tx<'_>, parent: &Table) -> Result<bool> {
        let column = own_column(parent)
            .ok_or_else(|| StoreError::internal(format!("{} has no account", parent.name)))?;
        let account = Param::from(&self.account);
        let limit = i64::try_from(PARENTS).unwrap_or(i64::MAX);
        let read = each(|cells| cells.read::<Owned>());
        let name = parent.name;
        self.parents = match &self.last_parent {
            None => tx.on(ALL_TABLES).query(
                &format!("SELECT id FROM {name} WHERE {column} = ?1 ORDER BY id LIMIT ?2"),
                &[account, limit.into()],
                read,
            )?,
            Some(last) => tx.on(ALL_TABLES).query(
                &format!("SELECT id FROM {name} WHERE {column} = ?1 AND id > ?2 ORDER BY id LIMIT ?3"),
                &[account, last.into(), limit.into()],
                read,
            )?,
        };
        self.last_parent = self.parents.last().cloned();
        Ok(!self.parents.is_empty())
    }
}
