//! Stores on platforms, the settings of their restaurants, and the restaurants' history.

use crate::database::Bench;
use crate::fixtures::{Branch, GETIR, an_integration, at};
use garson_core::id::{IntegrationId, KeyId, NodeId};
use garson_core::integration::Credentials;
use garson_core::opening_hours::{OpeningHours, Span, Week};
use garson_core::restaurant_history::{HistoryAction, HistoryEntry};
use garson_core::store_control::{
    Desired, DesiredState, Requester, StoreProblem, StoreRecord, Threshold, Throttle, ThrottleLevel,
    ThrottleMeasure, ThrottleState,
};
use garson_core::store_status::{StoreActor, StoreState};
use garson_store::lists::feed::{Direction, PageRequest};
use garson_store::lists::history;
use garson_store::tables::store_settings::StoreSettings;
use garson_store::tables::{
    integrations, nodes, restaurant_history, restaurants, store_settings, store_states,
};
use garson_store::upkeep::sweep;
use garson_store::{Result, Tx};
use serde_json::json;
use uuid::Uuid;

fn closed_until() -> Desired {
    Desired {
        until: Some(at(60_000)),
        note: Some("fırın bozuk 🔥".to_owned()),
        ..Desired::new(
            DesiredState::Closed,
            at(0),
            StoreActor::Account,
            Requester::Key(KeyId(Uuid::from_u128(7))),
        )
    }
}

fn a_store(branch: Branch, integration: IntegrationId) -> StoreRecord {
    let mut store = StoreRecord::new((branch.account, branch.restaurant), integration, GETIR);
    store.set_desired(StoreActor::Account, Some(closed_until()), at(0));
    store.actual.state = StoreState::Closed;
    store.problem = Some(StoreProblem::ClosedByPlatform);
    store
}

fn settings() -> StoreSettings {
    StoreSettings {
        throttle: Some(Throttle {
            measure: ThrottleMeasure::OpenOrders,
            busy: Some(Threshold { above: 5, down_to: 3 }),
            close: None,
            minimum_minutes: 5,
            busy_minutes: Some(15),
        }),
        throttle_state: ThrottleState {
            level: ThrottleLevel::Busy,
            since: Some(at(1)),
            is_suspended: false,
        },
        hours: Some(OpeningHours::weekly_in("Europe/Istanbul", Week::daily(Span::ALL_DAY)).unwrap()),
        hours_version: 3,
        schedule: Some(closed_until()),
        schedule_due_at: Some(at(500)),
    }
}

fn an_entry(branch: Branch, number: i64) -> HistoryEntry {
    let whose = (StoreActor::Account, Requester::Key(KeyId(Uuid::from_u128(7))));
    let detail = json!({ "number": number, "note": "kapalı" });
    HistoryEntry::new(
        branch.restaurant,
        at(number),
        whose,
        HistoryAction::StoreRequested,
        detail,
    )
    .on(GETIR)
}

/// Rows of every table of stores, for the copy; more than a chunk of history.
pub fn fill_tables(tx: &mut Tx<'_>, branch: Branch) -> Result<()> {
    store_states::create(tx, &a_store(branch, branch.integration))?;
    store_settings::save(tx, branch.account, branch.restaurant, &settings())?;
    let entries: Vec<HistoryEntry> = (0..510).map(|number| an_entry(branch, number)).collect();
    restaurant_history::record(tx, branch.account, &entries, at(1))
}

/// An active integration with Getir that names a branch.
async fn getir(bench: &Bench, branch: Branch) -> IntegrationId {
    let mut integration = an_integration(branch.account, branch.restaurant, GETIR);
    integration.remote_id = Some("şube-1".to_owned());
    let (id, vault) = (integration.id, bench.vault.clone());
    bench
        .write(move |tx| integrations::save(tx, &vault, &integration, &Credentials::new(), None))
        .await;
    id
}

