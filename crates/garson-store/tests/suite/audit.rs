//! The audit log: a chain per account, whatever is committed together, and what verification finds.

use crate::database::Bench;
use crate::fixtures::at;
use garson_core::audit::{ActorKind, AuditAction, AuditActor, NewAuditEntry, RecordKind, Verb};
use garson_core::id::{AccountId, ErasureId, OrderId, RestaurantId};
use garson_core::privacy::CustomerQuery;
use garson_core::time::Timestamp;
use garson_store::lists::audit::{AuditFilter, page};
use garson_store::lists::feed::{Direction, PageRequest};
use garson_store::tables::audit::{self, Finding, VerifiedChunk};
use garson_store::tables::erasures::Erasure;
use garson_store::tables::{erasures, privacy_settings};
use garson_store::{AUDIT, Result, StoreError, Tx, Vault, params};
use std::sync::Arc;
use uuid::Uuid;

fn an_entry(record: RecordKind, id: &str, at: Timestamp) -> NewAuditEntry {
    NewAuditEntry {
        at,
        actor: AuditActor {
            kind: ActorKind::User,
            id: None,
            name: Some("şef@example.com".to_owned()),
        },
        address: Some("192.0.2.7".to_owned()),
        action: AuditAction::new(record, Verb::Changed),
        record_id: Some(id.to_owned()),
        restaurant_id: None,
        before: Some(r#"{"name":"Eski"}"#.to_owned()),
        after: Some("{\"name\":\"Yeni\\u0000\"}".to_owned()),
    }
}

/// Entries and an erasure, for tests that need a row in every table.
pub fn fill_tables(
    tx: &mut Tx<'_>,
    vault: &Vault,
    account: AccountId,
    order: OrderId,
) -> garson_store::Result<()> {
    for number in 0..520 {
        audit::record(
            tx,
            account,
            an_entry(RecordKind::Order, &number.to_string(), at(number)),
        );
    }
    let erasure = Erasure {
        id: ErasureId::at(at(1)),
        account_id: account,
        last_position: 9,
        reached: 3,
        erased: 2,
        waiting: 1,
        created_at: at(1),
        finished_at: None,
    };
    let query = CustomerQuery::new(Some("5559871234"), None, None).unwrap();
    erasures::start(tx, vault, &erasure, &query)?;
    erasures::wait_for(tx, account, order, at(2))?;
    privacy_settings::set_anonymise_days(tx, account, 90)
}

async fn write(bench: &Bench, account: AccountId, count: i64) {
    for number in 0..count {
        bench
            .write(move |tx| {
                audit::record(
                    tx,
                    account,
                    an_entry(RecordKind::Restaurant, &number.to_string(), at(number)),
                );
                Ok(())
            })
            .await;
    }
}

async fn verify(bench: &Bench, account: AccountId) -> Vec<Finding> {
    // In chunks, so that their borders are covered.
    let (mut after, mut findings) = (None, Vec::new());
    loop {
        let chunk: VerifiedChunk = bench
            .read(move |tx| audit::verify_chunk(tx, account, after, 3))
            .await;
        findings.extend(chunk.findings);
        after = Some(chunk.last);
        if chunk.is_end {
            return findings;
        }
    }
}

async fn run(bench: &Bench, sql: &'static str, account: AccountId) {
    let changed = bench
        .write(move |tx| tx.on(AUDIT).execute(sql, params![&account]))
        .await;
    assert!(changed > 0, "{sql}");
}

async fn newest(bench: &Bench, account: AccountId, filter: AuditFilter) -> Vec<i64> {
    let request = PageRequest {
        limit: 100,
        cursor: None,
        direction: Direction::Older,
    };
    let page = bench.read(move |tx| page(tx, account, &filter, request)).await;
    page.items.iter().map(|it| it.number).collect()
}

pub async fn entries_of_concurrent_jobs_form_one_chain(bench: &Bench) {
    let (ours, theirs) = (bench.account("lokanta").await, bench.account("pideci").await);
    let store = Arc::new(bench.engine.clone());
    let mut jobs = Vec::new();
    for number in 0..60_i64 {
        let store = Arc::clone(&store);
        jobs.push(tokio::spawn(async move {
            let account = if number % 3 == 0 { theirs } else { ours };
            let result: Result<()> = store
                .write(account, move |tx: &mut Tx<'_>| {
                    audit::record(tx, account, an_entry(RecordKind::Order, "1", at(number)));
                    audit::record(tx, account, an_entry(RecordKind::Order, "2", at(number)));
                    if number % 10 == 1 {
                        // What fails leaves no entry.
                        return Err(StoreError::refused("no"));
                    }
                    Ok(())
                })
                .await;
            assert_eq!(result.is_ok(), number % 10 != 1);
        }));
    }
    for job in jobs {
        job.await.unwrap();
    }
    let failed = (0..60).filter(|n| n % 10 == 1 && n % 3 != 0).count();
    let failed_theirs = (0..60).filter(|n| n % 10 == 1 && n % 3 == 0).count();
    assert_eq!(
        newest(bench, ours, AuditFilter::default()).await.len(),
        2 * (40 - failed)
    );
    assert_eq!(
        newest(bench, theirs, AuditFilter::default()).await.len(),
        2 * (20 - failed_theirs)
    );
    assert_eq!(verify(bench, ours).await, []);
    assert_eq!(verify(bench, theirs).await, []);
}

