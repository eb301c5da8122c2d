//! Plays one scenario and judges it.

mod deliveries;
mod disturbances;
mod orders;
mod security;

use super::args::{BodyForm, Profile};
use super::cases::{Case, Needs, Play};
use super::report::Finding;
use super::trial::{Step, Trial};
use super::world::World;
use std::time::{Duration, Instant};

/// The longest that a scenario may take, besides the time that the POS has to accept its orders.
const LIMIT: Duration = Duration::from_secs(150);

pub async fn play(world: &World, case: &'static Case) -> Finding {
    if let Some(why) = inapplicable(world, case) {
        return Finding::not_applicable(case, why);
    }
    let mut trial = Trial::new(world, case);
    let started = Instant::now();
    let limit = LIMIT + world.accept_limit;
    let result = match tokio::time::timeout(limit, steps(&mut trial)).await {
        Ok(result) => result,
        Err(_) => super::trial::failed(format!("it was not finished within {} s", limit.as_secs())),
    };
    world.relay.clear_rules();
    Finding::new(
        case,
        result.map_err(|error| error.0),
        trial.evidence(),
        started.elapsed(),
    )
}

/// Why a scenario says nothing about this POS.
fn inapplicable(world: &World, case: &Case) -> Option<&'static str> {
    let is_signed = world.relay.pos().is_some_and(super::pos::Pos::is_signed);
    match case.needs {
        Needs::Signatures if !is_signed => Some("events are not signed: --secret-file signs them"),
        Needs::Content if world.body == BodyForm::Event && world.profile == Profile::Receive => {
            Some("the POS sees no content of orders: --body with-order sends it")
        }
        _ => None,
    }
}

async fn steps(trial: &mut Trial<'_>) -> Step {
    match trial.case.play {
        Play::Order(change) => orders::one(trial, change).await,
        Play::LifeCycle => orders::life_cycle(trial).await,
        Play::TurkishLetters => orders::turkish_letters(trial).await,
        Play::PaymentTypes => orders::payment_types(trial).await,
        Play::Scheduled => orders::scheduled(trial).await,
        Play::Couriers => orders::couriers(trial).await,
        Play::Revision => orders::revision(trial).await,
        Play::SameNumber => orders::same_number(trial).await,
        Play::Burst => orders::burst(trial).await,
        Play::DuplicateEvent => deliveries::duplicate_event(trial).await,
        Play::DuplicatePush => deliveries::duplicate_push(trial).await,
        Play::OutOfOrder => deliveries::out_of_order(trial).await,
        Play::CancelBeforeAccept => deliveries::cancel_before_accept(trial).await,
        Play::CancelAfterAccept => deliveries::cancel_after_accept(trial).await,
        Play::CancelOnTheWay => deliveries::cancel_on_the_way(trial).await,
        Play::LostAnswer => disturbances::lost_answer(trial).await,
        Play::Outage => disturbances::outage(trial).await,
        Play::SlowSender => disturbances::slow_sender(trial).await,
        Play::UnknownFields => disturbances::unknown_fields(trial).await,
        Play::UnknownKind => disturbances::unknown_kind(trial).await,
        Play::Restart => disturbances::restart(trial).await,
        Play::Redelivery => disturbances::redelivery(trial).await,
        Play::WrongKey => security::wrong_key(trial).await,
        Play::Signature => security::signature(trial).await,
    }
}
