//! The desired availability of items: claims, results and due times.

use crate::database::Bench;
use crate::fixtures::{Branch, at};
use crate::products::key;
use garson_core::id::NodeId;
use garson_core::item::{Availability, UnavailableEnd};
use garson_core::product::ItemKey;
use garson_store::tables::desired_items::{
    Conclusion, DesiredItemState, DesiredOrigin, NewDesiredItem, Timer,
};
use garson_store::tables::{desired_items, nodes};

pub const OFF: Availability = Availability::Unavailable {
    end: UnavailableEnd::Never,
};

pub fn desired(branch: Branch, key: &ItemKey, availability: Availability, now: i64) -> NewDesiredItem<'_> {
    NewDesiredItem {
        account_id: branch.account,
        restaurant_id: branch.restaurant,
        integration_id: branch.integration,
        key,
        availability,
        by: DesiredOrigin::Account,
        at: at(now),
        state: DesiredItemState::Pending,
        message: None,
    }
}

pub async fn later_version_survives_the_end_of_an_earlier_one(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let node = NodeId::at(at(0));
    let taken = bench
        .write(move |tx| {
            nodes::join(tx, node, "n")?;
            desired_items::set(tx, &desired(branch, &key("1", false), OFF, 10))?;
            assert_eq!(desired_items::next_due(tx)?, Some(at(10)));
            desired_items::claim(tx, branch.integration, node, at(10), 10)
        })
        .await;
    assert_eq!((taken.len(), taken[0].sending, taken[0].version), (1, None, 1));
    let after = bench
        .write(move |tx| {
            // Another claim gets nothing, and a user changes the request.
            assert!(desired_items::claim(tx, branch.integration, node, at(10), 10)?.is_empty());
            desired_items::set(
                tx,
                &desired(branch, &key("1", false), Availability::Available, 11),
            )?;
            let end = Conclusion {
                state: DesiredItemState::Done,
                message: None,
                accepted_at: Some(at(12)),
                confirmed_at: None,
                timer: Some(Timer::Garson),
                attempts: 0,
                due_at: None,
            };
            assert!(!desired_items::conclude(tx, &taken[0], node, &end)?);
            desired_items::claim(tx, branch.integration, node, at(12), 10)
        })
        .await;
    assert_eq!(
        (after[0].version, after[0].availability),
        (2, Availability::Available)
    );
    assert_eq!(after[0].state, DesiredItemState::Pending);
}

pub async fn item_of_a_dead_node_is_claimed_as_interrupted(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let (dead, live) = (NodeId::at(at(0)), NodeId::at(at(1)));
    let taken = bench
        .write(move |tx| {
            nodes::join(tx, dead, "dead")?;
            nodes::join(tx, live, "live")?;
            desired_items::set(tx, &desired(branch, &key("1", false), OFF, 10))?;
            desired_items::claim(tx, branch.integration, dead, at(10), 10)?;
            assert!(desired_items::claim(tx, branch.integration, live, at(10), 10)?.is_empty());
            nodes::leave(tx, dead)?;
            desired_items::claim(tx, branch.integration, live, at(10), 10)
        })
        .await;
    assert_eq!((taken[0].version, taken[0].sending), (1, Some(1)));
}

pub async fn due_integrations_are_found_by_time(bench: &Bench) {
    let (one, two) = (bench.branch("lokanta").await, bench.branch("pideci").await);
    let found = bench
        .write(move |tx| {
            desired_items::set(tx, &desired(one, &key("1", false), OFF, 10))?;
            desired_items::set(tx, &desired(two, &key("1", false), OFF, 20))?;
            desired_items::due_integrations(tx, None, at(15), 10)
        })
        .await;
    assert_eq!(found, (vec![(one.integration, one.account)], None));
}