pub async fn changed_removed_and_inserted_rows_are_found(bench: &Bench) {
    let account = bench.account("lokanta").await;
    assert_eq!(verify(bench, account).await, []);
    write(bench, account, 10).await;
    assert_eq!(verify(bench, account).await, []);
    // Each column is covered by the hash, and each is restored before the next.
    for (change, restore) in [
        ("after = '{}'", "after = '{\"name\":\"Yeni\\u0000\"}'"),
        ("before = NULL", "before = '{\"name\":\"Eski\"}'"),
        ("actor = 'key'", "actor = 'user'"),
        ("actor_name = 'x'", "actor_name = 'şef@example.com'"),
        ("actor_id = account_id", "actor_id = NULL"),
        ("address = '192.0.2.8'", "address = '192.0.2.7'"),
        ("action = 'restaurant.deleted'", "action = 'restaurant.changed'"),
        ("action = 'nonsense'", "action = 'restaurant.changed'"),
        ("record_id = ''", "record_id = '4'"),
        ("restaurant_id = account_id", "restaurant_id = NULL"),
        ("at = at + 1", "at = at - 1"),
    ] {
        let sql = |set: &str| -> &'static str {
            format!("UPDATE audit_log SET {set} WHERE account_id = ?1 AND number = 5").leak()
        };
        run(bench, sql(change), account).await;
        let found = verify(bench, account).await;
        assert!(
            matches!(found.as_slice(), [Finding::Changed { number: 5, .. }]),
            "{change}: {found:?}"
        );
        run(bench, sql(restore), account).await;
        assert_eq!(verify(bench, account).await, [], "{restore}");
    }
    // A row in the place of another, and a new one behind the last.
    run(
        bench,
        "UPDATE audit_log SET number = 77 WHERE account_id = ?1 AND number = 3",
        account,
    )
    .await;
    let found = verify(bench, account).await;
    assert_eq!(
        found,
        [
            Finding::Missing { from: 3, to: 3 },
            Finding::Inserted {
                number: 77,
                at: at(2)
            }
        ]
    );
    run(
        bench,
        "UPDATE audit_log SET number = 3 WHERE account_id = ?1 AND number = 77",
        account,
    )
    .await;
    assert_eq!(verify(bench, account).await, []);
    // The newest rows are missed too, since the end of the chain is known.
    run(
        bench,
        "DELETE FROM audit_log WHERE account_id = ?1 AND number >= 9",
        account,
    )
    .await;
    assert_eq!(
        verify(bench, account).await,
        [Finding::Missing { from: 9, to: 10 }]
    );
    run(
        bench,
        "DELETE FROM audit_log WHERE account_id = ?1 AND number IN (1, 4, 5)",
        account,
    )
    .await;
    assert_eq!(
        verify(bench, account).await,
        [
            Finding::Missing { from: 1, to: 1 },
            Finding::Missing { from: 4, to: 5 },
            Finding::Missing { from: 9, to: 10 }
        ]
    );
    run(bench, "DELETE FROM audit_chains WHERE account_id = ?1", account).await;
    assert_eq!(verify(bench, account).await, [Finding::NoEnds]);
}

