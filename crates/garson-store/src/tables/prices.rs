//! Price changes: first a preview, then rows that are sent to platforms, with the result of each.

use crate::engine::Insert;
use crate::tables::row::{column_list, columns, each, insert, tuple, value};
use crate::{Result, StoreError, Tx, params};
use garson_core::explanation::Explanation;
use garson_core::id::{AccountId, IntegrationId, NodeId, PricePushId, ProductId, RestaurantId};
use garson_core::money::Minor;
use garson_core::price_change::PriceScope;
use garson_core::product::ItemKey;
use garson_core::time::Timestamp;

/// The progress of a price change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PushState {
    Preview,
    Running,
    Done,
}

impl PushState {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Preview => "preview",
            Self::Running => "running",
            Self::Done => "done",
        }
    }

    fn named(name: &str) -> Result<Self> {
        let all = [Self::Preview, Self::Running, Self::Done];
        let found = all.into_iter().find(|state| state.as_str() == name);
        found.ok_or_else(|| StoreError::corrupt("a change of prices has an unknown state"))
    }
}

/// The progress of one price.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PriceState {
    Preview,
    Pending,
    /// The platform is processing it.
    Queued,
    Done,
    Failed,
    Unsupported,
}

impl PriceState {
    const ALL: [Self; 6] = [
        Self::Preview,
        Self::Pending,
        Self::Queued,
        Self::Done,
        Self::Failed,
        Self::Unsupported,
    ];

    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Preview => "preview",
            Self::Pending => "pending",
            Self::Queued => "queued",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Unsupported => "unsupported",
        }
    }

    fn named(name: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|state| state.as_str() == name);
        found.ok_or_else(|| StoreError::corrupt("a price has an unknown state"))
    }

    /// Is it final?
    #[must_use]
    pub const fn is_settled(self) -> bool {
        matches!(self, Self::Done | Self::Failed | Self::Unsupported)
    }
}

fn scope_text(scope: PriceScope) -> &'static str {
    match scope {
        PriceScope::Branch => "branch",
        PriceScope::Chain => "chain",
    }
}

fn scope_named(name: &str) -> Result<PriceScope> {
    match name {
        "branch" => Ok(PriceScope::Branch),
        "chain" => Ok(PriceScope::Chain),
        _ => Err(StoreError::corrupt("a price has an unknown scope")),
    }
}

/// A price change of a restaurant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PricePush {
    pub id: PricePushId,
    pub restaurant_id: RestaurantId,
    pub state: PushState,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
    pub started_at: Option<Timestamp>,
    pub finished_at: Option<Timestamp>,
}

columns! {
    const PUSH = "" of price_pushes { id, restaurant_id, state: String, created_at, expires_at, started_at, finished_at }
    fn push() -> PricePush {
        let state = PushState::named(&state)?;
        Ok(PricePush { id, restaurant_id, state, created_at, expires_at, started_at, finished_at })
    }
}

/// One price of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PriceItem {
    pub push_id: PricePushId,
    pub number: i64,
    pub account_id: AccountId,
    pub integration_id: IntegrationId,
    pub key: ItemKey,
    pub product_id: ProductId,
    pub name: String,
    pub old_price: Option<Minor>,
    pub new_price: Minor,
    pub scope: PriceScope,
    pub state: PriceState,
    pub message: Option<Explanation>,
    pub batch: Option<String>,
    pub attempts: i64,
    /// A request was being sent when the row was last claimed.
    pub is_sending: bool,
    pub due_at: Option<Timestamp>,
}

columns! {
    const ITEM = "p." of price_items {
        push_id, number, account_id, integration_id, provider, is_option, remote_id, product_id, name, old_price, new_price,
        scope: String, state: String, message, batch, attempts, is_sending, due_at
    }
    fn item() -> PriceItem {
        Ok(PriceItem {
            push_id,
            number,
            account_id,
            integration_id,
            key: ItemKey { provider, is_option, id: remote_id },
            product_id,
            name,
            old_price,
            new_price,
            scope: scope_named(&scope)?,
            state: PriceState::named(&state)?,
            message,
            batch,
            attempts,
            is_sending,
            due_at,
        })
    }
}

