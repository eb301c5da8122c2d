//! What is expected of an endpoint in so many words.

use super::*;

fn caught_up() -> World {
    let mut world = World::new();
    world.take(&Step::Read);
    world.take(&Step::FinishReading);
    world
}

#[test]
fn what_is_handed_over_needs_no_reading() {
    let mut world = caught_up();
    for _ in 0..50 {
        world.take(&Step::CommitHere(2));
        world.take(&Step::Begin);
        assert!(!world.in_flight.is_empty());
        while !world.in_flight.is_empty() {
            world.end(0, true);
        }
        world.take(&Step::Write);
        world.take(&Step::FinishWriting);
        world.take(&Step::Read);
        assert!(world.reading.is_none(), "it was read though nothing was missing");
    }
}

#[test]
fn a_receiver_that_keeps_failing_is_narrowed_until_it_answers() {
    let mut world = caught_up();
    world.take(&Step::CommitHere(100));
    for _ in 0..3 {
        world.take(&Step::Begin);
        while !world.in_flight.is_empty() {
            world.end(0, false);
        }
    }
    assert!(world.endpoint.is_troubled());
    assert!(world.endpoint.queued() <= 16, "{}", world.endpoint.queued());
    world.take(&Step::Begin);
    assert_eq!(world.in_flight.len(), 0, "it rests");
    world.take(&Step::Pass(100));
    for expected in [1, 2, 4, 8, 16] {
        world.take(&Step::Read);
        world.take(&Step::FinishReading);
        world.take(&Step::Begin);
        assert_eq!(world.in_flight.len(), expected);
        // One answer that it has taken something is enough to be trusted with more.
        world.end(0, true);
        let rest = world.in_flight.len();
        world.take(&Step::Begin);
        assert!(world.in_flight.len() >= rest);
        while !world.in_flight.is_empty() {
            let width = world.in_flight.len();
            world.in_flight.truncate(width);
            let Attempt { delivery, kind, .. } = world.in_flight.pop().unwrap();
            world.endpoint.put_back(delivery, kind);
        }
    }
}

#[test]
fn retries_never_take_the_whole_width() {
    let mut world = caught_up();
    world.take(&Step::CommitHere(40));
    for _ in 0..6 {
        world.take(&Step::Begin);
        // Every other one fails, so that it is not narrowed.
        let mut took = false;
        while !world.in_flight.is_empty() {
            world.end(0, took);
            took = !took;
        }
        world.take(&Step::Write);
        world.take(&Step::FinishWriting);
    }
    world.take(&Step::Pass(20_000));
    for _ in 0..2 {
        world.take(&Step::Read);
        world.take(&Step::FinishReading);
    }
    world.take(&Step::Begin);
    let late = world
        .in_flight
        .iter()
        .filter(|it| it.kind == AttemptKind::Retry)
        .count();
    assert!((1..=MOST / 2).contains(&late), "{late}");
}

#[test]
fn hanging_attempts_leave_room_for_other_orders() {
    let mut world = caught_up();
    world.take(&Step::CommitHere(MOST - 1));
    world.take(&Step::Begin);
    assert_eq!(
        world.in_flight.len(),
        MOST - 1,
        "a new receiver has all its places at once"
    );
    world.take(&Step::CommitHere(1));
    world.take(&Step::Begin);
    assert_eq!(world.in_flight.len(), MOST);
}

#[test]
fn beyond_its_most_a_first_attempt_takes_the_place_of_the_oldest() {
    let mut world = caught_up();
    world.take(&Step::CommitHere(1));
    world.take(&Step::Begin);
    world.take(&Step::Pass(20));
    world.end(0, true);
    world.take(&Step::CommitHere(MOST));
    world.take(&Step::Begin);
    world.take(&Step::Pass(1_900));
    assert!(world.endpoint.preempt(world.instant).is_none(), "nothing waits");
    world.take(&Step::CommitHere(1));
    world.take(&Step::Begin);
    assert!(
        world.endpoint.preempt(world.instant).is_none(),
        "they have not had long enough"
    );
    let more_at = world.endpoint.more_at(world.instant);
    assert_eq!(more_at, Some(world.instant + Duration::from_millis(100)));
    world.take(&Step::Pass(100));
    let ended = world.endpoint.preempt(world.instant).unwrap();
    assert!(
        world.endpoint.preempt(world.instant).is_none(),
        "one place for the one that waits"
    );
    let index = world
        .in_flight
        .iter()
        .position(|it| it.delivery.id == ended)
        .unwrap();
    world.end(index, false);
    world.take(&Step::Begin);
    assert_eq!(world.in_flight.len(), MOST);
    assert_eq!(world.endpoint.queued(), 0);
}

#[test]
fn a_receiver_that_is_slow_by_nature_is_waited_for() {
    let mut world = caught_up();
    for _ in 0..3 {
        world.take(&Step::CommitHere(1));
        world.take(&Step::Begin);
        world.take(&Step::Pass(3_000));
        world.take(&Step::Read);
        world.take(&Step::FinishReading);
        world.end(0, true);
    }
    world.take(&Step::CommitHere(40));
    world.take(&Step::Begin);
    assert_eq!(world.in_flight.len(), MOST);
    world.take(&Step::Pass(9_000));
    assert!(world.endpoint.preempt(world.instant).is_none());
}

