//! The open connections: how many there are, of whom, what each is doing, and which one goes first when room is needed.

use crate::net::client_address::one_address;
use crate::telemetry::{Refusal, Refusals};
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// How long connections may take for what they do.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// A connection must have sent the head of its first request in this time.
    pub first_head: Duration,
    /// A connection on which nothing is asked for this time is closed.
    pub idle: Duration,
    /// A client that takes nothing of its answers for this time is cut off; so is one that takes less than `LEAST_RATE` on
    /// average of such a time.
    pub send_stall: Duration,
}

impl Default for Times {
    fn default() -> Self {
        Self {
            first_head: Duration::from_secs(15),
            idle: Duration::from_secs(60),
            send_stall: Duration::from_secs(30),
        }
    }
}

/// How long a connection that does nothing gets to end by itself.
pub const GRACE: Duration = Duration::from_millis(500);
/// A request of a stranger that runs longer than this may be ended when room is needed.
const STRANGERS_TIME: Duration = Duration::from_secs(1);
/// How many bytes a second a client must take of the answers that wait for it. A client that takes a byte now and then would
/// hold their memory for hours.
const LEAST_RATE: u64 = 1024;
/// Memory for answers that clients have not taken yet; beyond it the slowest lose their connection.
const UNSENT: usize = 128 * 1024 * 1024;

/// Every open connection.
pub struct Registry {
    began: Instant,
    most: usize,
    most_of_address: usize,
    times: Times,
    open: Mutex<Open>,
    /// A connection has ended.
    freed: Notify,
    /// Bytes of answers that have not been sent.
    unsent: AtomicUsize,
    refusals: Arc<Refusals>,
    /// Tests move the clock on by it.
    #[cfg(test)]
    ahead: AtomicU64,
}

#[derive(Default)]
struct Open {
    next: u64,
    by_id: HashMap<u64, Arc<Connection>>,
    by_address: HashMap<IpAddr, usize>,
    /// Connections that were closed because their answers hold too much memory, and have not ended yet.
    shed: HashMap<u64, Arc<Connection>>,
}

/// One connection, as the supervisor and the requests on it see it.
pub struct Connection {
    id: u64,
    registry: Arc<Registry>,
    pub peer: IpAddr,
    /// One of the proxies: many clients share the connection, and the limit for an address does not concern it.
    is_proxy: bool,
    opened_at: u64,
    /// Requests that are being handled, or whose answers have not been sent yet.
    busy: AtomicUsize,
    has_asked: AtomicBool,
    /// Somebody has shown a valid key, secret or session here.
    is_known: AtomicBool,
    /// When the last request began, or the last one ended.
    changed_at: AtomicU64,
    unsent: AtomicUsize,
    /// When something of an answer was last taken, or began to wait.
    progress_at: AtomicU64,
    /// How many bytes of answers were taken since `measured_at`.
    taken: AtomicU64,
    measured_at: AtomicU64,
    close: Notify,
}

/// What is to happen to a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It may go on; look again after this time.
    Keep(Duration),
    /// It does nothing: it is asked to end.
    End,
    /// It is cut off.
    Cut(Refusal),
}

/// Why there is no place for a connection.
pub enum Full {
    /// Its address has too many.
    Address,
    /// All are busy with people who are known: wait for one of them.
    Everybody,
}

