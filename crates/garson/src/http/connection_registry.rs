//! The open connections: limits in total and for each address, what each connection is doing, and which one is evicted when a
//! limit is reached.

use crate::net::client_address::one_address;
use crate::telemetry::{Refusal, Refusals};
use parking_lot::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

#[derive(Clone, Copy, Debug)]
pub struct Timeouts {
    /// For the head of the first request.
    pub first_head: Duration,
    /// Without a request.
    pub idle: Duration,
    /// For a client that reads nothing of its responses; also the period over which it must read `MIN_READ_RATE` on average.
    pub send_stall: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            first_head: Duration::from_secs(15),
            idle: Duration::from_secs(60),
            send_stall: Duration::from_secs(30),
        }
    }
}

/// How long an idle connection gets to end by itself.
pub const GRACE: Duration = Duration::from_millis(500);
/// A request of an unauthenticated client that runs longer than this may be evicted.
const UNAUTHENTICATED_TIME: Duration = Duration::from_secs(1);
/// Bytes per second that a client must read of its pending responses: otherwise one that reads a byte now and then would hold their
/// memory for hours.
const MIN_READ_RATE: u64 = 1024;
/// Memory for unsent responses; beyond it the slowest readers are disconnected.
const MAX_UNSENT: usize = 128 * 1024 * 1024;

/// Every open connection.
pub struct Registry {
    began: Instant,
    max_connections: usize,
    max_per_address: usize,
    timeouts: Timeouts,
    open: Mutex<Open>,
    /// Notified when a connection has ended.
    freed: Notify,
    /// Bytes of unsent responses.
    unsent: AtomicUsize,
    refusals: Arc<Refusals>,
    /// Milliseconds by which tests advance the clock.
    #[cfg(test)]
    ahead: AtomicU64,
}

#[derive(Default)]
struct Open {
    next_id: u64,
    by_id: HashMap<u64, Arc<Connection>>,
    by_address: HashMap<IpAddr, usize>,
    /// Connections that were closed because of their unsent responses and have not ended yet.
    closing: HashMap<u64, Arc<Connection>>,
}

/// One connection, shared by its supervisor and its requests.
pub struct Connection {
    id: u64,
    registry: Arc<Registry>,
    pub peer: IpAddr,
    /// A trusted proxy: many clients share the connection, and the limit for each address does not apply.
    is_proxy: bool,
    opened_at: u64,
    /// Requests that are being handled, or whose responses have not been sent completely.
    active_requests: AtomicUsize,
    has_requested: AtomicBool,
    /// A request on it had a valid key, secret or session.
    is_authenticated: AtomicBool,
    /// When the last request began or ended.
    changed_at: AtomicU64,
    unsent: AtomicUsize,
    /// When the client last read something, or a response began to wait.
    progress_at: AtomicU64,
    /// Bytes that the client has read since `measured_at`.
    read: AtomicU64,
    measured_at: AtomicU64,
    close: Notify,
}

/// What to do with a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Check again after this time.
    Keep(Duration),
    /// It is idle: shut it down gracefully.
    ShutDown,
    Close(Refusal),
}

/// Which limit a connection exceeds.
pub enum Full {
    Address,
    /// All connections are busy with authenticated clients: wait for one to end.
    Server,
}

