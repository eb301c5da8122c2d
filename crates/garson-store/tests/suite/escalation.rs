//! Escalation steps, channels, messages, notices and presence.

use crate::calls::lease_holder;
use crate::database::Bench;
use crate::fixtures::at;
use garson_core::channel::{Channel, ChannelKind, HttpMethod, HttpTemplate, Language, Target};
use garson_core::escalation::{Step, StepAction, When};
use garson_core::id::{AccountId, ChannelId, MessageId, NodeId};
use garson_core::message::MessageContent;
use garson_core::notice::NoticeKind;
use garson_core::order::Order;
use garson_core::presence::{Presence, PresenceKind};
use garson_core::secret::Secret;
use garson_core::time::Timestamp;
use garson_store::tables::messages::{MessageState, NewMessage};
use garson_store::tables::notices::Incident;
use garson_store::tables::{channels, escalation_steps, messages, nodes, notices, presence};
use garson_store::{Result, Tx, Vault};
use std::collections::BTreeMap;
use uuid::Uuid;

fn a_step(action: StepAction, seconds: u32) -> Step {
    Step {
        when: When::Age,
        seconds,
        only_if_unwatched: false,
        action,
    }
}

fn cancel(seconds: u32) -> Step {
    let (reason, note) = (None, Some("kapalı".to_owned()));
    a_step(StepAction::Cancel { reason, note }, seconds)
}

fn a_channel() -> Channel {
    let secret = |name: &str, value: &str| BTreeMap::from([(name.to_owned(), Secret::new(value.to_owned()))]);
    Channel {
        id: ChannelId(Uuid::now_v7()),
        name: "Müdür".to_owned(),
        language: Language::Tr,
        target: Target::Http(HttpTemplate {
            method: HttpMethod::Post,
            url: "https://sms.example.com/".to_owned(),
            headers: secret("authorization", "Bearer 1"),
            body: "{text}".to_owned(),
            secrets: secret("pin", "1234"),
        }),
        created_at: at(1),
        updated_at: at(2),
    }
}

fn a_presence(at_ms: i64) -> Presence {
    Presence {
        kind: PresenceKind::Board,
        restaurant: None,
        key: None,
        connections: 1,
        since: at(at_ms),
    }
}

fn write_message(tx: &mut Tx<'_>, account: AccountId, channel: ChannelId, millis: i64) -> Result<()> {
    let message = NewMessage {
        id: MessageId::at(at(millis)),
        account_id: account,
        channel_id: channel,
        order_id: None,
        content: &MessageContent::Test,
        at: at(millis),
    };
    messages::create(tx, &message)
}

/// A row in every table of this file, for the copy.
pub fn fill_tables(tx: &mut Tx<'_>, vault: &Vault, orders: &[Order]) -> Result<()> {
    let Some(first) = orders.first() else {
        return Ok(());
    };
    let account = first.account_id;
    for order in orders {
        escalation_steps::plan(tx, order, &[a_step(StepAction::Ring, 1), cancel(2)])?;
    }
    let channel = a_channel();
    channels::save(tx, vault, account, &channel)?;
    write_message(tx, account, channel.id, 1)?;
    notices::save(tx, account, &[NoticeKind::PlatformDown], &[channel.id], at(1))?;
    let incident = Incident {
        kind: NoticeKind::PlatformDown,
        subject: "getir".to_owned(),
        opened_at: at(1),
        is_notified: true,
    };
    notices::open(tx, account, &incident)?;
    presence::replace(tx, NodeId::at(at(0)), account, &[a_presence(1)])
}

