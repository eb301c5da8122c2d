//! Ownership, settlements, held events and manual sends.

use garson_model::check::{exhaust, exhaust_symmetric, walk};
use garson_model::delivery::{
    ALL_IS_DELIVERED, Delivery, Mutation, NOTHING_OVERTAKES, ONLY_ITS_OWNER_SETTLES,
};

/// One order whose events are refused or sent by hand.
fn one_order() -> Delivery {
    Delivery {
        manual_sends: 1,
        all_nodes_write: false,
        ..Delivery::small(1, 3)
    }
}

/// An order that the receiver accepts next to one that it always refuses.
fn next_to_a_refused_order() -> Delivery {
    Delivery {
        all_nodes_write: false,
        last_order_is_refused: true,
        ..Delivery::small(2, 2)
    }
}

/// Two orders that are retried at once, next to one that the receiver always refuses.
fn retries_at_once() -> Delivery {
    Delivery {
        width: 2,
        refusals: 2,
        has_backlog: true,
        last_order_is_refused: true,
        ..Delivery::small(3, 1)
    }
}

fn two_orders_of_three() -> Delivery {
    Delivery {
        refusals: 0,
        all_nodes_write: false,
        ..Delivery::small(2, 3)
    }
}

#[test]
fn two_nodes_deliver_two_orders_of_three_events() {
    exhaust_symmetric(Delivery {
        refusals: 1,
        has_backlog: true,
        ..two_orders_of_three()
    })
    .assert_holds();
}

#[test]
fn two_nodes_deliver_two_orders_of_three_events_with_two_faults() {
    exhaust_symmetric(Delivery {
        faults: 2,
        has_backlog: true,
        ..two_orders_of_three()
    })
    .assert_holds();
}

#[test]
fn two_nodes_deliver_two_orders_of_three_events_and_one_by_hand() {
    exhaust_symmetric(Delivery {
        manual_sends: 1,
        has_backlog: true,
        ..two_orders_of_three()
    })
    .assert_holds();
}

#[test]
#[ignore = "takes minutes"]
fn two_nodes_deliver_two_orders_of_three_events_while_they_are_written() {
    exhaust_symmetric(two_orders_of_three()).assert_holds();
}

#[test]
fn two_orders_are_written_while_they_are_delivered() {
    exhaust_symmetric(Delivery {
        refusals: 0,
        all_nodes_write: false,
        ..Delivery::small(2, 2)
    })
    .assert_holds();
}

#[test]
fn events_fail_twice() {
    exhaust_symmetric(Delivery {
        refusals: 2,
        manual_sends: 0,
        ..one_order()
    })
    .assert_holds();
}

#[test]
fn events_are_sent_by_hand() {
    exhaust_symmetric(one_order()).assert_holds();
}

#[test]
fn all_nodes_commit_events() {
    exhaust_symmetric(Delivery::small(1, 3)).assert_holds();
}

#[test]
fn two_attempts_at_once() {
    exhaust_symmetric(Delivery {
        width: 2,
        has_backlog: true,
        ..Delivery::small(2, 3)
    })
    .assert_holds();
}

#[test]
fn two_faults() {
    exhaust_symmetric(Delivery {
        faults: 2,
        all_nodes_write: false,
        ..Delivery::small(1, 2)
    })
    .assert_holds();
}

#[test]
fn refused_order_does_not_stop_another() {
    exhaust_symmetric(Delivery {
        refusals: 0,
        ..next_to_a_refused_order()
    })
    .assert_holds();
}

#[test]
fn refused_order_does_not_stop_another_that_is_sent_by_hand() {
    exhaust_symmetric(Delivery {
        refusals: 0,
        manual_sends: 1,
        has_backlog: true,
        ..next_to_a_refused_order()
    })
    .assert_holds();
}

#[test]
fn retries_at_once_do_not_delay_each_other() {
    exhaust_symmetric(retries_at_once()).assert_holds();
}

#[test]
fn random_walks_with_three_nodes_and_twelve_events() {
    let model = Delivery {
        nodes: 3,
        width: 3,
        faults: 6,
        refusals: 6,
        manual_sends: 3,
        is_walked: true,
        ..Delivery::small(3, 4)
    };
    walk(model, 7, 300_000).assert_holds();
}

#[test]
fn detects_settlements_without_a_fence() {
    let model = Delivery {
        refusals: 0,
        ..Delivery::small(1, 1)
    };
    exhaust(model.with(Mutation::NoFence)).assert_violates(ONLY_ITS_OWNER_SETTLES);
}

#[test]
fn detects_settlements_that_are_counted_twice() {
    exhaust(Delivery::small(1, 2).with(Mutation::NoAttemptsCheck)).assert_violates(NOTHING_OVERTAKES);
}

#[test]
fn detects_that_only_the_direct_predecessor_is_checked() {
    exhaust(one_order().with(Mutation::DirectPredecessorOnly)).assert_violates(NOTHING_OVERTAKES);
}

#[test]
fn detects_a_missing_version() {
    let model = Delivery {
        manual_sends: 1,
        ..next_to_a_refused_order()
    };
    exhaust(model.with(Mutation::NoVersion)).assert_violates(ALL_IS_DELIVERED);
}

#[test]
fn detects_a_retry_time_that_a_read_replaces() {
    exhaust(retries_at_once().with(Mutation::RetryTimeReplaced)).assert_violates(ALL_IS_DELIVERED);
}

#[test]
fn detects_a_release_that_is_forgotten_after_an_unknown_commit() {
    exhaust(next_to_a_refused_order().with(Mutation::ReleaseForgotten)).assert_violates(ALL_IS_DELIVERED);
}
