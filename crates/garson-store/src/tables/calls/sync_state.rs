//! What an order's calls say about how far its platform knows the order.

use crate::tables::row::tuple;
use crate::{Result, Tx, params};
use garson_core::explanation::Explanation;
use garson_core::id::OrderId;
use garson_core::order::{Actor, CallArgument, CallKind};
use garson_core::time::Timestamp;

/// What the platform still has to learn about an order, and what failed to reach it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SyncState {
    /// When the last open call that changes the platform is due; `None` when there is none.
    pub due_at: Option<Timestamp>,
    /// Failed steps that no later call has made up for, in the order of their calls.
    pub failed: Vec<FailedStep>,
}

/// A step that the platform has not received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedStep {
    pub kind: CallKind,
    /// What the platform answered, or why it could not be called.
    pub message: Explanation,
}

impl SyncState {
    /// Reports whether nothing is open, and a platform at this progress lacks nothing.
    #[must_use]
    pub fn is_settled_by(&self, progress: i64) -> bool {
        self.due_at.is_none() && self.failed.iter().all(|step| step.kind.progress() <= progress)
    }
}

/// The sync state of an order. Questions of clients do not count, nor calls that are scheduled for later: a client learns the
/// answer to its question itself.
pub fn sync_state(tx: &mut Tx<'_>, order: OrderId) -> Result<SyncState> {
    type Call = (String, String, Timestamp, Option<String>, Option<Explanation>);
    let sql = "SELECT kind, state, due_at, argument, message FROM calls WHERE order_id = ?1 ORDER BY number";
    let calls = tx.query(sql, params![&order], tuple::<Call>)?;
    let mut sync = SyncState::default();
    for (kind, state, due_at, argument, message) in calls {
        // A call of a damaged kind was failed before; it says nothing about the platform.
        let kind = CallKind::named(&kind);
        let by = |argument: &str| serde_json::from_str::<CallArgument>(argument).map(|argument| argument.by);
        let is_clients = argument
            .as_deref()
            .is_none_or(|text| !matches!(by(text), Ok(Actor::System)));
        match (state.as_str(), kind) {
            ("open", Some(kind)) if !kind.is_question() && (kind != CallKind::Ready || is_clients) => {
                sync.due_at = sync.due_at.max(Some(due_at));
            }
            ("failed", Some(kind)) if !(kind.is_question() && is_clients) => {
                sync.failed.retain(|step| step.kind != kind);
                sync.failed.push(FailedStep {
                    kind,
                    message: message.unwrap_or_default(),
                });
            }
            ("done", Some(done)) => sync.failed.retain(|step| step.kind.progress() > done.progress()),
            _ => {}
        }
    }
    Ok(sync)
}
