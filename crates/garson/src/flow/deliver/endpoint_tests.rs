//! An endpoint against a database of the test's own: whatever happens in whatever order, nothing is forgotten, nothing is in
//! memory twice, and memory is bounded.

#![allow(clippy::unwrap_used)]

mod cases;

use super::endpoint::{Address, AttemptKind, Endpoint, Load, RETRY_ROOM, ROOM, SLOW_AFTER, Wanted};
use super::target::Target;
use garson_core::account::{AuthorizationForm, Webhook};
use garson_core::delivery::UndeliveredReason;
use garson_core::id::EventId;
use garson_core::time::Timestamp;
use garson_store::tables::deliveries::{Delivery, Outcome, Settlement};
use proptest::prelude::*;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

const MOST: usize = 16;
const DEADLINE: Duration = Duration::from_secs(10);
const START: i64 = 1_000_000;
const URL: &str = "https://example.com/";

#[derive(Clone, Debug)]
struct Row {
    id: EventId,
    failures: i64,
    due_at: i64,
}

/// The account's events that are pending, by place, and its counters.
#[derive(Clone, Debug)]
struct Table {
    pending: BTreeMap<i64, Row>,
    last_place: i64,
    version: i64,
    /// Where the account's events go; nowhere at times.
    url: Option<String>,
}

/// A read of the database: what was wanted, and what it saw when it was made.
struct Reading {
    wanted: Wanted,
    seen: Option<(Table, i64)>,
}

/// Results on their way, and whether they are committed.
struct Writing {
    settlements: Vec<Settlement>,
    is_committed: bool,
}

struct World {
    table: Table,
    endpoint: Endpoint,
    now: i64,
    instant: Instant,
    reading: Option<Reading>,
    writing: Option<Writing>,
    in_flight: Vec<Attempt>,
    made: i64,
}

/// An attempt under way.
struct Attempt {
    delivery: Delivery,
    kind: AttemptKind,
    began: Instant,
    url: String,
}

#[derive(Clone, Debug)]
enum Step {
    /// So many events are committed by this node, and handed over.
    CommitHere(usize),
    /// So many events are committed by somebody else.
    CommitElsewhere(usize),
    /// Settled events are due again; whether this node is told.
    Requeue {
        is_told: bool,
    },
    Read,
    FinishReading,
    Begin,
    End {
        index: usize,
        took: bool,
    },
    Write,
    Commit,
    FinishWriting,
    Pass(u64),
    /// A first attempt takes the place of one that hangs.
    Preempt,
    /// The account has another address, or none; whether this node is told.
    Move {
        number: u8,
        is_told: bool,
    },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => (1usize..5).prop_map(Step::CommitHere),
        1 => (100usize..400).prop_map(Step::CommitHere),
        1 => (1usize..5).prop_map(Step::CommitElsewhere),
        1 => any::<bool>().prop_map(|is_told| Step::Requeue { is_told }),
        4 => Just(Step::Read),
        3 => Just(Step::FinishReading),
        6 => Just(Step::Begin),
        5 => (any::<usize>(), prop::bool::weighted(0.7)).prop_map(|(index, took)| Step::End { index, took }),
        3 => Just(Step::Write),
        3 => Just(Step::Commit),
        3 => Just(Step::FinishWriting),
        2 => (1u64..2_000).prop_map(Step::Pass),
        1 => Just(Step::Preempt),
        1 => (0u8..3, any::<bool>()).prop_map(|(number, is_told)| Step::Move { number, is_told }),
    ];
    prop::collection::vec(step, 1..300)
}

impl World {
    fn new() -> Self {
        let instant = Instant::now();
        Self {
            table: Table {
                pending: BTreeMap::new(),
                last_place: 0,
                version: 0,
                url: Some(URL.to_owned()),
            },
            endpoint: Endpoint::new(MOST, DEADLINE, instant),
            now: START,
            instant,
            reading: None,
            writing: None,
            in_flight: Vec::new(),
            made: 0,
        }
    }

    /// Puts events into the next places; the account's counter grows by more than are used.
    fn commit(&mut self, count: usize) -> (i64, i64, Vec<Delivery>) {
        let before = self.table.last_place;
        let mut deliveries = Vec::new();
        for place in (before + 1..).take(count) {
            self.made += 1;
            let id = EventId(uuid::Uuid::from_u128(self.made.unsigned_abs().into()));
            let row = Row {
                id,
                failures: 0,
                due_at: self.now,
            };
            deliveries.push(delivery(place, &row));
            self.table.pending.insert(place, row);
        }
        self.table.last_place = before + i64::try_from(count).unwrap() + 2;
        (before, self.table.last_place, deliveries)
    }

