//! Sending again what has failed: each once, in order, however many do it and wherever it was cut off.

use crate::database::Bench;
use crate::fixtures::{Branch, at};
use garson_core::id::{AccountId, EventId, OrderId, ResendId};
use garson_store::Engine;
use garson_store::lists::feed::{Direction, PageRequest};
use garson_store::tables::deliveries;
use garson_store::tables::events;
use garson_store::tables::events::{NewEvent, StoredEvent};
use garson_store::tables::resends;
use garson_store::tables::resends::Resend;
use garson_store::tables::{accounts, restaurants};
use uuid::Uuid;

/// Makes every event of the database a failed one.
pub const FAIL_ALL: &str =
    "UPDATE events SET state = 'failed', reason = 'bad_status', failures = 4, due_at = NULL;";

/// An account with a webhook and so many orders, a millisecond apart.
async fn shop(bench: &Bench, orders: i64) -> Branch {
    let branch = bench.branch("lokanta").await;
    bench.give_webhook(branch.account).await;
    bench.orders(branch, "S", orders).await;
    branch
}

async fn start(bench: &Bench, account: AccountId, since: i64, with_skipped: bool) -> Resend {
    let id = ResendId(Uuid::now_v7());
    bench
        .write(move |tx| {
            let planned = resends::plan(tx, id, account, None, at(since), with_skipped, at(5_000))?;
            resends::start(tx, &planned)?;
            Ok(planned)
        })
        .await
}

async fn step(bench: &Bench, resend: &Resend, limit: usize) -> Option<Resend> {
    let (account, id) = (resend.account, resend.id);
    bench
        .write(move |tx| resends::step(tx, account, id, limit, at(6_000)))
        .await
}

async fn all(bench: &Bench, account: AccountId) -> Vec<StoredEvent> {
    let request = PageRequest {
        limit: 1_000,
        cursor: None,
        direction: Direction::Older,
    };
    bench
        .read(move |tx| garson_store::lists::events::of_account(tx, account, None, request))
        .await
        .items
}

async fn in_state(bench: &Bench, account: AccountId, state: &str) -> usize {
    let events = all(bench, account).await;
    events
        .iter()
        .filter(|event| event.state.as_str() == state)
        .count()
}

pub async fn resend_requeues_each_failed_delivery_once(bench: &Bench) {
    let branch = shop(bench, 25).await;
    let account = branch.account;
    // Events stand at every second place, behind their orders: 2, 4 … 50.
    bench.execute_directly(FAIL_ALL);
    bench.execute_directly(
        "UPDATE events SET state = 'delivered', failures = 0 WHERE position IN (4, 20, 50)",
    );
    bench.execute_directly(
        "UPDATE events SET state = 'pending', failures = 2, due_at = 7 WHERE position IN (8, 48)",
    );
    let resend = start(bench, account, 0, false).await;
    assert_eq!((resend.found, resend.reached, resend.last_position), (20, 0, 50));
    // What happens after its start is not its own.
    bench.order(branch, "later", at(100)).await;
    bench.execute_directly(
        "UPDATE events SET state = 'failed', failures = 4, due_at = NULL WHERE position = 52",
    );

    let first = step(bench, &resend, 7).await.unwrap();
    assert_eq!((first.requeued, first.finished_at), (7, None));
    assert_eq!(first.reached, 18, "2 6 10 12 14 16 18");
    // They fail once more behind it, and stay so.
    bench.execute_directly(
        "UPDATE events SET state = 'failed', failures = 4, due_at = NULL WHERE position IN (2, 6)",
    );
    let second = step(bench, &resend, 7).await.unwrap();
    assert_eq!((second.requeued, second.finished_at), (14, None));
    let third = step(bench, &resend, 7).await.unwrap();
    assert_eq!((third.requeued, third.reached), (20, 50));
    assert_eq!(third.finished_at, Some(at(6_000)));
    assert_eq!(step(bench, &resend, 7).await, None);

    let kept = bench.read(move |tx| resends::find(tx, account, resend.id)).await;
    assert_eq!(kept, Some(third));
    // 20 of them, two of which have failed again, and the two that were on their way.
    assert_eq!(in_state(bench, account, "pending").await, 20);
    assert_eq!(in_state(bench, account, "delivered").await, 3);
    assert_eq!(in_state(bench, account, "failed").await, 3);
    let fresh = bench
        .read(move |tx| deliveries::untried_after(tx, account, 0, 100))
        .await;
    assert_eq!(fresh.len(), 18, "with all attempts before them");
    let late = bench
        .read(move |tx| deliveries::due_retries(tx, account, at(0), 100))
        .await;
    let late: Vec<(i64, i64)> = late.iter().map(|it| (it.position, it.failures)).collect();
    assert_eq!(late, [(8, 2), (48, 2)], "those on their way are as they were");
}

