//! What may become of an order's content, and what may not.

use super::*;
use crate::money::{Currency, MAX_MINOR};
use crate::order::{Cancellation, ContentVersion, ItemOption, Status};
use crate::payment::PaymentType;
use crate::testing::{a_new_order, an_order};
use proptest::prelude::*;

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

/// An order that has arrived with this content and number, and the same once more to be changed.
fn arrived(version: ContentVersion) -> (Order, NewOrder) {
    let mut new = a_new_order("1");
    new.version = version;
    let mut order = an_order("1");
    order.content_version = version.number();
    (order, new)
}

fn halved(mut new: NewOrder, version: ContentVersion) -> NewOrder {
    new.version = version;
    new.content.items[0].quantity = 1;
    new.content.items[0].total = Minor(19_500);
    new.content.amount.subtotal = Minor(19_500);
    new.content.amount.total = Minor(22_000);
    new.content.payment.collect = Minor(22_000);
    new
}

#[test]
fn a_later_version_changes_lines_sums_and_payment_and_says_so() {
    let (order, first) = arrived(ContentVersion::Numbered(10));
    let mut later = halved(first.clone(), ContentVersion::Numbered(20));
    later.content.customer.name = None;
    later.content.note = None;
    later.provider_data = Some("left".to_owned());
    let revised = revise(&order, &first.content, &later, at(5), true).unwrap();
    let Decision {
        order: after,
        timeline,
        events,
        ask,
        tell,
    } = revised.decision;
    assert_eq!(
        (after.revision, after.content_version, after.sequence),
        (2, Some(20), 2)
    );
    assert_eq!(
        (after.total, after.updated_at, after.status),
        (Minor(22_000), at(5), order.status)
    );
    assert_eq!(after.provider_data.as_deref(), Some("left"));
    assert_eq!((ask, tell.len()), (None, 0));
    // What the platform hides is no change.
    assert_eq!(revised.content.customer, first.content.customer);
    assert_eq!(revised.content.note, first.content.note);
    assert_eq!(revised.content.items, later.content.items);
    let [line] = &timeline[..] else {
        panic!("{timeline:?}")
    };
    assert_eq!((line.from, line.to), (Some(order.status), order.status));
    let said = line.revision.as_ref().unwrap();
    assert_eq!(said.revision, 2);
    let json = serde_json::to_string(&said.changes).unwrap();
    assert_eq!(
        json,
        concat!(
            r#"[{"field":"item_quantity","name":"Adana dürüm 🌯","from":2,"to":1},"#,
            r#"{"field":"subtotal","from":37500,"to":19500},{"field":"total","from":40000,"to":22000},"#,
            r#"{"field":"collect","from":40000,"to":22000}]"#
        )
    );
    assert_eq!(
        serde_json::from_str::<Vec<ContentChange>>(&json).unwrap(),
        said.changes
    );
    let [event] = &events[..] else {
        panic!("{events:?}")
    };
    assert_eq!((event.sequence, event.kind.name()), (2, "siparis.guncellendi"));
    let body = crate::event::order_body(crate::id::EventId(uuid::Uuid::nil()), &after, event, at(5));
    assert!(body.contains(r#""sequence":2"#), "{body}");
    assert!(body.contains(r#""status":400,"by":"platform","revision":2,"total":22000,"currency":"TRY","changes":[{"field":"item_quantity""#), "{body}");
}

#[test]
fn nobody_is_told_who_has_not_asked_and_events_have_no_gap() {
    let (order, first) = arrived(ContentVersion::Unnumbered);
    let later = halved(first.clone(), ContentVersion::Unnumbered);
    let decision = revise(&order, &first.content, &later, at(5), false)
        .unwrap()
        .decision;
    assert_eq!((decision.events.len(), decision.timeline.len()), (0, 1));
    assert_eq!(decision.order.sequence, order.sequence);
}

#[test]
fn documents_that_are_not_later_change_nothing() {
    use ContentVersion::{Numbered, Unchanging, Unnumbered};
    for (stored, shown, replaces) in [
        (Numbered(10), Numbered(11), true),
        (Numbered(10), Numbered(10), true),
        (Numbered(10), Numbered(9), false),
        (Numbered(10), Unchanging, false),
        (Numbered(10), Unnumbered, true),
        (Unnumbered, Numbered(1), true),
        (Unnumbered, Unchanging, false),
    ] {
        let (order, first) = arrived(stored);
        let later = halved(first.clone(), shown);
        let revised = revise(&order, &first.content, &later, at(5), true);
        assert_eq!(revised.is_some(), replaces, "{stored:?} {shown:?}");
        let mut same = first.clone();
        same.version = shown;
        assert_eq!(revise(&order, &first.content, &same, at(5), true), None);
    }
}

#[test]
fn only_a_higher_number_is_later_for_certain() {
    use ContentVersion::{Numbered, Unchanging, Unnumbered};
    assert!(Numbered(11).is_surely_later(Some(10)));
    assert!(Numbered(11).is_surely_later(None));
    for version in [Numbered(10), Numbered(9), Unnumbered, Unchanging] {
        assert!(!version.is_surely_later(Some(10)), "{version:?}");
    }
    assert!(!Unnumbered.is_surely_later(None));
}

#[test]
fn a_cancelled_order_stays_as_it_was_and_a_delivered_one_may_change() {
    let (mut order, first) = arrived(ContentVersion::Unnumbered);
    let later = halved(first.clone(), ContentVersion::Unnumbered);
    order.status = Status::Delivered;
    order.reported_at = Some(at(1));
    let revised = revise(&order, &first.content, &later, at(5), true).unwrap();
    // A reported order is not listed as unreported again.
    assert_eq!(revised.decision.order.reported_at, Some(at(1)));
    order.status = Status::CancelledByPlatform;
    order.cancellation = Some(Cancellation {
        by: Actor::Customer,
        reason: None,
        note: None,
        at: at(1),
    });
    assert_eq!(revise(&order, &first.content, &later, at(5), true), None);
}

fn item(name: &str, quantity: i64, total: i64, option: Option<&str>) -> Item {
    let option = option.map(|name| ItemOption {
        group: None,
        name: name.to_owned(),
        quantity: 1,
        price: Minor::ZERO,
        removed: false,
        options: Vec::new(),
    });
    Item {
        id: None,
        product_id: None,
        name: name.to_owned(),
        quantity,
        unit_price: Minor(total / quantity.max(1)),
        total: Minor(total),
        note: None,
        options: option.into_iter().collect(),
    }
}

fn said_of(
    before: &[Item],
    after: &[Item],
) -> Vec<(&'static str, String, Option<ChangedValue>, Option<ChangedValue>)> {
    let (mut old, mut new) = (a_new_order("1").content, a_new_order("1").content);
    (old.items, new.items) = (before.to_vec(), after.to_vec());
    changes(&old, &new)
        .into_iter()
        .map(|it| (it.field.as_str(), it.name.unwrap_or_default(), it.from, it.to))
        .collect()
}

#[test]
fn lines_are_compared_by_what_is_to_be_made() {
    let n = |number: i64| Some(ChangedValue::Number(number));
    let is = |field, name: &str, from, to| (field, name.to_owned(), from, to);
    // In another order, under other ids, or on two lines instead of one: the same.
    let mut split = vec![
        item("a", 1, 5, None),
        item("b", 1, 7, None),
        item("a", 1, 5, None),
    ];
    split[0].id = Some("other".to_owned());
    assert_eq!(
        said_of(&[item("a", 2, 10, None), item("b", 1, 7, None)], &split),
        []
    );
    assert_eq!(
        said_of(&[item("a", 2, 10, None)], &[item("b", 1, 7, None)]),
        [
            is("item_removed", "a", n(2), None),
            is("item_added", "b", None, n(1))
        ]
    );
    assert_eq!(
        said_of(&[item("a", 2, 10, None)], &[item("a", 2, 12, None)]),
        [is("item_total", "a", n(10), n(12))]
    );
    assert_eq!(
        said_of(&[item("a", 2, 10, Some("x"))], &[item("a", 2, 10, Some("y"))]),
        [is("item_options", "a", None, None)]
    );
    assert_eq!(
        said_of(&[item("a", 2, 10, Some("x"))], &[item("a", 1, 10, None)]),
        [is("item_quantity", "a", n(2), n(1))]
    );
}

fn some_content() -> impl Strategy<Value = OrderContent> {
    let items = prop::collection::vec(
        (
            0..3usize,
            1..4i64,
            0..50i64,
            prop::option::of(prop::sample::select(vec!["x", "y"])),
        ),
        1..5,
    );
    let kinds = prop::sample::select(PaymentType::ALL.to_vec());
    (items, 0..=MAX_MINOR, kinds, any::<bool>()).prop_map(|(items, total, kind, is_paid)| {
        let mut content = a_new_order("1").content;
        content.items = items
            .into_iter()
            .map(|(name, quantity, total, option)| item(["a", "b", "c"][name], quantity, total, option))
            .collect();
        content.amount.total = Minor(total);
        content.amount.currency = Currency::TRY;
        content.payment.kind = kind;
        content.payment.is_paid = is_paid;
        content
    })
}

#[test]
fn the_courier_may_come_at_another_time_and_is_not_forgotten_when_it_is_hidden() {
    let (order, first) = arrived(ContentVersion::Numbered(10));
    let mut expected = first.clone();
    expected.version = ContentVersion::Numbered(20);
    expected.content.fulfilment.courier_pickup_at = Some(at(60_000));
    expected.content.fulfilment.promised_at = Some(at(90_000));
    let revised = revise(&order, &first.content, &expected, at(5), true).unwrap();
    let said = revised.decision.timeline[0].revision.as_ref().unwrap();
    assert_eq!(
        serde_json::to_string(&said.changes).unwrap(),
        r#"[{"field":"courier_pickup_at","from":null,"to":"1970-01-01T00:01:00.000Z"}]"#
    );
    assert_eq!(revised.content.fulfilment.courier_pickup_at, Some(at(60_000)));
    // What was promised was promised when the order came.
    assert_eq!(revised.content.fulfilment.promised_at, None);
    assert_ne!(compared(&revised.content), compared(&first.content));
    let (order, stored) = (revised.decision.order, revised.content);
    let hidden = halved(first, ContentVersion::Numbered(30));
    let revised = revise(&order, &stored, &hidden, at(6), true).unwrap();
    assert_eq!(revised.content.fulfilment, stored.fulfilment);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    /// Documents come in any order and any number of times: the number never goes back, a repeat changes nothing, every
    /// version has one line of the timeline, and events are numbered without gaps however often the account changes its mind.
    #[test]
    fn versions_only_go_forward(
        contents in prop::collection::vec(some_content(), 1..6),
        documents in prop::collection::vec((0..6usize, any::<bool>()), 0..30),
    ) {
        let (mut order, first) = arrived(ContentVersion::Numbered(0));
        let (mut stored, mut lines, mut sequences) = (first.content.clone(), 0, Vec::new());
        for (step, (number, notify)) in documents.into_iter().enumerate() {
            let number = number.min(contents.len() - 1);
            let mut shown = first.clone();
            shown.content = contents[number].clone();
            shown.version = ContentVersion::Numbered(i64::try_from(number).unwrap() + 1);
            let now = at(i64::try_from(step).unwrap() + 1);
            let Some(revised) = revise(&order, &stored, &shown, now, notify) else { continue };
            let after = revised.decision.order;
            prop_assert!(after.content_version >= order.content_version);
            prop_assert_eq!(after.revision, order.revision + 1);
            prop_assert_eq!((after.total, after.payment_type), (revised.content.amount.total, revised.content.payment.kind));
            lines += revised.decision.timeline.len();
            sequences.extend(revised.decision.events.iter().map(|event| event.sequence));
            (order, stored) = (after, revised.content);
            prop_assert_eq!(revise(&order, &stored, &shown, now, notify), None);
        }
        prop_assert_eq!(order.revision, 1 + i64::try_from(lines).unwrap());
        let count = i64::try_from(sequences.len()).unwrap();
        prop_assert_eq!(sequences, (2..2 + count).collect::<Vec<_>>());
    }

    /// Nothing is said to have changed between a content and itself, and something is whenever a sum is another.
    #[test]
    fn changes_are_said_exactly_when_there_are_some(one in some_content(), other in some_content()) {
        prop_assert_eq!(changes(&one, &one), []);
        let is_said = changes(&one, &other).iter().any(|it| it.field == ChangedField::Total);
        prop_assert_eq!(is_said, one.amount.total != other.amount.total);
    }
}