    fn take(&mut self, step: &Step) {
        match step {
            Step::CommitHere(count) => {
                let (before, last, deliveries) = self.commit(*count);
                self.endpoint
                    .handed(before, last, self.table.version, deliveries, self.instant);
            }
            Step::CommitElsewhere(count) => {
                self.commit(*count);
            }
            Step::Requeue { is_told } => {
                // Some that were settled long ago are due again, at places that have been passed.
                let free: Vec<i64> = (1..=self.table.last_place)
                    .filter(|place| !self.table.pending.contains_key(place))
                    .filter(|_| self.writing.is_none() && self.in_flight.is_empty())
                    .take(3)
                    .collect();
                for place in free {
                    self.made += 1;
                    let id = EventId(uuid::Uuid::from_u128(self.made.unsigned_abs().into()));
                    self.table.pending.insert(
                        place,
                        Row {
                            id,
                            failures: 0,
                            due_at: self.now,
                        },
                    );
                }
                self.table.version += 1;
                if *is_told {
                    self.endpoint.reload();
                }
            }
            Step::Read => self.read(),
            Step::FinishReading => self.finish_reading(),
            Step::Begin => self.begin(),
            Step::End { index, took } => self.end(*index, *took),
            Step::Write => {
                if self.writing.is_none() {
                    self.writing = self.endpoint.start_settling().map(|settlements| Writing {
                        settlements,
                        is_committed: false,
                    });
                }
            }
            Step::Commit => self.commit_results(),
            Step::FinishWriting => self.finish_writing(),
            Step::Pass(millis) => {
                self.now += i64::try_from(*millis).unwrap();
                self.instant += Duration::from_millis(*millis);
            }
            Step::Preempt => self.preempt(),
            Step::Move { number, is_told } => {
                self.table.url = (*number > 0).then(|| format!("{URL}{number}"));
                self.table.version += 1;
                if *is_told {
                    self.endpoint.reload();
                }
            }
        }
    }

    fn preempt(&mut self) {
        let Some(id) = self.endpoint.preempt(self.instant) else {
            return;
        };
        let index = self.in_flight.iter().position(|it| it.delivery.id == id).unwrap();
        assert_eq!(
            self.in_flight.len(),
            MOST,
            "nothing ends early while there is room"
        );
        let age = self.instant.duration_since(self.in_flight[index].began);
        assert!(age >= Duration::from_secs(2), "{age:?}");
        assert!(
            self.in_flight
                .iter()
                .all(|it| it.began >= self.in_flight[index].began)
        );
        self.end(index, false);
    }

    /// Attempts that go to an address that is not the account's any more end without a result.
    fn end_misdirected(&mut self, url: Option<&str>) {
        for id in self.endpoint.misdirected() {
            let index = self.in_flight.iter().position(|it| it.delivery.id == id).unwrap();
            let ended = self.in_flight.swap_remove(index);
            assert_ne!(Some(ended.url.as_str()), url);
            self.endpoint.ended(id, None, None, self.instant);
            self.endpoint.forget(id, ended.delivery.position);
        }
    }

    fn read(&mut self) {
        match &mut self.reading {
            None => {
                let now = Timestamp::from_millis(self.now);
                let wanted = self.endpoint.start_loading(now, self.instant);
                self.reading = wanted.map(|wanted| Reading { wanted, seen: None });
            }
            Some(reading) => {
                if reading.seen.is_none() {
                    reading.seen = Some((self.table.clone(), self.now));
                }
            }
        }
    }

    fn finish_reading(&mut self) {
        if let Some(Reading { seen: None, .. }) = &self.reading {
            self.read();
        }
        let Some(Reading {
            wanted,
            seen: Some((table, now)),
        }) = self.reading.take()
        else {
            return;
        };
        let rows = || table.pending.iter().map(|(place, row)| delivery(*place, row));
        let fresh = rows().filter(|it| it.failures == 0 && it.position > wanted.after);
        let late = table.pending.iter().filter(|(_, row)| row.failures > 0);
        let due = late.clone().filter(|(_, row)| row.due_at <= now);
        let next_late = late
            .filter(|(_, row)| row.due_at > now)
            .map(|(_, row)| row.due_at)
            .min();
        self.endpoint.loaded(
            Load {
                after: wanted.after,
                limit: wanted.limit,
                fresh: fresh.take(wanted.limit).collect(),
                late: due
                    .map(|(place, row)| delivery(*place, row))
                    .take(wanted.late_limit)
                    .collect(),
                late_limit: wanted.late_limit,
                next_late: next_late.map(Timestamp::from_millis),
                now: Timestamp::from_millis(now),
                last_place: table.last_place,
                version: table.version,
                erase_version: 0,
                address: address(table.url.as_deref()),
            },
            self.instant,
        );
        self.end_misdirected(table.url.as_deref());
    }

    /// Attempts that are not slow yet.
    fn quick(&self) -> usize {
        let is_quick = |it: &&Attempt| self.instant.duration_since(it.began) < SLOW_AFTER;
        self.in_flight.iter().filter(is_quick).count()
    }

