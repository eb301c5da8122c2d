//! Endpoints besides the default one: routes, deliveries, held events, results and removal.

use crate::database::{Bench, vault};
use crate::fixtures::{Branch, at, take_order};
use garson_core::delivery::UndeliveredReason;
use garson_core::explanation::Explanation;
use garson_core::id::{AccountId, EndpointId, EventId, OrderId};
use garson_core::secret::Secret;
use garson_core::testing::a_new_order;
use garson_core::webhook_endpoint::{
    EndpointAuthorization, EndpointFilter, EndpointState, EventBody, RetryPlan, WebhookEndpoint,
};
use garson_store::tables::accounts::reserve_positions;
use garson_store::tables::attempts::{Attempt, AttemptTiming};
use garson_store::tables::deliveries::{Outcome, Settlement};
use garson_store::tables::endpoint_stats::HourStats;
use garson_store::tables::events::NewEvent;
use garson_store::tables::webhook_endpoints::{EndpointSecrets, Verdict};
use garson_store::tables::{endpoint_deliveries, endpoint_stats, events, webhook_endpoints};
use garson_store::upkeep::{retention, sweep};
use garson_store::{Tx, lists, params};
use uuid::Uuid;

const NO_REASON: UndeliveredReason = UndeliveredReason::UrlRemoved;

fn an_endpoint(filter: EndpointFilter) -> WebhookEndpoint {
    WebhookEndpoint {
        id: EndpointId(Uuid::now_v7()),
        label: "one".to_owned(),
        url: Some("https://kds.example.com".to_owned()),
        state: EndpointState::Active,
        state_at: None,
        filter,
        authorization: EndpointAuthorization::Token,
        is_signed: true,
        old_secret_until: None,
        body: EventBody::Event,
        retries: RetryPlan::Long,
        failing_since: None,
        created_at: at(0),
        updated_at: at(0),
    }
}

fn secrets() -> EndpointSecrets {
    EndpointSecrets {
        token: Some(Secret::new("the-token".to_owned())),
        signing: Some(Secret::new("whsec_AAAA".to_owned())),
        old_signing: None,
    }
}

async fn save(bench: &Bench, account: AccountId, endpoint: WebhookEndpoint) -> EndpointId {
    let id = endpoint.id;
    bench
        .write(move |tx| webhook_endpoints::save(tx, &vault(), account, &endpoint, &secrets()))
        .await;
    id
}

/// An account with so many endpoints that get everything.
async fn with_endpoints(bench: &Bench, count: usize) -> (Branch, Vec<EndpointId>) {
    let branch = bench.branch("one").await;
    let mut ids = Vec::new();
    for _ in 0..count {
        ids.push(save(bench, branch.account, an_endpoint(EndpointFilter::default())).await);
    }
    (branch, ids)
}

/// A later event of an order.
fn next_event(
    tx: &mut Tx<'_>,
    branch: Branch,
    order: OrderId,
    sequence: i64,
) -> garson_store::Result<EventId> {
    let mut places = reserve_positions(tx, branch.account, 1, at(sequence))?;
    let id = EventId(Uuid::now_v7());
    let event = NewEvent {
        id,
        account_id: branch.account,
        restaurant_id: branch.restaurant,
        order_id: Some(order),
        sequence: Some(sequence),
        name: "siparis.durum_degisti",
        body: r#"{"olay":"siparis.durum_degisti","veri":{"provider":"direct"}}"#,
    };
    events::write(tx, &event, &mut places)?;
    Ok(id)
}

fn settlement(id: EventId, order: OrderId, outcome: Outcome, attempts_before: i64) -> Settlement {
    Settlement {
        id,
        order_id: Some(order),
        outcome,
        attempt: Some(Attempt {
            number: 0,
            at: at(attempts_before),
            url: "https://kds.example.com".to_owned(),
            status: Some(200),
            duration_ms: 3,
            timing: AttemptTiming::default(),
            explanation: Explanation::answered(200, None),
            response: Some("content-type: text/plain\n\nok".to_owned()),
        }),
        attempts_before,
    }
}

const AGAIN: Outcome = Outcome::Retry {
    due_at: at(9_000),
    reason: UndeliveredReason::TimedOut,
};

/// State, held, failures and attempts of each delivery of an endpoint, in order.
async fn standing(bench: &Bench, endpoint: EndpointId) -> Vec<(String, i64, i64, i64)> {
    bench
        .read(move |tx| {
            let sql = "SELECT state, held, failures, attempts FROM endpoint_deliveries WHERE endpoint_id = ?1
                       ORDER BY position";
            tx.query(sql, params![&endpoint], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
            })
        })
        .await
}

