//! Questions to platforms, and what is left unclear: leased by whoever asks, read before they are repeated, never beside
//! another call of the same order.

use crate::calls::{LEASE, a_call, a_delay, lease, lease_holder};
use crate::database::Bench;
use crate::fixtures::{GETIR, an_integration, at};
use garson_core::explanation::Explanation;
use garson_core::id::InboxId;
use garson_core::integration::Credentials;
use garson_core::order::{Actor, CallArgument, CallKind, Order, Reason, Status};
use garson_core::secret::Secret;
use garson_store::tables::calls;
use garson_store::tables::calls::{CallEnd, LeaseHolder, NewCall, SyncState};
use garson_store::tables::inbox;
use garson_store::tables::inbox::{InboxState, NewMessage};
use garson_store::tables::{integrations, nodes, orders};
use garson_store::{INTEGRATIONS, params};
use uuid::Uuid;

const TELL: CallKind = CallKind::Tell(Status::OnTheWay);

async fn one_order(bench: &Bench) -> Order {
    let branch = bench.branch("lokanta").await;
    bench.orders(branch, "S", 1).await.remove(0)
}

async fn write(bench: &Bench, order: &Order, kind: CallKind, due: i64, asks: Option<LeaseHolder>) {
    let order = order.clone();
    bench
        .write(move |tx| {
            let call = NewCall {
                due_at: at(due),
                lease: asks.map(|maker| maker.lease(LEASE)),
                ..a_call(&order, kind)
            };
            calls::create(tx, &call)
        })
        .await;
}

pub async fn call_of_a_dead_node_is_unclear(bench: &Bench) {
    let order = one_order(bench).await;
    let (one, two) = (lease_holder(bench, "one").await, lease_holder(bench, "two").await);
    write(bench, &order, TELL, 0, None).await;
    let first = lease(bench, one, 0).await;
    assert_eq!(first.iter().map(|c| c.is_unclear).collect::<Vec<_>>(), [false]);
    let made = first[0].clone();
    // Given back in order, it is clear; found after its maker's end, it is not.
    bench
        .write(move |tx| calls::postpone(tx, &made, &a_delay(150, "away")))
        .await;
    let second = lease(bench, one, 150).await;
    assert_eq!(second.iter().map(|c| c.is_unclear).collect::<Vec<_>>(), [false]);
    bench.write(move |tx| nodes::leave(tx, one.node)).await;
    let third = lease(bench, two, 150).await;
    assert_eq!(third.iter().map(|c| c.is_unclear).collect::<Vec<_>>(), [true]);
    // Whoever comes late changes nothing: the call is another's by now.
    let late = second[0].clone();
    let ended = bench
        .write(move |tx| {
            calls::finish(
                tx,
                &late,
                CallEnd::Failed,
                Some(&Explanation::text("late")),
                at(201),
            )
        })
        .await;
    assert!(!ended);
    // The one process of a database takes all others out when it starts.
    let three = lease_holder(bench, "three").await;
    bench.write(move |tx| nodes::remove_others(tx, three.node)).await;
    let fourth = lease(bench, three, 150).await;
    assert_eq!(
        fourth
            .iter()
            .map(|c| (c.is_unclear, c.attempts))
            .collect::<Vec<_>>(),
        [(true, 4)]
    );
}

pub async fn calls_of_an_order_run_one_at_a_time(bench: &Bench) {
    let order = one_order(bench).await;
    let (one, two) = (lease_holder(bench, "one").await, lease_holder(bench, "two").await);
    write(bench, &order, TELL, 0, None).await;
    // A question is made by whoever writes it: what was written before it waits until it is over.
    write(bench, &order, CallKind::Verify, 0, Some(one)).await;
    assert!(lease(bench, two, 10).await.is_empty());
    bench.write(move |tx| nodes::leave(tx, one.node)).await;
    let kinds: Vec<_> = lease(bench, two, 10).await.iter().map(|c| c.kind).collect();
    assert_eq!(kinds, [TELL]);
    let id = order.id;
    let way = bench.read(move |tx| calls::blocking_call(tx, id, two)).await;
    assert_eq!(
        way.map(|way| (way.kind, way.is_running)),
        Some((TELL, true)),
        "one that is being made comes before a question that waits"
    );
}

pub async fn cancellation_overtakes_waiting_calls(bench: &Bench) {
    let order = one_order(bench).await;
    let id = order.id;
    write(bench, &order, CallKind::Ready, 1_000, None).await;
    write(bench, &order, CallKind::Cancel, 0, None).await;
    // The platform's gap between moves does not hold it up either.
    bench
        .write(move |tx| calls::delay_open(tx, id, at(0), at(500)))
        .await;
    let maker = lease_holder(bench, "one").await;
    let kinds: Vec<_> = lease(bench, maker, 10).await.iter().map(|c| c.kind).collect();
    assert_eq!(kinds, [CallKind::Cancel]);
    let open = bench
        .read(move |tx| calls::open_question(tx, id, CallKind::Cancel))
        .await;
    assert_eq!(open.map(|call| call.kind), Some(CallKind::Cancel));
}

