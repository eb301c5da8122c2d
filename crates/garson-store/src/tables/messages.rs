//! Messages to people: written in the transaction that decides to send them, sent afterwards.
//!
//! A message is marked as being sent before the first byte leaves. If its node dies then, it is unclear whether the message was
//! sent: it is not sent again. Messages of each channel form a queue, so that a hanging gateway holds up only its own.

use crate::tables::json::{from_json, to_json};
use crate::tables::row::{columns, each, insert, tuple, value};
use crate::{Result, StoreError, Tx, params};
use garson_core::channel::ChannelKind;
use garson_core::explanation::Explanation;
use garson_core::id::{AccountId, ChannelId, MessageId, NodeId, OrderId};
use garson_core::message::MessageContent;
use garson_core::time::Timestamp;

/// What has become of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageState {
    Open,
    Sending,
    Sent,
    Failed,
    /// Its node died while it was being sent.
    Unclear,
    /// It was no longer needed when it could have been sent.
    Dropped,
}

impl MessageState {
    const ALL: [Self; 6] = [
        Self::Open,
        Self::Sending,
        Self::Sent,
        Self::Failed,
        Self::Unclear,
        Self::Dropped,
    ];

    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Sending => "sending",
            Self::Sent => "sent",
            Self::Failed => "failed",
            Self::Unclear => "unclear",
            Self::Dropped => "dropped",
        }
    }

    fn named(name: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|state| state.as_str() == name);
        found.ok_or_else(|| StoreError::corrupt("a message has an unknown state"))
    }
}

/// A message to write.
#[derive(Clone, Debug)]
pub struct NewMessage<'a> {
    pub id: MessageId,
    pub account_id: AccountId,
    pub channel_id: ChannelId,
    /// The order that it is about: it is dropped when the order has been accepted.
    pub order_id: Option<OrderId>,
    pub content: &'a MessageContent,
    pub at: Timestamp,
}

pub fn create(tx: &mut Tx<'_>, message: &NewMessage<'_>) -> Result<()> {
    let content = to_json("content of a message", message.content)?;
    insert!(
        tx,
        messages {
            id: &message.id,
            account_id: &message.account_id,
            channel_id: &message.channel_id,
            order_id: message.order_id.as_ref(),
            content: &content,
            state: "open",
            attempts: 0,
            due_at: message.at,
            created_at: message.at,
        }
    )?;
    Ok(())
}

/// The open messages of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queue {
    pub channel_id: ChannelId,
    pub account_id: AccountId,
    /// When the first of them is due.
    pub due_at: Timestamp,
    /// `None` if the channel was removed.
    pub kind: Option<ChannelKind>,
}

/// The queues of channels after another one, with one index step for each.
pub fn queues(tx: &mut Tx<'_>, after: Option<ChannelId>, limit: usize) -> Result<Vec<Queue>> {
    let mut last = after.map_or_else(Vec::new, |channel| channel.as_bytes().to_vec());
    let mut found = Vec::new();
    let sql = "SELECT m.channel_id, m.account_id, m.due_at, (SELECT c.kind FROM channels c WHERE c.id = m.channel_id)
               FROM messages m WHERE m.state = 'open' AND m.channel_id > ?1
               ORDER BY m.channel_id, m.due_at LIMIT 1";
    while found.len() < limit {
        let next = tx.query_opt(sql, params![&last], tuple::<(_, _, _, Option<String>)>)?;
        let Some((channel_id, account_id, due_at, kind)) = next else {
            break;
        };
        let queue = Queue {
            channel_id,
            account_id,
            due_at,
            kind: kind.as_deref().and_then(ChannelKind::named),
        };
        last = queue.channel_id.as_bytes().to_vec();
        found.push(queue);
    }
    Ok(found)
}

/// Counts the open messages of a channel up to a limit.
pub fn count_open(tx: &mut Tx<'_>, channel: ChannelId, limit: i64) -> Result<i64> {
    let sql = "SELECT COUNT(*) FROM (SELECT due_at FROM messages WHERE state = 'open' AND channel_id = ?1
                                     ORDER BY channel_id, due_at LIMIT ?2) AS part";
    tx.query_one(sql, params![&channel, limit], value)
}

/// A message that is being sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimedMessage {
    pub id: MessageId,
    pub account_id: AccountId,
    pub channel_id: ChannelId,
    pub order_id: Option<OrderId>,
    /// `None` if it is damaged.
    pub content: Option<MessageContent>,
    /// Attempts so far, including this one.
    pub attempts: i64,
    pub created_at: Timestamp,
}

columns! {
    const CLAIMED = "" of messages { id, account_id, channel_id, order_id, content: String, attempts, created_at }
    fn claimed() -> ClaimedMessage {
        let content = from_json("content of a message", &content).ok();
        Ok(ClaimedMessage { id, account_id, channel_id, order_id, content, attempts, created_at })
    }
}

