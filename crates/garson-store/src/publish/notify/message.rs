//! The messages between nodes, and their text form.

use garson_core::id::{AccountId, IntegrationId, NodeId};
use std::collections::BTreeSet;
use std::fmt::Write;
use uuid::Uuid;

/// PostgreSQL accepts less than 8000 bytes in a notification.
const MAX_PAYLOAD: usize = 7_900;

/// A message to the other nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NodeMessage {
    /// A process has started to use this database.
    NodeJoined,
    /// A node has left, or was given up: its work can be taken over.
    NodeLeft,
    /// The node that polls an integration is to do so now: something has happened on its platform.
    PollNow { integration: IntegrationId },
    /// The watchers of an account are to be woken, though its position is the same.
    WakeWatchers { account: AccountId },
    /// The node that delivers for an account is to check again what is due, and where it goes.
    Recheck {
        account: AccountId,
        /// The node that delivers for the account.
        owner: Option<NodeId>,
    },
    /// An account has reached this position.
    Committed {
        account: AccountId,
        owner: Option<NodeId>,
        last: i64,
    },
}

impl NodeMessage {
    fn write(self, text: &mut String) {
        let node = |owner: Option<NodeId>| owner.map_or(Uuid::nil(), |node| node.0).simple();
        // Writing to a string cannot fail.
        let _ = match self {
            Self::NodeJoined => write!(text, " h"),
            Self::NodeLeft => write!(text, " g"),
            Self::PollNow { integration } => write!(text, " i{}", integration.0.simple()),
            Self::WakeWatchers { account } => write!(text, " s{}", account.0.simple()),
            Self::Recheck { account, owner } => {
                write!(text, " l{}{}", account.0.simple(), node(owner))
            }
            Self::Committed { account, owner, last } => {
                write!(text, " p{}{}{last:x}", account.0.simple(), node(owner))
            }
        };
    }

    /// Is this a later position of the same account?
    fn supersedes(&self, earlier: &Self) -> bool {
        match (self, earlier) {
            (
                Self::Committed { account, owner, .. },
                Self::Committed {
                    account: a, owner: o, ..
                },
            ) => (account, owner) == (a, o),
            _ => false,
        }
    }

    /// Reads a message; nothing if it is unknown, since another version of this program may have written it.
    pub fn read(text: &str) -> Option<Self> {
        let id = |from: usize| Uuid::try_parse(text.get(from..from + 32)?).ok();
        let account = || id(1).map(AccountId);
        // A nil id means that no node delivers.
        let owner = || Some(Some(id(33)?).filter(|id| !id.is_nil()).map(NodeId));
        match text.get(..1)? {
            "h" => Some(Self::NodeJoined),
            "g" => Some(Self::NodeLeft),
            "i" => Some(Self::PollNow {
                integration: IntegrationId(id(1)?),
            }),
            "s" => Some(Self::WakeWatchers { account: account()? }),
            "l" => Some(Self::Recheck {
                account: account()?,
                owner: owner()?,
            }),
            "p" => Some(Self::Committed {
                account: account()?,
                owner: owner()?,
                last: i64::from_str_radix(text.get(65..)?, 16).ok()?,
            }),
            _ => None,
        }
    }
}

/// The payloads of the notifications for these messages, each with its sender in front.
pub fn payloads(sender: Uuid, messages: BTreeSet<NodeMessage>) -> Vec<String> {
    let mut all = Vec::new();
    let mut payload = sender.simple().to_string();
    let (empty, mut text) = (payload.len(), String::new());
    let mut messages = messages.into_iter().peekable();
    while let Some(message) = messages.next() {
        if messages.peek().is_some_and(|next| next.supersedes(&message)) {
            continue;
        }
        text.clear();
        message.write(&mut text);
        if payload.len() + text.len() > MAX_PAYLOAD {
            all.push(payload.clone());
            payload.truncate(empty);
        }
        payload.push_str(&text);
    }
    all.push(payload);
    all
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use garson_core::time::Timestamp;

    #[test]
    fn messages_are_read_as_they_were_written() {
        let (account, node) = (
            AccountId::at(Timestamp::from_millis(7)),
            NodeId::at(Timestamp::from_millis(8)),
        );
        for message in [
            NodeMessage::NodeJoined,
            NodeMessage::NodeLeft,
            NodeMessage::PollNow {
                integration: IntegrationId::at(Timestamp::from_millis(9)),
            },
            NodeMessage::WakeWatchers { account },
            NodeMessage::Recheck { account, owner: None },
            NodeMessage::Recheck {
                account,
                owner: Some(node),
            },
            NodeMessage::Committed {
                account,
                owner: Some(node),
                last: i64::MAX,
            },
            NodeMessage::Committed {
                account,
                owner: None,
                last: 1,
            },
        ] {
            let mut text = String::new();
            message.write(&mut text);
            assert_eq!(NodeMessage::read(text.strip_prefix(' ').unwrap()), Some(message));
        }
        for unknown in ["", "x", "l", "p12", "ü", "lüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüü"]
        {
            assert_eq!(NodeMessage::read(unknown), None);
        }
    }

    #[test]
    fn many_messages_become_several_payloads() {
        let messages: BTreeSet<NodeMessage> = (0..1_000)
            .map(|n| NodeMessage::Committed {
                account: AccountId::at(Timestamp::from_millis(n)),
                owner: Some(NodeId::at(Timestamp::from_millis(n))),
                last: i64::MAX,
            })
            .collect();
        // Earlier positions of the same accounts are left out.
        let earlier = messages.iter().map(|message| match *message {
            NodeMessage::Committed { account, owner, .. } => NodeMessage::Committed {
                account,
                owner,
                last: 1,
            },
            other => other,
        });
        let all = payloads(Uuid::now_v7(), messages.iter().copied().chain(earlier).collect());
        assert!(all.iter().all(|payload| payload.len() < 8_000));
        assert!(all.len() <= 11, "{}", all.len());
        let read: BTreeSet<NodeMessage> = all
            .iter()
            .flat_map(|payload| payload.split(' ').skip(1))
            .filter_map(NodeMessage::read)
            .collect();
        assert_eq!(read, messages);
    }
}