pub async fn secrets_of_an_endpoint_are_sealed(bench: &Bench) {
    let (branch, ids) = with_endpoints(bench, 1).await;
    let id = ids[0];
    bench
        .read(move |tx| {
            let opened = webhook_endpoints::secrets(tx, &vault(), id)?;
            assert_eq!(opened.token.unwrap().expose(), "the-token");
            assert!(opened.old_signing.is_none());
            let sql = "SELECT token FROM webhook_endpoints WHERE id = ?1";
            let sealed: Vec<u8> = tx.query_one(sql, params![&id], |row| row.get(0))?;
            assert!(!String::from_utf8_lossy(&sealed).contains("the-token"));
            let found = webhook_endpoints::find(tx, branch.account, id)?.unwrap();
            assert!(found.is_signed && found.retries == RetryPlan::Long);
            assert_eq!(webhook_endpoints::find(tx, AccountId(Uuid::nil()), id)?, None);
            Ok(())
        })
        .await;
}

pub async fn event_is_written_for_the_endpoints_that_want_it(bench: &Bench) {
    let (branch, ids) = with_endpoints(bench, 2).await;
    let filter = EndpointFilter {
        events: vec!["menu.degisti".to_owned()],
        ..EndpointFilter::default()
    };
    let other = save(bench, branch.account, an_endpoint(filter)).await;
    let mut paused = an_endpoint(EndpointFilter::default());
    paused.state = EndpointState::Paused;
    let paused = save(bench, branch.account, paused).await;
    bench.orders(branch, "S", 3).await;
    for id in ids {
        assert_eq!(
            standing(bench, id).await,
            vec![("pending".to_owned(), 0, 0, 0); 3]
        );
    }
    assert!(standing(bench, other).await.is_empty());
    assert_eq!(
        standing(bench, paused).await,
        vec![("skipped".to_owned(), 0, 0, 0); 3]
    );
    bench
        .read(move |tx| {
            assert_eq!(
                endpoint_deliveries::pending_endpoints(tx, branch.account)?.len(),
                2
            );
            assert_eq!(endpoint_deliveries::pending_after(tx, None, 10)?.len(), 2);
            assert_eq!(endpoint_deliveries::count_pending(tx, 100)?, 6);
            Ok(())
        })
        .await;
}

pub async fn later_event_waits_at_each_endpoint_by_itself(bench: &Bench) {
    let (branch, ids) = with_endpoints(bench, 2).await;
    let (first, second) = (ids[0], ids[1]);
    let (order, events) = bench
        .write(move |tx| {
            let order = take_order(tx, branch, &a_new_order("S-1"), at(0))?.id;
            let sql = "SELECT id FROM events WHERE order_id = ?1";
            let one: EventId = tx.query_one(sql, params![&order], |row| row.get(0))?;
            let two = next_event(tx, branch, order, 2)?;
            let three = next_event(tx, branch, order, 3)?;
            Ok((order, [one, two, three]))
        })
        .await;
    let held = |held: i64| ("pending".to_owned(), held, 0, 0);
    assert_eq!(standing(bench, first).await, [held(0), held(1), held(1)]);
    // One endpoint goes on, the other waits.
    let released = bench
        .write(move |tx| {
            let done = [settlement(events[0], order, Outcome::Delivered, 0)];
            endpoint_deliveries::settle(tx, first, &done, NO_REASON, at(10))
        })
        .await;
    assert_eq!(released.iter().map(|it| it.id).collect::<Vec<_>>(), [events[1]]);
    let delivered = ("delivered".to_owned(), 0, 0, 1);
    assert_eq!(standing(bench, first).await, [delivered, held(0), held(1)]);
    assert_eq!(standing(bench, second).await, [held(0), held(1), held(1)]);
    // After two failures the next one comes, and not before.
    for (n, released_wanted) in [(0, 0), (1, 1)] {
        let released = bench
            .write(move |tx| {
                let failed = [settlement(events[0], order, AGAIN, n)];
                endpoint_deliveries::settle(tx, second, &failed, NO_REASON, at(10))
            })
            .await;
        assert_eq!(released.len(), released_wanted);
    }
    let due = bench
        .read(move |tx| endpoint_deliveries::due_retries(tx, branch.account, second, at(9_000), 10))
        .await;
    assert_eq!(
        due.iter().map(|it| (it.id, it.failures)).collect::<Vec<_>>(),
        [(events[0], 2)]
    );
}