impl Registry {
    pub fn new(
        max_connections: usize,
        max_per_address: usize,
        timeouts: Timeouts,
        refusals: Arc<Refusals>,
    ) -> Arc<Self> {
        Arc::new(Self {
            began: Instant::now(),
            max_connections,
            max_per_address,
            timeouts,
            open: Mutex::default(),
            freed: Notify::new(),
            unsent: AtomicUsize::new(0),
            refusals,
            #[cfg(test)]
            ahead: AtomicU64::new(0),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock()
    }

    fn millis(&self) -> u64 {
        let elapsed = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        #[cfg(test)]
        let elapsed = elapsed + self.ahead.load(Ordering::Relaxed);
        elapsed
    }

    /// Admits a connection; may evict another one.
    pub fn admit(self: &Arc<Self>, peer: IpAddr, is_proxy: bool) -> Result<Arc<Connection>, Full> {
        let (peer, now) = (peer.to_canonical(), self.millis());
        let address = one_address(peer);
        let mut open = self.lock();
        let of_address = open.by_address.get(&address).copied().unwrap_or(0);
        if !is_proxy && of_address >= self.max_per_address {
            let victim = open.victim(now, Some(address));
            self.evict(&mut open, victim).ok_or(Full::Address)?;
        }
        if open.by_id.len() >= self.max_connections {
            let victim = open.victim(now, None);
            self.evict(&mut open, victim).ok_or(Full::Server)?;
        }
        let id = open.next_id;
        open.next_id += 1;
        let connection = Arc::new(Connection {
            id,
            registry: Arc::clone(self),
            peer,
            is_proxy,
            opened_at: now,
            active_requests: AtomicUsize::new(0),
            has_requested: AtomicBool::new(false),
            is_authenticated: AtomicBool::new(false),
            changed_at: AtomicU64::new(now),
            unsent: AtomicUsize::new(0),
            progress_at: AtomicU64::new(now),
            read: AtomicU64::new(0),
            measured_at: AtomicU64::new(now),
            close: Notify::new(),
        });
        open.by_id.insert(id, Arc::clone(&connection));
        if !is_proxy {
            *open.by_address.entry(address).or_default() += 1;
        }
        Ok(connection)
    }

    /// Evicts the least useful connection; `false` when none may be evicted.
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
        open.closing.remove(&connection.id);
        drop(open);
        self.freed.notify_one();
    }

    /// Frees memory of unsent responses: closes the connection with most of them among those that are stalled. If none is stalled,
    /// closes the one that would hold its memory for the longest time.
    fn shed_unsent(&self) {
        let now = self.millis();
        let mut open = self.lock();
        let closing: usize = open.closing.values().map(|c| c.unsent()).sum();
        if self.unsent.load(Ordering::Relaxed).saturating_sub(closing) <= MAX_UNSENT {
            return;
        }
        let holders = || open.by_id.values().filter(|c| c.unsent() > 0);
        let is_stalled = |c: &&Arc<Connection>| {
            let waited = now.saturating_sub(c.progress_at.load(Ordering::Relaxed));
            u128::from(waited) >= UNAUTHENTICATED_TIME.as_millis()
        };
        let stalled = holders().filter(is_stalled).max_by_key(|c| c.unsent());
        let victim = stalled.or_else(|| holders().max_by_key(|c| (c.time_left(now), c.unsent())));
        if let Some(victim) = victim.cloned() {
            open.remove(&victim);
            self.refusals.note(Refusal::AnswerMemory, Some(victim.peer));
            victim.close.notify_one();
            open.closing.insert(victim.id, victim);
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

    /// The least useful connection among those that may be evicted.
    fn victim(&self, now: u64, of_address: Option<IpAddr>) -> Option<Arc<Connection>> {
        self.by_id
            .values()
            .filter(|c| of_address.is_none_or(|address| !c.is_proxy && one_address(c.peer) == address))
            .filter_map(|c| Some((c.eviction_rank(now)?, c)))
            .min_by_key(|(rank, _)| *rank)
            .map(|(_, c)| Arc::clone(c))
    }
}

impl Connection {
    /// The lowest rank is evicted first, the oldest among equals; `None` when it may not be evicted.
    fn eviction_rank(&self, now: u64) -> Option<(u8, u64, u64)> {
        let changed_at = self.changed_at.load(Ordering::Relaxed);
        let is_authenticated = self.is_authenticated.load(Ordering::Relaxed);
        let is_busy = self.active_requests.load(Ordering::Relaxed) > 0;
        let has_run = u128::from(now.saturating_sub(changed_at)) >= UNAUTHENTICATED_TIME.as_millis();
        match (is_authenticated, is_busy) {
            (false, false) if !self.has_requested.load(Ordering::Relaxed) => Some((0, changed_at, self.id)),
            (false, false) => Some((1, changed_at, self.id)),
            (false, true) if has_run => Some((2, changed_at, self.id)),
            (true, false) => Some((3, changed_at, self.id)),
            _ => None,
        }
    }

    /// A request on it had a valid key, secret or session.
    pub fn mark_authenticated(&self) {
        self.is_authenticated.store(true, Ordering::Relaxed);
    }

    /// Waits until the registry closes it.
    pub async fn closed(&self) {
        self.close.notified().await;
    }

    pub fn is_busy(&self) -> bool {
        self.active_requests.load(Ordering::Relaxed) > 0
    }

    pub fn refuse(&self, kind: Refusal) {
        self.registry.refusals.note(kind, Some(self.peer));
    }

    fn unsent(&self) -> usize {
        self.unsent.load(Ordering::Relaxed)
    }

    /// Milliseconds until its responses are sent, at the rate at which the client has been reading.
    fn time_left(&self, now: u64) -> u128 {
        let measured = now.saturating_sub(self.measured_at.load(Ordering::Relaxed));
        let read = self.read.load(Ordering::Relaxed).max(1);
        self.unsent() as u128 * u128::from(measured) / u128::from(read)
    }

    /// Does the client read its responses fast enough?
    fn reading_verdict(&self, now: u64) -> Verdict {
        let limit = self.registry.timeouts.send_stall;
        let since = |at: &AtomicU64| Duration::from_millis(now.saturating_sub(at.load(Ordering::Relaxed)));
        let stalled = since(&self.progress_at);
        if stalled >= limit {
            return Verdict::Close(Refusal::SendStalled);
        }
        let measured = since(&self.measured_at);
        if measured < limit {
            return Verdict::Keep(limit - stalled.max(measured));
        }
        let read = self.read.swap(0, Ordering::Relaxed);
        self.measured_at.store(now, Ordering::Relaxed);
        let is_slow = u128::from(read) * 1000 < u128::from(MIN_READ_RATE) * measured.as_millis();
        // A proxy's connection carries many clients: a slow one must not disconnect the others.
        if is_slow && !self.is_proxy {
            Verdict::Close(Refusal::SendStalled)
        } else {
            Verdict::Keep(limit - stalled)
        }
    }

    /// Whether it may stay open, by what it is doing.
    pub fn verdict(&self) -> Verdict {
        let (now, timeouts) = (self.registry.millis(), self.registry.timeouts);
        let is_busy = self.active_requests.load(Ordering::Relaxed) > 0;
        let (since, limit, then) = match (self.has_requested.load(Ordering::Relaxed), is_busy) {
            (false, _) => (
                self.opened_at,
                timeouts.first_head,
                Verdict::Close(Refusal::NoRequest),
            ),
            (true, false) => (
                self.changed_at.load(Ordering::Relaxed),
                timeouts.idle,
                Verdict::ShutDown,
            ),
            (true, true) if self.unsent() > 0 => return self.reading_verdict(now),
            // The client waits for our response.
            (true, true) => return Verdict::Keep(timeouts.send_stall / 2),
        };
        let passed = Duration::from_millis(now.saturating_sub(since));
        match limit.checked_sub(passed) {
            None | Some(Duration::ZERO) => then,
            Some(left) => Verdict::Keep(left),
        }
    }

    /// Removes a connection that has ended.
    pub fn remove(&self) {
        self.registry.remove(self);
    }
}

/// A request on a connection, from its head to the last byte of its response.
pub struct ActiveRequest {
    connection: Arc<Connection>,
    unsent: AtomicUsize,
}

impl ActiveRequest {
    pub fn begin(connection: &Arc<Connection>) -> Self {
        connection.active_requests.fetch_add(1, Ordering::Relaxed);
        connection.has_requested.store(true, Ordering::Relaxed);
        let now = connection.registry.millis();
        connection.changed_at.store(now, Ordering::Relaxed);
        Self {
            connection: Arc::clone(connection),
            unsent: AtomicUsize::new(0),
        }
    }

    /// Bytes of the response that wait to be sent.
    pub fn add_unsent(&self, bytes: usize) {
        let (connection, registry) = (&self.connection, &self.connection.registry);
        if connection.unsent.fetch_add(bytes, Ordering::Relaxed) == 0 {
            let now = registry.millis();
            connection.progress_at.store(now, Ordering::Relaxed);
            connection.measured_at.store(now, Ordering::Relaxed);
            connection.read.store(0, Ordering::Relaxed);
        }
        self.unsent.fetch_add(bytes, Ordering::Relaxed);
        let before = registry.unsent.fetch_add(bytes, Ordering::Relaxed);
        if before.saturating_add(bytes) > MAX_UNSENT {
            registry.shed_unsent();
        }
    }

    /// Bytes of the response that were sent, or never will be.
    pub fn remove_unsent(&self, bytes: usize) {
        let rest = |unsent: usize| Some(unsent.saturating_sub(bytes));
        let before = self
            .unsent
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, rest);
        let (Ok(before) | Err(before)) = before;
        let removed = bytes.min(before);
        let read = u64::try_from(removed).unwrap_or(u64::MAX);
        self.connection.read.fetch_add(read, Ordering::Relaxed);
        self.connection.unsent.fetch_sub(removed, Ordering::Relaxed);
        self.connection
            .registry
            .unsent
            .fetch_sub(removed, Ordering::Relaxed);
        let now = self.connection.registry.millis();
        self.connection.progress_at.store(now, Ordering::Relaxed);
    }
}

impl Drop for ActiveRequest {
    fn drop(&mut self) {
        self.remove_unsent(usize::MAX);
        let now = self.connection.registry.millis();
        self.connection.changed_at.store(now, Ordering::Relaxed);
        self.connection.active_requests.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
#[path = "connection_registry_tests.rs"]
mod tests;