const INSERT_ITEM: Insert<'_> = Insert {
    constants: &[("attempts", "0"), ("is_sending", "0")],
    ..Insert::into(
        "price_items",
        column_list!(price_items {
            push_id,
            number,
            account_id,
            integration_id,
            provider,
            is_option,
            remote_id,
            product_id,
            name,
            old_price,
            new_price,
            scope,
            state,
            message
        }),
    )
};

/// Stores a preview.
pub fn add(
    tx: &mut Tx<'_>,
    account: AccountId,
    push: &PricePush,
    made_by: &str,
    items: &[PriceItem],
) -> Result<()> {
    insert!(
        tx,
        price_pushes {
            id: &push.id,
            account_id: &account,
            restaurant_id: &push.restaurant_id,
            state: push.state.as_str(),
            made_by: made_by,
            created_at: push.created_at,
            expires_at: push.expires_at,
        }
    )?;
    for item in items {
        let message = item.message.as_ref().map(Explanation::stored);
        tx.insert(
            &INSERT_ITEM,
            params![
                &item.push_id,
                item.number,
                &account,
                &item.integration_id,
                &item.key.provider,
                item.key.is_option,
                &item.key.id,
                &item.product_id,
                &item.name,
                item.old_price,
                item.new_price,
                scope_text(item.scope),
                item.state.as_str(),
                message.as_ref(),
            ],
        )?;
    }
    Ok(())
}

pub fn find(
    tx: &mut Tx<'_>,
    account: AccountId,
    restaurant: RestaurantId,
    id: PricePushId,
) -> Result<Option<PricePush>> {
    let sql =
        format!("SELECT {PUSH} FROM price_pushes WHERE id = ?1 AND restaurant_id = ?2 AND account_id = ?3");
    tx.query_opt(&sql, params![&id, &restaurant, &account], each(push))
}

pub fn items(tx: &mut Tx<'_>, id: PricePushId) -> Result<Vec<PriceItem>> {
    let sql = format!("SELECT {ITEM} FROM price_items p WHERE p.push_id = ?1 ORDER BY p.number");
    tx.query(&sql, params![&id], each(item))
}

/// Starts sending a preview; `false` if that was already started.
pub fn start(tx: &mut Tx<'_>, id: PricePushId, at: Timestamp) -> Result<bool> {
    let rows = tx.execute(
        "UPDATE price_pushes SET state = 'running', started_at = ?2 WHERE id = ?1 AND state = 'preview'",
        params![&id, at],
    )?;
    if rows == 1 {
        tx.execute(
            "UPDATE price_items SET state = 'pending', due_at = ?2 WHERE push_id = ?1 AND state = 'preview'",
            params![&id, at],
        )?;
    }
    Ok(rows == 1)
}

/// When the next price is due.
pub fn next_due(tx: &mut Tx<'_>) -> Result<Option<Timestamp>> {
    let sql = "SELECT due_at FROM price_items WHERE due_at IS NOT NULL ORDER BY due_at LIMIT 1";
    tx.query_opt(sql, params![], value)
}

/// Integrations with due prices, at most `limit`, with one index step for each integration that has any.
pub fn due_integrations(
    tx: &mut Tx<'_>,
    now: Timestamp,
    limit: usize,
) -> Result<Vec<(IntegrationId, AccountId)>> {
    let mut last: Vec<u8> = Vec::new();
    let mut found = Vec::new();
    let sql = "SELECT integration_id, account_id, due_at FROM price_items
               WHERE due_at IS NOT NULL AND integration_id > ?1 ORDER BY integration_id, due_at LIMIT 1";
    while found.len() < limit {
        let next: Option<(IntegrationId, AccountId, Timestamp)> = tx.query_opt(sql, params![&last], tuple)?;
        let Some((integration, account, due_at)) = next else {
            break;
        };
        last = integration.as_bytes().to_vec();
        if due_at <= now {
            found.push((integration, account));
        }
    }
    Ok(found)
}

