use super::*;
use proptest::prelude::*;

fn at(minutes: i64) -> Timestamp {
    Timestamp::from_millis(1_767_225_600_000 + minutes * 60_000)
}

fn desired(by: StoreActor, state: DesiredState, since: i64, until: Option<i64>) -> Option<Desired> {
    Some(Desired {
        until: until.map(at),
        ..Desired::new(state, at(since), by, Requester::Panel)
    })
}

fn account(state: DesiredState, since: i64, until: Option<i64>) -> Option<Desired> {
    desired(StoreActor::Account, state, since, until)
}

fn schedule(state: DesiredState, since: i64, until: Option<i64>) -> Option<Desired> {
    desired(StoreActor::Schedule, state, since, until)
}

fn throttle(state: DesiredState, since: i64, until: Option<i64>) -> Option<Desired> {
    desired(StoreActor::Throttle, state, since, until)
}

fn effective(
    sources: &DesiredBySource,
    before: Option<&Desired>,
    now: i64,
) -> Option<(DesiredState, StoreActor, Option<Timestamp>)> {
    let desired = sources.effective(before, at(now));
    desired.map(|it| (it.state, it.by, it.until))
}

#[test]
fn nothing_is_desired_before_the_first_request() {
    assert_eq!(effective(&DesiredBySource::default(), None, 0), None);
}

#[test]
fn closing_by_a_user_takes_precedence_over_hours_and_throttle() {
    let mut sources = DesiredBySource {
        account: account(DesiredState::Closed, 0, None),
        schedule: schedule(DesiredState::Open, 5, None),
        throttle: throttle(DesiredState::Busy, 5, None),
    };
    assert_eq!(
        effective(&sources, None, 10),
        Some((DesiredState::Closed, StoreActor::Account, None))
    );
    sources.account = account(DesiredState::Busy, 0, None);
    sources.throttle = throttle(DesiredState::Closed, 5, None);
    assert_eq!(
        effective(&sources, None, 10),
        Some((DesiredState::Closed, StoreActor::Throttle, None))
    );
}

#[test]
fn end_of_a_closing_opens_the_store() {
    let sources = DesiredBySource {
        account: account(DesiredState::Closed, 0, Some(30)),
        ..DesiredBySource::default()
    };
    let before = sources.effective(None, at(1)).unwrap();
    assert_eq!(sources.first_end(), Some(at(30)));
    let after = sources.effective(Some(&before), at(30)).unwrap();
    assert_eq!((after.state, after.by), (DesiredState::Open, StoreActor::Account));
    assert!(after.is_automatic());
    // It stays open.
    assert_eq!(sources.effective(Some(&after), at(40)), Some(after));
}

#[test]
fn opening_at_the_time_of_the_closing_is_the_users() {
    let mut sources = DesiredBySource {
        account: account(DesiredState::Closed, 0, Some(30)),
        ..DesiredBySource::default()
    };
    let before = sources.effective(None, at(0)).unwrap();
    sources.account = account(DesiredState::Open, 0, None);
    let after = sources.effective(Some(&before), at(0)).unwrap();
    assert_eq!(after.state, DesiredState::Open);
    assert!(!after.is_automatic(), "it does not wait for the platform's timer");
}

#[test]
fn closing_that_ends_on_a_closed_special_day_ends_with_the_day() {
    let sources = DesiredBySource {
        account: account(DesiredState::Closed, 0, Some(30)),
        schedule: schedule(DesiredState::Closed, 10, Some(600)),
        throttle: None,
    };
    assert_eq!(
        effective(&sources, None, 11),
        Some((DesiredState::Closed, StoreActor::Account, Some(at(600))))
    );
    assert_eq!(
        effective(&sources, None, 31),
        Some((DesiredState::Closed, StoreActor::Schedule, Some(at(600))))
    );
}

#[test]
fn opening_by_a_user_overrides_earlier_closings() {
    let mut sources = DesiredBySource {
        account: account(DesiredState::Open, 20, None),
        schedule: schedule(DesiredState::Closed, 10, Some(600)),
        throttle: throttle(DesiredState::Closed, 15, None),
    };
    assert_eq!(
        effective(&sources, None, 21),
        Some((DesiredState::Open, StoreActor::Account, None))
    );
    sources.throttle = throttle(DesiredState::Closed, 25, None);
    assert_eq!(
        effective(&sources, None, 26),
        Some((DesiredState::Closed, StoreActor::Throttle, None))
    );
}

#[test]
fn busy_minutes_are_those_that_the_platform_offers() {
    assert_eq!(fitting_minutes(Some(20), &[15, 30, 45]), 30);
    assert_eq!(fitting_minutes(None, &[15, 30, 45]), 15);
    assert_eq!(fitting_minutes(Some(60), &[45, 15]), 45);
    assert_eq!(fitting_minutes(Some(60), &[]), 60);
}

fn any_desired(by: StoreActor) -> impl Strategy<Value = Option<Desired>> {
    let state = prop::sample::select(DesiredState::ALL.to_vec());
    let parts = (state, 0i64..50, prop::option::of(0i64..100));
    prop::option::of(parts).prop_map(move |parts| {
        let (state, since, until) = parts?;
        desired(by, state, since, until.filter(|_| state != DesiredState::Open))
    })
}

proptest! {
    #[test]
    fn active_closing_by_a_user_always_takes_effect(
        account in any_desired(StoreActor::Account),
        schedule in any_desired(StoreActor::Schedule),
        throttle in any_desired(StoreActor::Throttle),
        now in 0i64..100
    ) {
        let sources = DesiredBySource { account, schedule, throttle };
        let desired = sources.effective(None, at(now));
        let is_closed_by_user = sources
            .account
            .as_ref()
            .is_some_and(|it| it.state == DesiredState::Closed && it.is_active(at(now)));
        if is_closed_by_user {
            prop_assert_eq!(desired.as_ref().map(|it| (it.state, it.by)), Some((DesiredState::Closed, StoreActor::Account)));
        }
        // An end that is sent is in the future.
        prop_assert!(desired.as_ref().is_none_or(|it| it.until.is_none_or(|until| until > at(now))));
        // The effective state stays until the next end.
        let again = sources.effective(desired.as_ref(), at(now));
        prop_assert_eq!(again.as_ref().map(|it| it.state), desired.as_ref().map(|it| it.state));
    }
}