pub async fn chain_is_verified_after_old_rows_are_removed(bench: &Bench) {
    let account = bench.account("lokanta").await;
    write(bench, account, 10).await;
    let old = bench
        .read(move |tx| audit::chains_by_age(tx, None, at(6), 10))
        .await;
    assert_eq!(old, [(account, true)]);
    let remove = async |limit| {
        bench
            .write(move |tx| audit::remove_before(tx, account, at(6), limit))
            .await
    };
    assert_eq!(remove(4).await, 4);
    assert_eq!(verify(bench, account).await, []);
    assert_eq!((remove(4).await, remove(4).await), (2, 0));
    assert_eq!(
        newest(bench, account, AuditFilter::default()).await,
        [10, 9, 8, 7]
    );
    assert_eq!(verify(bench, account).await, []);
    write(bench, account, 1).await;
    assert_eq!(verify(bench, account).await, []);
    // A row that retention had removed is put back, and one that it had not is taken away.
    run(
        bench,
        "INSERT INTO audit_log (account_id, number, at, actor, action, hash)
         SELECT account_id, 2, 5, actor, action, hash FROM audit_log WHERE account_id = ?1 AND number = 8",
        account,
    )
    .await;
    let found = verify(bench, account).await;
    let at = Timestamp::from_millis(5);
    assert_eq!(found, [Finding::Inserted { number: 2, at }]);
    run(
        bench,
        "DELETE FROM audit_log WHERE account_id = ?1 AND number IN (2, 7)",
        account,
    )
    .await;
    assert_eq!(
        verify(bench, account).await,
        [Finding::Missing { from: 7, to: 7 }]
    );
    // All rows can go; the chain continues behind them.
    let empty = bench.account("pideci").await;
    write(bench, empty, 3).await;
    bench
        .write(move |tx| audit::remove_before(tx, empty, crate::fixtures::at(100), 100))
        .await;
    assert_eq!(verify(bench, empty).await, []);
    write(bench, empty, 1).await;
    assert_eq!(newest(bench, empty, AuditFilter::default()).await, [4]);
    assert_eq!(verify(bench, empty).await, []);
}

pub async fn audit_log_is_filtered_and_paged(bench: &Bench) {
    let (account, restaurant, key) = (
        bench.account("lokanta").await,
        RestaurantId(Uuid::now_v7()),
        Uuid::now_v7(),
    );
    bench
        .write(move |tx| {
            for number in 0..6 {
                audit::record(tx, account, an_entry(RecordKind::Restaurant, "a", at(number)));
            }
            let by_key = NewAuditEntry {
                actor: AuditActor {
                    kind: ActorKind::Key,
                    id: Some(key),
                    name: None,
                },
                restaurant_id: Some(restaurant),
                ..an_entry(RecordKind::Order, "b", at(3))
            };
            audit::record(tx, account, by_key);
            Ok(())
        })
        .await;
    let filtered = async |filter| newest(bench, account, filter).await;
    let all = AuditFilter::default;
    assert_eq!(filtered(all()).await, [7, 6, 5, 4, 3, 2, 1]);
    let record = Some(RecordKind::Order);
    assert_eq!(filtered(AuditFilter { record, ..all() }).await, [7]);
    let action = AuditAction::named("restaurant.changed");
    assert_eq!(filtered(AuditFilter { action, ..all() }).await.len(), 6);
    let action = AuditAction::named("restaurant.deleted");
    assert_eq!(filtered(AuditFilter { action, ..all() }).await, [] as [i64; 0]);
    let actor = Some(ActorKind::Key);
    assert_eq!(filtered(AuditFilter { actor, ..all() }).await, [7]);
    let actor_id = Some(key);
    assert_eq!(filtered(AuditFilter { actor_id, ..all() }).await, [7]);
    let actor_name = Some("şef@example.com".to_owned());
    assert_eq!(filtered(AuditFilter { actor_name, ..all() }).await.len(), 6);
    let record_id = Some("b".to_owned());
    assert_eq!(filtered(AuditFilter { record_id, ..all() }).await, [7]);
    let restaurant = Some(restaurant);
    assert_eq!(filtered(AuditFilter { restaurant, ..all() }).await, [7]);
    // The last entry was made at 3, but follows one of 5.
    let (from, to) = (Some(at(2)), Some(at(5)));
    assert_eq!(filtered(AuditFilter { from, to, ..all() }).await, [5, 4, 3]);
    assert_eq!(
        filtered(AuditFilter {
            from: Some(at(9)),
            ..all()
        })
        .await,
        [] as [i64; 0]
    );
    // Down and up again.
    let turn = async |cursor, direction| {
        let request = PageRequest {
            limit: 3,
            cursor,
            direction,
        };
        let page = bench.read(move |tx| page(tx, account, &all(), request)).await;
        let numbers: Vec<i64> = page.items.iter().map(|it| it.number).collect();
        (numbers, page.next, page.prev)
    };
    assert_eq!(
        turn(None, Direction::Older).await,
        (vec![7, 6, 5], Some(5), Some(7))
    );
    assert_eq!(
        turn(Some(5), Direction::Older).await,
        (vec![4, 3, 2], Some(2), Some(4))
    );
    assert_eq!(turn(Some(2), Direction::Older).await, (vec![1], None, Some(1)));
    assert_eq!(
        turn(Some(1), Direction::Newer).await,
        (vec![4, 3, 2], Some(2), Some(4))
    );
    assert_eq!(turn(Some(7), Direction::Newer).await.0, [] as [i64; 0]);
    let other = bench.account("pideci").await;
    assert_eq!(newest(bench, other, all()).await, [] as [i64; 0]);
}
