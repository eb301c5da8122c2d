//! Orders: taken once, found by either id, changed and undone as a whole.

use crate::database::Bench;
use crate::dump;
use crate::fixtures::{at, take_order};
use garson_core::explanation::Explanation;
use garson_core::id::{AccountId, EventId, OrderId};
use garson_core::order::{Actor, Cancellation, Flag, Order, ProviderSync, Reason, Status, place};
use garson_core::testing::a_new_order;
use garson_store::lists::feed::{Direction, PageRequest};
use garson_store::tables::attempts;
use garson_store::tables::attempts::Attempt;
use garson_store::tables::events;
use garson_store::tables::events::NewEvent;
use garson_store::tables::{accounts, orders};
use garson_store::{Result, StoreErrorKind};
use uuid::Uuid;

pub async fn the_same_order_again_changes_nothing(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let order = bench.order(branch, "S-1", at(5)).await;
    let before = dump::of(&bench.engine).await;
    let inserted = bench
        .write(move |tx| {
            let mut again = a_new_order("S-1");
            again.content.note = Some("other".to_owned());
            again.short_code = Some("other".to_owned());
            let id = OrderId(Uuid::now_v7());
            let again = place(id, branch.home(), &again, at(9), false, false).order;
            orders::insert(tx, &again, "{}", &[1; 32], 77)
        })
        .await;
    assert!(!inserted);
    assert_eq!(dump::of(&bench.engine).await, before);
    let known = bench
        .write(move |tx| orders::lock_by_identity(tx, branch.account, branch.integration, "S-1", false))
        .await
        .unwrap();
    assert_eq!(known.order, order);
    assert_eq!(known.content_hash.len(), 32);
    let other = bench.branch_of(branch.account).await;
    bench.order(other, "S-1", at(6)).await;
    let unknown = bench
        .write(move |tx| orders::lock_by_identity(tx, other.account, other.integration, "S-2", true))
        .await;
    assert!(unknown.is_none());
}

async fn find(bench: &Bench, account: AccountId, id: impl ToString) -> Vec<Order> {
    let id = id.to_string();
    bench.read(move |tx| orders::find(tx, account, &id)).await
}

pub async fn an_order_is_found_by_either_id(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let account = branch.account;
    let stranger = bench.branch("yabanci").await;
    let order = bench.order(branch, "S-1 çğ", at(0)).await;
    let theirs = bench.order(stranger, "S-1 çğ", at(0)).await;
    assert_eq!(find(bench, account, order.id).await, std::slice::from_ref(&order));
    assert_eq!(find(bench, account, "S-1 çğ").await, std::slice::from_ref(&order));
    assert_eq!(
        find(bench, stranger.account, "S-1 çğ").await,
        std::slice::from_ref(&theirs)
    );
    for id in [
        theirs.id.to_string(),
        "s-1 çğ".to_owned(),
        "S-1".to_owned(),
        String::new(),
        order.id.0.simple().to_string(),
        Uuid::now_v7().to_string(),
    ] {
        assert_eq!(find(bench, account, &id).await, [], "{id}");
    }
    assert_eq!(find(bench, stranger.account, order.id).await, []);

    // A platform's id that is another order's record id: the record wins.
    let sly = bench.order(branch, order.id.to_string(), at(1)).await;
    assert_eq!(find(bench, account, order.id).await, std::slice::from_ref(&order));
    assert_eq!(find(bench, account, sly.id).await, std::slice::from_ref(&sly));
    // Where there is no such record, it is the platform's.
    let uuid = bench.order(branch, Uuid::now_v7().to_string(), at(1)).await;
    assert_eq!(
        find(bench, account, &uuid.provider_order_id).await,
        std::slice::from_ref(&uuid)
    );
}

pub async fn several_orders_under_one_platform_id_are_all_found(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let other = bench.branch_of(branch.account).await;
    let mut wanted = vec![
        bench.order(branch, "77", at(0)).await,
        bench.order(other, "77", at(1)).await,
    ];
    // The same platform may use a number again the next day; its identity says that it is another order.
    wanted.push(
        bench
            .write(move |tx| {
                let mut new = a_new_order("77");
                new.identity = "77/2".to_owned();
                take_order(tx, branch, &new, at(2))
            })
            .await,
    );
    // And an identity is no id that anybody knows.
    let third = bench.branch_of(branch.account).await;
    bench
        .write(move |tx| {
            let mut new = a_new_order("99");
            new.identity = "77".to_owned();
            take_order(tx, third, &new, at(3))
        })
        .await;
    wanted.sort_by_key(|order| order.id);
    assert_eq!(find(bench, branch.account, "77").await, wanted);
}

