//! A store over time: closings, timers, reads and failures.

use super::conclude::{GIVE_UP_AFTER, GIVE_UP_OPENING_AFTER};
use super::*;
use crate::explanation::PlatformFailure;
use crate::id::{AccountId, IntegrationId, RestaurantId};
use crate::platform::{CallError, ClosingDurations, Provider, StoreSupport};
use crate::store_status::{ReasonCode, Reopening, StoreActor, StoreChanged, StoreReading, StoreState};
use crate::time::Timestamp;
use std::time::Duration;
use uuid::Uuid;

const SUPPORT: StoreSupport = StoreSupport {
    durations: ClosingDurations::None,
    until_next_opening: false,
    reasons: &[],
    busy_minutes: &[15],
    shows_busy: false,
    closes_by_itself: true,
};

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(1_767_225_600_000 + seconds * 1_000)
}

fn record() -> StoreRecord {
    StoreRecord::new(
        (AccountId(Uuid::nil()), RestaurantId(Uuid::nil())),
        IntegrationId(Uuid::nil()),
        Provider::new("direct"),
    )
}

fn closing(now: i64, until: Option<i64>) -> Desired {
    Desired {
        until: until.map(at),
        ..Desired::new(
            DesiredState::Closed,
            at(now),
            StoreActor::Account,
            Requester::Panel,
        )
    }
}

fn closed_by_us(until: Option<i64>, reopening: Reopening) -> StoreRecord {
    let mut store = record();
    assert!(store.set_desired(StoreActor::Account, Some(closing(0, until)), at(0)));
    assert_eq!(store.plan(at(0)), Plan::Send);
    store.started_version = store.version;
    assert_eq!(
        store.plan(at(0)),
        Plan::ReadBeforeSending,
        "it may have been sent"
    );
    let changed = StoreChanged {
        reopening,
        platform_until: None,
    };
    store.succeed(&changed, at(1));
    store
}

#[test]
fn timed_closing_is_opened_by_us_where_the_platform_has_no_timer() {
    let mut store = closed_by_us(Some(600), Reopening::Ours);
    assert_eq!(store.control.outcome.as_ref().unwrap().timer, Some(Timer::Garson));
    store.observe(&StoreReading::of(StoreState::Closed), &SUPPORT, None, at(10));
    assert_eq!(store.due_at(), Some(at(600)));
    assert_eq!(store.plan(at(600)), Plan::Reconsider);
    assert!(store.reconsider(at(600)));
    assert_eq!(store.plan(at(600)), Plan::ReadBeforeSending);
    assert!(!store.must_stay_closed());
}

#[test]
fn platform_timer_may_be_a_little_late() {
    let mut store = closed_by_us(Some(600), Reopening::Platform);
    store.observe(&StoreReading::of(StoreState::Closed), &SUPPORT, None, at(10));
    assert!(store.reconsider(at(600)));
    assert_eq!(store.plan(at(601)), Plan::Idle);
    assert_eq!(store.plan(at(660)), Plan::ReadBeforeSending);
}

#[test]
fn old_state_right_after_a_change_is_read_again() {
    let mut store = closed_by_us(None, Reopening::None);
    let open = StoreReading::of(StoreState::Open);
    assert_eq!(store.observe(&open, &SUPPORT, None, at(5)), Observed::default());
    assert_eq!(store.actual.state, StoreState::Closed);
    assert_eq!(store.due_at(), Some(at(25)));
    let later = store.observe(&open, &SUPPORT, None, at(90));
    assert!(later.has_changed && later.is_undone);
    assert_eq!(
        (store.actual.state, store.problem),
        (StoreState::Open, Some(StoreProblem::NotClosed))
    );
    // It is reported once, and nothing is repeated.
    let again = store.observe(&open, &SUPPORT, None, at(390));
    assert_eq!(again, Observed::default());
    assert_eq!((store.due_at(), store.is_pending()), (None, false));
}

