//! Numbers about attempts at endpoints that are not stored yet. They are added to the database from time to time, so that an
//! attempt costs no statement for them; a crash loses those of the last seconds.

use garson_core::id::{AccountId, EndpointId};
use garson_store::tables::attempts::Attempt;
use garson_store::tables::endpoint_stats::HourStats;
use parking_lot::Mutex;
use std::collections::BTreeMap;

/// An endpoint's numbers of one hour.
#[derive(Clone, Debug)]
pub struct UnstoredHour {
    pub account: AccountId,
    pub endpoint: EndpointId,
    pub stats: HourStats,
}

#[derive(Debug, Default)]
pub struct EndpointStats(Mutex<BTreeMap<(AccountId, EndpointId, i64), HourStats>>);

impl EndpointStats {
    pub(crate) fn count(
        &self,
        account: AccountId,
        endpoint: EndpointId,
        attempt: &Attempt,
        is_accepted: bool,
    ) {
        let hour = HourStats::hour_of(attempt.at);
        let failure = (!is_accepted).then(|| attempt.explanation.stored());
        let mut hours = self.0.lock();
        let stats = hours.entry((account, endpoint, hour)).or_default();
        stats.hour = hour;
        stats.count(attempt.at, attempt.duration_ms, failure);
    }

    /// Takes what is not stored yet.
    pub(crate) fn take(&self) -> Vec<UnstoredHour> {
        let taken = std::mem::take(&mut *self.0.lock());
        let hour = |((account, endpoint, _), stats)| UnstoredHour {
            account,
            endpoint,
            stats,
        };
        taken.into_iter().map(hour).collect()
    }

    /// Puts back what could not be stored.
    pub(crate) fn put_back(&self, hour: &UnstoredHour) {
        let mut hours = self.0.lock();
        let key = (hour.account, hour.endpoint, hour.stats.hour);
        let stats = hours.entry(key).or_default();
        stats.hour = hour.stats.hour;
        stats.add(&hour.stats);
    }

    /// What is not stored yet of an endpoint.
    pub(crate) fn of(&self, account: AccountId, endpoint: EndpointId) -> Vec<HourStats> {
        let hours = self.0.lock();
        let range = (account, endpoint, i64::MIN)..=(account, endpoint, i64::MAX);
        hours.range(range).map(|(_, stats)| stats.clone()).collect()
    }
}
