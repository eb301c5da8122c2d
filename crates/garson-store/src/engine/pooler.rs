//! Detects a pooler that gives each transaction another connection, as PgBouncer does in transaction mode.
//!
//! Prepared statements, session settings and notifications do not work through it: statements fail, and limits that protect
//! other clients are not in force. So it is refused at start.

use super::connect::Hosts;
use super::pipeline::Pipeline;
use crate::error::StoreError;
use tokio_postgres::SimpleQueryMessage;
use uuid::Uuid;

const MARK: &str = "SELECT current_setting('garson.session', true)";

/// Opens two sessions, marks one of them, and looks for the mark in both. Uses simple queries, which every pooler supports.
pub fn refuse_shared_sessions(hosts: &Hosts) -> Result<(), StoreError> {
    let (mut one, mut other) = (Pipeline::connect(hosts)?, Pipeline::connect(hosts)?);
    let mark = Uuid::now_v7().simple().to_string();
    let set = format!("SET garson.session TO '{mark}'");
    one.wait(|client| async move { client.batch_execute(&set).await })?;
    // While its transaction runs, the other session has a connection to itself, usually the one just used.
    other.wait(|client| async move { client.batch_execute("BEGIN").await })?;
    if value(&mut other)?.as_ref() == Some(&mark) || value(&mut one)? != Some(mark) {
        return Err(StoreError::refused(
            "the database URL leads to a pooler that gives each transaction another connection, such as PgBouncer in \
             transaction mode. That does not work: connect to PostgreSQL itself, or set the pooler to session mode",
        ));
    }
    Ok(())
}

fn value(pipeline: &mut Pipeline) -> Result<Option<String>, StoreError> {
    let rows = pipeline.wait(|client| async move { client.simple_query(MARK).await })?;
    Ok(rows.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
        _ => None,
    }))
}