#[test]
fn closing_by_the_platform_is_shown_and_not_fought() {
    let mut store = record();
    let open = Desired::new(DesiredState::Open, at(0), StoreActor::Account, Requester::Panel);
    store.set_desired(StoreActor::Account, Some(open.clone()), at(0));
    store.succeed(&StoreChanged::LASTING, at(1));
    let reading = StoreReading {
        by: Some(StoreActor::Platform),
        reason: Some(ReasonCode::OrderNotAnswered.into()),
        ..StoreReading::of(StoreState::Closed)
    };
    let seen = store.observe(&reading, &SUPPORT, None, at(300));
    assert!(seen.has_changed && seen.is_undone);
    assert_eq!(store.actual.by, Some(StoreActor::Platform));
    assert_eq!(store.problem, Some(StoreProblem::ClosedByPlatform));
    assert_eq!(store.plan(at(10_000)), Plan::Idle);
    // A user opens it again.
    assert!(store.set_desired(StoreActor::Account, Some(open), at(400)));
    assert_eq!(store.plan(at(400)), Plan::Send);
    assert!(!store.must_stay_closed());
}

#[test]
fn hours_do_not_open_what_the_platform_has_closed() {
    let mut store = record();
    let closed = Desired {
        requester: Requester::Service,
        ..closing(0, Some(600))
    };
    store.set_desired(StoreActor::Schedule, Some(closed), at(0));
    store.succeed(&StoreChanged::LASTING, at(1));
    store.actual.by = Some(StoreActor::Platform);
    assert!(store.reconsider(at(600)));
    assert!(store.must_stay_closed());
    store.leave_closed(at(600));
    assert!(!store.is_pending());
}

#[test]
fn refused_closing_no_longer_holds() {
    let mut store = record();
    store.set_desired(StoreActor::Account, Some(closing(0, None)), at(0));
    let refusal = CallError::refused(PlatformFailure::NotOffered);
    assert!(store.fail(&refusal, at(1)));
    assert_eq!(store.control.outcome.as_ref().unwrap().kind, OutcomeKind::Refused);
    assert_eq!(store.control.by_source.account, None);
    assert_eq!(store.plan(at(1)), Plan::Read);
}

#[test]
fn refused_reopening_is_repeated_and_reported() {
    let mut store = closed_by_us(Some(600), Reopening::Ours);
    store.observe(&StoreReading::of(StoreState::Closed), &SUPPORT, None, at(10));
    store.reconsider(at(600));
    let refusal = CallError::refused(PlatformFailure::StoreNotChangeable { reason: None });
    assert!(!store.fail(&refusal, at(600)));
    assert_eq!(store.problem, Some(StoreProblem::NotReopened));
    assert_eq!(store.due_at(), Some(at(630)));
    let mut pauses = Vec::new();
    let mut now = at(630);
    for _ in 0..5 {
        assert!(!store.fail(&refusal, now));
        let next = store.due_at().unwrap();
        pauses.push(next.since(now).as_secs());
        now = next;
    }
    assert_eq!(pauses, [60, 120, 240, 300, 300]);
    assert!(store.fail(&refusal, now.plus(GIVE_UP_OPENING_AFTER)));
}

#[test]
fn rate_limit_counts_no_attempt() {
    let mut store = record();
    store.set_desired(StoreActor::Account, Some(closing(0, None)), at(0));
    let held = CallError::HeldBack {
        message: PlatformFailure::NoFreeSlot.into(),
        room_in: Duration::from_secs(29),
    };
    assert!(!store.fail(&held, at(1)));
    assert_eq!((store.due_at(), store.control.attempts), (Some(at(30)), 0));
}

#[test]
fn unreachable_platform_is_tried_for_two_hours() {
    let mut store = record();
    store.set_desired(StoreActor::Account, Some(closing(0, None)), at(0));
    let away = CallError::later(PlatformFailure::NoFreeSlot);
    let mut now = at(0);
    while !store.fail(&away, now) {
        now = store.due_at().unwrap();
        assert!(now.since(at(0)) < Duration::from_secs(3 * 3600));
    }
    assert!(now.since(at(0)) > GIVE_UP_AFTER);
}

#[test]
fn hidden_busy_mode_is_remembered() {
    let mut store = record();
    let busy = Desired::new(DesiredState::Busy, at(0), StoreActor::Account, Requester::Panel);
    store.set_desired(StoreActor::Account, Some(busy), at(0));
    store.succeed(&StoreChanged::LASTING, at(1));
    let seen = store.observe(&StoreReading::of(StoreState::Open), &SUPPORT, None, at(100));
    assert!(!seen.is_undone);
    assert_eq!(store.actual.state, StoreState::Busy);
}