pub async fn resend_starts_at_its_timestamp(bench: &Bench) {
    let branch = shop(bench, 33).await;
    let account = branch.account;
    bench.execute_directly(FAIL_ALL);
    for since in -1..35 {
        let found = start(bench, account, since, false).await.found;
        let plain = all(bench, account)
            .await
            .iter()
            .filter(|event| event.created_at >= at(since))
            .count();
        assert_eq!(found, i64::try_from(plain).unwrap(), "since {since}");
    }
    let nobody = bench.account("kimse").await;
    assert_eq!(start(bench, nobody, 0, true).await.found, 0);
}

/// Three events of one order, all failed.
async fn three_of_one_order(bench: &Bench, branch: Branch) -> Vec<EventId> {
    let order = OrderId(Uuid::now_v7());
    let ids: Vec<EventId> = (0..3).map(|_| EventId(Uuid::now_v7())).collect();
    let written = ids.clone();
    bench
        .write(move |tx| {
            let mut places = accounts::reserve_positions(tx, branch.account, 3, at(50))?;
            for (n, id) in (1..).zip(&written) {
                let event = NewEvent {
                    id: *id,
                    account_id: branch.account,
                    restaurant_id: branch.restaurant,
                    order_id: Some(order),
                    sequence: Some(n),
                    name: "siparis.durum_degisti",
                    body: "{}",
                };
                events::write(tx, &event, &mut places)?;
            }
            Ok(())
        })
        .await;
    bench.execute_directly(FAIL_ALL);
    bench.execute_directly("UPDATE events SET held = 0");
    ids
}

pub async fn resend_keeps_the_sequence_of_an_order(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let account = branch.account;
    bench.give_webhook(account).await;
    for limit in [1, 2, 3, 50] {
        let ids = three_of_one_order(bench, branch).await;
        let resend = start(bench, account, 0, false).await;
        while step(bench, &resend, limit).await.is_some() {}
        let ready = bench
            .read(move |tx| deliveries::untried_after(tx, account, 0, 100))
            .await;
        let ready: Vec<EventId> = ready.iter().map(|it| it.id).collect();
        // Those of the rounds before are due again as well, the first of each order.
        assert_eq!(ready.last(), Some(&ids[0]), "in chunks of {limit}");
        assert_eq!(ready.iter().filter(|id| ids.contains(id)).count(), 1);
        let reasons: Vec<Option<String>> = all(bench, account)
            .await
            .iter()
            .take(3)
            .map(|e| e.reason.clone())
            .collect();
        let wanted = ["earlier_event", "earlier_event", "waiting"];
        assert_eq!(
            reasons,
            wanted.map(|reason| Some(reason.to_owned())),
            "newest first"
        );
    }
}

