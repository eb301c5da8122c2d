//! An order as its row has it, without its content.

use crate::tables::json::from_json;
use crate::tables::row::columns;
use crate::{Result, StoreError};
use garson_core::explanation::Explanation;
use garson_core::order::{Flag, Order, ProviderSync, Status};
use garson_core::time::Timestamp;

columns! {
    pub(crate) const COLUMNS = "o." of orders {
        id, account_id, restaurant_id, integration_id, provider, provider_order_id, identity, short_code, status,
        provider_status, provider_data, sequence, total, currency, payment_type, payment_code, placed_at, accept_by,
        scheduled_for, ready_at, reported_at, created_at, updated_at, cancellation: Option<String>,
        sync_state: String, sync_due_at, sync_message, flag: Option<String>, revision, content_version,
        preparation_minutes: Option<i64>,
    }
    fn order() -> Order {
        Ok(Order {
            id,
            account_id,
            restaurant_id,
            integration_id,
            provider,
            provider_order_id,
            identity,
            short_code,
            status,
            provider_status,
            provider_data,
            sequence,
            total,
            currency,
            payment_type,
            payment_code,
            placed_at,
            accept_by,
            scheduled_for,
            ready_at,
            reported_at,
            created_at,
            updated_at,
            cancellation: cancellation.map(|json| from_json("cancellation", &json)).transpose()?,
            sync: sync(&sync_state, sync_due_at, sync_message)?,
            flag: flag.and_then(|name| Flag::named(&name)),
            revision,
            content_version,
            preparation_minutes: preparation_minutes.and_then(|minutes| u32::try_from(minutes).ok()),
        })
    }
}

/// Orders whose restaurants are not deleted.
pub(crate) const LIVE: &str =
    "FROM orders o JOIN restaurants r ON r.id = o.restaurant_id AND r.deleted_at IS NULL";

/// Open orders. A literal, because it is the condition of a partial index.
pub(crate) const IS_OPEN: &str = "status < 900";
const _: () = assert!(Status::Delivered.code() == 900);

/// Orders that count in payment totals.
pub(crate) const IS_NOT_CANCELLED: &str = "status < 1500";
const _: () = assert!(Status::CancelledByPlatform.code() == 1500 && Status::Delivered.code() < 1500);

fn sync(state: &str, due_at: Option<Timestamp>, message: Option<Explanation>) -> Result<ProviderSync> {
    match (state, due_at) {
        ("done", _) => Ok(ProviderSync::Done),
        ("not_needed", _) => Ok(ProviderSync::NotNeeded),
        ("pending", Some(due_at)) => Ok(ProviderSync::Pending { due_at }),
        ("failed", _) => Ok(ProviderSync::Failed {
            message: message.unwrap_or_default(),
        }),
        _ => Err(StoreError::corrupt("a stored order has an unknown sync state")),
    }
}

/// The values of `sync_state`, `sync_due_at` and `sync_message`.
pub(crate) fn sync_columns(sync: &ProviderSync) -> (&'static str, Option<Timestamp>, Option<String>) {
    let state = sync.as_str();
    match sync {
        ProviderSync::Done | ProviderSync::NotNeeded => (state, None, None),
        ProviderSync::Pending { due_at } => (state, Some(*due_at), None),
        ProviderSync::Failed { message } => (state, None, Some(message.stored())),
    }
}