pub async fn order_change_is_stored_completely(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let mut order = bench.order(branch, "S-1", at(0)).await;
    let reason = Reason {
        id: "7".to_owned(),
        name: "Müşteri vazgeçti 🙈".to_owned(),
    };
    for sync in [
        ProviderSync::Done,
        ProviderSync::Pending { due_at: at(99) },
        ProviderSync::Failed {
            message: Explanation::text("503 ☠"),
        },
        ProviderSync::NotNeeded,
    ] {
        order.status = Status::Cancelled;
        order.sequence += 1;
        order.provider_status = Some("İPTAL".to_owned());
        order.provider_data = Some("{\"k\": 1.0}".to_owned());
        order.ready_at = Some(at(3));
        order.updated_at = at(order.sequence);
        order.cancellation = Some(Cancellation {
            by: Actor::Customer,
            reason: Some(reason.clone()),
            note: Some(String::new()),
            at: at(4),
        });
        order.sync = sync;
        let (id, changed) = (order.id, order.clone());
        bench.write(move |tx| orders::update(tx, &changed, 999)).await;
        let found = bench.write(move |tx| orders::lock(tx, id)).await;
        assert_eq!(found.as_ref(), Some(&order));
    }
    let id = order.id;
    order.sync = ProviderSync::Done;
    let found = bench
        .write(move |tx| {
            orders::set_sync(tx, id, &ProviderSync::Done)?;
            orders::lock(tx, id)
        })
        .await;
    assert_eq!(found.as_ref(), Some(&order));
    let flagged = bench
        .write(move |tx| {
            let id = OrderId(Uuid::now_v7());
            let mut order = place(id, branch.home(), &a_new_order("S-2"), at(0), false, true).order;
            order.flag = Some(Flag::PackageExpired);
            order.accept_by = Some(at(1));
            order.scheduled_for = Some(at(2));
            assert!(orders::insert(tx, &order, "{}", &[0; 32], 1_000)?);
            Ok((orders::lock(tx, id)?, order))
        })
        .await;
    assert_eq!(flagged.0, Some(flagged.1));
    let lines = bench.read(move |tx| orders::timeline(tx, id)).await;
    assert_eq!(
        lines.iter().map(|l| (l.from, l.to)).collect::<Vec<_>>(),
        [(None, Status::New)]
    );
}

pub async fn an_event_number_of_an_order_is_used_once(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let account = branch.account;
    bench.give_webhook(account).await;
    let order = bench.order(branch, "S-1", at(0)).await;
    let before = dump::of(&bench.engine).await;
    let write = move |sequence| {
        move |tx: &mut garson_store::Tx<'_>| -> Result<()> {
            let mut places = accounts::reserve_positions(tx, account, 1, at(1))?;
            let event = NewEvent {
                id: EventId(Uuid::now_v7()),
                account_id: account,
                restaurant_id: branch.restaurant,
                order_id: Some(order.id),
                sequence: Some(sequence),
                name: "deneme",
                body: "{}",
            };
            events::write(tx, &event, &mut places)
        }
    };
    let again = bench.try_write(write(1)).await;
    assert_eq!(again.map_err(|error| error.kind), Err(StoreErrorKind::Constraint));
    assert_eq!(
        dump::of(&bench.engine).await,
        before,
        "the place was given back as well"
    );
    bench.write(write(2)).await;
    let told = bench.read(move |tx| events::of_order(tx, order.id)).await;
    assert_eq!(
        told.iter().map(|e| e.name.as_str()).collect::<Vec<_>>(),
        ["deneme", "siparis.olusturuldu"]
    );
}

pub async fn attempts_are_counted(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let account = branch.account;
    bench.give_webhook(account).await;
    bench.orders(branch, "S", 3).await;
    let request = PageRequest {
        limit: 10,
        cursor: None,
        direction: Direction::Older,
    };
    let told = bench
        .read(move |tx| garson_store::lists::events::of_account(tx, account, None, request))
        .await
        .items;
    assert!(
        told.iter()
            .all(|e| e.state.as_str() == "pending" && e.attempts == 0)
    );
    let id = told[0].id;
    for status in [None, Some(500)] {
        let attempt = Attempt {
            number: 0,
            at: at(1),
            url: "https://pos.example.com".to_owned(),
            status,
            duration_ms: 12,
            explanation: Explanation::text("bağlanamadı"),
            ..Attempt::default()
        };
        bench.write(move |tx| attempts::record(tx, id, &attempt)).await;
    }
    let log = bench.read(move |tx| attempts::of_event(tx, id)).await;
    assert_eq!(
        log.iter().map(|a| (a.number, a.status)).collect::<Vec<_>>(),
        [(1, None), (2, Some(500))]
    );
}
