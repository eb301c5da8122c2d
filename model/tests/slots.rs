//! Slots that tenants share.

use garson_model::check::{exhaust, walk};
use garson_model::slots::{Mutation, OTHERS_ARE_SERVED, SlotModel};

#[test]
fn tenant_that_never_answers_does_not_stop_another() {
    exhaust(SlotModel::small()).assert_holds();
}

#[test]
fn random_walks_with_five_tenants() {
    let model = SlotModel {
        tenants: 5,
        events: 4,
        width: 3,
        slots: [4, 2],
        rejoins: 3,
        is_walked: true,
        mutation: None,
    };
    walk(model, 7, 100_000).assert_holds();
}

#[test]
fn detects_that_finished_work_is_not_drained() {
    exhaust(SlotModel::small().with(Mutation::NoDraining)).assert_violates(OTHERS_ARE_SERVED);
}

#[test]
fn detects_that_nothing_is_preempted() {
    exhaust(SlotModel::small().with(Mutation::NoPreemption)).assert_violates(OTHERS_ARE_SERVED);
}

#[test]
fn detects_that_hanging_attempts_of_small_tenants_are_kept() {
    exhaust(SlotModel::small().with(Mutation::SlowStays)).assert_violates(OTHERS_ARE_SERVED);
}