pub async fn filtered_event_does_not_let_a_later_one_overtake(bench: &Bench) {
    let branch = bench.branch("one").await;
    bench.give_webhook(branch.account).await;
    let filter = EndpointFilter {
        events: vec![
            "siparis.olusturuldu".to_owned(),
            "siparis.durum_degisti".to_owned(),
        ],
        ..EndpointFilter::default()
    };
    let default = WebhookEndpoint {
        id: EndpointId::default_of(branch.account),
        ..an_endpoint(filter)
    };
    save(bench, branch.account, default).await;
    let order = bench
        .write(move |tx| {
            let order = take_order(tx, branch, &a_new_order("S-1"), at(0))?.id;
            let mut places = reserve_positions(tx, branch.account, 1, at(1))?;
            let unwanted = NewEvent {
                id: EventId(Uuid::now_v7()),
                account_id: branch.account,
                restaurant_id: branch.restaurant,
                order_id: Some(order),
                sequence: Some(2),
                name: "siparis.guncellendi",
                body: "{}",
            };
            events::write(tx, &unwanted, &mut places)?;
            next_event(tx, branch, order, 3)?;
            Ok(order)
        })
        .await;
    let states: Vec<(String, i64)> = bench
        .read(move |tx| {
            let sql = "SELECT state, held FROM events WHERE order_id = ?1 ORDER BY sequence";
            tx.query(sql, params![&order], |row| Ok((row.get(0)?, row.get(1)?)))
        })
        .await;
    let wanted =
        [("pending", 0), ("skipped", 0), ("pending", 1)].map(|(state, held)| (state.to_owned(), held));
    assert_eq!(states, wanted);
}

pub async fn results_of_an_endpoint_are_counted_once(bench: &Bench) {
    let (branch, ids) = with_endpoints(bench, 1).await;
    let id = ids[0];
    bench.orders(branch, "S", 21).await;
    let due = bench
        .read(move |tx| endpoint_deliveries::untried_after(tx, branch.account, id, 0, 100))
        .await;
    assert_eq!(due.len(), 21);
    let done: Vec<Settlement> = due
        .iter()
        .map(|it| settlement(it.id, it.order_id.unwrap(), Outcome::Delivered, 0))
        .collect();
    for some in [&done[..5], &done[..], &done[3..]] {
        let some = some.to_vec();
        bench
            .write(move |tx| endpoint_deliveries::settle(tx, id, &some, NO_REASON, at(10)).map(drop))
            .await;
    }
    assert_eq!(
        standing(bench, id).await,
        vec![("delivered".to_owned(), 0, 0, 1); 21]
    );
    let event = due[7].id;
    let log = bench
        .read(move |tx| endpoint_deliveries::of_delivery(tx, id, event))
        .await;
    assert_eq!((log.len(), log[0].number), (1, 1));
    assert!(log[0].response.as_deref().unwrap().ends_with("ok"));
    let page = bench
        .read(move |tx| {
            lists::endpoint_deliveries::page(tx, (branch.account, id), None, (-1, i64::MAX), true, 5)
        })
        .await;
    assert_eq!(page.len(), 5);
    assert!(page.windows(2).all(|two| two[0].position > two[1].position));
}

pub async fn endpoint_that_keeps_failing_is_disabled(bench: &Bench) {
    let (branch, ids) = with_endpoints(bench, 1).await;
    let (account, id) = (branch.account, ids[0]);
    let fail = async |count: usize, now: i64| {
        bench
            .write(move |tx| {
                webhook_endpoints::note_failures(tx, account, id, count, at(now), at(now - 1_000))
            })
            .await
    };
    assert_eq!(fail(9, 0).await, Verdict::Failing);
    assert_eq!(fail(9, 500).await, Verdict::Failing, "not for long enough");
    bench
        .write(move |tx| webhook_endpoints::note_accepted(tx, id))
        .await;
    assert_eq!(fail(9, 2_000).await, Verdict::Failing);
    assert_eq!(fail(0, 3_000).await, Verdict::Failing, "too few");
    assert_eq!(fail(1, 3_001).await, Verdict::Disabled);
    assert_eq!(fail(1, 3_002).await, Verdict::Failing, "only once");
    bench.orders(branch, "S", 1).await;
    assert_eq!(standing(bench, id).await, [("skipped".to_owned(), 0, 0, 0)]);
    let disabled = bench
        .read(move |tx| webhook_endpoints::disabled(tx, account))
        .await;
    assert_eq!(disabled.len(), 1);
}

