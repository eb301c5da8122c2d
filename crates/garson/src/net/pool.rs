//! Connections that are kept for the next request to the same origin.

use super::connection::Connection;
use super::guard::Origin;
use crate::net::connection_pool::{Bounds, Shelf};
use garson_core::platform::Trust;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

/// Servers close idle connections after some time; ours are gone before that. Node and Apache wait for five seconds.
const FOR_AN_ACCOUNT: Bounds = Bounds {
    count: 16,
    time: Duration::from_secs(4),
};
const FOR_THE_OPERATOR: Bounds = Bounds {
    count: 64,
    time: Duration::from_secs(15),
};
/// All idle connections together.
const MOST: usize = 512;
/// How often those that are over are closed.
const SWEEP: Duration = Duration::from_secs(1);

/// Connections are found by whose address it is and where it leads.
type Key = (Trust, Arc<Origin>);

/// Idle connections by origin. Clones share them.
#[derive(Clone)]
pub struct Pool {
    kept: Arc<Mutex<Kept>>,
}

struct Kept {
    shelf: Shelf<Key, Connection>,
    is_swept: bool,
}

impl Default for Pool {
    fn default() -> Self {
        let kept = Kept {
            shelf: Shelf::new(MOST),
            is_swept: false,
        };
        Self {
            kept: Arc::new(Mutex::new(kept)),
        }
    }
}

impl Pool {
    /// An open connection to that origin, and to one of these addresses if they are given; others are closed.
    pub fn take(&self, key: &Key, addresses: Option<&[IpAddr]>) -> Option<Connection> {
        let leads_there = |connection: &Connection| {
            addresses.is_none_or(|addresses| addresses.contains(&connection.address()))
        };
        lock(&self.kept).shelf.take(key, Instant::now(), |connection| {
            connection.is_ready() && leads_there(connection)
        })
    }

    /// Keeps a connection that is ready for another request.
    pub fn keep(&self, key: Key, connection: Connection) {
        let bounds = match key.0 {
            Trust::Account => FOR_AN_ACCOUNT,
            Trust::Operator => FOR_THE_OPERATOR,
        };
        let mut kept = lock(&self.kept);
        kept.shelf.lay(key, connection, bounds, Instant::now());
        if !kept.is_swept {
            kept.is_swept = true;
            tokio::spawn(sweep(Arc::downgrade(&self.kept)));
        }
    }
}

/// Closes what nobody came back for; ends when nothing is kept any more.
async fn sweep(kept: Weak<Mutex<Kept>>) {
    loop {
        tokio::time::sleep(SWEEP).await;
        let Some(kept) = kept.upgrade() else {
            return;
        };
        let mut kept = lock(&kept);
        kept.shelf.sweep(Instant::now(), Connection::is_ready);
        if kept.shelf.is_empty() {
            kept.is_swept = false;
            return;
        }
    }
}

fn lock(kept: &Mutex<Kept>) -> MutexGuard<'_, Kept> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}
