//! Group commit: jobs that share a transaction succeed and fail each on their own.

use crate::database::{Bench, Kind, intentional_error, until, within};
use crossbeam_channel::{Sender, bounded, unbounded};
use garson_core::id::OrderId;
use garson_store::tables::{accounts, orders};
use garson_store::{Engine, Partition, Result, StoreErrorKind, Tx, params};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::task::JoinHandle;

/// Writes a line into the ledger; the same line twice breaks a rule of the schema.
pub fn note(tx: &mut Tx<'_>, line: &str) -> Result<()> {
    tx.execute(
        "INSERT INTO order_contents (order_id, body) VALUES (?1, ?2)",
        params![line.as_bytes(), line],
    )?;
    Ok(())
}

pub fn noted(tx: &mut Tx<'_>) -> Result<BTreeSet<String>> {
    let lines = tx.query("SELECT body FROM order_contents", &[], |row| row.get(0))?;
    Ok(lines.into_iter().collect())
}

fn lines(wanted: impl IntoIterator<Item = impl ToString>) -> BTreeSet<String> {
    wanted.into_iter().map(|line| line.to_string()).collect()
}

/// Keeps the common writer busy, so that the jobs which come meanwhile share the next transaction.
struct Hold {
    go_on: Sender<()>,
    held: JoinHandle<Result<()>>,
}

impl Hold {
    async fn new(bench: &Bench) -> Self {
        let (go_on, gate) = unbounded::<()>();
        let (started, has_started) = bounded(1);
        let engine = bench.engine.clone();
        let held = tokio::spawn(async move {
            engine
                .write(Partition::COMMON, move |_| {
                    let _ = started.try_send(());
                    let _ = gate.recv();
                    Ok(())
                })
                .await
        });
        until("the writer is held", || !has_started.is_empty()).await;
        Self { go_on, held }
    }

    async fn let_go(self) {
        drop(self.go_on);
        self.held.await.unwrap().unwrap();
    }
}