impl Registry {
    pub fn new(most: usize, most_of_address: usize, times: Times, refusals: Arc<Refusals>) -> Arc<Self> {
        Arc::new(Self {
            began: Instant::now(),
            most,
            most_of_address,
            times,
            open: Mutex::default(),
            freed: Notify::new(),
            unsent: AtomicUsize::new(0),
            refusals,
            #[cfg(test)]
            ahead: AtomicU64::new(0),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn millis(&self) -> u64 {
        let elapsed = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        #[cfg(test)]
        let elapsed = elapsed + self.ahead.load(Ordering::Relaxed);
        elapsed
    }

    /// Takes a connection in; another one may have to go for it.
    pub fn admit(self: &Arc<Self>, peer: IpAddr, is_proxy: bool) -> Result<Arc<Connection>, Full> {
        let (peer, now) = (peer.to_canonical(), self.millis());
        let address = one_address(peer);
        let mut open = self.lock();
        let of_address = open.by_address.get(&address).copied().unwrap_or(0);
        if !is_proxy && of_address >= self.most_of_address {
            let victim = open.victim(now, Some(address));
            self.evict(&mut open, victim).ok_or(Full::Address)?;
        }
        if open.by_id.len() >= self.most {
            let victim = open.victim(now, None);
            self.evict(&mut open, victim).ok_or(Full::Everybody)?;
        }
        let id = open.next;
        open.next += 1;
        let connection = Arc::new(Connection {
            id,
            registry: Arc::clone(self),
            peer,
            is_proxy,
            opened_at: now,
            busy: AtomicUsize::new(0),
            has_asked: AtomicBool::new(false),
            is_known: AtomicBool::new(false),
            changed_at: AtomicU64::new(now),
            unsent: AtomicUsize::new(0),
            progress_at: AtomicU64::new(now),
            taken: AtomicU64::new(0),
            measured_at: AtomicU64::new(now),
            close: Notify::new(),
        });
        open.by_id.insert(id, Arc::clone(&connection));
        if !is_proxy {
            *open.by_address.entry(address).or_default() += 1;
        }
        Ok(connection)
    }

    /// Closes the connection that can be missed most easily; `false` when there is none.
    pub fn evict_any(&self) -> bool {
        let mut open = self.lock();
        let victim = open.victim(self.millis(), None);
        self.evict(&mut open, victim).is_some()
    }

    fn evict(&self, open: &mut Open, victim: Option<Arc<Connection>>) -> Option<()> {
        let victim = victim?;
        open.remove(&victim);
        self.refusals.note(Refusal::ConnectionEvicted, Some(victim.peer));
        victim.close.notify_one();
        Some(())
    }

    /// Waits until a connection has ended.
    pub async fn freed(&self) {
        self.freed.notified().await;
    }

    fn remove(&self, connection: &Connection) {
        let mut open = self.lock();
        open.remove(connection);
        open.shed.remove(&connection.id);
        drop(open);
        self.freed.notify_one();
    }

    /// Answers that are not taken hold too much memory: the connection with most of it goes, of those that take nothing. If all
    /// take something, the one goes that would hold its memory for the longest time.
    fn shed(&self) {
        let now = self.millis();
        let mut open = self.lock();
        let leaving: usize = open.shed.values().map(|c| c.unsent()).sum();
        if self.unsent.load(Ordering::Relaxed).saturating_sub(leaving) <= UNSENT {
            return;
        }
        let holders = || open.by_id.values().filter(|c| c.unsent() > 0);
        let is_stalled = |c: &&Arc<Connection>| {
            let waited = now.saturating_sub(c.progress_at.load(Ordering::Relaxed));
            u128::from(waited) >= STRANGERS_TIME.as_millis()
        };
        let stalled = holders().filter(is_stalled).max_by_key(|c| c.unsent());
        let victim = stalled.or_else(|| holders().max_by_key(|c| (c.time_left(now), c.unsent())));
        if let Some(victim) = victim.cloned() {
            open.remove(&victim);
            self.refusals.note(Refusal::AnswerMemory, Some(victim.peer));
            victim.close.notify_one();
            open.shed.insert(victim.id, victim);
        }
    }
}

impl Open {
    fn remove(&mut self, connection: &Connection) {
        if self.by_id.remove(&connection.id).is_none() || connection.is_proxy {
            return;
        }
        let address = one_address(connection.peer);
        if let Some(count) = self.by_address.get_mut(&address) {
            *count -= 1;
            if *count == 0 {
                self.by_address.remove(&address);
            }
        }
    }

    /// The connection that can be missed most easily, of those that can be missed at all.
    fn victim(&self, now: u64, of_address: Option<IpAddr>) -> Option<Arc<Connection>> {
        self.by_id
            .values()
            .filter(|c| of_address.is_none_or(|address| !c.is_proxy && one_address(c.peer) == address))
            .filter_map(|c| Some((c.dispensable(now)?, c)))
            .min_by_key(|(rank, _)| *rank)
            .map(|(_, c)| Arc::clone(c))
    }
}

impl Connection {
    /// How easily it can be missed, least first; `None` when it cannot. Among equals the oldest goes.
    fn dispensable(&self, now: u64) -> Option<(u8, u64, u64)> {
        let changed_at = self.changed_at.load(Ordering::Relaxed);
        let is_known = self.is_known.load(Ordering::Relaxed);
        let is_busy = self.busy.load(Ordering::Relaxed) > 0;
        let has_run = u128::from(now.saturating_sub(changed_at)) >= STRANGERS_TIME.as_millis();
        match (is_known, is_busy) {
            (false, false) if !self.has_asked.load(Ordering::Relaxed) => Some((0, changed_at, self.id)),
            (false, false) => Some((1, changed_at, self.id)),
            (false, true) if has_run => Some((2, changed_at, self.id)),
            (true, false) => Some((3, changed_at, self.id)),
            _ => None,
        }
    }

    /// Somebody on it has shown who they are.
    pub fn note_known(&self) {
        self.is_known.store(true, Ordering::Relaxed);
    }

    /// Waits until it is to be closed for the sake of another.
    pub async fn closed(&self) {
        self.close.notified().await;
    }

    pub fn is_busy(&self) -> bool {
        self.busy.load(Ordering::Relaxed) > 0
    }

    pub fn refuse(&self, kind: Refusal) {
        self.registry.refusals.note(kind, Some(self.peer));
    }

    fn unsent(&self) -> usize {
        self.unsent.load(Ordering::Relaxed)
    }

    /// How long it would need, in milliseconds, for what waits for it, at the rate at which it has been taking it.
    fn time_left(&self, now: u64) -> u128 {
        let measured = now.saturating_sub(self.measured_at.load(Ordering::Relaxed));
        let taken = self.taken.load(Ordering::Relaxed).max(1);
        self.unsent() as u128 * u128::from(measured) / u128::from(taken)
    }

    /// Does it take its answers, and fast enough?
    fn judge_taking(&self, now: u64) -> Verdict {
        let limit = self.registry.times.send_stall;
        let since =
            |moment: &AtomicU64| Duration::from_millis(now.saturating_sub(moment.load(Ordering::Relaxed)));
        let stalled = since(&self.progress_at);
        if stalled >= limit {
            return Verdict::Cut(Refusal::SendStalled);
        }
        let measured = since(&self.measured_at);
        if measured < limit {
            return Verdict::Keep(limit - stalled.max(measured));
        }
        let taken = self.taken.swap(0, Ordering::Relaxed);
        self.measured_at.store(now, Ordering::Relaxed);
        let is_slow = u128::from(taken) * 1000 < u128::from(LEAST_RATE) * measured.as_millis();
        match is_slow && !self.is_proxy {
            // A proxy's connection carries many clients: a slow one does not cost the others theirs.
            true => Verdict::Cut(Refusal::SendStalled),
            false => Verdict::Keep(limit - stalled),
        }
    }

    /// Is it still of use?
    pub fn judge(&self) -> Verdict {
        let (now, times) = (self.registry.millis(), self.registry.times);
        let is_busy = self.busy.load(Ordering::Relaxed) > 0;
        let (since, limit, then) = match (self.has_asked.load(Ordering::Relaxed), is_busy) {
            (false, _) => (self.opened_at, times.first_head, Verdict::Cut(Refusal::NoRequest)),
            (true, false) => (self.changed_at.load(Ordering::Relaxed), times.idle, Verdict::End),
            (true, true) if self.unsent() > 0 => return self.judge_taking(now),
            // It waits for us.
            (true, true) => return Verdict::Keep(times.send_stall / 2),
        };
        let passed = Duration::from_millis(now.saturating_sub(since));
        match limit.checked_sub(passed) {
            None | Some(Duration::ZERO) => then,
            Some(left) => Verdict::Keep(left),
        }
    }

    /// It has ended.
    pub fn gone(&self) {
        self.registry.remove(self);
    }
}

/// A request on a connection, from its head to the last byte of its answer.
pub struct Answering {
    connection: Arc<Connection>,
    unsent: AtomicUsize,
}

impl Answering {
    pub fn begin(connection: &Arc<Connection>) -> Self {
        connection.busy.fetch_add(1, Ordering::Relaxed);
        connection.has_asked.store(true, Ordering::Relaxed);
        let now = connection.registry.millis();
        connection.changed_at.store(now, Ordering::Relaxed);
        Self {
            connection: Arc::clone(connection),
            unsent: AtomicUsize::new(0),
        }
    }

    /// So many bytes wait to be sent from now on.
    pub fn owe(&self, bytes: usize) {
        let (connection, registry) = (&self.connection, &self.connection.registry);
        if connection.unsent.fetch_add(bytes, Ordering::Relaxed) == 0 {
            let now = registry.millis();
            connection.progress_at.store(now, Ordering::Relaxed);
            connection.measured_at.store(now, Ordering::Relaxed);
            connection.taken.store(0, Ordering::Relaxed);
        }
        self.unsent.fetch_add(bytes, Ordering::Relaxed);
        let before = registry.unsent.fetch_add(bytes, Ordering::Relaxed);
        if before.saturating_add(bytes) > UNSENT {
            registry.shed();
        }
    }

    /// So many bytes have been sent, or will never be.
    pub fn settle(&self, bytes: usize) {
        let owed = |unsent: usize| Some(unsent.saturating_sub(bytes));
        let before = self
            .unsent
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, owed);
        let (Ok(before) | Err(before)) = before;
        let settled = bytes.min(before);
        let taken = u64::try_from(settled).unwrap_or(u64::MAX);
        self.connection.taken.fetch_add(taken, Ordering::Relaxed);
        self.connection.unsent.fetch_sub(settled, Ordering::Relaxed);
        self.connection
            .registry
            .unsent
            .fetch_sub(settled, Ordering::Relaxed);
        let now = self.connection.registry.millis();
        self.connection.progress_at.store(now, Ordering::Relaxed);
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.settle(usize::MAX);
        let now = self.connection.registry.millis();
        self.connection.changed_at.store(now, Ordering::Relaxed);
        self.connection.busy.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
#[path = "registry_tests.rs"]
mod tests;
