//! Migrations while nodes run: what a later version adds, fills and removes beside an earlier one.

use crate::database::{Bench, Kind, on_postgres};
use crate::fixtures::at;
use crate::next_schema::{CONTRACT, EXPAND, migrations};
use garson_core::id::NodeId;
use garson_store::engine::{MIGRATIONS, Migration, MigrationKind, Schema};
use garson_store::tables::nodes;
use garson_store::upkeep::schema_change::{SchemaChange, Turn};
use garson_store::{Engine, Options, Partition, Result, StoreErrorKind, Tx, params};
use std::time::Duration;

const ORDERS: i64 = 1_500;

fn later() -> Options {
    Options {
        migrations: migrations(),
        ..Options::default()
    }
}

fn open_later(bench: &Bench) -> Engine {
    Engine::open(&bench.location, &later()).unwrap()
}

async fn join(engine: &Engine, name: &'static str) -> Result<NodeId> {
    let (id, migrations) = (NodeId::at(at(0)), engine.migrations());
    engine
        .write(Partition::COMMON, move |tx: &mut Tx<'_>| {
            nodes::join(tx, id, name)?;
            nodes::declare_schema(tx, id, migrations)
        })
        .await?;
    Ok(id)
}

async fn number(engine: &Engine, sql: &'static str) -> i64 {
    engine
        .read(move |tx| tx.query_one(sql, params![], |row| row.get::<i64>(0)))
        .await
        .unwrap()
}

async fn unfilled(engine: &Engine) -> i64 {
    number(engine, "SELECT COUNT(*) FROM orders WHERE later_total IS NULL").await
}

async fn is_contracted(engine: &Engine) -> bool {
    number(
        engine,
        "SELECT COUNT(*) FROM schema_migrations WHERE number = 1002",
    )
    .await
        == 1
}

/// Takes turns until nothing can be done now; the last one.
async fn run(engine: &Engine) -> Turn {
    let mut change = SchemaChange::default();
    for _ in 0..10_000 {
        let turn = change.turn(engine).await.unwrap();
        if matches!(turn, Turn::Nothing | Turn::Waiting) {
            return turn;
        }
    }
    panic!("it does not end");
}

pub async fn earlier_program_runs_beside_a_later_schema(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    bench.orders(branch, "before", 5).await;
    let engine = open_later(bench);
    // The earlier program goes on, and starts again.
    bench.orders(branch, "beside", 5).await;
    let again = bench.second_engine();
    assert_eq!(number(&again, "SELECT COUNT(*) FROM orders").await, 10);
    let (_, schema) = Engine::inspect(&bench.location, &Options::default()).unwrap();
    let mut numbers = vec![EXPAND];
    if bench.kind == Kind::Sqlite {
        // Its file has one process, so what nodes of before need is removed when the rows are filled.
        assert_eq!(run(&engine).await, Turn::Waiting);
        drop(engine);
        numbers.push(CONTRACT);
        assert!(is_contracted(&open_later(bench)).await);
    }
    assert_eq!(schema, Schema::Current { later: vec![EXPAND] });
}

pub async fn rows_of_earlier_programs_are_filled_too(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    bench.orders(branch, "before", ORDERS).await;
    let old = join(&bench.engine, "old").await.unwrap();
    let engine = open_later(bench);
    let new = join(&engine, "new").await.unwrap();
    assert_eq!(run(&engine).await, Turn::Waiting);
    assert_eq!(unfilled(&engine).await, 0);
    // The earlier program does not know the column.
    bench.orders(branch, "beside", 7).await;
    assert_eq!(
        run(&engine).await,
        Turn::Waiting,
        "it waits for the last node of before"
    );
    assert_eq!(
        (unfilled(&engine).await, is_contracted(&engine).await),
        (7, false)
    );

    bench.write(move |tx| nodes::leave(tx, old)).await;
    let last = run(&engine).await;
    assert_eq!(unfilled(&engine).await, 0);
    if bench.kind == Kind::Sqlite {
        drop(engine);
        let engine = open_later(bench);
        assert_eq!(run(&engine).await, Turn::Nothing);
        assert!(is_contracted(&engine).await);
    } else {
        assert_eq!(last, Turn::Nothing);
        assert!(is_contracted(&engine).await);
    }
    // What it needed is gone: it neither starts nor joins again.
    let refused = Engine::open(&bench.location, &Options::default())
        .map(drop)
        .unwrap_err();
    assert_eq!(refused.kind, StoreErrorKind::Refused, "{refused}");
    let refused = join(&bench.engine, "old").await.unwrap_err();
    assert_eq!(refused.kind, StoreErrorKind::Refused, "{refused}");
    let names = bench.read(nodes::list).await;
    assert_eq!(names.iter().map(|node| node.id).collect::<Vec<_>>(), [new]);
    let filled = "SELECT COUNT(*) FROM orders WHERE later_total = total * 2";
    assert_eq!(number(&bench.engine, filled).await, ORDERS + 7);
}

