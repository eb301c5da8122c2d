//! Nodes: one delivers for an account at a time, and one that was given up gets and settles nothing.

use crate::database::Bench;
use crate::fixtures::at;
use garson_core::delivery::DeliveryState;
use garson_core::id::{AccountId, NodeId};
use garson_store::Engine;
use garson_store::publish::HandoffMessage;
use garson_store::tables::deliveries;
use garson_store::tables::deliveries::{Assignment, Outcome, Settlement};
use garson_store::tables::{accounts, events, nodes};
use uuid::Uuid;

async fn a_node(bench: &Bench, name: &'static str) -> NodeId {
    let node = NodeId(Uuid::now_v7());
    bench.write(move |tx| nodes::join(tx, node, name)).await;
    node
}

async fn standing(bench: &Bench, account: AccountId) -> Assignment {
    let found = bench.read(move |tx| deliveries::assignment(tx, account)).await;
    found.unwrap()
}

/// What a commit hands over.
fn handed(engine: &Engine) -> tokio::sync::mpsc::Receiver<Vec<HandoffMessage>> {
    engine.handoff().subscribe()
}

pub async fn commit_assigns_unowned_account_to_its_node(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let account = branch.account;
    let (one, two) = (a_node(bench, "one").await, a_node(bench, "two").await);
    bench.engine.node_identity().set(Some(one));
    // Without an address there is nothing to deliver.
    bench.order(branch, "S-0", at(0)).await;
    assert_eq!(standing(bench, account).await.node, None);
    bench.give_webhook(account).await;
    let mut mine = handed(&bench.engine);
    let before = standing(bench, account).await.version;
    bench.order(branch, "S-1", at(1)).await;
    let owned = standing(bench, account).await;
    assert_eq!((owned.node, owned.version), (Some(one), before + 1));
    let told = mine.recv().await.unwrap();
    assert!(
        matches!(&told[..], [HandoffMessage::Committed { version, deliveries, .. }]
                 if *version == owned.version && deliveries.len() == 1),
        "{told:?}"
    );
    // Another's commits leave it where it is, and are nothing that the other has to do.
    bench.engine.node_identity().set(Some(two));
    bench.order(branch, "S-2", at(2)).await;
    assert_eq!(standing(bench, account).await.node, Some(one));
    assert_eq!(standing(bench, account).await.version, owned.version);
    assert!(mine.try_recv().is_err());
    // When it is given up, the next commit takes over, and says so by a new version: whoever had the account before does
    // not go on from what it remembers.
    bench.write(move |tx| nodes::leave(tx, one)).await;
    bench.order(branch, "S-3", at(3)).await;
    let taken = standing(bench, account).await;
    assert_eq!((taken.node, taken.version), (Some(two), owned.version + 1));
    assert!(mine.recv().await.is_some());
    // One that ends takes nothing more.
    bench
        .write(move |tx| nodes::release_account(tx, account, two))
        .await;
    bench.engine.node_identity().stop_delivering();
    bench.order(branch, "S-4", at(4)).await;
    assert_eq!(standing(bench, account).await.node, None);
}

pub async fn removed_node_gets_no_accounts(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let account = branch.account;
    bench.give_webhook(account).await;
    let (paused, other) = (a_node(bench, "paused").await, a_node(bench, "other").await);
    bench.engine.node_identity().set(Some(paused));
    bench.order(branch, "S-1", at(1)).await;
    let had = standing(bench, account).await;
    assert_eq!(had.node, Some(paused));
    // It wakes up, and does not know yet.
    bench.write(move |tx| nodes::leave(tx, paused)).await;
    let mut mine = handed(&bench.engine);
    bench.order(branch, "S-2", at(2)).await;
    assert_eq!(standing(bench, account).await.node, None);
    assert!(mine.try_recv().is_err(), "nothing is handed over to it");
    let claimed = bench
        .write(move |tx| nodes::claim_account(tx, account, paused))
        .await;
    assert!(!claimed);
    assert!(!bench.write(move |tx| nodes::heartbeat(tx, paused)).await);
    let claimed = bench
        .write(move |tx| nodes::claim_account(tx, account, other))
        .await;
    assert!(claimed);
    let now = standing(bench, account).await;
    assert_eq!((now.node, now.version), (Some(other), had.version + 1));
    // Claiming one's own changes nothing.
    let again = bench
        .write(move |tx| nodes::claim_account(tx, account, other))
        .await;
    assert!(again);
    assert_eq!(standing(bench, account).await, now);
    let held = bench
        .write(move |tx| nodes::lock_account(tx, account, paused))
        .await;
    assert!(!held, "what it still has cannot be settled");
}

