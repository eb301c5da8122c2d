//! A PostgreSQL database with all tables, which new databases are copied from: that takes a third of the time of the migrations.
//! Also part of the storage suite.

use std::hash::{DefaultHasher, Hash, Hasher};

/// Any number that no other program locks on a server for tests.
const LOCK: i64 = 0x6741_7253_6f4e;

/// The template's name; the first caller creates it, with `migrate` on a new database of the given name. Every build of a test
/// program has its own, since its migrations may be others.
pub fn name(client: &mut ::postgres::Client, migrate: impl FnOnce(&str)) -> String {
    let template = format!("garson_template_{:016x}", build());
    let is_there = |client: &mut ::postgres::Client| {
        let sql = "SELECT 1 FROM pg_database WHERE datname = $1";
        client.query_opt(sql, &[&template]).unwrap().is_some()
    };
    if !is_there(client) {
        client.execute("SELECT pg_advisory_lock($1)", &[&LOCK]).unwrap();
        if !is_there(client) {
            // It gets its name when it is complete: the program may be killed before.
            let unfinished = format!("{template}_unfinished");
            client
                .batch_execute(&format!("DROP DATABASE IF EXISTS {unfinished} WITH (FORCE)"))
                .unwrap();
            client
                .batch_execute(&format!("CREATE DATABASE {unfinished}"))
                .unwrap();
            migrate(&unfinished);
            client
                .batch_execute(&format!("ALTER DATABASE {unfinished} RENAME TO {template}"))
                .unwrap();
        }
        client.execute("SELECT pg_advisory_unlock($1)", &[&LOCK]).unwrap();
    }
    template
}

fn build() -> u64 {
    let path = std::env::current_exe().unwrap();
    let changed = path.metadata().unwrap().modified().unwrap();
    let mut hasher = DefaultHasher::new();
    (path, changed).hash(&mut hasher);
    hasher.finish()
}