pub async fn steps_are_due_by_account_and_taken_once(bench: &Bench) {
    let (one, two) = (bench.branch("bir").await, bench.branch("iki").await);
    let mut orders = bench.orders(one, "A", 3).await;
    orders.extend(bench.orders(two, "B", 1).await);
    let created = orders[0].created_at;
    let all = orders.clone();
    bench
        .write(move |tx| {
            for order in &all {
                escalation_steps::plan(tx, order, &[a_step(StepAction::Ring, 60), cancel(120)])?;
            }
            Ok(())
        })
        .await;
    let later = |seconds: i64| Timestamp::from_millis(created.as_millis() + 60_000 + seconds * 1_000);
    let due = |needs_platform: bool, now| {
        bench.read(move |tx| escalation_steps::due_accounts(tx, needs_platform, None, now, 10))
    };
    assert!(due(false, created).await.is_empty());
    let mut both = vec![one.account, two.account];
    both.sort_unstable();
    assert_eq!(due(false, later(60)).await, both);
    assert!(due(true, later(0)).await.is_empty());
    let (account, now) = (one.account, later(60));
    let found = bench
        .read(move |tx| escalation_steps::due(tx, false, account, now, 2))
        .await;
    assert_eq!(found.len(), 2);
    assert!(found.iter().all(|it| it.account_id == account && it.number == 1));
    let order = orders[0].id;
    let take = || bench.write(move |tx| escalation_steps::take(tx, order, 1));
    assert_eq!((take().await, take().await), (true, false));
    let moved = later(600);
    bench
        .write(move |tx| escalation_steps::postpone(tx, order, 2, moved))
        .await;
    let left = bench.read(move |tx| escalation_steps::of_order(tx, order)).await;
    assert_eq!((left.len(), left[0].due_at, left[0].attempts), (1, moved, 1));
    assert_eq!(left[0].step, Some(cancel(120)));
    let dropped = bench.write(move |tx| escalation_steps::drop_all(tx, order)).await;
    assert_eq!(dropped, 1);
}

pub async fn messages_of_each_channel_are_a_queue(bench: &Bench) {
    let account = bench.account("lokanta").await;
    let maker = lease_holder(bench, "one").await;
    let (first, second) = (a_channel(), a_channel());
    let (a, b) = (first.id, second.id);
    let vault = bench.vault.clone();
    bench
        .write(move |tx| {
            channels::save(tx, &vault, account, &first)?;
            write_message(tx, account, a, 1)?;
            write_message(tx, account, a, 2)?;
            write_message(tx, account, b, 3)
        })
        .await;
    let queues = bench.read(|tx| messages::queues(tx, None, 10)).await;
    let shown: Vec<_> = queues
        .iter()
        .map(|it| (it.channel_id, it.due_at, it.kind))
        .collect();
    assert_eq!(
        shown,
        [(a, at(1), Some(ChannelKind::Http)), (b, at(3), None)],
        "the second channel was removed"
    );
    let claim = |limit| bench.write(move |tx| messages::claim(tx, a, maker.node, at(5), limit));
    let claimed = claim(1).await.remove(0);
    assert_eq!((claimed.attempts, claimed.created_at), (1, at(1)));
    assert_eq!(claim(5).await.len(), 1);
    assert!(claim(5).await.is_empty());
    let why = garson_core::explanation::Explanation::answered(503, None);
    let (copy, again) = (claimed.clone(), claimed.clone());
    let postponed = bench
        .write(move |tx| messages::postpone(tx, &copy, &why, at(50)))
        .await;
    assert!(postponed);
    // The attempt is over, so its late end changes nothing.
    let ended = bench
        .write(move |tx| messages::finish(tx, &again, MessageState::Sent, None, at(9)))
        .await;
    assert!(!ended);
    let stranger = NodeId(Uuid::now_v7());
    let none = bench
        .write(move |tx| messages::claim(tx, b, stranger, at(5), 5))
        .await;
    assert!(none.is_empty(), "a node that is no member gets nothing");
    let newest = bench.read(move |tx| messages::newest(tx, account, 10)).await;
    assert_eq!(newest.len(), 3);
    assert_eq!(newest[0].created_at, at(3));
    let swept = bench.write(|tx| messages::sweep(tx, at(10_000), 10)).await;
    assert_eq!(swept, 3);
}

