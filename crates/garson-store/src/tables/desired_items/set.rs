//! Writes the desired availability of an item.

use super::row::{DesiredItem, DesiredItemState, DesiredOrigin, Timer, end_kind};
use crate::engine::Insert;
use crate::tables::row::{column_list, value};
use crate::{Result, Tx, params};
use garson_core::explanation::Explanation;
use garson_core::id::{AccountId, IntegrationId, RestaurantId};
use garson_core::item::{Availability, UnavailableEnd};
use garson_core::product::ItemKey;
use garson_core::time::Timestamp;

/// A desired availability to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewDesiredItem<'a> {
    pub account_id: AccountId,
    pub restaurant_id: RestaurantId,
    pub integration_id: IntegrationId,
    pub key: &'a ItemKey,
    pub availability: Availability,
    pub by: DesiredOrigin,
    pub at: Timestamp,
    /// Pending, or a result that is known without asking the platform.
    pub state: DesiredItemState,
    pub message: Option<&'a Explanation>,
}

const INSERT: Insert<'_> = Insert {
    constants: &[("version", "1"), ("accepted_version", "0"), ("attempts", "0")],
    on_conflict: "ON CONFLICT (restaurant_id, provider, is_option, remote_id) DO UPDATE SET
         integration_id = excluded.integration_id, version = desired_items.version + 1,
         is_available = excluded.is_available, end_kind = excluded.end_kind, ends_at = excluded.ends_at,
         made_by = excluded.made_by, requested_at = excluded.requested_at, state = excluded.state,
         message = excluded.message, confirmed_at = NULL, timer = NULL, attempts = 0, due_at = excluded.due_at",
    ..Insert::into(
        "desired_items",
        column_list!(desired_items {
            restaurant_id,
            provider,
            is_option,
            remote_id,
            account_id,
            integration_id,
            is_available,
            end_kind,
            ends_at,
            made_by,
            requested_at,
            state,
            message,
            due_at
        }),
    )
};

/// Replaces the desired availability of an item.
pub fn set(tx: &mut Tx<'_>, new: &NewDesiredItem<'_>) -> Result<()> {
    let is_pending = new.state == DesiredItemState::Pending;
    let ends_at = match new.availability {
        Availability::Unavailable {
            end: UnavailableEnd::At(at) | UnavailableEnd::EndOfDay(at),
        } => Some(at),
        _ => None,
    };
    tx.insert_now(
        &INSERT,
        params![
            &new.restaurant_id,
            &new.key.provider,
            new.key.is_option,
            &new.key.id,
            &new.account_id,
            &new.integration_id,
            new.availability.is_available(),
            end_kind(new.availability),
            ends_at,
            new.by.as_str(),
            new.at,
            new.state.as_str(),
            new.message.map(Explanation::stored).as_ref(),
            is_pending.then_some(new.at),
        ],
    )?;
    Ok(())
}

/// Makes an item desired as available because its time is over, and keeps its timer; nothing if a later version was written.
pub fn end_time(tx: &mut Tx<'_>, desired: &DesiredItem, new: &NewDesiredItem<'_>) -> Result<()> {
    let is_current = tx.query_opt(
        "SELECT version FROM desired_items
         WHERE restaurant_id = ?1 AND provider = ?2 AND is_option = ?3 AND remote_id = ?4 AND version = ?5",
        &desired.params(params![desired.version]),
        value::<i64>,
    )?;
    if is_current.is_none() {
        return Ok(());
    }
    set(tx, new)?;
    tx.execute(
        "UPDATE desired_items SET timer = ?5
         WHERE restaurant_id = ?1 AND provider = ?2 AND is_option = ?3 AND remote_id = ?4",
        &desired.params(params![desired.timer.map(Timer::as_str)]),
    )?;
    Ok(())
}
