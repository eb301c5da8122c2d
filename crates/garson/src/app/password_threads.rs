//! Dedicated threads for checking passwords, which costs memory and time on purpose. The queue is short, and one address gets
//! only a share of it, so that an admitted check waits briefly.

use parking_lot::{Condvar, Mutex};
use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::sync::{Arc, OnceLock};
use tokio::sync::oneshot;

/// Each needs 19 MiB while it works.
const THREADS: usize = 2;
/// Checks that may wait for a thread, of unknown and of known clients each.
const LONGEST_QUEUE: usize = 32;
/// Checks of one address that may wait or run.
const PER_ADDRESS: usize = 8;

/// Who requests a password check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requester {
    /// A browser on which the account is or was signed in, or the operator: served first.
    Known,
    /// Any other client, by its address.
    Stranger(Option<IpAddr>),
}

/// The queue is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Busy;

type Job = Box<dyn FnOnce() + Send>;

/// The threads and their queues.
#[derive(Default)]
pub struct PasswordThreads {
    shared: Arc<Shared>,
    started: OnceLock<bool>,
}

#[derive(Default)]
struct Shared {
    queues: Mutex<Queues>,
    wake: Condvar,
}

#[derive(Default)]
struct Queues {
    known: VecDeque<Job>,
    strangers: VecDeque<Job>,
    by_address: HashMap<IpAddr, usize>,
    is_closed: bool,
}

impl Shared {
    fn work(&self) {
        loop {
            let mut queues = self.queues.lock();
            let job = loop {
                let next = queues.known.pop_front();
                if let Some(job) = next.or_else(|| queues.strangers.pop_front()) {
                    break job;
                }
                if queues.is_closed {
                    return;
                }
                self.wake.wait(&mut queues);
            };
            drop(queues);
            job();
        }
    }
}

impl PasswordThreads {
    /// Runs work on a password thread; `Busy` when the queue is full, or when the work panicked.
    pub async fn run<T: Send + 'static>(
        &self,
        requester: Requester,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Busy> {
        let (answer, answered) = oneshot::channel();
        let share = self.enter(requester)?;
        let job: Job = Box::new(move || {
            let result = work();
            drop(share);
            // The requester may have disconnected.
            let _ = answer.send(result);
        });
        {
            let mut queues = self.shared.queues.lock();
            match requester {
                Requester::Known => queues.known.push_back(job),
                Requester::Stranger(_) => queues.strangers.push_back(job),
            }
        }
        self.shared.wake.notify_one();
        answered.await.map_err(|_| Busy)
    }

    /// Reserves a place in the queue.
    fn enter(&self, requester: Requester) -> Result<Share, Busy> {
        if !self.start() {
            return Err(Busy);
        }
        let mut queues = self.shared.queues.lock();
        let waiting = match requester {
            Requester::Known => queues.known.len(),
            Requester::Stranger(_) => queues.strangers.len(),
        };
        if waiting >= LONGEST_QUEUE {
            return Err(Busy);
        }
        let Requester::Stranger(Some(address)) = requester else {
            return Ok(Share(None));
        };
        let count = queues.by_address.entry(address).or_default();
        if *count >= PER_ADDRESS {
            return Err(Busy);
        }
        *count += 1;
        Ok(Share(Some((Arc::clone(&self.shared), address))))
    }

    /// Starts the threads with the first check; most commands need none.
    fn start(&self) -> bool {
        *self.started.get_or_init(|| {
            (0..THREADS).all(|_| {
                let shared = Arc::clone(&self.shared);
                let thread = std::thread::Builder::new().name("passwords".to_owned());
                thread.spawn(move || shared.work()).is_ok()
            })
        })
    }
}

impl Drop for PasswordThreads {
    fn drop(&mut self) {
        self.shared.queues.lock().is_closed = true;
        self.shared.wake.notify_all();
    }
}

/// A reserved place of an address, released when the check is done.
struct Share(Option<(Arc<Shared>, IpAddr)>);

impl Drop for Share {
    fn drop(&mut self) {
        let Some((shared, address)) = &self.0 else {
            return;
        };
        let mut queues = shared.queues.lock();
        if let Some(count) = queues.by_address.get_mut(address) {
            *count -= 1;
            if *count == 0 {
                queues.by_address.remove(address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    fn stranger(last: u8) -> Requester {
        Requester::Stranger(Some(IpAddr::from([192, 0, 2, last])))
    }

    #[tokio::test]
    async fn address_has_its_share_and_known_clients_go_first() {
        let threads = Arc::new(PasswordThreads::default());
        let (done, order) = mpsc::channel();
        let mut gates = Vec::new();
        let mut all = tokio::task::JoinSet::new();
        // Both threads are held.
        for last in 0..2 {
            let (open, gate) = mpsc::channel::<()>();
            gates.push(open);
            let threads = Arc::clone(&threads);
            all.spawn(async move { threads.run(stranger(last), move || gate.recv().is_err()).await });
        }
        while !threads.shared.queues.lock().strangers.is_empty()
            || threads.shared.queues.lock().by_address.len() < 2
        {
            tokio::task::yield_now().await;
        }
        let begin = |requester: Requester, name: &'static str, all: &mut tokio::task::JoinSet<_>| {
            let (threads, done) = (Arc::clone(&threads), done.clone());
            all.spawn(async move { threads.run(requester, move || done.send(name).is_err()).await });
        };
        for _ in 0..PER_ADDRESS {
            begin(stranger(9), "stranger", &mut all);
        }
        while threads.shared.queues.lock().strangers.len() < PER_ADDRESS {
            tokio::task::yield_now().await;
        }
        assert_eq!(threads.run(stranger(9), || ()).await, Err(Busy));
        begin(Requester::Known, "known", &mut all);
        while threads.shared.queues.lock().known.is_empty() {
            tokio::task::yield_now().await;
        }
        drop(gates.pop());
        assert_eq!(order.recv(), Ok("known"));
        drop(gates);
        while let Some(ended) = all.join_next().await {
            assert!(ended.unwrap().is_ok());
        }
        assert!(threads.shared.queues.lock().by_address.is_empty());
        assert_eq!(threads.run(stranger(9), || 7).await, Ok(7));
    }

    #[tokio::test]
    async fn queue_is_bounded() {
        let threads = Arc::new(PasswordThreads::default());
        let mut gates = Vec::new();
        let mut all = tokio::task::JoinSet::new();
        let held = LONGEST_QUEUE + THREADS;
        for last in 0..held {
            let (open, gate) = mpsc::channel::<()>();
            gates.push(open);
            let (own, requester) = (Arc::clone(&threads), stranger(u8::try_from(last).unwrap()));
            all.spawn(async move { own.run(requester, move || gate.recv().is_err()).await });
            while threads.shared.queues.lock().by_address.len() <= last {
                tokio::task::yield_now().await;
            }
            while last < THREADS && !threads.shared.queues.lock().strangers.is_empty() {
                tokio::task::yield_now().await;
            }
        }
        assert_eq!(threads.run(stranger(200), || ()).await, Err(Busy));
        drop(gates);
        while let Some(ended) = all.join_next().await {
            assert_eq!(ended.unwrap(), Ok(true));
        }
    }
}