async fn join(bench: &Bench, name: &'static str) -> NodeId {
    let node = NodeId(Uuid::now_v7());
    bench.write(move |tx| nodes::join(tx, node, name)).await;
    node
}

pub async fn store_is_read_as_it_was_written(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let store = a_store(branch, branch.integration);
    let (new, id) = (store.clone(), store.integration_id);
    bench.write(move |tx| store_states::create(tx, &new)).await;
    let found = bench.read(move |tx| store_states::find(tx, id)).await;
    assert_eq!(found.as_ref(), Some(&store));
    let mut changed = store;
    changed.started_version = changed.version;
    changed.problem = None;
    changed.checked_at = Some(at(9));
    changed.hours.due_at = Some(at(70));
    let saved = changed.clone();
    bench.write(move |tx| store_states::save(tx, &saved)).await;
    let found = bench.read(move |tx| store_states::find(tx, id)).await;
    assert_eq!(found, Some(changed));
}

pub async fn store_belongs_to_one_live_node(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let id = getir(bench, branch).await;
    assert!(bench.read(move |tx| store_states::has_unknown(tx, GETIR)).await);
    let store = a_store(branch, id);
    bench.write(move |tx| store_states::create(tx, &store)).await;
    assert!(!bench.read(move |tx| store_states::has_unknown(tx, GETIR)).await);
    let (one, two) = (join(bench, "one").await, join(bench, "two").await);
    assert!(bench.read(store_states::has_unclaimed).await);
    for node in [one, two] {
        bench.write(move |tx| store_states::claim_all(tx, node)).await;
    }
    let held = async |node: NodeId| bench.read(move |tx| store_states::held_by(tx, node)).await.len();
    let due = async |node: NodeId| {
        bench
            .read(move |tx| store_states::due(tx, node, at(1), 10))
            .await
            .len()
    };
    assert_eq!((held(one).await, held(two).await), (1, 0));
    assert_eq!((due(one).await, due(two).await), (1, 0));
    bench.write(move |tx| nodes::leave(tx, one)).await;
    assert_eq!(held(one).await, 0, "it is no longer a member");
    bench.write(move |tx| store_states::claim_all(tx, two)).await;
    assert_eq!(held(two).await, 1);
    assert!(bench.read(move |tx| store_states::is_held_by(tx, id, two)).await);
    bench
        .write(move |tx| store_states::record_checked(tx, &[(id, at(77))]))
        .await;
    let found = bench.read(move |tx| store_states::find(tx, id)).await.unwrap();
    assert_eq!(found.checked_at, Some(at(77)));
    // An integration that is switched off has nothing to do.
    bench
        .write(move |tx| integrations::set_active(tx, id, false, at(80)))
        .await;
    assert_eq!((held(two).await, due(two).await), (0, 0));
}

pub async fn settings_are_found_by_restaurant_and_by_time(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let (account, restaurant) = (branch.account, branch.restaurant);
    let none = bench.read(move |tx| store_settings::find(tx, restaurant)).await;
    assert_eq!(none, StoreSettings::default());
    bench
        .write(move |tx| store_settings::save(tx, account, restaurant, &settings()))
        .await;
    let found = bench.read(move |tx| store_settings::find(tx, restaurant)).await;
    assert_eq!(found, settings());
    let due = async |now: i64| {
        bench
            .read(move |tx| store_settings::schedules_due(tx, at(now), 10))
            .await
    };
    assert_eq!(due(499).await, []);
    assert_eq!(due(500).await, [(account, restaurant)]);
    let throttled = async |after| {
        bench
            .read(move |tx| store_settings::throttled(tx, after, 10))
            .await
    };
    assert_eq!(throttled(None).await, [(account, restaurant)]);
    assert_eq!(throttled(Some((account, restaurant))).await, []);
    bench
        .write(move |tx| store_settings::save(tx, account, restaurant, &StoreSettings::default()))
        .await;
    assert_eq!((throttled(None).await, due(i64::MAX / 4).await), (vec![], vec![]));
}