pub async fn interrupted_filling_goes_on_where_it_was(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    bench.orders(branch, "S", ORDERS).await;
    let engine = open_later(bench);
    let mut change = SchemaChange::default();
    // The index, and the first part of the rows.
    while unfilled(&engine).await == ORDERS {
        change.turn(&engine).await.unwrap();
    }
    let visited = "SELECT CAST(SUM(visited) AS BIGINT) FROM schema_steps";
    let (left, before) = (unfilled(&engine).await, number(&engine, visited).await);
    assert!(left > 0 && before > 0, "{left} {before}");
    drop(engine);
    let engine = open_later(bench);
    assert_eq!(number(&engine, visited).await, before);
    change.turn(&engine).await.unwrap();
    let place = "SELECT COUNT(*) FROM orders o WHERE later_total IS NULL AND id <=
                     (SELECT s.place FROM schema_steps s WHERE s.number = 1001 AND s.step = 1)";
    assert_eq!(number(&engine, place).await, 0);
    run(&engine).await;
    assert_eq!(unfilled(&engine).await, 0);
}

pub async fn two_nodes_fill_together(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    bench.orders(branch, "S", ORDERS).await;
    let (one, two) = (open_later(bench), open_later(bench));
    tokio::join!(run(&one), run(&two));
    run(&one).await;
    assert_eq!(unfilled(&one).await, 0);
    assert_eq!(
        number(&one, "SELECT COUNT(*) FROM schema_steps WHERE is_done = 0").await,
        0
    );
}

pub async fn new_database_has_everything_at_once(bench: &Bench) {
    let home = crate::database::TestDatabase::new(bench.kind);
    let engine = Engine::open(&home.location(), &later()).unwrap();
    assert!(is_contracted(&engine).await);
    assert_eq!(
        SchemaChange::default().turn(&engine).await.unwrap(),
        Turn::Nothing
    );
}

/// A transaction of another program that stays open until it is dropped.
struct OpenTransaction {
    release: std::sync::mpsc::Sender<()>,
    holder: std::thread::JoinHandle<()>,
}

impl OpenTransaction {
    fn begin(bench: &Bench, statement: &'static str) -> Self {
        let url = bench.postgres_url();
        let (holding, is_holding) = std::sync::mpsc::channel();
        let (release, is_released) = std::sync::mpsc::channel::<()>();
        let holder = std::thread::spawn(move || {
            on_postgres(&url, move |client| {
                let mut open = client.transaction().unwrap();
                open.batch_execute(statement).unwrap();
                holding.send(()).unwrap();
                is_released.recv().unwrap();
                open.commit().unwrap();
            });
        });
        is_holding.recv().unwrap();
        Self { release, holder }
    }

    fn end(self) {
        self.release.send(()).unwrap();
        self.holder.join().unwrap();
    }
}

/// The lock for which a connection of this database waits, and for how many milliseconds.
fn lock_wait(bench: &Bench, mode: &'static str) -> Option<f64> {
    let sql = "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp() - a.query_start) * 1000 AS DOUBLE PRECISION)
               FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
               WHERE NOT l.granted AND l.mode = $1 AND a.datname = current_database()";
    on_postgres(&bench.postgres_url(), move |client| {
        let found = client.query_opt(sql, &[&mode]).unwrap();
        found.map(|row| row.get(0))
    })
}

