//! PostgreSQL alone: what one engine commits, another hears at once, without looking.

use crate::database::{Bench, on_postgres, until, within};
use crate::fixtures::{at, create_account};
use garson_core::account::{AuthorizationForm, Webhook};
use garson_core::id::{AccountId, IntegrationId, NodeId};
use garson_store::publish::{HandoffMessage, NodeMessage};
use garson_store::tables::{accounts, nodes};
use garson_store::{Engine, Partition, StoreError, Watcher, WatcherKind};
use std::time::{Duration, Instant};

/// What nobody looks for is heard within this time.
const SOON: Duration = Duration::from_secs(1);

/// How many connections with bells the case's database has.
fn bells(url: &str) -> i64 {
    on_postgres(url, |client| {
        let sql = "SELECT COUNT(*) FROM pg_stat_activity
                   WHERE datname = current_database() AND application_name = 'garson notify'
                     AND query LIKE '%pg_notify%'";
        client.query_one(sql, &[]).unwrap().get(0)
    })
}

/// An engine whose bell hangs, as the bench's own does.
async fn second(bench: &Bench) -> Engine {
    let engine = bench.second_engine();
    let url = bench.postgres_url();
    until("both bells hang", || bells(&url) == 2).await;
    engine
}

async fn reserve(engine: &Engine, account: AccountId) {
    engine
        .write(account, move |tx| {
            accounts::reserve_positions(tx, account, 1, at(0))
        })
        .await
        .unwrap();
}

async fn join(engine: &Engine, name: &'static str) -> NodeId {
    let id = NodeId::at(at(0));
    engine
        .write(Partition::COMMON, move |tx| nodes::join(tx, id, name))
        .await
        .unwrap();
    engine.node_identity().set(Some(id));
    id
}

pub async fn commit_wakes_watchers_on_another_node(bench: &Bench) {
    let other = second(bench).await;
    let account = bench.write(|tx| create_account(tx, "one")).await;
    let mut watch = other
        .account_watch()
        .watch(account, WatcherKind::Programs, 9, 9)
        .unwrap();
    for _ in 0..20 {
        reserve(&bench.engine, account).await;
        within(SOON, watch.changed()).await;
    }
    // The only node has nobody to ring for.
    bench.engine.set_alone(true);
    reserve(&bench.engine, account).await;
    let silence = tokio::time::timeout(Duration::from_millis(100), watch.changed()).await;
    assert!(silence.is_err());
    // It rings again when it hears of another.
    let _third = bench.second_engine();
    let start = Instant::now();
    while !heard_of(&bench.engine, account, &mut watch).await {
        assert!(start.elapsed() < Duration::from_secs(10));
    }
}

/// Is a commit heard soon?
async fn heard_of(engine: &Engine, account: AccountId, watch: &mut Watcher) -> bool {
    reserve(engine, account).await;
    let heard = tokio::time::timeout(Duration::from_millis(100), watch.changed());
    heard.await.is_ok()
}

pub async fn delivering_node_is_notified(bench: &Bench) {
    let other = second(bench).await;
    let (here, there) = (join(&bench.engine, "here").await, join(&other, "there").await);
    assert_ne!(here, there);
    let account = bench.write(|tx| create_account(tx, "one")).await;
    let webhook = Webhook {
        url: "http://example.com/".to_owned(),
        authorization: AuthorizationForm::Bearer,
        updated_at: at(0),
    };
    bench
        .write(move |tx| accounts::set_webhook(tx, account, Some(&webhook)))
        .await;
    reserve(&other, account).await;
    let (mut mine, mut its) = (bench.engine.handoff().subscribe(), other.handoff().subscribe());
    reserve(&bench.engine, account).await;
    let handed = within(SOON, its.recv()).await.unwrap();
    assert!(
        matches!(handed[..], [HandoffMessage::CommittedElsewhere { last: 2, .. }]),
        "{handed:?}"
    );
    bench.write(move |tx| accounts::wake_delivery(tx, account)).await;
    let handed = within(SOON, its.recv()).await.unwrap();
    assert!(
        matches!(handed[..], [HandoffMessage::Recheck { .. }]),
        "{handed:?}"
    );
    // Neither of it is work for the one that has committed it, nor for the other what that does itself.
    assert!(mine.try_recv().is_err());
    reserve(&other, account).await;
    let handed = within(SOON, its.recv()).await.unwrap();
    assert!(
        matches!(handed[..], [HandoffMessage::Committed { last: 3, .. }]),
        "{handed:?}"
    );
    bench
        .engine
        .write(Partition::COMMON, |tx| {
            tx.notify_nodes(NodeMessage::NodeLeft);
            Ok::<_, StoreError>(())
        })
        .await
        .unwrap();
    let handed = within(SOON, its.recv()).await.unwrap();
    assert!(matches!(handed[..], [HandoffMessage::NodeLeft]), "{handed:?}");
    let integration = IntegrationId::at(at(3));
    bench
        .engine
        .notify_nodes(vec![NodeMessage::PollNow { integration }]);
    let handed = within(SOON, its.recv()).await.unwrap();
    assert!(
        matches!(handed[..], [HandoffMessage::PollNow { integration: heard }] if heard == integration),
        "{handed:?}"
    );
    assert!(mine.try_recv().is_err());
}

pub async fn broken_listener_reconnects(bench: &Bench) {
    let other = second(bench).await;
    let account = bench.write(|tx| create_account(tx, "one")).await;
    let mut watch = other
        .account_watch()
        .watch(account, WatcherKind::Programs, 9, 9)
        .unwrap();
    for _ in 0..3 {
        assert!(crate::broken_connections::kill_all(&bench.postgres_url()) >= 2);
        let start = Instant::now();
        while !heard_of(&bench.engine, account, &mut watch).await {
            assert!(start.elapsed() < Duration::from_secs(10), "it is not heard again");
        }
    }
}

pub async fn listener_stops_with_its_engine(bench: &Bench) {
    let url = bench.postgres_url();
    let other = second(bench).await;
    let account = bench.write(|tx| create_account(tx, "one")).await;
    let mut watch = bench
        .engine
        .account_watch()
        .watch(account, WatcherKind::Programs, 9, 9)
        .unwrap();
    let copy = other.clone();
    drop(other);
    reserve(&copy, account).await;
    let start = Instant::now();
    tokio::task::spawn_blocking(move || drop(copy)).await.unwrap();
    assert!(start.elapsed() < SOON, "{:?}", start.elapsed());
    // What it had committed last was rung before it went.
    within(SOON, watch.changed()).await;
    until("its connection is gone", || bells(&url) == 1).await;
}
