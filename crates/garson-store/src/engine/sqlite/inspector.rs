//! Asks SQLite what a statement does, to check what is declared about it. For debug builds.

use crate::engine::session::StatementUse;
use parking_lot::Mutex;
use rusqlite::Connection;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// What is known about the statements of a connection.
pub struct Inspector {
    /// The tables of the statement that is being prepared.
    tables: Arc<Mutex<BTreeSet<String>>>,
    known: HashMap<String, StatementUse>,
}

impl Inspector {
    /// Listens to what the connection reports while it prepares statements.
    pub fn attach(connection: &mut Connection) -> rusqlite::Result<Self> {
        let tables = Arc::<Mutex<BTreeSet<String>>>::default();
        let reported = Arc::clone(&tables);
        connection.authorizer(Some(move |context: AuthContext<'_>| {
            if let AuthAction::Read { table_name, .. }
            | AuthAction::Insert { table_name }
            | AuthAction::Update { table_name, .. }
            | AuthAction::Delete { table_name } = context.action
            {
                reported.lock().insert(table_name.to_owned());
            }
            Authorization::Allow
        }))?;
        Ok(Self {
            tables,
            known: HashMap::new(),
        })
    }

    /// What a statement does; nothing when it is not valid.
    pub fn inspect(&mut self, connection: &Connection, sql: &str) -> Option<&StatementUse> {
        if !self.known.contains_key(sql) {
            self.tables.lock().clear();
            let statement = connection.prepare(sql).ok()?;
            let used = StatementUse {
                tables: std::mem::take(&mut *self.tables.lock()),
                is_read_only: statement.readonly(),
            };
            self.known.insert(sql.to_owned(), used);
        }
        self.known.get(sql)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_and_effect_of_a_statement_are_found() {
        let mut connection = Connection::open_in_memory().unwrap();
        connection
            .execute_batch("CREATE TABLE a (x); CREATE TABLE b (x); CREATE TABLE c (x)")
            .unwrap();
        let mut inspector = Inspector::attach(&mut connection).unwrap();
        let mut inspect = |sql: &str| {
            let used = inspector.inspect(&connection, sql).unwrap();
            (
                used.tables.iter().cloned().collect::<Vec<_>>().concat(),
                used.is_read_only,
            )
        };
        assert_eq!(
            inspect("SELECT 1 FROM a WHERE x IN (SELECT x FROM b)"),
            ("ab".to_owned(), true)
        );
        assert_eq!(inspect("SELECT COUNT(*) FROM c"), ("c".to_owned(), true));
        assert_eq!(inspect("UPDATE c SET x = 1 RETURNING x"), ("c".to_owned(), false));
        assert_eq!(inspect("INSERT INTO a SELECT x FROM b"), ("ab".to_owned(), false));
        assert_eq!(inspect("DELETE FROM b"), ("b".to_owned(), false));
    }
}
