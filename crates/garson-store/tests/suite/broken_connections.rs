//! PostgreSQL alone: connections that break between jobs and under them.

use crate::batches::{note, noted};
use crate::database::{Bench, on_postgres};
use crate::fixtures::at;
use garson_store::tables::accounts;
use garson_store::{Partition, StoreErrorKind};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Ends all connections to the case's database but its own; says how many.
pub fn kill_all(url: &str) -> usize {
    on_postgres(url, |client| {
        let sql = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
                   WHERE datname = current_database() AND pid <> pg_backend_pid()
                     AND backend_type = 'client backend'";
        client.query(sql, &[]).unwrap().len()
    })
}

pub async fn idle_connection_that_broke_is_replaced(bench: &Bench) {
    let url = bench.postgres_url();
    for round in 0..3 {
        for lane in 0..4 {
            let line = format!("{round}-{lane}");
            bench
                .engine
                .write(Partition::numbered(lane), move |tx| note(tx, &line))
                .await
                .unwrap();
        }
        assert!(kill_all(&url) >= 4, "all writers were connected");
        for _ in 0..8 {
            assert_eq!(bench.read(noted).await.len(), 4 * (round + 1));
        }
    }
    assert!(kill_all(&url) > 0);
    bench.write(|tx| note(tx, "last")).await;
    assert_eq!(bench.read(noted).await.len(), 13);
}

pub async fn acknowledged_writes_survive_broken_connections(bench: &Bench) {
    let done = Arc::new(AtomicUsize::new(0));
    let writers: Vec<_> = (0..64_u64)
        .map(|writer| {
            let (engine, done) = (bench.engine.clone(), Arc::clone(&done));
            tokio::spawn(async move {
                let (mut there, mut unknown) = (Vec::new(), Vec::new());
                for n in 0..20 {
                    let line = format!("{writer}-{n}");
                    let text = line.clone();
                    match engine
                        .write(Partition::numbered(writer), move |tx| note(tx, &text))
                        .await
                    {
                        Ok(()) => there.push(line),
                        Err(error) => {
                            let error: garson_store::StoreError = error;
                            assert_eq!(error.kind, StoreErrorKind::Unavailable, "{error}");
                            unknown.push(line);
                        }
                    }
                    done.fetch_add(1, Ordering::SeqCst);
                }
                (there, unknown)
            })
        })
        .collect();
    let url = bench.postgres_url();
    let mut killed = 0;
    for at in [100, 400, 700, 1_000] {
        let done = Arc::clone(&done);
        crate::database::until("the writers get on", move || done.load(Ordering::SeqCst) >= at).await;
        let url = url.clone();
        killed += tokio::task::spawn_blocking(move || kill_all(&url)).await.unwrap();
    }
    // How many have come back by the next time is luck; the first time all writers are there.
    assert!(killed >= 4, "{killed} connections broken");
    let (mut acknowledged, mut unknown) = (BTreeSet::new(), BTreeSet::new());
    for writer in writers {
        let (there, rest) = writer.await.unwrap();
        acknowledged.extend(there);
        unknown.extend(rest);
    }
    assert_eq!(acknowledged.len() + unknown.len(), 64 * 20);
    let stored = bench.read(noted).await;
    let missing: Vec<_> = acknowledged.difference(&stored).collect();
    assert!(missing.is_empty(), "acknowledged and lost: {missing:?}");
    let made_up: Vec<_> = stored
        .iter()
        .filter(|line| !acknowledged.contains(*line) && !unknown.contains(*line))
        .collect();
    assert!(made_up.is_empty(), "{made_up:?}");
    bench.write(|tx| note(tx, "last")).await;
}

pub async fn suspended_node_in_a_transaction_blocks_no_other(bench: &Bench) {
    let account = bench.account("one").await;
    let runs = Arc::new(AtomicUsize::new(0));
    let (counted, other) = (Arc::clone(&runs), bench.second_engine());
    let stopped = tokio::spawn({
        let engine = bench.engine.clone();
        async move {
            let job = move |tx: &mut garson_store::Tx<'_>| {
                accounts::reserve_positions(tx, account, 1, at(0))?;
                if counted.fetch_add(1, Ordering::SeqCst) == 0 {
                    // As one that has got a SIGSTOP, for longer than the server has patience.
                    std::thread::sleep(Duration::from_secs(5));
                }
                accounts::last_position(tx, account)
            };
            engine.write(account, job).await
        }
    });
    let started = Arc::clone(&runs);
    crate::database::until("it holds the account", move || {
        started.load(Ordering::SeqCst) == 1
    })
    .await;
    let start = Instant::now();
    let job = move |tx: &mut garson_store::Tx<'_>| accounts::reserve_positions(tx, account, 1, at(0));
    other.write(account, job).await.unwrap();
    let waited = start.elapsed();
    assert!(waited < Duration::from_millis(4_500), "{waited:?}");
    // What it had begun is undone, and done again.
    assert_eq!(stopped.await.unwrap().unwrap(), 2);
    assert_eq!(runs.load(Ordering::SeqCst), 2);
}
