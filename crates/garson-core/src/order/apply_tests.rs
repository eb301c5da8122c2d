//! What no sequence of wishes and reports may do to an order, and the table of what each does.

use super::*;
use crate::order::Reason;
use crate::testing::a_new_order;
use proptest::prelude::*;
use uuid::Uuid;

fn home() -> OrderOwner {
    OrderOwner {
        account_id: AccountId(Uuid::nil()),
        restaurant_id: RestaurantId(Uuid::nil()),
        integration_id: IntegrationId(Uuid::nil()),
        provider: Provider::new("direct"),
    }
}

fn placed(status: Status, asks: bool, auto_verify: bool) -> Decision {
    let mut new = a_new_order("1");
    new.status = status;
    place(
        OrderId(Uuid::nil()),
        home(),
        &new,
        Timestamp::from_millis(0),
        asks,
        auto_verify,
    )
}

fn at_status(status: Status) -> Order {
    let mut order = placed(Status::New, false, false).order;
    order.status = status;
    order
}

fn an_action() -> impl Strategy<Value = Action> {
    prop_oneof![
        Just(Action::VERIFY),
        Just(Action::Verify {
            preparation_minutes: Some(20)
        }),
        Just(Action::Advance),
        Just(Action::Ready),
        Just(Action::Cancel {
            reason: None,
            note: None
        }),
        Just(Action::Cancel {
            reason: Some(Reason {
                id: "closed".to_owned(),
                name: "Closed".to_owned()
            }),
            note: Some("no".to_owned())
        }),
    ]
}

fn an_actor() -> impl Strategy<Value = Actor> {
    prop::sample::select(Actor::ALL.to_vec())
}

fn a_change() -> impl Strategy<Value = Change> {
    let moved = (prop::sample::select(Status::ALL.to_vec()), an_actor()).prop_map(|(to, by)| Change::Moved {
        to,
        by,
        provider_status: None,
    });
    let cancelled = an_actor().prop_map(|by| Change::Cancelled {
        by,
        reason: None,
        note: None,
        provider_status: None,
    });
    prop_oneof![4 => moved, 1 => cancelled]
}

