//! Compares a menu with the availability that the platform has accepted for its items.

use crate::app::App;
use crate::flow::products::record;
use garson_core::explanation::{Explanation, PlatformFailure};
use garson_core::product::{ItemKey, ListedItem};
use garson_core::restaurant_history::HistoryAction;
use garson_core::time::Timestamp;
use garson_store::tables::desired_items::{DesiredItem, DesiredItemState};
use garson_store::tables::menus::MenuRead;
use garson_store::tables::{desired_items, platform_items};
use garson_store::{StoreError, Tx};
use std::collections::HashMap;
use std::time::Duration;

/// How late a platform's own timer may be.
const TIMER_TOLERANCE: Duration = Duration::from_secs(120);

/// What a menu shows of a desired availability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Confirmed,
    /// The platform has accepted but not applied it.
    NotDone,
    /// The platform had applied it and has changed it since.
    Overridden,
}

/// Records which items the menu confirms and which it contradicts. Requests that were
/// made after the menu was requested are not compared with it.
pub async fn compare_desired(
    app: &App,
    read: &MenuRead,
    items: &[ListedItem],
    started_at: Timestamp,
) -> Result<(), StoreError> {
    let (account, restaurant, provider) = (read.account_id, read.restaurant_id, read.provider);
    let accepted = app
        .store
        .read(move |tx| desired_items::accepted(tx, restaurant, provider))
        .await?;
    if accepted.is_empty() {
        return Ok(());
    }
    let shown: HashMap<&ItemKey, bool> = items
        .iter()
        .filter_map(|item| Some((&item.key, item.is_available?)))
        .collect();
    let verdicts: Vec<(DesiredItem, Verdict)> = accepted
        .into_iter()
        .filter_map(|desired| {
            let verdict = judge(&desired, *shown.get(&desired.key)?, started_at)?;
            Some((desired, verdict))
        })
        .collect();
    if verdicts.is_empty() {
        return Ok(());
    }
    for (desired, _) in verdicts
        .iter()
        .filter(|(_, verdict)| *verdict == Verdict::NotDone)
    {
        tracing::warn!(%restaurant, %provider, item = %desired.key.id, "the platform's menu contradicts what it has accepted");
    }
    app.store
        .write(account, move |tx| {
            verdicts
                .iter()
                .try_for_each(|(desired, verdict)| settle(tx, desired, *verdict, started_at))
        })
        .await
}

fn judge(desired: &DesiredItem, is_available: bool, started_at: Timestamp) -> Option<Verdict> {
    if desired
        .accepted_at
        .is_none_or(|accepted_at| accepted_at >= started_at)
    {
        return None;
    }
    // Its time is up: the worker ends it.
    if desired
        .ends_at()
        .is_some_and(|at| at <= started_at.plus(TIMER_TOLERANCE))
    {
        return None;
    }
    let is_as_desired = desired.availability.is_available() == is_available;
    match (is_as_desired, desired.confirmed_at) {
        (true, None) => Some(Verdict::Confirmed),
        (true, Some(_)) => None,
        (false, None) => (desired.state == DesiredItemState::Done).then_some(Verdict::NotDone),
        (false, Some(_)) => Some(Verdict::Overridden),
    }
}

fn settle(tx: &mut Tx<'_>, desired: &DesiredItem, verdict: Verdict, at: Timestamp) -> Result<(), StoreError> {
    match verdict {
        Verdict::Confirmed => {
            desired_items::record_reading(tx, desired, DesiredItemState::Done, None, Some(at))?
        }
        Verdict::NotDone => {
            let message = Explanation::from(PlatformFailure::NotDone);
            let is_current =
                desired_items::record_reading(tx, desired, DesiredItemState::Refused, Some(&message), None)?;
            let item = platform_items::find(tx, desired.restaurant_id, &desired.key)?;
            if let Some(item) = item.filter(|_| is_current) {
                let action = HistoryAction::ProductUndone;
                record::of_item(tx, desired, action, Some(&message), &item.item.name, at)?;
            }
            is_current
        }
        Verdict::Overridden => desired_items::remove(tx, desired)?,
    };
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use garson_core::id::{AccountId, IntegrationId, RestaurantId};
    use garson_core::item::{Availability, UnavailableEnd};
    use garson_core::platform::Provider;
    use garson_store::tables::desired_items::DesiredOrigin;
    use uuid::Uuid;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(seconds * 1_000)
    }

    fn off_since(accepted: i64, end: UnavailableEnd) -> DesiredItem {
        DesiredItem {
            restaurant_id: RestaurantId(Uuid::nil()),
            key: ItemKey {
                provider: Provider::new("getir"),
                is_option: false,
                id: "1".to_owned(),
            },
            account_id: AccountId(Uuid::nil()),
            integration_id: IntegrationId(Uuid::nil()),
            version: 1,
            availability: Availability::Unavailable { end },
            by: DesiredOrigin::Account,
            requested_at: at(accepted),
            state: DesiredItemState::Done,
            message: None,
            accepted_version: 1,
            accepted_at: Some(at(accepted)),
            confirmed_at: None,
            timer: None,
            attempts: 0,
            sending: None,
            due_at: None,
        }
    }

    #[test]
    fn menu_confirms_or_contradicts_what_was_accepted_before_it() {
        let desired = off_since(10, UnavailableEnd::Never);
        assert_eq!(judge(&desired, false, at(20)), Some(Verdict::Confirmed));
        assert_eq!(judge(&desired, true, at(20)), Some(Verdict::NotDone));
        assert_eq!(
            judge(&desired, true, at(10)),
            None,
            "accepted while the menu was read"
        );
    }

    #[test]
    fn later_change_by_the_platform_overrides_a_confirmed_state() {
        let mut desired = off_since(10, UnavailableEnd::Never);
        desired.confirmed_at = Some(at(20));
        assert_eq!(judge(&desired, true, at(500)), Some(Verdict::Overridden));
        assert_eq!(judge(&desired, false, at(500)), None);
    }

    #[test]
    fn item_near_its_end_is_not_judged() {
        let desired = off_since(10, UnavailableEnd::At(at(600)));
        assert_eq!(judge(&desired, true, at(590)), None);
        assert_eq!(judge(&desired, true, at(100)), Some(Verdict::NotDone));
    }
}