pub async fn two_nodes_can_run_one_resend(bench: &Bench) {
    const EVENTS: usize = 300;
    let branch = shop(bench, i64::try_from(EVENTS).unwrap()).await;
    let account = branch.account;
    bench.execute_directly(FAIL_ALL);
    let id = start(bench, account, 0, false).await.id;
    let other = bench.second_engine();
    async fn work(engine: &Engine, account: AccountId, id: ResendId) -> usize {
        let mut steps = 0;
        while let Some(done) = engine
            .write(account, move |tx| resends::step(tx, account, id, 7, at(6_000)))
            .await
            .unwrap()
        {
            steps += 1;
            if done.finished_at.is_some() {
                break;
            }
        }
        steps
    }
    let (here, there, beside) = tokio::join!(
        work(&bench.engine, account, id),
        work(&other, account, id),
        work(&other, account, id)
    );
    assert_eq!(here + there + beside, EVENTS / 7 + 1, "no chunk was done twice");
    let done = bench
        .read(move |tx| resends::find(tx, account, id))
        .await
        .unwrap();
    assert_eq!((done.found, done.requeued), (300, 300));
    assert_eq!(in_state(bench, account, "pending").await, EVENTS);
}

pub async fn resend_skips_deleted_restaurants(bench: &Bench) {
    let branch = shop(bench, 4).await;
    let account = branch.account;
    let closing = bench.branch_of(account).await;
    bench.orders(closing, "C", 4).await;
    bench.execute_directly(FAIL_ALL);
    bench
        .execute_directly("UPDATE events SET state = 'skipped', reason = 'no_url' WHERE position IN (2, 10)");
    bench
        .write(move |tx| restaurants::delete(tx, account, closing.restaurant, at(9)))
        .await;
    // Six have failed, of which three are of the closed one; of the skipped ones only if they are wanted.
    let failed = start(bench, account, 0, false).await;
    assert_eq!(failed.found, 6);
    assert_eq!(step(bench, &failed, 100).await.unwrap().requeued, 3);
    let skipped = start(bench, account, 0, true).await;
    assert_eq!(step(bench, &skipped, 100).await.unwrap().requeued, 1);
    // Without an address they would only be skipped.
    bench.execute_directly(FAIL_ALL);
    bench
        .write(move |tx| accounts::set_webhook(tx, account, None))
        .await;
    let nowhere = start(bench, account, 0, false).await;
    let ended = step(bench, &nowhere, 100).await.unwrap();
    assert_eq!((ended.requeued, ended.finished_at), (0, Some(at(6_000))));
}

pub async fn open_resends_are_found_by_account(bench: &Bench) {
    let branch = shop(bench, 3).await;
    let (first, second) = (branch.account, bench.account("yabanci").await);
    bench.execute_directly(FAIL_ALL);
    let older = start(bench, first, 0, false).await;
    let newer = start(bench, first, 0, true).await;
    let foreign = start(bench, second, 0, false).await;
    let open = bench
        .read(|tx| {
            let mut open = Vec::new();
            while let Some(next) = resends::next_open(
                tx,
                open.last().map(|it: &resends::OpenResend| (it.account, it.id)),
                10,
            )? {
                open.push(next);
            }
            Ok(open)
        })
        .await;
    let mut wanted = [(first, older.id), (second, foreign.id)];
    wanted.sort();
    let found: Vec<_> = open.iter().map(|it| (it.account, it.id)).collect();
    assert_eq!(found, wanted, "the oldest of each account");
    step(bench, &older, 2).await.unwrap();
    let next = bench.read(|tx| resends::next_open(tx, None, 10)).await;
    let of_first = match next {
        Some(open) if open.account == first => open,
        _ => bench
            .read(move |tx| resends::next_open(tx, Some((second, foreign.id)), 10))
            .await
            .unwrap(),
    };
    assert_eq!(of_first.untried, 2);
    bench
        .read(move |tx| {
            assert_eq!(resends::find(tx, second, older.id)?, None);
            let listed: Vec<ResendId> = resends::list(tx, first, 50)?.iter().map(|it| it.id).collect();
            assert_eq!(listed, [newer.id, older.id]);
            assert_eq!(resends::list(tx, first, 1)?.len(), 1);
            assert_eq!(resends::open_of(tx, first)?.len(), 2);
            Ok(())
        })
        .await;
}
