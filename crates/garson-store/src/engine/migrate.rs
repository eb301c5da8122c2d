//! Migrations: one numbered list for both engines, embedded, checksummed, applied at start by one node.

use super::Tx;
use crate::error::StoreError;
use crate::params;
use sha2::{Digest, Sha256};

/// The list; a number is never used again and a script that has been released is never changed.
const MIGRATIONS: &[(i64, &str, &str)] = &[
    (
        1,
        "first_floor",
        include_str!("../../migrations/0001_first_floor.sql"),
    ),
    (2, "panel", include_str!("../../migrations/0002_panel.sql")),
    (3, "status", include_str!("../../migrations/0003_status.sql")),
    (4, "speed", include_str!("../../migrations/0004_speed.sql")),
    (5, "writer", include_str!("../../migrations/0005_writer.sql")),
    (6, "branches", include_str!("../../migrations/0006_branches.sql")),
];

/// What the runner needs of a connection.
pub trait Migrator {
    /// Does the work in a transaction that no other migrator runs beside.
    fn exclusively(
        &mut self,
        work: &mut dyn FnMut(&mut Self) -> Result<(), StoreError>,
    ) -> Result<(), StoreError>;
    /// Runs a script of several statements.
    fn script(&mut self, sql: &str) -> Result<(), StoreError>;
    fn transaction(&mut self) -> Tx<'_>;
}

/// Brings the database to the newest schema, or refuses it.
pub fn run<M: Migrator>(migrator: &mut M) -> Result<(), StoreError> {
    migrator.exclusively(&mut |migrator| apply(migrator, MIGRATIONS))
}

fn apply<M: Migrator>(migrator: &mut M, migrations: &[(i64, &str, &str)]) -> Result<(), StoreError> {
    migrator.script(
        "CREATE TABLE IF NOT EXISTS schema_migrations (
             number BIGINT PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL)",
    )?;
    let applied = migrator.transaction().query(
        "SELECT number, name, checksum FROM schema_migrations ORDER BY number",
        params![],
        |row| Ok((row.get::<i64>(0)?, row.get::<String>(1)?, row.get::<String>(2)?)),
    )?;
    for (number, name, checksum) in &applied {
        let known = migrations.iter().find(|(n, _, _)| n == number);
        match known {
            None => {
                return Err(StoreError::refused(format!(
                    "the database is newer than this program: it has migration {number} ({name}). \
                     Start it with the program that made it, or a later one"
                )));
            }
            Some((_, _, script)) if fingerprint(script) != *checksum => {
                return Err(StoreError::refused(format!(
                    "migration {number} ({name}) was applied in another form than this program has"
                )));
            }
            Some(_) => {}
        }
    }
    for (number, name, script) in migrations.iter().filter(|m| !applied.iter().any(|a| a.0 == m.0)) {
        migrator.script(script)?;
        migrator.transaction().execute(
            "INSERT INTO schema_migrations (number, name, checksum) VALUES (?1, ?2, ?3)",
            params![*number, *name, &fingerprint(script)],
        )?;
        tracing::info!(number, name, "applied a migration");
    }
    Ok(())
}

fn fingerprint(script: &str) -> String {
    Sha256::digest(script.as_bytes())
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