pub async fn orders_are_counted_up_to_a_limit(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let other = bench.branch_of(branch.account).await;
    bench.orders(branch, "S", 5).await;
    bench.orders(other, "T", 2).await;
    let (account, restaurant) = (branch.account, branch.restaurant);
    let counts = bench
        .read(move |tx| {
            Ok::<_, garson_store::StoreError>((
                store_settings::count_open_orders(tx, account, restaurant, 100)?,
                store_settings::count_open_orders(tx, account, restaurant, 3)?,
                store_settings::count_recent_orders(tx, restaurant, at(-1_000_000), 100)?,
                store_settings::count_recent_orders(tx, restaurant, at(i64::MAX / 4), 100)?,
            ))
        })
        .await;
    assert_eq!(counts, (5, 3, 5, 0));
}

pub async fn history_is_paged_newest_first_and_swept(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let other = bench.branch_of(branch.account).await;
    let account = branch.account;
    for number in 0..5 {
        bench
            .write(move |tx| {
                let entries = [an_entry(branch, number), an_entry(other, number)];
                restaurant_history::record(tx, account, &entries, at(number * 10))
            })
            .await;
    }
    let page = async |cursor, limit| {
        let request = PageRequest {
            limit,
            cursor,
            direction: Direction::Older,
        };
        bench
            .read(move |tx| history::page(tx, branch.restaurant, request))
            .await
    };
    let first = page(None, 3).await;
    let numbers: Vec<_> = first
        .items
        .iter()
        .map(|entry| entry.detail["number"].clone())
        .collect();
    assert_eq!(numbers, [json!(4), json!(3), json!(2)]);
    assert_eq!(first.items[0].key, Some(KeyId(Uuid::from_u128(7))));
    let second = page(first.next, 3).await;
    assert_eq!((second.items.len(), second.next), (2, None));
    let removed = bench
        .write(move |tx| restaurant_history::sweep(tx, at(20), 3))
        .await;
    assert_eq!(removed, 3);
    let removed = bench
        .write(move |tx| restaurant_history::sweep(tx, at(20), 3))
        .await;
    assert_eq!(removed, 1);
    assert_eq!(page(None, 10).await.items.len(), 3);
}

pub async fn stores_are_deleted_with_their_restaurant(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let id = getir(bench, branch).await;
    let (account, restaurant) = (branch.account, branch.restaurant);
    bench.write(move |tx| fill_tables(tx, branch)).await;
    let store = a_store(branch, id);
    bench.write(move |tx| store_states::create(tx, &store)).await;
    bench.write(move |tx| integrations::delete(tx, id)).await;
    assert_eq!(bench.read(move |tx| store_states::find(tx, id)).await, None);
    assert!(
        bench
            .write(move |tx| restaurants::delete(tx, account, restaurant, at(2)))
            .await
    );
    let left = bench
        .read(move |tx| store_states::of_restaurant(tx, restaurant))
        .await;
    assert!(left.is_empty());
    let settings = bench.read(move |tx| store_settings::find(tx, restaurant)).await;
    assert_eq!(settings, StoreSettings::default());
    while bench
        .write(move |tx| sweep::remove_chunk(tx, account, restaurant, 200))
        .await
    {}
    let request = PageRequest {
        limit: 10,
        cursor: None,
        direction: Direction::Older,
    };
    let history = bench.read(move |tx| history::page(tx, restaurant, request)).await;
    assert!(history.items.is_empty());
}

pub async fn stores_with_problems_are_found_by_account(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let other = bench.branch("pideci").await;
    for branch in [branch, other] {
        let id = getir(bench, branch).await;
        let store = a_store(branch, id);
        bench.write(move |tx| store_states::create(tx, &store)).await;
    }
    let found = bench
        .read(move |tx| store_states::with_problem(tx, branch.account, 10))
        .await;
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].restaurant_id, branch.restaurant);
}
