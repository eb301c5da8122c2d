//! Callers do not wait for ever, and what they were told has failed is not done afterwards.

use crate::batches::{note, noted};
use crate::database::{Bench, Kind, on_postgres, until};
use crossbeam_channel::{bounded, unbounded};
use garson_store::{Engine, Options, Partition, Result, StoreErrorKind, Tx, params};
use std::time::Duration;

fn hasty_engine(bench: &Bench) -> Engine {
    let options = Options {
        // Time enough to connect on a slow machine.
        answer_within: Duration::from_secs(3),
        start_wait: Duration::from_secs(30),
        ..Options::default()
    };
    Engine::open(&bench.location, &options).unwrap()
}

pub async fn job_reported_as_timed_out_is_not_run(bench: &Bench) {
    let engine = hasty_engine(bench);
    let (go_on, gate) = unbounded::<()>();
    let (started, has_started) = bounded(1);
    let holding = engine.clone();
    let held = tokio::spawn(async move {
        let job = move |tx: &mut Tx<'_>| -> Result<()> {
            note(tx, "begun")?;
            let _ = started.try_send(());
            let _ = gate.recv();
            Ok(())
        };
        holding.write(Partition::COMMON, job).await
    });
    until("the writer is held", || !has_started.is_empty()).await;
    let refused = engine.write(Partition::COMMON, |tx| note(tx, "refused")).await;
    let kind = refused.map_err(|error| error.kind);
    assert_eq!(kind, Err(StoreErrorKind::Unavailable));
    let kind = held.await.unwrap().map_err(|error| error.kind);
    assert_eq!(
        kind,
        Err(StoreErrorKind::Unavailable),
        "it was not known how this ends"
    );
    assert_eq!(engine.waiting(), 1, "the refused one is still in the queue");
    drop(go_on);
    // Whatever comes next comes after it.
    until("the queue is empty", || engine.waiting() == 0).await;
    bench
        .engine
        .write(Partition::COMMON, |tx| note(tx, "fresh"))
        .await
        .unwrap();
    let fresh_on_the_same = engine.write(Partition::COMMON, |tx| note(tx, "next")).await;
    drop(fresh_on_the_same);
    drop(engine);
    let lines = bench.read(noted).await;
    assert!(lines.contains("fresh") && !lines.contains("refused"), "{lines:?}");
}

/// Another program may hold SQLite's write lock for longer than callers wait.
pub async fn job_that_waited_too_long_for_the_write_lock_is_not_run(bench: &Bench) {
    let engine = hasty_engine(bench);
    let other = rusqlite::Connection::open(bench.sqlite_path()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let refused = engine.write(Partition::COMMON, |tx| note(tx, "refused")).await;
    assert_eq!(
        refused.map_err(|error| error.kind),
        Err(StoreErrorKind::Unavailable)
    );
    other.execute_batch("COMMIT").unwrap();
    // The writer takes its jobs in order, so this one comes after the other.
    until_written(&engine, "fresh").await;
    let lines = bench.read(noted).await;
    assert!(lines.contains("fresh") && !lines.contains("refused"), "{lines:?}");
}

/// Callers time out while the writer still waits for the lock; a later try gets through.
async fn until_written(engine: &Engine, line: &'static str) {
    for _ in 0..20 {
        if engine
            .write(Partition::COMMON, move |tx| note(tx, line))
            .await
            .is_ok()
        {
            return;
        }
    }
    panic!("nothing can be written");
}

/// An operator, or whoever runs the server, may have traded durability for speed; not on our behalf.
pub async fn commits_are_durable_whatever_the_server_is_set_to(bench: &Bench) {
    assert_eq!(bench.kind, Kind::Postgres);
    bench.execute_directly(
        "DO $$ BEGIN
             EXECUTE format('ALTER DATABASE %I SET synchronous_commit = off', current_database());
         END $$",
    );
    let show = "SELECT current_setting('synchronous_commit')";
    let others: String = on_postgres(&bench.postgres_url(), |client| {
        client.query_one(show, &[]).unwrap().get(0)
    });
    assert_eq!(others, "off");
    let engine = bench.second_engine();
    for lane in 0..4 {
        let ours = engine
            .write(Partition::numbered(lane), move |tx| {
                tx.query_one(show, params![], |row| row.get::<String>(0))
            })
            .await
            .unwrap();
        assert_eq!(ours, "on");
    }
}