pub type BoxedJob = Box<dyn Fn(&mut Tx<'_>) -> Result<()> + Send>;

/// Runs the jobs in one batch, and says how each ended.
pub async fn together(bench: &Bench, jobs: Vec<BoxedJob>) -> Vec<Result<()>> {
    let hold = Hold::new(bench).await;
    let count = jobs.len();
    let mut tasks = Vec::new();
    for (n, job) in jobs.into_iter().enumerate() {
        let engine = bench.engine.clone();
        tasks.push(tokio::spawn(async move {
            engine.write(Partition::COMMON, move |tx| job(tx)).await
        }));
        // One after the other, so that the batch has the order of the list.
        until("the job waits", || bench.engine.waiting() == n + 1).await;
    }
    assert_eq!(bench.engine.waiting(), count);
    hold.let_go().await;
    let mut ends = Vec::new();
    for task in tasks {
        ends.push(task.await.unwrap());
    }
    ends
}

fn noting(line: impl ToString) -> BoxedJob {
    let line = line.to_string();
    Box::new(move |tx| note(tx, &line))
}

pub async fn failed_job_among_64_is_rolled_back_alone(bench: &Bench) {
    let jobs = (0..64)
        .map(|n| -> BoxedJob {
            Box::new(move |tx| {
                note(tx, &n.to_string())?;
                if n == 17 { Err(intentional_error()) } else { Ok(()) }
            })
        })
        .collect();
    let ends = together(bench, jobs).await;
    for (n, end) in ends.iter().enumerate() {
        assert_eq!(end.is_err(), n == 17, "job {n}: {end:?}");
    }
    assert_eq!(bench.read(noted).await, lines((0..64).filter(|n| *n != 17)));
    let stats = bench.engine.stats();
    assert_eq!(stats.jobs.load(Ordering::Relaxed), 65);
    assert_eq!(
        stats.commits.load(Ordering::Relaxed),
        2,
        "the held job, then all others in one"
    );
    assert_eq!(stats.failed_jobs.load(Ordering::Relaxed), 1);
}

pub async fn concurrent_writers_share_commits(bench: &Bench) {
    let tasks: Vec<_> = (0..64)
        .map(|n: i32| {
            let engine = bench.engine.clone();
            tokio::spawn(async move {
                engine
                    .write(Partition::numbered(n.unsigned_abs().into()), move |tx| {
                        note(tx, &n.to_string())
                    })
                    .await
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap().unwrap();
    }
    assert_eq!(bench.read(noted).await, lines(0..64));
    let stats = bench.engine.stats();
    let commits = stats.commits.load(Ordering::Relaxed);
    let jobs = stats.jobs.load(Ordering::Relaxed);
    assert_eq!(jobs, 64);
    if bench.kind == Kind::Sqlite {
        assert!(commits < jobs, "{commits} commits for {jobs} jobs");
    }
}

pub async fn panic_fails_only_its_own_job(bench: &Bench) {
    let mut jobs: Vec<_> = (0..8).map(noting).collect();
    jobs[3] = Box::new(|tx| {
        note(tx, "3")?;
        panic!("on purpose")
    });
    let ends = together(bench, jobs).await;
    for (n, end) in ends.iter().enumerate() {
        match end {
            Ok(()) => assert_ne!(n, 3),
            Err(error) => {
                assert_eq!(n, 3, "{error}");
                assert!(error.to_string().contains("panicked"), "{error}");
            }
        }
    }
    bench.write(|tx| note(tx, "later")).await;
    let alone: Result<()> = bench.try_write(|_| panic!("on purpose")).await;
    assert!(alone.is_err());
    let read: Result<()> = bench.engine.read(|_| panic!("on purpose")).await;
    assert!(read.is_err());
    let wanted = lines(
        (0..8)
            .filter(|n| *n != 3)
            .map(|n| n.to_string())
            .chain(["later".to_owned()]),
    );
    assert_eq!(bench.read(noted).await, wanted);
}

pub async fn write_of_dropped_caller_is_committed(bench: &Bench) {
    let hold = Hold::new(bench).await;
    let engine = bench.engine.clone();
    let caller = tokio::spawn(async move { engine.write(Partition::COMMON, |tx| note(tx, "gone")).await });
    until("the job waits", || bench.engine.waiting() == 1).await;
    caller.abort();
    assert!(caller.await.unwrap_err().is_cancelled());
    hold.let_go().await;
    // The same writer takes jobs in their order.
    bench.write(|tx| note(tx, "after")).await;
    assert_eq!(bench.read(noted).await, lines(["gone", "after"]));
}

pub async fn jobs_beyond_a_batch_are_a_standing_queue(bench: &Bench) {
    let hold = Hold::new(bench).await;
    let (go_on, gate) = unbounded::<()>();
    let (started, has_started) = bounded(1);
    let mut jobs: Vec<BoxedJob> = vec![Box::new(move |_| {
        let _ = started.try_send(());
        let _ = gate.recv();
        Ok(())
    })];
    // A batch has at most 256 jobs.
    jobs.extend((1..300).map(noting));
    let mut tasks = Vec::new();
    for (n, job) in jobs.into_iter().enumerate() {
        let engine = bench.engine.clone();
        tasks.push(tokio::spawn(async move {
            engine.write(Partition::COMMON, move |tx| job(tx)).await
        }));
        until("the job waits", || bench.engine.waiting() == n + 1).await;
    }
    let (since, wait) = (Instant::now(), Duration::from_millis(20));
    until("they have waited", || since.elapsed() >= wait).await;
    hold.let_go().await;
    until("the first batch runs", || !has_started.is_empty()).await;
    let standing = bench.engine.standing_wait();
    assert!(standing >= wait, "{standing:?}");
    drop(go_on);
    for task in tasks {
        task.await.unwrap().unwrap();
    }
    assert_eq!(bench.engine.standing_wait(), Duration::ZERO);
}

/// A lock of another program says nothing about how much there is to do.
pub async fn jobs_behind_a_blocked_batch_are_no_standing_queue(bench: &Bench) {
    let hold = Hold::new(bench).await;
    let since = Instant::now();
    until("the batch has run for long", || {
        since.elapsed() >= Duration::from_millis(1_100)
    })
    .await;
    let (go_on, gate) = unbounded::<()>();
    let (started, has_started) = bounded(1);
    let mut tasks = Vec::new();
    for n in 0..300 {
        let (engine, started, gate) = (bench.engine.clone(), started.clone(), gate.clone());
        tasks.push(tokio::spawn(async move {
            let job = move |_: &mut Tx<'_>| {
                let _ = started.try_send(());
                let _ = gate.recv();
                Ok(())
            };
            engine.write(Partition::COMMON, job).await
        }));
        until("the job waits", || bench.engine.waiting() == n + 1).await;
    }
    hold.let_go().await;
    until("the next batch runs", || !has_started.is_empty()).await;
    assert!(bench.engine.waiting() > 0);
    assert_eq!(bench.engine.standing_wait(), Duration::ZERO);
    drop(go_on);
    for task in tasks {
        let done: Result<()> = task.await.unwrap();
        done.unwrap();
    }
}

pub async fn error_rolls_back_the_writes_before_it(bench: &Bench) {
    let alone: Result<()> = bench
        .try_write(|tx| {
            note(tx, "a")?;
            note(tx, "b")?;
            Err(intentional_error())
        })
        .await;
    assert_eq!(alone, Err(intentional_error()));
    assert!(bench.read(noted).await.is_empty());
    let mut jobs: Vec<_> = (0..5).map(noting).collect();
    jobs[0] = Box::new(|tx| {
        note(tx, "a")?;
        Err(intentional_error())
    });
    jobs[4] = Box::new(|tx| {
        note(tx, "b")?;
        Err(intentional_error())
    });
    let ends = together(bench, jobs).await;
    assert_eq!(
        ends,
        [
            Err(intentional_error()),
            Ok(()),
            Ok(()),
            Ok(()),
            Err(intentional_error())
        ]
    );
    assert_eq!(bench.read(noted).await, lines([1, 2, 3]));
}

pub async fn constraint_violation_fails_only_its_own_job(bench: &Bench) {
    bench.write(|tx| note(tx, "taken")).await;
    let mut jobs: Vec<_> = (0..8).map(noting).collect();
    jobs[2] = Box::new(|tx| {
        note(tx, "before")?;
        note(tx, "taken")
    });
    jobs[5] = noting("taken");
    let ends = together(bench, jobs).await;
    for (n, end) in ends.iter().enumerate() {
        match end {
            Ok(()) => assert!(![2, 5].contains(&n)),
            Err(error) => assert_eq!(
                (error.kind, [2, 5].contains(&n)),
                (StoreErrorKind::Constraint, true)
            ),
        }
    }
    let mut wanted = lines([0, 1, 3, 4, 6, 7]);
    wanted.insert("taken".to_owned());
    assert_eq!(bench.read(noted).await, wanted);
}

/// PostgreSQL turns the commit of a transaction with a failed statement into a quiet rollback.
pub async fn job_that_ignores_an_error_is_not_acknowledged(bench: &Bench) {
    bench.write(|tx| note(tx, "taken")).await;
    let overlook = |tx: &mut Tx<'_>| {
        note(tx, "mine")?;
        let _ = note(tx, "taken");
        Ok(())
    };
    let alone = bench.try_write(overlook).await;
    assert_eq!(alone.map_err(|error| error.kind), Err(StoreErrorKind::Constraint));
    let ends = together(bench, vec![noting("a"), noting("b"), Box::new(overlook)]).await;
    assert!(ends[0].is_ok() && ends[1].is_ok() && ends[2].is_err(), "{ends:?}");
    let ends = together(bench, vec![noting("c"), Box::new(overlook), noting("d")]).await;
    assert!(ends[0].is_ok() && ends[1].is_err() && ends[2].is_ok(), "{ends:?}");
    assert_eq!(bench.read(noted).await, lines(["taken", "a", "b", "c", "d"]));
}

pub async fn readers_do_not_wait_for_a_long_write(bench: &Bench) {
    let (go_on, gate) = unbounded::<()>();
    let (started, has_started) = bounded(1);
    let engine = bench.engine.clone();
    let writing = tokio::spawn(async move {
        let job = move |tx: &mut Tx<'_>| -> Result<()> {
            note(tx, "slow")?;
            let _ = started.try_send(());
            let _ = gate.recv();
            Ok(())
        };
        engine.write(Partition::COMMON, job).await
    });
    until("the write has begun", || !has_started.is_empty()).await;
    for _ in 0..20 {
        let seen = within(Duration::from_secs(10), bench.read(noted)).await;
        assert!(seen.is_empty(), "uncommitted lines are seen: {seen:?}");
    }
    assert!(!writing.is_finished());
    drop(go_on);
    writing.await.unwrap().unwrap();
    assert_eq!(bench.read(noted).await, lines(["slow"]));
}

/// Each job holds one account's row and then wants the other's; the engine untangles them by itself.
pub async fn jobs_with_opposite_lock_order_both_succeed(bench: &Bench) {
    let accounts = [bench.account("first").await, bench.account("second").await];
    let holding = Arc::new(AtomicUsize::new(0));
    let tasks: Vec<_> = [(0, accounts), (1, [accounts[1], accounts[0]])]
        .into_iter()
        .map(|(lane, [first, second])| {
            let (engine, holding) = (bench.engine.clone(), Arc::clone(&holding));
            let job = move |tx: &mut Tx<'_>| {
                accounts::reserve_positions(tx, first, 1, crate::fixtures::at(0))?;
                holding.fetch_add(1, Ordering::SeqCst);
                // On one connection they never meet, so the wait is bounded.
                let start = Instant::now();
                while holding.load(Ordering::SeqCst) < 2 && start.elapsed() < Duration::from_millis(500) {
                    std::thread::yield_now();
                }
                accounts::reserve_positions(tx, second, 1, crate::fixtures::at(0)).map(drop)
            };
            tokio::spawn(async move { engine.write(Partition::numbered(lane), job).await })
        })
        .collect();
    for task in tasks {
        task.await.unwrap().unwrap();
    }
    for account in accounts {
        let mut places = bench
            .write(move |tx| accounts::reserve_positions(tx, account, 1, crate::fixtures::at(0)))
            .await;
        assert_eq!(places.take(), 3);
    }
}