    fn begin(&mut self) {
        let was_troubled = self.endpoint.is_troubled();
        let before = self.quick();
        while let Some((delivery, kind, target)) = self.endpoint.next(self.instant) {
            // The row is what was read: nobody has settled it, and it is not under way already.
            let row = self.table.pending.get(&delivery.position);
            assert_eq!(row.map(|row| row.id), Some(delivery.id), "it is pending");
            assert_eq!(
                row.map(|row| row.failures),
                Some(delivery.failures),
                "as it was read"
            );
            match target {
                Some(target) => self.in_flight.push(Attempt {
                    delivery,
                    kind,
                    began: self.instant,
                    url: target.url.clone(),
                }),
                None => {
                    let settlement = Some(settlement(&delivery, Outcome::Skipped));
                    self.endpoint.ended(delivery.id, None, settlement, self.instant);
                }
            }
        }
        let ids: HashSet<EventId> = self.in_flight.iter().map(|it| it.delivery.id).collect();
        assert_eq!(ids.len(), self.in_flight.len(), "nothing is under way twice");
        assert_eq!(self.in_flight.len(), self.endpoint.in_flight());
        assert!(self.in_flight.len() <= MOST);
        if was_troubled {
            assert!(
                self.quick() <= before.max(1),
                "one at a time, but for those that hang"
            );
        }
    }

    fn end(&mut self, index: usize, took: bool) {
        if self.in_flight.is_empty() {
            return;
        }
        let Attempt { delivery, .. } = self.in_flight.swap_remove(index % self.in_flight.len());
        let reason = UndeliveredReason::Status;
        let end = match (took, delivery.failures) {
            (true, _) => Outcome::Delivered,
            (false, 0..3) => Outcome::Retry {
                due_at: Timestamp::from_millis(self.now + 10_000),
                reason,
            },
            (false, _) => Outcome::Failed { reason },
        };
        let settlement = settlement(&delivery, end);
        self.endpoint
            .ended(delivery.id, Some(took), Some(settlement), self.instant);
    }

    fn commit_results(&mut self) {
        let Some(writing) = self.writing.as_mut().filter(|writing| !writing.is_committed) else {
            return;
        };
        writing.is_committed = true;
        for settlement in &writing.settlements {
            let found = self.table.pending.iter().find(|(_, row)| row.id == settlement.id);
            let place = *found.unwrap().0;
            match settlement.outcome {
                Outcome::Retry { due_at, .. } => {
                    let row = self.table.pending.get_mut(&place).unwrap();
                    row.failures += 1;
                    row.due_at = due_at.as_millis();
                }
                _ => {
                    self.table.pending.remove(&place);
                }
            }
        }
    }

    fn finish_writing(&mut self) {
        self.commit_results();
        if let Some(writing) = self.writing.take() {
            self.endpoint.settled(&writing.settlements);
        }
    }

    /// A look at the database, as the dispatcher makes it now and then.
    fn look(&mut self) {
        let late = self.table.pending.values().filter(|row| row.failures > 0);
        let late_at = late.map(|row| row.due_at).min().map(Timestamp::from_millis);
        if !self.table.pending.is_empty() {
            self.endpoint
                .compare(self.table.last_place, self.table.version, late_at);
        }
    }

    /// The receiver takes everything from now on: everything must arrive.
    fn drain(&mut self) {
        for _ in 0..2_000 {
            if self.table.pending.is_empty() && self.endpoint.is_idle() {
                return;
            }
            for step in [
                Step::Read,
                Step::FinishReading,
                Step::Begin,
                Step::End { index: 0, took: true },
                Step::Write,
                Step::FinishWriting,
                Step::Pass(500),
            ] {
                self.take(&step);
            }
            while !self.in_flight.is_empty() {
                self.end(0, true);
            }
            self.look();
        }
        panic!("{} are left: {:?}", self.table.pending.len(), self.endpoint);
    }
}

fn delivery(place: i64, row: &Row) -> Delivery {
    Delivery {
        id: row.id,
        order_id: None,
        position: place,
        failures: row.failures,
        attempts: row.failures,
        body: String::new(),
        created_at: Timestamp::default(),
    }
}

fn settlement(delivery: &Delivery, end: Outcome) -> Settlement {
    Settlement {
        id: delivery.id,
        order_id: None,
        outcome: end,
        attempt: None,
        attempts_before: delivery.attempts,
    }
}

fn address(url: Option<&str>) -> Address {
    let Some(url) = url else {
        return Address::None;
    };
    let webhook = Webhook {
        url: url.to_owned(),
        authorization: AuthorizationForm::Bearer,
        updated_at: Timestamp::default(),
    };
    Address::At(Arc::new(Target::new(&webhook, None)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn nothing_is_forgotten_or_taken_twice_and_memory_is_bounded(steps in steps()) {
        let mut world = World::new();
        for step in &steps {
            world.take(step);
            prop_assert!(world.endpoint.queued() <= ROOM + RETRY_ROOM + 1);
        }
        world.drain();
    }
}
