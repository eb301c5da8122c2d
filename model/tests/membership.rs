//! Heartbeats, leases and the removal of silent nodes.

use garson_model::check::exhaust;
use garson_model::membership::{
    LEASE_ENDS_FIRST, Membership, Mutation, NEW_ID, NOT_AFTER_AN_OUTAGE, SILENT_FIRST,
};

#[test]
fn silent_node_is_removed_only_after_its_lease_has_ended() {
    exhaust(Membership::default()).assert_holds();
}

#[test]
fn detects_a_lease_that_counts_from_the_answer() {
    exhaust(Membership::with(Mutation::LeaseFromAnswer)).assert_violates(LEASE_ENDS_FIRST);
}

#[test]
fn detects_a_lease_that_is_too_long() {
    exhaust(Membership::with(Mutation::LongLease)).assert_violates(LEASE_ENDS_FIRST);
}

#[test]
fn detects_removals_right_after_an_outage() {
    exhaust(Membership::with(Mutation::NoObservationGap)).assert_violates(NOT_AFTER_AN_OUTAGE);
}

#[test]
fn detects_the_removal_of_a_node_that_is_alive_again() {
    exhaust(Membership::with(Mutation::NoCounterCheck)).assert_violates(SILENT_FIRST);
}

#[test]
fn detects_an_id_that_is_used_after_its_removal() {
    exhaust(Membership::with(Mutation::SameIdAfterRemoval)).assert_violates(NEW_ID);
}
