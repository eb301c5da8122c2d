//! Idle connections, kept for the next request to the same origin.

use super::connection::Connection;
use super::guard::Origin;
use super::idle_pool::{IdleLimits, IdlePool};
use garson_core::platform::Trust;
use parking_lot::{Mutex, MutexGuard};
use std::net::IpAddr;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

/// Servers close idle connections after some time; ours are closed before that. Node and Apache wait for five seconds.
const ACCOUNT_LIMITS: IdleLimits = IdleLimits {
    count: 16,
    time: Duration::from_secs(4),
};
const OPERATOR_LIMITS: IdleLimits = IdleLimits {
    count: 64,
    time: Duration::from_secs(15),
};
const MAX_IDLE: usize = 512;
const SWEEP_INTERVAL: Duration = Duration::from_secs(1);

/// Who gave the address, and the origin.
type Key = (Trust, Arc<Origin>);

/// Idle connections by origin. Clones share them.
#[derive(Clone)]
pub struct ConnectionPool {
    shared: Arc<Mutex<Shared>>,
}

struct Shared {
    idle: IdlePool<Key, Connection>,
    has_sweeper: bool,
}

impl Default for ConnectionPool {
    fn default() -> Self {
        let shared = Shared {
            idle: IdlePool::new(MAX_IDLE),
            has_sweeper: false,
        };
        Self {
            shared: Arc::new(Mutex::new(shared)),
        }
    }
}

impl ConnectionPool {
    /// An open connection to that origin, and to one of these addresses if they are given; others are closed.
    pub fn take(&self, key: &Key, addresses: Option<&[IpAddr]>) -> Option<Connection> {
        let is_expected = |connection: &Connection| {
            addresses.is_none_or(|addresses| addresses.contains(&connection.address()))
        };
        lock(&self.shared).idle.take(key, Instant::now(), |connection| {
            connection.is_ready() && is_expected(connection)
        })
    }

    /// Keeps a connection that is ready for another request.
    pub fn put(&self, key: Key, connection: Connection) {
        let limits = match key.0 {
            Trust::Account => ACCOUNT_LIMITS,
            Trust::Operator => OPERATOR_LIMITS,
        };
        let mut shared = lock(&self.shared);
        shared.idle.put(key, connection, limits, Instant::now());
        if !shared.has_sweeper {
            shared.has_sweeper = true;
            tokio::spawn(sweep(Arc::downgrade(&self.shared)));
        }
    }
}

/// Closes connections whose time is over; ends when the pool is empty.
async fn sweep(shared: Weak<Mutex<Shared>>) {
    loop {
        tokio::time::sleep(SWEEP_INTERVAL).await;
        let Some(shared) = shared.upgrade() else {
            return;
        };
        let mut shared = lock(&shared);
        shared.idle.sweep(Instant::now(), Connection::is_ready);
        if shared.idle.is_empty() {
            shared.has_sweeper = false;
            return;
        }
    }
}

fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock()
}
