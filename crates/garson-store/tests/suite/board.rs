//! What the live board is made of.

use crate::database::Bench;
use crate::fixtures::at;
use garson_core::explanation::Explanation;
use garson_core::id::OrderId;
use garson_core::order::Status;
use garson_store::lists::board;
use garson_store::lists::board::Candidate;
use garson_store::tables::{integrations, orders, restaurants};

pub async fn board_has_open_and_newest_orders(bench: &Bench) {
    let (here, there) = (bench.branch("lokanta").await, bench.branch("pideci").await);
    let (ours, theirs) = (
        bench.orders(here, "S", 70).await,
        bench.orders(there, "S", 3).await,
    );
    let mut over = ours[69].clone();
    over.status = Status::Delivered;
    bench.write(move |tx| orders::update(tx, &over, 999)).await;
    let (account, restaurant) = (here.account, here.restaurant);
    let ids_of = |found: &[Candidate]| found.iter().map(|it| it.id).collect::<Vec<OrderId>>();
    let backwards = |from: usize, until: usize| {
        let some = ours[from..until].iter().rev();
        some.map(|order| order.id).collect::<Vec<OrderId>>()
    };

    for only in [None, Some(restaurant)] {
        let newest = bench.read(move |tx| board::newest(tx, account, only, 5)).await;
        assert_eq!(ids_of(&newest), backwards(65, 70));
        assert!(newest.iter().all(|it| it.restaurant_id == restaurant));
        assert_eq!(
            (newest[0].status, newest[1].status),
            (Status::Delivered, Status::New)
        );
    }

    let open = bench.read(move |tx| board::open(tx, account, 1_000)).await;
    assert_eq!(open.len(), 69);
    assert_eq!(bench.read(move |tx| board::open(tx, account, 10)).await.len(), 10);
    let (integration, foreign) = (here.integration, there.integration);
    let open = bench
        .read(move |tx| board::open_of_integration(tx, account, integration, 1_000))
        .await;
    assert_eq!(open.len(), 69);
    let open = bench
        .read(move |tx| board::open_of_integration(tx, account, foreign, 10))
        .await;
    assert!(open.is_empty());

    // More than are read at once; those of others are nobody's here.
    let wanted: Vec<OrderId> = ours.iter().chain(&theirs).map(|order| order.id).collect();
    let read = bench.read(move |tx| board::read(tx, account, &wanted)).await;
    assert_eq!(read.len(), 70);
    assert!(
        read.iter()
            .all(|it| it.order.account_id == account && !it.content.items.is_empty())
    );
    assert!(
        bench
            .read(move |tx| board::read(tx, account, &[]))
            .await
            .is_empty()
    );

    // A restaurant that is being deleted is gone from it.
    bench
        .write(move |tx| restaurants::delete(tx, account, restaurant, at(1)))
        .await;
    let id = ours[0].id;
    assert!(
        bench
            .read(move |tx| board::newest(tx, account, None, 5))
            .await
            .is_empty()
    );
    assert!(bench.read(move |tx| board::open(tx, account, 5)).await.is_empty());
    assert!(
        bench
            .read(move |tx| board::read(tx, account, &[id]))
            .await
            .is_empty()
    );
    assert!(
        bench
            .read(move |tx| restaurants::names(tx, account))
            .await
            .is_empty()
    );
}

pub async fn platforms_in_trouble_are_found(bench: &Bench) {
    let (here, there) = (bench.branch("lokanta").await, bench.branch("pideci").await);
    let (account, ours, theirs) = (here.account, here.integration, there.integration);
    bench
        .write(move |tx| {
            integrations::record_trouble(tx, ours, &Explanation::text("away"), at(10))?;
            integrations::record_trouble(tx, theirs, &Explanation::text("away"), at(10))?;
            // An order that was refused is an error, but no trouble.
            integrations::record_error(tx, ours, &Explanation::text("no such product"), at(12))
        })
        .await;
    let found = bench
        .read(move |tx| integrations::in_trouble(tx, account, at(9), 5))
        .await;
    assert_eq!(found.iter().map(|it| it.id).collect::<Vec<_>>(), [ours]);
    let later = bench
        .read(move |tx| integrations::in_trouble(tx, account, at(10), 5))
        .await;
    assert!(later.is_empty());
    let trouble = async |since, now| {
        bench
            .write(move |tx| {
                integrations::record_trouble(tx, ours, &Explanation::text("away"), at(20))?;
                integrations::end_trouble(tx, ours, since, now)
            })
            .await;
        let found = bench
            .read(move |tx| integrations::in_trouble(tx, account, at(0), 5))
            .await;
        found.len()
    };
    assert_eq!(trouble(at(19), at(21)).await, 1, "another one came since");
    assert_eq!(trouble(at(20), at(21)).await, 0);
    assert_eq!(trouble(at(18), at(19)).await, 0, "the clock was ahead");
    bench
        .write(move |tx| integrations::record_trouble(tx, ours, &Explanation::text("away"), at(12)))
        .await;
    bench
        .write(move |tx| integrations::set_active(tx, ours, false, at(13)))
        .await;
    let off = bench
        .read(move |tx| integrations::in_trouble(tx, account, at(0), 5))
        .await;
    assert!(off.is_empty());
}