pub async fn message_of_a_dead_node_is_ended_and_not_sent_again(bench: &Bench) {
    let account = bench.account("lokanta").await;
    let (dead, alive) = (lease_holder(bench, "one").await, lease_holder(bench, "two").await);
    let channel = ChannelId(Uuid::now_v7());
    bench
        .write(move |tx| {
            write_message(tx, account, channel, 1)?;
            messages::claim(tx, channel, dead.node, at(2), 1).map(drop)
        })
        .await;
    assert!(bench.read(|tx| messages::interrupted(tx, 10)).await.is_empty());
    bench.write(move |tx| nodes::leave(tx, dead.node)).await;
    let ended = bench.read(|tx| messages::interrupted(tx, 10)).await;
    let interrupted = ended.clone();
    bench
        .write(move |tx| {
            for message in &interrupted {
                assert!(messages::end_interrupted(tx, message, at(3))?);
                assert!(!messages::end_interrupted(tx, message, at(4))?, "it has ended");
            }
            Ok(())
        })
        .await;
    assert_eq!(ended.len(), 1);
    assert!(bench.read(|tx| messages::interrupted(tx, 10)).await.is_empty());
    let claimed = bench
        .write(move |tx| messages::claim(tx, channel, alive.node, at(9), 5))
        .await;
    assert!(claimed.is_empty());
    let state = bench.read(move |tx| messages::newest(tx, account, 1)).await[0].state;
    assert_eq!(state, MessageState::Unclear);
}

pub async fn presence_counts_only_for_member_nodes(bench: &Bench) {
    let account = bench.account("lokanta").await;
    let (one, two) = (lease_holder(bench, "one").await, lease_holder(bench, "two").await);
    for (node, since) in [(one.node, 1), (two.node, 2)] {
        let rows = [a_presence(since)];
        bench
            .write(move |tx| presence::replace(tx, node, account, &rows))
            .await;
    }
    let seen = |own| bench.read(move |tx| presence::of_account(tx, account, own));
    assert_eq!(seen(None).await.len(), 2);
    assert_eq!(seen(Some(one.node)).await, [a_presence(2)]);
    bench.write(move |tx| nodes::leave(tx, two.node)).await;
    assert!(seen(Some(one.node)).await.is_empty());
    assert_eq!(bench.write(presence::remove_of_gone_nodes).await, 1);
    bench
        .write(move |tx| presence::replace(tx, one.node, account, &[]))
        .await;
    assert!(seen(None).await.is_empty());
}

pub async fn channels_are_sealed_and_belong_to_their_account(bench: &Bench) {
    let (one, two) = (bench.account("bir").await, bench.account("iki").await);
    let channel = a_channel();
    let id = channel.id;
    let (vault, copy) = (bench.vault.clone(), channel.clone());
    bench
        .write(move |tx| channels::save(tx, &vault, one, &copy))
        .await;
    // Another account cannot overwrite it.
    let (vault, mut other) = (bench.vault.clone(), channel.clone());
    other.name = "Başka".to_owned();
    bench
        .write(move |tx| channels::save(tx, &vault, two, &other))
        .await;
    let vault = bench.vault.clone();
    let found = bench
        .read(move |tx| channels::find(tx, &vault, one, id))
        .await
        .unwrap();
    assert_eq!(found.name, channel.name);
    match (found.target, channel.target) {
        (Target::Http(found), Target::Http(wanted)) => assert_eq!(found, wanted),
        other => panic!("{other:?}"),
    }
    let vault = bench.vault.clone();
    assert!(
        bench
            .read(move |tx| channels::find(tx, &vault, two, id))
            .await
            .is_none()
    );
    assert!(!bench.write(move |tx| channels::delete(tx, two, id)).await);
    assert!(bench.write(move |tx| channels::delete(tx, one, id)).await);
}

pub async fn incidents_are_opened_once(bench: &Bench) {
    let account = bench.account("lokanta").await;
    let incident = Incident {
        kind: NoticeKind::LoginRefused,
        subject: "x".to_owned(),
        opened_at: at(1),
        is_notified: false,
    };
    let open = || {
        let incident = incident.clone();
        bench.write(move |tx| notices::open(tx, account, &incident))
    };
    assert_eq!((open().await, open().await), (true, false));
    let found = bench.read(move |tx| notices::incidents(tx, account)).await;
    assert_eq!(found, vec![incident.clone()]);
    let gone = incident.clone();
    assert!(bench.write(move |tx| notices::close(tx, account, &gone)).await);
    assert!(
        bench
            .read(move |tx| notices::incidents(tx, account))
            .await
            .is_empty()
    );
}