/// Another transaction reads a table and stays open. A migration of that table must wait, but those who come after it must not.
pub async fn migration_that_waits_for_a_lock_blocks_nobody(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    bench.orders(branch, "S", 1).await;
    let reader = OpenTransaction::begin(bench, "SELECT COUNT(*) FROM orders");
    let location = bench.location.clone();
    let opening = std::thread::spawn(move || Engine::open(&location, &later()).unwrap());
    // It has tried more than once while orders are taken all the time.
    let mut waits = 0;
    while waits < 3 {
        if lock_wait(bench, "AccessExclusiveLock").is_some() {
            bench.order(branch, format!("during-{waits}"), at(1)).await;
            waits += 1;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert!(!opening.is_finished());
    reader.end();
    let engine = opening.join().unwrap();
    assert_eq!(number(&engine, "SELECT COUNT(*) FROM orders").await, 4);
}

/// A vacuum has the table. An automatic one gives way when another has waited for a second, so a migration must wait for longer than
/// that, without blocking anybody.
pub async fn migration_waits_for_a_vacuum_without_blocking_anybody(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    bench.orders(branch, "S", 1).await;
    let vacuum = OpenTransaction::begin(bench, "LOCK TABLE orders IN SHARE UPDATE EXCLUSIVE MODE");
    let location = bench.location.clone();
    let opening = std::thread::spawn(move || Engine::open(&location, &later()).unwrap());
    let mut orders = 1;
    while lock_wait(bench, "ShareUpdateExclusiveLock").is_none_or(|millis| millis < 1_500.0) {
        bench.order(branch, format!("during-{orders}"), at(1)).await;
        orders += 1;
    }
    assert!(!opening.is_finished());
    vacuum.end();
    let engine = opening.join().unwrap();
    assert_eq!(number(&engine, "SELECT COUNT(*) FROM orders").await, orders);
}

/// A connection that was lost while it made an index leaves one that is not used.
pub async fn unfinished_index_is_made_again(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    bench.orders(branch, "S", 10).await;
    let engine = open_later(bench);
    on_postgres(&bench.postgres_url(), |client| {
        // All have the same total, so this fails and leaves its index.
        let made =
            client.batch_execute("CREATE UNIQUE INDEX CONCURRENTLY later_orders_by_total ON orders (total)");
        made.unwrap_err();
    });
    let valid = "SELECT COUNT(*) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
                 WHERE c.relname = 'later_orders_by_total' AND i.indisvalid AND i.indnatts = 2";
    assert_eq!(number(&engine, valid).await, 0);
    run(&engine).await;
    assert_eq!(number(&engine, valid).await, 1);
}

pub async fn offline_migration_is_refused_while_nodes_run(bench: &Bench) {
    let offline = Migration {
        number: 2001,
        name: "alone",
        kind: MigrationKind::Offline,
        script: "CREATE TABLE alone (id BIGINT PRIMARY KEY);",
        alters: &[],
        steps: &[],
    };
    let all: Vec<Migration> = MIGRATIONS.iter().copied().chain([offline]).collect();
    let options = Options {
        migrations: Box::leak(all.into_boxed_slice()),
        ..Options::default()
    };
    let (_, schema) = Engine::inspect(&bench.location, &options).unwrap();
    assert!(matches!(schema, Schema::Older(pending) if pending[0].kind == MigrationKind::Offline));
    let node = join(&bench.engine, "kasa 1").await.unwrap();
    let (location, with) = (bench.location.clone(), options.clone());
    let opening = std::thread::spawn(move || Engine::open(&location, &with).map(drop));
    while !opening.is_finished() {
        assert!(bench.write(move |tx| nodes::heartbeat(tx, node)).await);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let refused = opening.join().unwrap().unwrap_err();
    assert!(
        refused.to_string().contains("stop them first (kasa 1)"),
        "{refused}"
    );
    bench.second_engine();
    // A node that was killed does not stand in the way.
    drop(Engine::open(&bench.location, &options).unwrap());
    Engine::open(&bench.location, &Options::default())
        .map(drop)
        .unwrap_err();
}