#[test]
fn store_that_is_closed_outside_its_hours_is_no_problem() {
    let mut store = record();
    let closed = StoreReading::of(StoreState::Closed);
    store.observe(&closed, &SUPPORT, Some(false), at(0));
    assert_eq!(
        (store.actual.by, store.problem),
        (Some(StoreActor::Schedule), None)
    );
    store.observe(&closed, &SUPPORT, Some(true), at(300));
    assert_eq!(store.actual.by, Some(StoreActor::Platform));
    assert_eq!(store.problem, Some(StoreProblem::ClosedByPlatform));
    store.observe(&StoreReading::of(StoreState::Open), &SUPPORT, Some(true), at(600));
    assert_eq!(store.problem, None);
}

#[test]
fn person_opens_at_once_although_the_platform_has_a_timer() {
    let mut store = closed_by_us(Some(600), Reopening::Platform);
    for now in [0, 5] {
        let opening = Desired::new(DesiredState::Open, at(now), StoreActor::Account, Requester::Panel);
        assert!(store.set_desired(StoreActor::Account, Some(opening), at(now)));
        assert_eq!(store.plan(at(now)), Plan::Send, "{now}");
    }
}

#[test]
fn our_closing_stays_ours_while_it_cannot_be_opened() {
    let mut store = closed_by_us(Some(600), Reopening::Ours);
    assert!(store.reconsider(at(600)));
    let locked = StoreReading {
        can_change: false,
        ..StoreReading::of(StoreState::Closed)
    };
    store.observe(&locked, &SUPPORT, Some(true), at(601));
    assert_eq!(store.actual.by, Some(StoreActor::Account));
    assert!(!store.must_stay_closed(), "it is tried again");
    assert_eq!(store.problem, None);
    let theirs = StoreReading {
        by: Some(StoreActor::Platform),
        ..StoreReading::of(StoreState::Closed)
    };
    store.observe(&theirs, &SUPPORT, None, at(602));
    assert!(store.must_stay_closed());
}

#[test]
fn closing_that_the_platform_ends_a_little_early_is_not_undone() {
    for now in [570, 600, 605] {
        let mut store = closed_by_us(Some(600), Reopening::Platform);
        let seen = store.observe(&StoreReading::of(StoreState::Open), &SUPPORT, None, at(now));
        assert!(!seen.is_undone, "{now}");
        assert_eq!(store.problem, None);
        assert!(store.reconsider(at(606)), "it is to be open");
    }
    let mut store = closed_by_us(Some(600), Reopening::Platform);
    let seen = store.observe(&StoreReading::of(StoreState::Open), &SUPPORT, None, at(300));
    assert!(seen.is_undone);
}

#[test]
fn short_closing_that_is_not_made_is_reported_before_its_end() {
    for seconds in [8, 20, 40, 59] {
        let mut store = closed_by_us(Some(seconds), Reopening::Ours);
        let open = StoreReading::of(StoreState::Open);
        let is_reported = loop {
            let due = store.due_at().unwrap();
            if due >= at(seconds) {
                break false;
            }
            if store.observe(&open, &SUPPORT, None, due).is_undone {
                break true;
            }
        };
        assert!(is_reported, "{seconds}");
        assert_eq!(store.problem, Some(StoreProblem::NotClosed), "{seconds}");
    }
}

#[test]
fn short_closing_that_the_platform_ends_early_is_not_undone() {
    let mut store = closed_by_us(Some(40), Reopening::Platform);
    store.observe(&StoreReading::of(StoreState::Closed), &SUPPORT, None, at(10));
    let seen = store.observe(&StoreReading::of(StoreState::Open), &SUPPORT, None, at(31));
    assert!(!seen.is_undone);
    assert_eq!(store.problem, None);
}

#[test]
fn platform_timer_of_a_short_closing_is_given_a_part_of_its_time() {
    let mut store = closed_by_us(Some(40), Reopening::Platform);
    store.observe(&StoreReading::of(StoreState::Closed), &SUPPORT, None, at(10));
    assert!(store.reconsider(at(40)));
    assert_eq!(store.plan(at(49)), Plan::Idle);
    assert_eq!(store.plan(at(50)), Plan::ReadBeforeSending);
}