/// A receiver in trouble with some events queued; whether it has ever taken one.
fn troubled(has_answered: bool) -> World {
    let mut world = caught_up();
    if has_answered {
        world.take(&Step::CommitHere(1));
        world.take(&Step::Begin);
        world.end(0, true);
    }
    world.take(&Step::CommitHere(10));
    world.take(&Step::Begin);
    for _ in 0..3 {
        world.end(0, false);
    }
    while let Some(Attempt { delivery, kind, .. }) = world.in_flight.pop() {
        world.endpoint.put_back(delivery, kind);
    }
    assert!(world.endpoint.is_troubled());
    world
}

#[test]
fn a_receiver_that_answered_lately_and_hangs_is_offered_the_next_one() {
    for (has_answered, expected) in [(true, [1, 2, 3]), (false, [1, 1, 1])] {
        let mut world = troubled(has_answered);
        let mut in_flight = Vec::new();
        for _ in 0..3 {
            world.take(&Step::Pass(500));
            world.take(&Step::Read);
            world.take(&Step::FinishReading);
            world.take(&Step::Begin);
            in_flight.push(world.in_flight.len());
        }
        assert_eq!(in_flight, expected, "has answered: {has_answered}");
    }
}

#[test]
fn a_failure_that_began_before_the_last_success_says_nothing() {
    let mut world = caught_up();
    world.take(&Step::CommitHere(6));
    world.take(&Step::Begin);
    world.take(&Step::Pass(1));
    world.end(0, true);
    for _ in 0..5 {
        world.end(0, false);
    }
    assert!(!world.endpoint.is_troubled());
}

#[test]
fn a_new_address_ends_attempts_at_the_old_one_and_is_not_blamed_for_it() {
    let mut world = caught_up();
    world.take(&Step::CommitHere(10));
    world.take(&Step::Begin);
    for _ in 0..3 {
        world.end(0, false);
    }
    assert!(world.endpoint.is_troubled());
    assert_eq!(world.in_flight.len(), 7);
    world.take(&Step::Move {
        number: 1,
        is_told: true,
    });
    world.take(&Step::Read);
    world.take(&Step::FinishReading);
    assert!(world.in_flight.is_empty(), "none goes on to the old address");
    assert!(!world.endpoint.is_troubled());
    world.take(&Step::Read);
    world.take(&Step::FinishReading);
    world.take(&Step::Begin);
    assert_eq!(world.in_flight.len(), 7);
    assert!(world.in_flight.iter().all(|it| it.url.ends_with("/1")));
    // With no address at all they are skipped, at once.
    world.take(&Step::Move {
        number: 0,
        is_told: true,
    });
    for _ in 0..2 {
        world.take(&Step::Read);
        world.take(&Step::FinishReading);
        world.take(&Step::Begin);
    }
    world.take(&Step::Write);
    world.take(&Step::FinishWriting);
    assert_eq!(
        world.table.pending.len(),
        3,
        "those that have failed wait for their time"
    );
}

#[test]
fn retry_that_is_planned_during_a_read_keeps_its_time() {
    let mut world = caught_up();
    world.take(&Step::CommitHere(2));
    world.take(&Step::Begin);
    world.end(0, false);
    world.take(&Step::Write);
    world.take(&Step::FinishWriting);
    world.take(&Step::Pass(10_000));
    // Begins to read the retry that is due, and has read.
    world.take(&Step::Read);
    world.take(&Step::Read);
    assert!(world.reading.is_some());
    world.end(0, false);
    world.take(&Step::Write);
    world.take(&Step::FinishWriting);
    // The retry that is being read is due already.
    let planned = Timestamp::from_millis(world.now + 10_000);
    world.take(&Step::FinishReading);
    assert_eq!(world.endpoint.late_at(), Some(planned));
}

#[test]
fn everything_is_read_again_after_a_commit_that_may_have_released_events() {
    let mut world = caught_up();
    world.take(&Step::CommitHere(1));
    world.take(&Step::Begin);
    world.end(0, true);
    let settlements = world.endpoint.start_settling().unwrap();
    world.endpoint.not_settled(settlements);
    let settlements = world.endpoint.start_settling().unwrap();
    let now = Timestamp::from_millis(world.now);
    assert_eq!(world.endpoint.start_loading(now, world.instant), None);
    world.endpoint.settled(&settlements);
    let wanted = world.endpoint.start_loading(now, world.instant).unwrap();
    assert_eq!(wanted.after, 0);
}

#[test]
fn what_waits_in_memory_is_dropped_when_its_bodies_have_changed() {
    let mut world = caught_up();
    world.take(&Step::CommitHere(3));
    let queued = world.endpoint.queued();
    assert!(queued >= 3);
    let load = |erase_version, version| Load {
        after: 0,
        limit: 10,
        fresh: Vec::new(),
        late: Vec::new(),
        late_limit: 10,
        next_late: None,
        now: Timestamp::from_millis(world.now),
        last_place: 0,
        version,
        erase_version,
        address: address(None),
    };
    let (same, erased) = (load(0, 8), load(1, 9));
    world.endpoint.loaded(same, world.instant);
    assert_eq!(world.endpoint.queued(), queued);
    world.endpoint.loaded(erased, world.instant);
    assert_eq!(world.endpoint.queued(), 0);
    let wanted = world
        .endpoint
        .start_loading(Timestamp::from_millis(world.now), world.instant);
    assert_eq!(wanted.map(|it| it.after), Some(0));
}