pub async fn waiting_question_can_be_made_due_or_abandoned(bench: &Bench) {
    let order = one_order(bench).await;
    write(bench, &order, CallKind::Verify, 1_000, None).await;
    let id = order.id;
    let way = bench
        .read(move |tx| calls::blocking_call(tx, id, LeaseHolder::none()))
        .await
        .unwrap();
    assert!(!way.is_running);
    bench
        .write(move |tx| calls::make_due_now(tx, way.id, at(20)))
        .await;
    let (one, two) = (lease_holder(bench, "one").await, lease_holder(bench, "two").await);
    assert_eq!(lease(bench, one, 20).await.len(), 1);
    for maker in [one, two] {
        let running = bench
            .write(move |tx| calls::abandon_unless_running(tx, id, way.id, maker, at(30)))
            .await;
        assert!(!running, "it is being put");
    }
    bench.write(move |tx| nodes::leave(tx, one.node)).await;
    let waiting = bench
        .write(move |tx| calls::abandon_unless_running(tx, id, way.id, two, at(60)))
        .await;
    assert!(waiting);
    assert_eq!(
        bench
            .read(move |tx| calls::end(tx, way.id))
            .await
            .map(|(end, _)| end),
        Some(CallEnd::Abandoned)
    );
}

pub async fn question_stores_its_actor_and_reason(bench: &Bench) {
    let order = one_order(bench).await;
    let argument = CallArgument {
        by: Actor::Account,
        reason: Some(Reason {
            id: "5f".to_owned(),
            name: "Ürün yok 🍋".to_owned(),
        }),
        note: Some("\"limon\" bitti".to_owned()),
        preparation_minutes: Some(20),
    };
    let (written, asked) = (order.clone(), argument.clone());
    let id = bench
        .write(move |tx| {
            let call = NewCall {
                argument: Some(&asked),
                ..a_call(&written, CallKind::Cancel)
            };
            calls::create(tx, &call)?;
            Ok(call.id)
        })
        .await;
    assert_eq!(bench.read(move |tx| calls::end(tx, id)).await, None);
    let maker = lease_holder(bench, "one").await;
    let leased = lease(bench, maker, 0).await.remove(0);
    assert_eq!(leased.argument, argument);
    bench
        .write(move |tx| {
            calls::finish(
                tx,
                &leased,
                CallEnd::Failed,
                Some(&Explanation::text("olmaz")),
                at(5),
            )
        })
        .await;
    assert_eq!(
        bench.read(move |tx| calls::end(tx, id)).await,
        Some((CallEnd::Failed, Some(Explanation::text("olmaz"))))
    );
}

pub async fn open_calls_can_be_delayed_and_made_due(bench: &Bench) {
    let order = one_order(bench).await;
    let id = order.id;
    let planned = CallArgument::by(Actor::System);
    let (written, argument) = (order.clone(), planned.clone());
    bench
        .write(move |tx| {
            let call = NewCall {
                argument: Some(&argument),
                due_at: at(1_000),
                ..a_call(&written, CallKind::Ready)
            };
            calls::create(tx, &call)
        })
        .await;
    assert_eq!(
        bench.read(move |tx| calls::sync_state(tx, id)).await,
        SyncState::default(),
        "what is planned is not owed yet"
    );
    let hastened = bench
        .write(move |tx| calls::make_due(tx, id, CallKind::Ready, at(0), at(60)))
        .await;
    assert!(hastened);
    let standing = bench.read(move |tx| calls::sync_state(tx, id)).await;
    assert_eq!(standing.due_at, Some(at(60)));
    bench
        .write(move |tx| calls::delay_open(tx, id, at(0), at(80)))
        .await;
    let maker = lease_holder(bench, "one").await;
    assert!(lease(bench, maker, 79).await.is_empty());
    let call = lease(bench, maker, 80).await.remove(0);
    assert_eq!(bench.read(move |tx| calls::last_done_at(tx, id)).await, None);
    bench
        .write(move |tx| calls::finish(tx, &call, CallEnd::Done, None, at(90)))
        .await;
    assert_eq!(
        bench.read(move |tx| calls::last_done_at(tx, id)).await,
        Some(at(90))
    );
    let none = bench
        .write(move |tx| calls::make_due(tx, id, CallKind::Ready, at(0), at(60)))
        .await;
    assert!(!none, "there is none to hasten");
}