fn an_input() -> impl Strategy<Value = Input> {
    prop_oneof![
        a_change().prop_map(Input::Report),
        (an_action(), an_actor()).prop_map(|(action, by)| Input::Want(action, by)),
        (an_action(), an_actor()).prop_map(|(action, by)| Input::Agreed(action, by)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn orders_only_go_forward(
        start in prop::sample::select(vec![Status::New, Status::Scheduled]),
        asks: bool,
        auto_verify: bool,
        inputs in prop::collection::vec(an_input(), 0..40),
    ) {
        let first = placed(start, asks, auto_verify);
        let mut order = first.order;
        let mut sequences: Vec<i64> = first.events.iter().map(|e| e.sequence).collect();
        let mut timeline = first.timeline;
        for (step, input) in inputs.iter().enumerate() {
            let at = Timestamp::from_millis(i64::try_from(step).unwrap_or(0) + 1);
            let Ok(decision) = apply(&order, input, at, asks) else { continue };

            // A cancelled order stays exactly as it was cancelled.
            if order.status.is_cancelled() {
                prop_assert_eq!(&decision.order, &order);
            }
            // Never backwards.
            prop_assert!(decision.order.status.code() >= order.status.code());
            // No event without a change of status, no change of status without an event, and one line for each.
            prop_assert_eq!(decision.events.is_empty(), decision.order.status == order.status);
            prop_assert_eq!(decision.events.len(), decision.timeline.len());
            // What a platform has to agree to has not happened yet.
            if decision.ask.is_some() && matches!(input, Input::Want(..)) {
                prop_assert_eq!(&decision.order, &order);
                prop_assert!(asks);
            }
            if !asks {
                prop_assert_eq!(decision.ask, None);
            }
            // Nothing is sent about what did not change.
            if !decision.is_change(&order) {
                prop_assert!(decision.tell.is_empty());
            }
            prop_assert_eq!(decision.order.cancellation.is_some(), decision.order.status.is_cancelled());
            sequences.extend(decision.events.iter().map(|e| e.sequence));
            timeline.extend(decision.timeline.iter().cloned());
            order = decision.order;
        }
        let count = i64::try_from(sequences.len()).unwrap_or(0);
        prop_assert_eq!(sequences, (1..=count).collect::<Vec<_>>());
        prop_assert_eq!(order.sequence, count);
        // The timeline is one chain from the arrival to the current status.
        for pair in timeline.windows(2) {
            prop_assert_eq!(pair[1].from, Some(pair[0].to));
        }
        prop_assert_eq!(timeline.last().map(|line| line.to), Some(order.status));
    }

    #[test]
    fn a_repeated_report_changes_nothing(change in a_change(), status in prop::sample::select(Status::ALL.to_vec())) {
        let order = at_status(status);
        let Ok(first) = apply(&order, &Input::Report(change.clone()), Timestamp::from_millis(1), false) else {
            return Ok(());
        };
        let again = apply(&first.order, &Input::Report(change), Timestamp::from_millis(2), false);
        prop_assert!(again.is_ok_and(|d| d.order == first.order && d.events.is_empty()));
    }
}

fn want(status: Status, action: Action, asks: bool) -> Result<(Status, usize, Option<CallKind>), Refusal> {
    apply(
        &at_status(status),
        &Input::Want(action, Actor::Account),
        Timestamp::from_millis(5),
        asks,
    )
    .map(|d| (d.order.status, d.events.len(), d.ask))
}

#[test]
fn advancing_walks_one_step_a_call() {
    use Status::*;
    let advance = |status| want(status, Action::Advance, false);
    assert_eq!(advance(Scheduled), Ok((ScheduledAccepted, 1, None)));
    assert_eq!(
        advance(ScheduledAccepted),
        Err(Refusal::NotDue { scheduled_for: None })
    );
    assert_eq!(advance(New), Ok((Preparing, 1, None)));
    assert_eq!(advance(Preparing), Ok((OnTheWay, 1, None)));
    assert_eq!(advance(OnTheWay), Ok((Delivered, 1, None)));
    for end in [Delivered, Cancelled, CancelledByPlatform] {
        assert_eq!(advance(end), Err(Refusal::NoNextStatus(end)));
    }
}

#[test]
fn verifying_again_is_fine_unless_cancelled() {
    use Status::*;
    let verify = |status| want(status, Action::VERIFY, false);
    assert_eq!(verify(Scheduled), Ok((ScheduledAccepted, 1, None)));
    assert_eq!(verify(New), Ok((Preparing, 1, None)));
    for past in [ScheduledAccepted, Preparing, OnTheWay, Delivered] {
        assert_eq!(verify(past), Ok((past, 0, None)));
    }
    for end in [Cancelled, CancelledByPlatform] {
        assert_eq!(verify(end), Err(Refusal::IsCancelled(end)));
    }
}

#[test]
fn chosen_preparation_time_is_stored_when_the_platform_has_agreed() {
    let chosen = Action::Verify {
        preparation_minutes: Some(20),
    };
    let order = at_status(Status::New);
    let decide = |input: &Input, asks| {
        apply(&order, input, Timestamp::from_millis(1), asks)
            .unwrap()
            .order
    };
    let wanted = Input::Want(chosen.clone(), Actor::Account);
    assert_eq!(
        decide(&wanted, true).preparation_minutes,
        None,
        "it is asked first"
    );
    assert_eq!(decide(&wanted, false).preparation_minutes, Some(20));
    let agreed = Input::Agreed(chosen.clone(), Actor::Account);
    let accepted = decide(&agreed, true);
    assert_eq!(accepted.preparation_minutes, Some(20));
    // A repetition with another time changes nothing.
    let again = Input::Agreed(Action::VERIFY, Actor::Account);
    let again = apply(&accepted, &again, Timestamp::from_millis(2), true).unwrap();
    assert_eq!(again.order.preparation_minutes, Some(20));
}

#[test]
fn cancelling_works_from_everywhere_and_only_once() {
    for status in Status::ALL {
        let cancelled = want(
            status,
            Action::Cancel {
                reason: None,
                note: None,
            },
            false,
        );
        let wanted = if status.is_cancelled() {
            (status, 0, None)
        } else {
            (Status::Cancelled, 1, None)
        };
        assert_eq!(cancelled, Ok(wanted));
    }
}

#[test]
fn a_platform_that_wants_to_be_asked_is_asked_first() {
    use Status::*;
    let cancel = Action::Cancel {
        reason: None,
        note: None,
    };
    assert_eq!(
        want(New, Action::VERIFY, true),
        Ok((New, 0, Some(CallKind::Verify)))
    );
    assert_eq!(
        want(New, Action::Advance, true),
        Ok((New, 0, Some(CallKind::Verify)))
    );
    assert_eq!(
        want(Delivered, cancel, true),
        Ok((Delivered, 0, Some(CallKind::Cancel)))
    );
    // Later steps are sent without asking for consent.
    assert_eq!(want(Preparing, Action::Advance, true), Ok((OnTheWay, 1, None)));
}

#[test]
fn who_cancels_decides_the_code() {
    for (by, code) in [
        (Actor::Account, 1600),
        (Actor::System, 1600),
        (Actor::Customer, 1500),
        (Actor::Platform, 1500),
    ] {
        let change = Change::Cancelled {
            by,
            reason: None,
            note: None,
            provider_status: None,
        };
        let decision = apply(
            &at_status(Status::Delivered),
            &Input::Report(change),
            Timestamp::from_millis(1),
            false,
        );
        assert_eq!(decision.map(|d| d.order.status.code()), Ok(code));
    }
}

#[test]
fn a_pre_approved_order_that_is_due_is_verified_by_the_service() {
    let due = Change::Moved {
        to: Status::New,
        by: Actor::Platform,
        provider_status: None,
    };
    let order = at_status(Status::ScheduledAccepted);
    let free = apply(
        &order,
        &Input::Report(due.clone()),
        Timestamp::from_millis(1),
        false,
    );
    assert_eq!(
        free.map(|d| (d.order.status, d.events.len())),
        Ok((Status::Preparing, 2))
    );
    let asking = apply(&order, &Input::Report(due), Timestamp::from_millis(1), true);
    assert_eq!(
        asking.map(|d| (d.order.status, d.events.len(), d.ask)),
        Ok((Status::New, 1, Some(CallKind::Verify)))
    );
}

#[test]
fn a_jump_is_one_event() {
    let delivered = Change::Moved {
        to: Status::Delivered,
        by: Actor::Platform,
        provider_status: None,
    };
    let decision = apply(
        &at_status(Status::Preparing),
        &Input::Report(delivered),
        Timestamp::from_millis(1),
        false,
    );
    assert_eq!(
        decision.map(|d| (d.order.status, d.events.len())),
        Ok((Status::Delivered, 1))
    );
}

#[test]
fn ready_keeps_the_status_and_is_told_at_the_latest_when_the_food_leaves() {
    let order = at_status(Status::Preparing);
    let ready = apply(
        &order,
        &Input::Want(Action::Ready, Actor::Account),
        Timestamp::from_millis(1),
        false,
    );
    let Ok(ready) = ready else {
        unreachable!("an order in preparation can be ready")
    };
    assert_eq!((ready.order.status, ready.events.len()), (Status::Preparing, 0));
    assert_eq!(ready.tell, [CallKind::Ready]);
    let advance = Input::Want(Action::Advance, Actor::Account);
    let late = apply(&order, &advance, Timestamp::from_millis(2), false).map(|d| d.tell);
    assert_eq!(late, Ok(vec![CallKind::Ready, CallKind::Tell(Status::OnTheWay)]));
    let early = apply(&ready.order, &advance, Timestamp::from_millis(2), false).map(|d| d.tell);
    assert_eq!(early, Ok(vec![CallKind::Tell(Status::OnTheWay)]));
    assert_eq!(
        want(Status::New, Action::Ready, false),
        Err(Refusal::NotPreparing(Status::New))
    );
}

#[test]
fn automatic_verification_makes_two_events_or_asks() {
    let free = placed(Status::New, false, true);
    assert_eq!(
        (free.order.status, free.events.len(), free.ask),
        (Status::Preparing, 2, None)
    );
    let asking = placed(Status::New, true, true);
    assert_eq!(
        (asking.order.status, asking.events.len(), asking.ask),
        (Status::New, 1, Some(CallKind::Verify))
    );
}
