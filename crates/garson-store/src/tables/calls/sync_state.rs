//! What an order's calls say of its platform's knowledge.

use crate::{Result, Tx, params};
use garson_core::explanation::Explanation;
use garson_core::id::OrderId;
use garson_core::order::{Actor, CallArgument, CallKind};
use garson_core::time::Timestamp;

/// What the platform is still to be told of an order, and what it could not be told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// When the last of the open calls is due that tell the platform something; nothing when there is none.
    pub due_at: Option<Timestamp>,
    /// Steps that have failed and that no later call has made up for, in the order of their calls.
    pub failed: Vec<FailedStep>,
}

/// A step that the platform does not know of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedStep {
    pub kind: CallKind,
    /// What the platform said, or why it could not be asked.
    pub message: Explanation,
}

impl Standing {
    /// Is nothing open, and nothing missing on a platform that has come so far?
    #[must_use]
    pub fn is_settled_by(&self, progress: i64) -> bool {
        self.due_at.is_none() && self.failed.iter().all(|step| step.kind.progress() <= progress)
    }
}

/// How an order's calls stand. Questions of clients do not count, nor what is planned for later: a client hears of its
/// question itself.
pub fn standing(tx: &mut Tx<'_>, order: OrderId) -> Result<Standing> {
    let sql = "SELECT kind, state, due_at, argument, message FROM calls WHERE order_id = ?1 ORDER BY number";
    let rows = tx.query(sql, params![&order], |row| {
        Ok((
            row.get::<String>(0)?,
            row.get::<String>(1)?,
            row.get::<Timestamp>(2)?,
            row.get::<Option<String>>(3)?,
            row.get::<Option<Explanation>>(4)?,
        ))
    })?;
    let mut standing = Standing::default();
    for (kind, state, due_at, argument, message) in rows {
        // One whose row is damaged was set aside; there is nothing more to be said of it.
        let kind = CallKind::named(&kind);
        let by = |argument: &str| serde_json::from_str::<CallArgument>(argument).map(|argument| argument.by);
        let is_clients = argument
            .as_deref()
            .is_none_or(|text| !matches!(by(text), Ok(Actor::System)));
        match (state.as_str(), kind) {
            ("open", Some(kind)) if !kind.is_question() && (kind != CallKind::Ready || is_clients) => {
                standing.due_at = standing.due_at.max(Some(due_at));
            }
            ("failed", Some(kind)) if !(kind.is_question() && is_clients) => {
                standing.failed.retain(|step| step.kind != kind);
                standing.failed.push(FailedStep {
                    kind,
                    message: message.unwrap_or_default(),
                });
            }
            ("done", Some(done)) => standing
                .failed
                .retain(|step| step.kind.progress() > done.progress()),
            _ => {}
        }
    }
    Ok(standing)
}
