//! The open connections: how many there are, of whom, what each is doing, and which one goes first when room is needed.

use super::clients::one_address;
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
    /// A client that takes nothing of its answers for this time is cut off.
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
        self.lock().remove(connection);
        self.freed.notify_one();
    }

    /// Answers that nobody takes hold too much memory: the connection with most of it goes, unless it is getting on.
    fn shed(&self) {
        let now = self.millis();
        let stalled = |c: &&Arc<Connection>| {
            let waited = now.saturating_sub(c.progress_at.load(Ordering::Relaxed));
            u128::from(waited) >= STRANGERS_TIME.as_millis() && c.unsent.load(Ordering::Relaxed) > 0
        };
        let mut open = self.lock();
        let largest = open
            .by_id
            .values()
            .filter(stalled)
            .max_by_key(|c| c.unsent.load(Ordering::Relaxed))
            .cloned();
        if let Some(largest) = largest {
            open.remove(&largest);
            self.refusals.note(Refusal::AnswerMemory, Some(largest.peer));
            largest.close.notify_one();
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

    /// Is it still of use?
    pub fn judge(&self) -> Verdict {
        let (now, times) = (self.registry.millis(), self.registry.times);
        let is_busy = self.busy.load(Ordering::Relaxed) > 0;
        let is_unsent = self.unsent.load(Ordering::Relaxed) > 0;
        let (since, limit, then) = match (self.has_asked.load(Ordering::Relaxed), is_busy) {
            (false, _) => (self.opened_at, times.first_head, Verdict::Cut(Refusal::NoRequest)),
            (true, false) => (self.changed_at.load(Ordering::Relaxed), times.idle, Verdict::End),
            (true, true) if is_unsent => (
                self.progress_at.load(Ordering::Relaxed),
                times.send_stall,
                Verdict::Cut(Refusal::SendStalled),
            ),
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
            connection.progress_at.store(registry.millis(), Ordering::Relaxed);
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
mod tests {
    use super::*;

    fn registry(most: usize, most_of_address: usize) -> Arc<Registry> {
        Registry::new(most, most_of_address, Times::default(), Arc::default())
    }

    fn admitted(registry: &Arc<Registry>, peer: &str) -> Arc<Connection> {
        let Ok(connection) = registry.admit(peer.parse().unwrap(), false) else {
            panic!("no place for {peer}");
        };
        connection
    }

    fn is_open(registry: &Registry, connection: &Connection) -> bool {
        registry.lock().by_id.contains_key(&connection.id)
    }

    fn pass(registry: &Registry, seconds: u64) {
        registry.ahead.fetch_add(seconds * 1000, Ordering::Relaxed);
    }

    #[test]
    fn strangers_make_room_in_the_order_in_which_they_can_be_missed() {
        let registry = registry(5, 5);
        let known = admitted(&registry, "192.0.2.1");
        known.note_known();
        let busy_known = admitted(&registry, "192.0.2.2");
        busy_known.note_known();
        let _request = Answering::begin(&busy_known);
        drop(Answering::begin(&known));
        let busy = admitted(&registry, "192.0.2.3");
        let _running = Answering::begin(&busy);
        let idle = admitted(&registry, "192.0.2.4");
        drop(Answering::begin(&idle));
        pass(&registry, 1);
        let silent = admitted(&registry, "192.0.2.5");
        let mut newest = Vec::new();
        for expected in [&silent, &idle, &busy, &known] {
            assert!(is_open(&registry, expected));
            let next = admitted(&registry, "192.0.2.6");
            next.note_known();
            newest.push((Answering::begin(&next), next));
            assert!(!is_open(&registry, expected));
        }
        let full = registry.admit("192.0.2.7".parse().unwrap(), false);
        assert!(matches!(full, Err(Full::Everybody)));
        busy_known.gone();
        admitted(&registry, "192.0.2.7");
    }

    #[test]
    fn an_address_has_its_share_and_loses_only_its_own() {
        let registry = registry(10, 2);
        let other = admitted(&registry, "192.0.2.9");
        let first = admitted(&registry, "192.0.2.1");
        let second = admitted(&registry, "192.0.2.1");
        let _third = admitted(&registry, "192.0.2.1");
        assert!(!is_open(&registry, &first) && is_open(&registry, &second));
        assert!(is_open(&registry, &other));
        // A stranger's request that has just begun is not ended.
        let held = [admitted(&registry, "192.0.2.2"), admitted(&registry, "192.0.2.2")];
        let _requests = held.each_ref().map(Answering::begin);
        let refused = registry.admit("192.0.2.2".parse().unwrap(), false);
        assert!(matches!(refused, Err(Full::Address)));
        // A proxy speaks for many.
        for _ in 0..5 {
            assert!(registry.admit("192.0.2.2".parse().unwrap(), true).is_ok());
        }
        for connection in &held {
            connection.gone();
        }
        assert_eq!(registry.lock().by_address.len(), 2);
    }

    #[test]
    fn a_connection_must_ask_in_time_take_what_it_asked_for_and_not_idle() {
        let registry = registry(10, 10);
        let connection = admitted(&registry, "192.0.2.1");
        assert!(matches!(connection.judge(), Verdict::Keep(_)));
        pass(&registry, 15);
        assert_eq!(connection.judge(), Verdict::Cut(Refusal::NoRequest));
        let request = Answering::begin(&connection);
        pass(&registry, 3600);
        // As long as we take.
        assert!(matches!(connection.judge(), Verdict::Keep(_)));
        request.owe(100);
        pass(&registry, 20);
        assert!(matches!(connection.judge(), Verdict::Keep(_)));
        request.settle(1);
        pass(&registry, 20);
        assert!(matches!(connection.judge(), Verdict::Keep(_)));
        pass(&registry, 10);
        assert_eq!(connection.judge(), Verdict::Cut(Refusal::SendStalled));
        drop(request);
        assert_eq!(registry.unsent.load(Ordering::Relaxed), 0);
        pass(&registry, 40);
        assert!(matches!(connection.judge(), Verdict::Keep(_)));
        pass(&registry, 20);
        assert_eq!(connection.judge(), Verdict::End);
    }

    #[test]
    fn answers_that_nobody_takes_cost_the_largest_holder_its_connection() {
        let registry = registry(10, 10);
        let [large, small, quick] = ["192.0.2.1", "192.0.2.2", "192.0.2.3"].map(|p| admitted(&registry, p));
        let requests = [&large, &small, &quick].map(Answering::begin);
        requests[0].owe(UNSENT / 2);
        requests[1].owe(UNSENT / 4);
        pass(&registry, 2);
        requests[2].owe(UNSENT / 2);
        assert!(!is_open(&registry, &large));
        assert!(is_open(&registry, &small) && is_open(&registry, &quick));
    }
}