/// Marks due messages of a channel as being sent by this node. A node that is no longer a member gets none.
pub fn claim(
    tx: &mut Tx<'_>,
    channel: ChannelId,
    node: NodeId,
    now: Timestamp,
    limit: usize,
) -> Result<Vec<ClaimedMessage>> {
    let sql = format!(
        "UPDATE messages SET state = 'sending', node = ?2, attempts = attempts + 1
         WHERE ?2 IN (SELECT id FROM nodes)
           AND id IN (SELECT m.id FROM messages m WHERE m.state = 'open' AND m.channel_id = ?1 AND m.due_at <= ?3
                      ORDER BY m.channel_id, m.due_at LIMIT ?4 {{skip_locked}})
         RETURNING {CLAIMED}"
    );
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    tx.write_returning(&sql, params![&channel, &node, now, limit], each(claimed))
}

/// Ends a message that this attempt has sent or given up; `false` when it is no longer this attempt's.
pub fn finish(
    tx: &mut Tx<'_>,
    message: &ClaimedMessage,
    state: MessageState,
    explanation: Option<&Explanation>,
    at: Timestamp,
) -> Result<bool> {
    let rows = tx.execute(
        "UPDATE messages SET state = ?2, explanation = ?3, finished_at = ?4, node = NULL
         WHERE id = ?1 AND state = 'sending' AND attempts = ?5",
        params![
            &message.id,
            state.as_str(),
            explanation.map(Explanation::stored).as_ref(),
            at,
            message.attempts
        ],
    )?;
    Ok(rows > 0)
}

/// Releases a message to be sent later, after an attempt that certainly did not send it.
pub fn postpone(
    tx: &mut Tx<'_>,
    message: &ClaimedMessage,
    explanation: &Explanation,
    due_at: Timestamp,
) -> Result<bool> {
    let rows = tx.execute(
        "UPDATE messages SET state = 'open', explanation = ?2, due_at = ?3, node = NULL
         WHERE id = ?1 AND state = 'sending' AND attempts = ?4",
        params![&message.id, &explanation.stored(), due_at, message.attempts],
    )?;
    Ok(rows > 0)
}

/// The messages whose node died while it sent them, at most `limit`.
pub fn interrupted(tx: &mut Tx<'_>, limit: i64) -> Result<Vec<ClaimedMessage>> {
    let sql = format!(
        "SELECT {CLAIMED} FROM messages WHERE state = 'sending' AND node NOT IN (SELECT id FROM nodes) LIMIT ?1"
    );
    tx.query(&sql, params![limit], each(claimed))
}

/// Ends a message whose node died while it sent it; `false` when another node has done so.
pub fn end_interrupted(tx: &mut Tx<'_>, message: &ClaimedMessage, at: Timestamp) -> Result<bool> {
    let rows = tx.execute(
        "UPDATE messages SET state = 'unclear', finished_at = ?2, node = NULL
         WHERE id = ?1 AND state = 'sending' AND attempts = ?3 AND node NOT IN (SELECT id FROM nodes)",
        params![&message.id, at, message.attempts],
    )?;
    Ok(rows > 0)
}

/// Drops the open messages of a channel that is removed.
pub fn drop_of_channel(tx: &mut Tx<'_>, channel: ChannelId, at: Timestamp) -> Result<u64> {
    tx.execute(
        "UPDATE messages SET state = 'dropped', finished_at = ?2 WHERE state = 'open' AND channel_id = ?1",
        params![&channel, at],
    )
}

/// A message as the list of an account shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageRecord {
    pub id: MessageId,
    pub channel_id: ChannelId,
    pub order_id: Option<OrderId>,
    pub content: MessageContent,
    pub state: MessageState,
    pub attempts: i64,
    pub explanation: Option<Explanation>,
    pub created_at: Timestamp,
    pub finished_at: Option<Timestamp>,
}

columns! {
    const RECORD = "" of messages {
        id, channel_id, order_id, content: String, state: String, attempts, explanation, created_at, finished_at
    }
    fn record() -> MessageRecord {
        Ok(MessageRecord {
            id,
            channel_id,
            order_id,
            content: from_json("content of a message", &content)?,
            state: MessageState::named(&state)?,
            attempts,
            explanation,
            created_at,
            finished_at,
        })
    }
}

/// The newest messages of an account.
pub fn newest(tx: &mut Tx<'_>, account: AccountId, limit: i64) -> Result<Vec<MessageRecord>> {
    let sql = format!("SELECT {RECORD} FROM messages WHERE account_id = ?1 ORDER BY id DESC LIMIT ?2");
    tx.query(&sql, params![&account, limit], each(record))
}

/// The messages about an order, oldest first.
pub fn of_order(tx: &mut Tx<'_>, order: OrderId) -> Result<Vec<MessageRecord>> {
    let sql = format!("SELECT {RECORD} FROM messages WHERE order_id = ?1 ORDER BY id");
    tx.query(&sql, params![&order], each(record))
}

/// Removes a chunk of the messages from before `oldest`, and returns how many. Ids begin with the time of their creation.
pub fn sweep(tx: &mut Tx<'_>, oldest: Timestamp, limit: i64) -> Result<u64> {
    tx.execute(
        "DELETE FROM messages WHERE id IN (SELECT id FROM messages WHERE id < ?1 ORDER BY id LIMIT ?2)",
        params![&MessageId::at(oldest), limit],
    )
}