pub async fn an_early_message_waits_for_its_order(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let keep = move |tx: &mut garson_store::Tx<'_>, hash: u8, identity: Option<&str>, state: InboxState| {
        let message = NewMessage {
            id: InboxId(Uuid::now_v7()),
            hash: [hash; 32],
            account_id: Some(branch.account),
            restaurant_id: Some(branch.restaurant),
            order_id: None,
            provider: GETIR,
            kind: "cancel",
            params: "[]",
            branch: None,
            identity,
            body: b"{}",
            state,
            reason: None,
            received_at: at(i64::from(hash)),
        };
        inbox::store(tx, &message)
    };
    bench
        .write(move |tx| {
            keep(tx, 2, Some("A"), InboxState::Unmatched)?;
            keep(tx, 1, Some("A"), InboxState::Unmatched)?;
            keep(tx, 3, Some("B"), InboxState::Unmatched)?;
            keep(tx, 4, Some("A"), InboxState::Taken)?;
            keep(tx, 5, None, InboxState::Unmatched)
        })
        .await;
    let waiting = bench
        .read(move |tx| inbox::early_messages(tx, GETIR, "A", branch.account, branch.restaurant))
        .await;
    let moments: Vec<_> = waiting.iter().map(|m| m.received_at).collect();
    assert_eq!(moments, [at(1), at(2)], "oldest first");
    let id = waiting[0].id;
    assert!(bench.read(move |tx| inbox::open_message(tx, id)).await.is_some());
    bench
        .write(move |tx| inbox::set_state(tx, id, InboxState::Taken, None, None))
        .await;
    assert!(bench.read(move |tx| inbox::open_message(tx, id)).await.is_none());
    assert_eq!(
        bench
            .read(move |tx| inbox::early_messages(tx, GETIR, "A", branch.account, branch.restaurant))
            .await
            .len(),
        1
    );
}

pub async fn integration_is_polled_by_one_node(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let mut integration = an_integration(branch.account, branch.restaurant, GETIR);
    integration.remote_id = Some("1".to_owned());
    integration.is_active = true;
    let (id, vault) = (integration.id, bench.vault.clone());
    let saved = integration.clone();
    bench
        .write(move |tx| integrations::save(tx, &vault, &saved, &Credentials::new(), None))
        .await;
    let claim = async |maker: LeaseHolder| {
        let vault = bench.vault.clone();
        bench
            .write(move |tx| integrations::claim_polling(tx, GETIR, maker.node))
            .await;
        let held = bench
            .read(move |tx| integrations::polled_by(tx, &vault, GETIR, maker.node))
            .await;
        held.iter()
            .map(|polled| polled.as_ref().unwrap())
            .map(|polled| (polled.connected.integration.id, polled.polled_at))
            .collect::<Vec<_>>()
    };
    let unclaimed = async || bench.read(|tx| integrations::has_unclaimed(tx, GETIR)).await;
    let (one, two) = (lease_holder(bench, "one").await, lease_holder(bench, "two").await);
    assert!(unclaimed().await);
    assert_eq!(claim(one).await, [(id, None)]);
    assert!(!unclaimed().await);
    assert_eq!(claim(two).await, []);
    bench
        .write(move |tx| integrations::record_polled(tx, &[(id, at(40))]))
        .await;
    assert_eq!(claim(one).await, [(id, Some(at(40)))], "its own it keeps");
    bench.write(move |tx| nodes::leave(tx, one.node)).await;
    assert!(unclaimed().await, "a dead node's are free");
    assert_eq!(claim(one).await, [], "one that is given up gets nothing");
    assert_eq!(
        claim(two).await,
        [(id, Some(at(40)))],
        "a dead node's are taken over"
    );
    bench
        .write(move |tx| integrations::set_active(tx, id, false, at(112)))
        .await;
    assert_eq!(claim(two).await, [], "what is switched off is not asked");
}

