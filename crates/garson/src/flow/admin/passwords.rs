//! Threads of their own for checking passwords, which costs memory and time on purpose. The queue is short and nobody takes
//! more than a share of it, so that whoever is let in waits for a moment only.

use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use tokio::sync::oneshot;

/// Each needs 19 MiB while it works.
const THREADS: usize = 2;
/// Checks that may wait for a thread, for strangers and for those who have been here before.
const LONGEST_QUEUE: usize = 32;
/// Checks of one address that may wait or run.
const PER_ADDRESS: usize = 8;

/// In whose name a password is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asker {
    /// Somebody who has been signed in on this browser before, or is now, or the operator: they go first.
    Known,
    /// Anybody, from this address.
    Stranger(Option<IpAddr>),
}

/// Too many wait already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Busy;

type Job = Box<dyn FnOnce() + Send>;

/// The threads and what waits for them.
#[derive(Default)]
pub struct Passwords {
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
    fn lock(&self) -> MutexGuard<'_, Queues> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        loop {
            let mut queues = self.lock();
            let job = loop {
                let next = queues.known.pop_front();
                if let Some(job) = next.or_else(|| queues.strangers.pop_front()) {
                    break job;
                }
                if queues.is_closed {
                    return;
                }
                queues = self.wake.wait(queues).unwrap_or_else(PoisonError::into_inner);
            };
            drop(queues);
            job();
        }
    }
}

impl Passwords {
    /// Runs some work on password threads; `Busy` at once when too much waits, or when the work ended without a result.
    pub async fn run<T: Send + 'static>(
        &self,
        asker: Asker,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Busy> {
        let (answer, answered) = oneshot::channel();
        let share = self.enter(asker)?;
        let job: Job = Box::new(move || {
            let result = work();
            drop(share);
            let _nobody_waits = answer.send(result);
        });
        {
            let mut queues = self.shared.lock();
            match asker {
                Asker::Known => queues.known.push_back(job),
                Asker::Stranger(_) => queues.strangers.push_back(job),
            }
        }
        self.shared.wake.notify_one();
        answered.await.map_err(|_| Busy)
    }

    /// Takes a place in the queue.
    fn enter(&self, asker: Asker) -> Result<Share, Busy> {
        if !self.start() {
            return Err(Busy);
        }
        let mut queues = self.shared.lock();
        let waiting = match asker {
            Asker::Known => queues.known.len(),
            Asker::Stranger(_) => queues.strangers.len(),
        };
        if waiting >= LONGEST_QUEUE {
            return Err(Busy);
        }
        let Asker::Stranger(Some(address)) = asker else {
            return Ok(Share(None));
        };
        let count = queues.by_address.entry(address).or_default();
        if *count >= PER_ADDRESS {
            return Err(Busy);
        }
        *count += 1;
        Ok(Share(Some((Arc::clone(&self.shared), address))))
    }

    /// Starts the threads with the first check; commands need none.
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

impl Drop for Passwords {
    fn drop(&mut self) {
        self.shared.lock().is_closed = true;
        self.shared.wake.notify_all();
    }
}

/// A place of an address, given back when the check is done.
struct Share(Option<(Arc<Shared>, IpAddr)>);

impl Drop for Share {
    fn drop(&mut self) {
        let Some((shared, address)) = &self.0 else {
            return;
        };
        let mut queues = shared.lock();
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

    fn stranger(last: u8) -> Asker {
        Asker::Stranger(Some(IpAddr::from([192, 0, 2, last])))
    }

    #[tokio::test]
    async fn an_address_has_its_share_and_the_known_go_first() {
        let passwords = Arc::new(Passwords::default());
        let (done, order) = mpsc::channel();
        let mut gates = Vec::new();
        let mut all = tokio::task::JoinSet::new();
        // Both threads are held.
        for last in 0..2 {
            let (open, gate) = mpsc::channel::<()>();
            gates.push(open);
            let passwords = Arc::clone(&passwords);
            all.spawn(async move { passwords.run(stranger(last), move || gate.recv().is_err()).await });
        }
        while !passwords.shared.lock().strangers.is_empty() || passwords.shared.lock().by_address.len() < 2 {
            tokio::task::yield_now().await;
        }
        let begin = |asker: Asker, name: &'static str, all: &mut tokio::task::JoinSet<_>| {
            let (passwords, done) = (Arc::clone(&passwords), done.clone());
            all.spawn(async move { passwords.run(asker, move || done.send(name).is_err()).await });
        };
        for _ in 0..PER_ADDRESS {
            begin(stranger(9), "stranger", &mut all);
        }
        while passwords.shared.lock().strangers.len() < PER_ADDRESS {
            tokio::task::yield_now().await;
        }
        assert_eq!(passwords.run(stranger(9), || ()).await, Err(Busy));
        begin(Asker::Known, "known", &mut all);
        while passwords.shared.lock().known.is_empty() {
            tokio::task::yield_now().await;
        }
        drop(gates.pop());
        assert_eq!(order.recv(), Ok("known"));
        drop(gates);
        while let Some(ended) = all.join_next().await {
            assert!(ended.unwrap().is_ok());
        }
        assert!(passwords.shared.lock().by_address.is_empty());
        assert_eq!(passwords.run(stranger(9), || 7).await, Ok(7));
    }

    #[tokio::test]
    async fn the_queue_has_an_end() {
        let passwords = Arc::new(Passwords::default());
        let mut gates = Vec::new();
        let mut all = tokio::task::JoinSet::new();
        let held = LONGEST_QUEUE + THREADS;
        for last in 0..held {
            let (open, gate) = mpsc::channel::<()>();
            gates.push(open);
            let (own, asker) = (Arc::clone(&passwords), stranger(u8::try_from(last).unwrap()));
            all.spawn(async move { own.run(asker, move || gate.recv().is_err()).await });
            while passwords.shared.lock().by_address.len() <= last {
                tokio::task::yield_now().await;
            }
            while last < THREADS && !passwords.shared.lock().strangers.is_empty() {
                tokio::task::yield_now().await;
            }
        }
        assert_eq!(passwords.run(stranger(200), || ()).await, Err(Busy));
        drop(gates);
        while let Some(ended) = all.join_next().await {
            assert_eq!(ended.unwrap(), Ok(true));
        }
    }
}