/// Claims due prices of one change of an integration for this node, and returns them as they were before. Prices of the same batch are
/// claimed together.
pub fn claim(
    tx: &mut Tx<'_>,
    integration: IntegrationId,
    node: NodeId,
    now: Timestamp,
    limit: usize,
) -> Result<Vec<PriceItem>> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let sql = format!(
        "SELECT {ITEM} FROM price_items p
         WHERE p.integration_id = ?1 AND p.due_at IS NOT NULL AND p.due_at <= ?2
           AND (p.node IS NULL OR p.node NOT IN (SELECT id FROM nodes)) AND ?3 IN (SELECT id FROM nodes)
         ORDER BY p.integration_id, p.due_at, p.push_id, p.number LIMIT ?4"
    );
    let mut found = tx.query(&sql, params![&integration, now, &node, limit], each(item))?;
    let Some(first) = found.first().cloned() else {
        return Ok(found);
    };
    found.retain(|it| {
        (it.push_id, it.state, &it.batch, it.is_sending)
            == (first.push_id, first.state, &first.batch, first.is_sending)
    });
    for taken in &found {
        tx.execute(
            "UPDATE price_items SET node = ?3, is_sending = CASE WHEN state = 'pending' THEN 1 ELSE 0 END
             WHERE push_id = ?1 AND number = ?2",
            params![&taken.push_id, taken.number, &node],
        )?;
    }
    Ok(found)
}

/// The result of a price that this node has claimed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PriceEnd {
    pub state: PriceState,
    pub message: Option<Explanation>,
    pub batch: Option<String>,
    pub attempts: i64,
    /// The request may have been carried out: the platform's menu is read before it is repeated.
    pub is_unclear: bool,
    pub due_at: Option<Timestamp>,
}

pub fn conclude(tx: &mut Tx<'_>, item: &PriceItem, node: NodeId, end: &PriceEnd) -> Result<()> {
    tx.execute(
        "UPDATE price_items SET node = NULL, is_sending = ?4, state = ?5, message = ?6, batch = ?7, attempts = ?8,
                due_at = ?9
         WHERE push_id = ?1 AND number = ?2 AND node = ?3",
        params![
            &item.push_id,
            item.number,
            &node,
            end.is_unclear,
            end.state.as_str(),
            end.message.as_ref().map(Explanation::stored).as_ref(),
            end.batch.as_ref(),
            end.attempts,
            end.due_at,
        ],
    )?;
    Ok(())
}

/// Ends a change if all of its prices are final; `true` if this call ended it.
pub fn finish_if_settled(tx: &mut Tx<'_>, id: PricePushId, at: Timestamp) -> Result<bool> {
    let rows = tx.execute(
        "UPDATE price_pushes SET state = 'done', finished_at = ?2
         WHERE id = ?1 AND state = 'running'
           AND NOT EXISTS (SELECT 1 FROM price_items WHERE push_id = ?1
                           AND state NOT IN ('done', 'failed', 'unsupported'))",
        params![&id, at],
    )?;
    Ok(rows > 0)
}

/// Removes one change from before a timestamp that is not running; `false` if there is none.
pub fn remove_old(tx: &mut Tx<'_>, before: Timestamp) -> Result<bool> {
    let old: Option<PricePushId> = tx.query_opt(
        "SELECT id FROM price_pushes WHERE created_at < ?1 AND state <> 'running' ORDER BY created_at LIMIT 1",
        params![before],
        value,
    )?;
    let Some(id) = old else { return Ok(false) };
    tx.execute("DELETE FROM price_items WHERE push_id = ?1", params![&id])?;
    tx.execute("DELETE FROM price_pushes WHERE id = ?1", params![&id])?;
    Ok(true)
}