pub async fn skipped_deliveries_of_an_endpoint_are_requeued_in_order(bench: &Bench) {
    let (branch, ids) = with_endpoints(bench, 1).await;
    let id = ids[0];
    let (order, two) = bench
        .write(move |tx| {
            let order = take_order(tx, branch, &a_new_order("S-1"), at(0))?.id;
            Ok((order, next_event(tx, branch, order, 2)?))
        })
        .await;
    bench.execute_directly("UPDATE endpoint_deliveries SET state = 'failed', failures = 4, held = 0");
    let requeued = bench
        .write(move |tx| {
            let sql = "SELECT event_id FROM endpoint_deliveries WHERE endpoint_id = ?1 ORDER BY position";
            let all: Vec<EventId> = tx.query(sql, params![&id], |row| row.get(0))?;
            assert_eq!((all.len(), all[1]), (2, two));
            endpoint_deliveries::requeue(tx, branch.account, id, &all, at(5))
        })
        .await;
    assert_eq!(requeued, 2);
    let held = |held: i64| ("pending".to_owned(), held, 0, 0);
    assert_eq!(standing(bench, id).await, [held(0), held(1)]);
    let of_order = bench
        .read(move |tx| lists::endpoint_deliveries::of_order(tx, id, order))
        .await;
    assert_eq!(of_order.len(), 2);
}

pub async fn removed_events_leave_no_deliveries(bench: &Bench) {
    let (branch, ids) = with_endpoints(bench, 2).await;
    bench.orders(branch, "S", 4).await;
    let removed = bench
        .write(move |tx| retention::remove_chunk(tx, branch.account, at(2), at(10), 100))
        .await;
    assert_eq!(removed.events, 2);
    assert_eq!(standing(bench, ids[0]).await.len(), 2);
    let (account, first) = (branch.account, ids[0]);
    bench
        .write(move |tx| webhook_endpoints::delete(tx, account, first, at(11)).map(drop))
        .await;
    let next = bench
        .read(move |tx| webhook_endpoints::next_deleted(tx, None))
        .await;
    assert_eq!(next, Some((account, first)));
    for is_more in [true, false] {
        let done = bench
            .write(move |tx| sweep::remove_endpoint_chunk(tx, account, first, 100))
            .await;
        assert_eq!(done, is_more);
    }
    assert!(standing(bench, first).await.is_empty());
    assert_eq!(standing(bench, ids[1]).await.len(), 2);
    assert_eq!(
        bench.read(move |tx| webhook_endpoints::count(tx, account)).await,
        1
    );
}

pub async fn statistics_are_added_by_the_hour(bench: &Bench) {
    let (branch, ids) = with_endpoints(bench, 1).await;
    let (account, id) = (branch.account, ids[0]);
    let hour = HourStats::hour_of(at(0));
    let mut part = HourStats {
        hour,
        ..HourStats::default()
    };
    part.count(at(0), 8, None);
    part.count(at(1), 400, Some("bad".to_owned()));
    for _ in 0..2 {
        let part = part.clone();
        bench
            .write(move |tx| endpoint_stats::add(tx, account, id, &part))
            .await;
    }
    let hours = bench.read(move |tx| endpoint_stats::since(tx, id, hour)).await;
    assert_eq!(hours.len(), 1);
    assert_eq!(
        (hours[0].attempts, hours[0].failures, hours[0].total_ms),
        (4, 2, 816)
    );
    assert_eq!(
        (hours[0].percentile_ms(50), hours[0].percentile_ms(95)),
        (Some(10), Some(500))
    );
    assert_eq!(hours[0].last_failure.as_deref(), Some("bad"));
    let swept = bench
        .write(move |tx| endpoint_stats::sweep(tx, hour + 1, 10))
        .await;
    assert_eq!(swept, 1);
}

/// Rows in every table of endpoints; more than a chunk of a copy under the first column of their keys.
pub fn fill_tables(
    tx: &mut Tx<'_>,
    vault: &garson_store::Vault,
    account: AccountId,
    event: EventId,
) -> garson_store::Result<()> {
    let endpoint = an_endpoint(EndpointFilter::default());
    webhook_endpoints::save(tx, vault, account, &endpoint, &secrets())?;
    for n in 0..510_i64 {
        let other = EndpointId(Uuid::from_u128(u128::from(n.unsigned_abs())));
        let sql = "INSERT INTO endpoint_deliveries (event_id, endpoint_id, account_id, position, state, attempts, failures, held)
                   VALUES (?1, ?2, ?3, ?4, 'skipped', 0, 0, 0)";
        tx.execute(sql, params![&event, &other, &account, n])?;
        let attempt = settlement(event, OrderId(Uuid::nil()), AGAIN, 0).attempt.unwrap();
        endpoint_deliveries::record(tx, other, event, &attempt)?;
        let mut stats = HourStats {
            hour: n,
            ..HourStats::default()
        };
        stats.count(at(n), n, Some("bad".to_owned()));
        endpoint_stats::add(tx, account, endpoint.id, &stats)?;
    }
    Ok(())
}