/// Two nodes change the same orders of an account, each in another order. Whoever has the account goes first, so neither has
/// to be given up for the other.
pub async fn two_nodes_do_not_block_each_other_over_orders(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let one = bench.order(branch, "A", crate::fixtures::at(0)).await.id;
    let other = bench.order(branch, "B", crate::fixtures::at(0)).await.id;
    let second = bench.second_engine();
    let lock_both = |engine: Engine, ids: [OrderId; 2]| async move {
        for _ in 0..50 {
            let job = move |tx: &mut Tx<'_>| -> Result<()> {
                for id in ids {
                    assert!(orders::lock(tx, id)?.is_some());
                    std::thread::yield_now();
                }
                accounts::reserve_positions(tx, branch.account, 1, crate::fixtures::at(0)).map(drop)
            };
            engine.write(branch.account, job).await.unwrap();
        }
    };
    let nodes = [
        tokio::spawn(lock_both(bench.engine.clone(), [one, other])),
        tokio::spawn(lock_both(second, [other, one])),
    ];
    for node in nodes {
        node.await.unwrap();
    }
    if bench.kind == Kind::Postgres {
        assert_eq!(bench.deadlocks(), 0);
    }
}

pub async fn every_commit_is_counted_and_timed(bench: &Bench) {
    let stats = bench.engine.stats();
    let timed = || {
        stats
            .commit_times
            .steps()
            .iter()
            .map(|(_, count)| count)
            .sum::<u64>()
    };
    let before = (stats.commits.load(Ordering::Relaxed), timed());
    for n in 0..10 {
        bench.write(move |tx| note(tx, &n.to_string())).await;
    }
    let after = (stats.commits.load(Ordering::Relaxed), timed());
    assert_eq!(after, (before.0 + 10, before.1 + 10));
    assert!(stats.commit_times.total() > 0.0 && !stats.is_in_doubt());
}