pub async fn new_event_and_settlement_of_its_predecessor_are_serialised(bench: &Bench) {
    // On one node an order goes on while another settles what came before: either the next event is written first and is
    // let go by the settlement, or it finds its predecessor settled. It is never left waiting.
    let branch = bench.branch("lokanta").await;
    let account = branch.account;
    bench.give_webhook(account).await;
    let node = a_node(bench, "one").await;
    bench.engine.node_identity().set(Some(node));
    let other = match bench.kind {
        crate::database::Kind::Postgres => bench.second_engine(),
        crate::database::Kind::Sqlite => bench.engine.clone(),
    };
    let mut waited = 0;
    for n in 0..40 {
        let order = bench.order(branch, format!("S-{n}"), at(n)).await;
        let id = order.id;
        let first = bench.read(move |tx| events::of_order(tx, id)).await.remove(0).id;
        let settlement = Settlement {
            id: first,
            order_id: Some(id),
            outcome: Outcome::Delivered,
            attempt: None,
            attempts_before: 0,
        };
        let settle = bench.engine.write(account, move |tx| {
            assert!(nodes::lock_account(tx, account, node)?);
            deliveries::settle(tx, std::slice::from_ref(&settlement), at(n))
        });
        let next = garson_core::id::EventId(Uuid::now_v7());
        let go_on = other.write(account, move |tx| {
            let mut places = accounts::reserve_positions(tx, account, 1, at(n))?;
            let event = events::NewEvent {
                id: next,
                account_id: account,
                restaurant_id: branch.restaurant,
                order_id: Some(id),
                sequence: Some(2),
                name: "siparis.durum_degisti",
                body: "{}",
            };
            events::write(tx, &event, &mut places)
        });
        let (released, written) = tokio::join!(settle, go_on);
        written.unwrap();
        waited += released.unwrap().len();
        let due = bench
            .read(move |tx| deliveries::untried_after(tx, account, 0, 1_000))
            .await;
        assert!(
            due.iter().any(|delivery| delivery.id == next),
            "{n}: it waits for ever"
        );
        let ends = Settlement {
            id: next,
            order_id: Some(id),
            outcome: Outcome::Delivered,
            attempt: None,
            attempts_before: 0,
        };
        bench
            .write(move |tx| deliveries::settle(tx, std::slice::from_ref(&ends), at(n)))
            .await;
    }
    println!("{waited} of 40 were written first");
    let last = bench.read(move |tx| {
        garson_store::lists::events::of_account(tx, account, Some(DeliveryState::Pending), one_page())
    });
    assert!(last.await.items.is_empty());
}

fn one_page() -> garson_store::lists::feed::PageRequest {
    garson_store::lists::feed::PageRequest {
        limit: 10,
        cursor: None,
        direction: garson_store::lists::feed::Direction::Older,
    }
}

pub async fn accounts_are_released_one_by_one(bench: &Bench) {
    let (one, two) = (a_node(bench, "one").await, a_node(bench, "two").await);
    let mut all = Vec::new();
    for name in ["a", "b", "c", "d", "e"] {
        let account = bench.account(name).await;
        bench
            .write(move |tx| nodes::claim_account(tx, account, one))
            .await;
        all.push(account);
    }
    let first = bench.read(move |tx| nodes::accounts_of(tx, one, None, 3)).await;
    assert_eq!(first, all[..3]);
    let after = first.last().copied();
    let rest = bench.read(move |tx| nodes::accounts_of(tx, one, after, 3)).await;
    assert_eq!(rest, all[3..]);
    let gone = all[0];
    assert!(!bench.write(move |tx| nodes::claim_account(tx, gone, two)).await);
    assert!(!bench.write(move |tx| nodes::release_account(tx, gone, two)).await);
    assert!(bench.write(move |tx| nodes::release_account(tx, gone, one)).await);
    assert!(bench.write(move |tx| nodes::claim_account(tx, gone, two)).await);
    let left = bench.read(move |tx| nodes::accounts_of(tx, one, None, 9)).await;
    assert_eq!(left, all[1..]);
}
