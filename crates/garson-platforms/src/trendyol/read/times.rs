//! When the courier comes, and when the customer was promised the order.

use super::stage::Stage;
use crate::common::timestamp::Millis;
use crate::common::tolerant::note;
use crate::trendyol::wire::{self, text};
use garson_core::order::{Courier, ReadingNote};
use garson_core::time::Timestamp;
use std::time::Duration;

/// A day: nothing that is cooked takes longer.
const MAX_MINUTES: u64 = 24 * 60;

/// The earliest time at which the platform's courier is expected. 0 and the state `FAILED` mean that none is known.
pub fn courier_pickup(package: &wire::Package<'_>, courier: Courier) -> Option<Timestamp> {
    let has_failed = text(&package.pickup_eta_state).is_some_and(|state| state.trim() == "FAILED");
    if courier != Courier::Platform || has_failed {
        return None;
    }
    [
        package.estimated_pickup_time_min,
        package.estimated_pickup_time_max,
    ]
    .into_iter()
    .flatten()
    .map(|Millis(at)| at)
    .find(|at| at.as_millis() > 0 && at.text().is_some())
}

/// What the customer was promised: the later end of `eta` (`30-40 dk`), counted from the time of the order. A package that is
/// no longer new may show what is left of it, so it does not count there.
pub fn promised(
    package: &wire::Package<'_>,
    stage: Stage,
    notes: &mut Vec<ReadingNote>,
) -> Option<Timestamp> {
    let eta = text(&package.eta).map(str::trim).filter(|eta| !eta.is_empty())?;
    let Some(minutes) = minutes(eta) else {
        notes.push(note(
            "eta",
            format!("is no number of minutes and was left out: {eta}"),
        ));
        return None;
    };
    let created = package
        .package_creation_date
        .filter(|_| stage == Stage::Created)?
        .0;
    let promised = created.plus(Duration::from_secs(minutes * 60));
    promised.text().map(|_| promised)
}

/// The last number of `30-40 dk`, `30 - 40 dk` or `40`.
fn minutes(eta: &str) -> Option<u64> {
    let numbers = eta.trim_end_matches(|c: char| c.is_alphabetic() || c == '.');
    let ends: Option<Vec<u64>> = numbers
        .split(['-', '–'])
        .map(|number| number.trim().parse().ok())
        .collect();
    let last = ends?.into_iter().max()?;
    (1..=MAX_MINUTES).contains(&last).then_some(last)
}

#[cfg(test)]
mod tests {
    use super::minutes;

    #[test]
    fn the_later_end_of_an_estimate_counts() {
        for (eta, expected) in [
            ("30-40 dk", Some(40)),
            ("32 - 47 dk.", Some(47)),
            ("25–35", Some(35)),
            ("20 dakika", Some(20)),
            ("", None),
            ("dk", None),
            ("-7.5", None),
            ("0 dk", None),
            ("19:30", None),
            ("5000000000000000000000", None),
        ] {
            assert_eq!(minutes(eta), expected, "{eta}");
        }
    }
}
