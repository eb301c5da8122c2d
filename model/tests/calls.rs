//! Leases and fencing of platform calls, and the read-back before a repetition.

use garson_model::calls::{Calls, Mutation, NEWEST_LEASE_WRITES, NO_BLIND_REPEAT, NO_DISTURBANCE};
use garson_model::check::{exhaust, exhaust_symmetric, walk};

#[test]
fn call_is_never_repeated_without_a_read_back() {
    exhaust_symmetric(Calls::small(1)).assert_holds();
}

#[test]
fn calls_of_an_order_follow_each_other() {
    exhaust_symmetric(Calls {
        faults: 1,
        ..Calls::small(2)
    })
    .assert_holds();
}

#[test]
fn question_of_a_client_is_sent_once() {
    exhaust_symmetric(Calls {
        has_question: true,
        ..Calls::small(1)
    })
    .assert_holds();
}

#[test]
fn step_that_others_take_on_the_platform() {
    exhaust_symmetric(Calls {
        faults: 1,
        may_be_done_elsewhere: true,
        ..Calls::small(1)
    })
    .assert_holds();
}

#[test]
fn stopping_process_sends_nothing_when_another_takes_its_address() {
    exhaust_symmetric(Calls {
        faults: 1,
        with_supersede: true,
        ..Calls::small(1)
    })
    .assert_holds();
}

#[test]
fn counted_attempts_let_only_the_newest_lease_write() {
    exhaust_symmetric(Calls {
        uncounts_attempts: false,
        checks_newest_lease: true,
        ..Calls::small(1)
    })
    .assert_holds();
}

/// As in the code. The stale attempt writes only while nobody makes the call, and nothing was sent since; the test above and
/// the other properties show that this is the only consequence.
#[test]
fn uncounted_attempts_let_a_stale_attempt_write_between_leases() {
    exhaust(Calls {
        checks_newest_lease: true,
        ..Calls::small(1)
    })
    .assert_violates(NEWEST_LEASE_WRITES);
}

#[test]
fn random_walks_with_three_nodes_and_three_calls() {
    let model = Calls {
        nodes: 3,
        faults: 6,
        trouble: 4,
        held_back: 3,
        may_be_done_elsewhere: true,
        ..Calls::small(3)
    };
    walk(model, 7, 1_000_000).assert_holds();
}

#[test]
fn detects_that_the_lease_is_not_checked_before_sending() {
    exhaust(Calls::small(1).with(Mutation::NoSecondLeaseCheck)).assert_violates(NO_BLIND_REPEAT);
}

#[test]
fn detects_that_the_node_id_is_not_checked_before_sending() {
    exhaust(Calls::small(1).with(Mutation::NoNodeCheck)).assert_violates(NO_BLIND_REPEAT);
}

#[test]
fn detects_results_without_a_check_of_the_attempts() {
    exhaust(Calls::small(1).with(Mutation::NoAttemptsCheck)).assert_violates(NO_DISTURBANCE);
}

#[test]
fn detects_that_a_call_of_a_dead_node_counts_as_clear() {
    exhaust(Calls::small(1).with(Mutation::TakenOverAsClear)).assert_violates(NO_BLIND_REPEAT);
}

#[test]
fn detects_that_a_stopping_process_sends() {
    let model = Calls {
        with_supersede: true,
        ..Calls::small(1)
    };
    exhaust(model.with(Mutation::StoppingProcessSends)).assert_violates(NO_BLIND_REPEAT);
}

#[test]
fn detects_a_call_that_counts_as_unsent_after_it_was_sent() {
    let model = Calls {
        may_be_done_elsewhere: true,
        ..Calls::small(1)
    };
    exhaust(model.with(Mutation::HeldBackAfterSend)).assert_violates(NO_BLIND_REPEAT);
}