pub async fn unreadable_credentials_do_not_hide_the_other_polled_integrations(bench: &Bench) {
    let maker = lease_holder(bench, "one").await;
    let mut ids = Vec::new();
    for name in ["lokanta", "bozuk", "kebapci"] {
        let branch = bench.branch(name).await;
        let mut integration = an_integration(branch.account, branch.restaurant, GETIR);
        integration.remote_id = Some(name.to_owned());
        integration.is_active = true;
        ids.push((integration.id, integration.account_id));
        let (vault, mut credentials) = (bench.vault.clone(), Credentials::new());
        credentials.insert("key".to_owned(), Secret::new("value".into()));
        bench
            .write(move |tx| integrations::save(tx, &vault, &integration, &credentials, None))
            .await;
    }
    let damaged = ids[1];
    bench
        .write(move |tx| {
            let sql = "UPDATE integrations SET credentials = ?2 WHERE id = ?1";
            tx.on(INTEGRATIONS)
                .execute(sql, params![&damaged.0, &vec![7u8; 60]])?;
            integrations::claim_polling(tx, GETIR, maker.node)
        })
        .await;
    let vault = bench.vault.clone();
    let polled = bench
        .read(move |tx| integrations::polled_by(tx, &vault, GETIR, maker.node))
        .await;
    let (good, bad): (Vec<_>, Vec<_>) = polled.into_iter().partition(Result::is_ok);
    let mut good: Vec<_> = good
        .into_iter()
        .map(|polled| polled.unwrap().connected.integration.id)
        .collect();
    good.sort();
    assert_eq!(good, [ids[0].0, ids[2].0]);
    let bad: Vec<_> = bad.into_iter().map(|polled| polled.unwrap_err()).collect();
    assert_eq!(bad.len(), 1);
    assert_eq!((bad[0].id, bad[0].account_id), damaged);
}

pub async fn open_orders_are_found_by_identity(bench: &Bench) {
    let (here, there) = (bench.branch("lokanta").await, bench.branch("yabanci").await);
    let ours = bench.orders(here, "S", 3).await;
    let theirs = bench.orders(there, "S", 1).await;
    let (first, integration) = (ours[0].clone(), ours[0].integration_id);
    let account = first.account_id;
    let mut ended = ours[1].clone();
    ended.status = Status::Delivered;
    bench.write(move |tx| orders::update(tx, &ended, 999)).await;
    let open = bench
        .read(move |tx| orders::open_of_integration(tx, account, integration, 10))
        .await;
    let ids: Vec<_> = open.iter().map(|order| order.id).collect();
    assert_eq!(ids, [ours[0].id, ours[2].id], "oldest first");
    let (identity, provider) = (first.identity.clone(), first.provider);
    let among = bench
        .read(move |tx| orders::find_among(tx, provider, &identity, &[integration]))
        .await;
    assert_eq!(among.map(|order| order.id), Some(first.id));
    let (identity, foreign) = (theirs[0].identity.clone(), theirs[0].integration_id);
    let their_account = theirs[0].account_id;
    let known = bench
        .read(move |tx| orders::by_identity(tx, their_account, foreign, &identity))
        .await;
    assert_eq!(known.map(|order| order.id), Some(theirs[0].id));
}

/// A failed step stays until it, or one after it, is done; questions of clients do not count.
pub async fn failed_step_remains_until_a_later_one_succeeds(bench: &Bench) {
    let order = one_order(bench).await;
    let id = order.id;
    let maker = lease_holder(bench, "one").await;
    let end = async |kind: CallKind, by: Option<Actor>, end: CallEnd, message: &'static str| {
        let (order, argument) = (order.clone(), by.map(CallArgument::by));
        bench
            .write(move |tx| {
                let call = NewCall {
                    argument: argument.as_ref(),
                    ..a_call(&order, kind)
                };
                calls::create(tx, &call)
            })
            .await;
        let call = lease(bench, maker, 0).await.remove(0);
        bench
            .write(move |tx| calls::finish(tx, &call, end, Some(&Explanation::text(message)), at(1)))
            .await;
        let standing = bench.read(move |tx| calls::sync_state(tx, id)).await;
        assert_eq!(standing.due_at, None);
        standing
            .failed
            .into_iter()
            .map(|step| step.message.to_string())
            .collect::<Vec<_>>()
    };
    let ready = CallKind::Ready;
    let verify = CallKind::Verify;
    assert!(
        end(verify, Some(Actor::Account), CallEnd::Failed, "asked")
            .await
            .is_empty()
    );
    assert_eq!(
        end(verify, Some(Actor::System), CallEnd::Failed, "own").await,
        ["own"]
    );
    assert!(
        end(verify, Some(Actor::Account), CallEnd::Done, "")
            .await
            .is_empty()
    );
    assert_eq!(
        end(ready, None, CallEnd::Failed, "not ready").await,
        ["not ready"]
    );
    assert_eq!(
        end(TELL, None, CallEnd::Failed, "not gone").await,
        ["not ready", "not gone"]
    );
    assert_eq!(
        end(TELL, None, CallEnd::Failed, "again").await,
        ["not ready", "again"]
    );
    assert_eq!(
        end(ready, None, CallEnd::Done, "").await,
        ["again"],
        "an earlier step hides nothing"
    );
    assert!(
        end(CallKind::Tell(Status::Delivered), None, CallEnd::Done, "")
            .await
            .is_empty()
    );
    assert_eq!(end(TELL, None, CallEnd::Abandoned, "cancelled").await, [""; 0]);
}
