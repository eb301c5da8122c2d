//! How many messages may be sent at the same time, so that a hanging mail server or gateway holds up only its own.

use garson_core::channel::ChannelKind;
use garson_core::id::{AccountId, ChannelId};
use std::collections::{HashMap, HashSet};

/// E-mails share one server; gateways have slots of their own.
const EMAILS: usize = 16;
const GATEWAY_REQUESTS: usize = 64;
/// Of these, for channels whose last message failed.
const FAILING: usize = 16;
const PER_CHANNEL: usize = 2;
const PER_ACCOUNT: usize = 4;

/// The messages that are being sent.
#[derive(Debug, Default)]
pub struct Slots {
    emails: usize,
    gateway_requests: usize,
    failing_requests: usize,
    by_channel: HashMap<ChannelId, usize>,
    by_account: HashMap<AccountId, usize>,
    /// Channels whose last message failed.
    failing: HashSet<ChannelId>,
}

/// A slot, to be given back with [`Slots::release`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    pub channel: ChannelId,
    pub account: AccountId,
    kind: ChannelKind,
    is_failing: bool,
}

impl Slots {
    /// Takes a slot for a message of a channel, if one is free.
    pub fn take(&mut self, channel: ChannelId, account: AccountId, kind: ChannelKind) -> Option<Slot> {
        let is_failing = self.failing.contains(&channel);
        let held = |count: Option<&usize>| count.copied().unwrap_or_default();
        let has_room = match kind {
            ChannelKind::Email => self.emails < EMAILS,
            ChannelKind::Http if is_failing => {
                self.gateway_requests < GATEWAY_REQUESTS && self.failing_requests < FAILING
            }
            ChannelKind::Http => self.gateway_requests < GATEWAY_REQUESTS,
        };
        if !has_room
            || held(self.by_channel.get(&channel)) >= PER_CHANNEL
            || held(self.by_account.get(&account)) >= PER_ACCOUNT
        {
            return None;
        }
        match kind {
            ChannelKind::Email => self.emails += 1,
            ChannelKind::Http => {
                self.gateway_requests += 1;
                self.failing_requests += usize::from(is_failing);
            }
        }
        *self.by_channel.entry(channel).or_default() += 1;
        *self.by_account.entry(account).or_default() += 1;
        Some(Slot {
            channel,
            account,
            kind,
            is_failing,
        })
    }

    /// Gives back a slot; `has_failed` says how its message went, if it was sent at all.
    pub fn release(&mut self, slot: Slot, has_failed: Option<bool>) {
        match slot.kind {
            ChannelKind::Email => self.emails = self.emails.saturating_sub(1),
            ChannelKind::Http => {
                self.gateway_requests = self.gateway_requests.saturating_sub(1);
                let failing = usize::from(slot.is_failing);
                self.failing_requests = self.failing_requests.saturating_sub(failing);
            }
        }
        decrement(&mut self.by_channel, slot.channel);
        decrement(&mut self.by_account, slot.account);
        match has_failed {
            Some(true) => {
                self.failing.insert(slot.channel);
            }
            Some(false) => {
                self.failing.remove(&slot.channel);
            }
            None => {}
        }
    }
}

fn decrement<K: std::hash::Hash + Eq>(counts: &mut HashMap<K, usize>, key: K) {
    if let Some(count) = counts.get_mut(&key) {
        *count = count.saturating_sub(1);
        if *count == 0 {
            counts.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use garson_core::time::Timestamp;

    fn ids(at: i64) -> (ChannelId, AccountId) {
        let at = Timestamp::from_millis(at);
        (ChannelId::at(at), AccountId::at(at))
    }

    #[test]
    fn hanging_mail_server_leaves_the_gateways_their_slots() {
        let mut slots = Slots::default();
        let taken = (0..100).filter(|at| {
            let (channel, account) = ids(*at);
            slots.take(channel, account, ChannelKind::Email).is_some()
        });
        assert_eq!(taken.count(), EMAILS);
        let (channel, account) = ids(200);
        assert!(slots.take(channel, account, ChannelKind::Http).is_some());
    }

    #[test]
    fn channel_account_and_failing_channels_have_only_a_part() {
        let mut slots = Slots::default();
        let (channel, account) = ids(1);
        let first = slots.take(channel, account, ChannelKind::Http).unwrap();
        assert!(slots.take(channel, account, ChannelKind::Http).is_some());
        assert!(slots.take(channel, account, ChannelKind::Http).is_none());
        slots.release(first, Some(false));
        assert!(slots.take(channel, account, ChannelKind::Http).is_some());
        for at in 10..14 {
            slots.take(ids(at).0, account, ChannelKind::Http);
        }
        assert_eq!(slots.by_account[&account], PER_ACCOUNT);
        for at in 100..200 {
            slots.failing.insert(ids(at).0);
        }
        let mut slots = Slots {
            failing: (100..200).map(|at| ids(at).0).collect(),
            ..Slots::default()
        };
        let channels: Vec<_> = slots.failing.iter().copied().collect();
        let failing = channels.into_iter().zip(300..).filter(|(channel, at)| {
            let account = ids(*at).1;
            slots.take(*channel, account, ChannelKind::Http).is_some()
        });
        assert_eq!(failing.count(), FAILING);
        let (channel, account) = ids(500);
        assert!(slots.take(channel, account, ChannelKind::Http).is_some());
    }
}
