//! Whole menus that are sent to platforms.

use crate::database::Bench;
use crate::fixtures::{Branch, DIRECT, at};
use garson_core::catalog::{CatalogAnswer, CatalogProgress, CatalogStage};
use garson_core::explanation::PlatformFailure;
use garson_core::id::{CatalogPushId, NodeId};
use garson_store::tables::catalogs::PushedCatalog;
use garson_store::tables::{catalogs, nodes};
use uuid::Uuid;

pub fn catalog(branch: Branch, number: u128) -> PushedCatalog {
    PushedCatalog {
        id: CatalogPushId(Uuid::from_u128(number)),
        account_id: branch.account,
        restaurant_id: branch.restaurant,
        integration_id: branch.integration,
        source: DIRECT,
        source_version: 3,
        provider: DIRECT,
        products: 2,
        progress: CatalogProgress::new(),
        attempts: 0,
        is_sending: false,
        created_at: at(1),
        finished_at: None,
        due_at: Some(at(5)),
    }
}

pub async fn catalog_is_claimed_by_one_node_and_remembers_that_it_was_sent(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let (one, two) = (NodeId::at(at(0)), NodeId::at(at(1)));
    let id = CatalogPushId(Uuid::from_u128(1));
    let (early, first, second, token) = bench
        .write(move |tx| {
            nodes::join(tx, one, "one")?;
            nodes::join(tx, two, "two")?;
            catalogs::add(tx, &catalog(branch, 1), b"packed")?;
            assert_eq!(catalogs::report_token(tx, id)?.unwrap().2, None);
            let early = catalogs::claim(tx, id, one, at(4), &[1; 32])?;
            let first = catalogs::claim(tx, id, one, at(5), &[1; 32])?;
            let second = catalogs::claim(tx, id, two, at(5), &[2; 32])?;
            Ok((early, first, second, catalogs::report_token(tx, id)?))
        })
        .await;
    assert!(early.is_none() && second.is_none());
    let (taken, body) = first.unwrap();
    assert_eq!((taken.is_sending, body), (false, Some(b"packed".to_vec())));
    assert_eq!(token, Some((branch.account, DIRECT, Some(vec![1; 32]))));
    let (again, token) = bench
        .write(move |tx| {
            nodes::leave(tx, one)?;
            let again = catalogs::claim(tx, id, two, at(6), &[2; 32])?;
            Ok((again, catalogs::report_token(tx, id)?))
        })
        .await;
    assert!(again.unwrap().0.is_sending, "the first node may have sent it");
    assert_eq!(
        token.unwrap().2,
        Some(vec![1; 32]),
        "a report of the first is still accepted"
    );
}

pub async fn progress_of_a_catalog_is_stored(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let node = NodeId::at(at(0));
    let (account, restaurant) = (branch.account, branch.restaurant);
    let id = CatalogPushId(Uuid::from_u128(1));
    let (stored, is_foreign, listed, body) = bench
        .write(move |tx| {
            nodes::join(tx, node, "n")?;
            catalogs::add(tx, &catalog(branch, 1), b"packed")?;
            catalogs::claim(tx, id, node, at(5), &[1; 32])?;
            let mut row = catalogs::lock(tx, id)?.unwrap();
            assert!(catalogs::release(tx, id, node)?);
            assert!(
                !catalogs::release(tx, id, node)?,
                "it is not this node's any more"
            );
            let message = PlatformFailure::NotConnected.into();
            row.progress = row.progress.answered(CatalogAnswer::Refused { message });
            row.progress.details = vec!["ürün \u{1f32f}".to_owned()];
            row.progress.report = Some("aktarılamadı".to_owned());
            row.progress.import_id = Some("i-1".to_owned());
            row.finished_at = Some(at(7));
            row.due_at = None;
            catalogs::update(tx, &row, false)?;
            let stored = catalogs::find(tx, account, restaurant, id)?.unwrap();
            row.is_sending = false;
            assert_eq!(stored, row);
            let other = garson_core::id::AccountId(Uuid::from_u128(5));
            let is_foreign = catalogs::find(tx, other, restaurant, id)?.is_none();
            let listed = catalogs::page(tx, restaurant, None, 10)?;
            let sql = "SELECT COUNT(*) FROM catalog_pushes WHERE body IS NOT NULL";
            let body = tx.query_one(sql, &[], |row| row.get::<i64>(0))?;
            Ok((stored, is_foreign, listed, body))
        })
        .await;
    assert!(is_foreign);
    assert_eq!(stored.progress.stage, CatalogStage::Failed);
    assert_eq!((listed.len(), body), (1, 0));
}

pub async fn newer_catalog_replaces_those_that_wait(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let restaurant = branch.restaurant;
    let listed = bench
        .write(move |tx| {
            for number in 1..=3 {
                let new = catalog(branch, number);
                let message = PlatformFailure::Withdrawn.into();
                catalogs::replace_older(tx, new.integration_id, new.id, &message, at(9))?;
                catalogs::add(tx, &new, b"packed")?;
            }
            assert_eq!(catalogs::due(tx, at(9), 10)?.len(), 1);
            assert_eq!(catalogs::remove_beyond(tx, restaurant, 2)?, 1);
            let first = catalogs::page(tx, restaurant, None, 1)?;
            let mut listed = catalogs::page(tx, restaurant, Some(first[0].id), 10)?;
            listed.insert(0, first[0].clone());
            Ok(listed)
        })
        .await;
    let stages: Vec<CatalogStage> = listed.iter().map(|it| it.progress.stage).collect();
    assert_eq!(stages, [CatalogStage::Pending, CatalogStage::Failed]);
    let left = bench
        .write(move |tx| {
            catalogs::remove_old(tx, at(2), 10)?;
            catalogs::page(tx, restaurant, None, 10)
        })
        .await;
    assert_eq!(left.len(), 1, "what waits to be sent is kept");
}
