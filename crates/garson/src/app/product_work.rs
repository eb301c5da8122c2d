//! Wakes the workers of products, menus and prices, and the requests that wait for their results.

use garson_core::id::{AccountId, RestaurantId};
use garson_core::platform::Provider;
use parking_lot::Mutex;
use std::collections::BTreeSet;
use tokio::sync::Notify;

/// Requests to read menus that are kept until the worker takes them; more are dropped, and made again by the next reader.
const MAX_READS: usize = 1_000;

/// The menu of a restaurant on a platform.
pub type MenuOf = (AccountId, RestaurantId, Provider);

#[derive(Debug, Default)]
pub struct ProductWork {
    /// The desired availability of items was written.
    pub availability: Notify,
    /// Menus are to be read.
    pub menus: Notify,
    /// Prices are to be sent.
    pub prices: Notify,
    /// Menus are to be sent to platforms.
    pub catalogs: Notify,
    /// Results were written.
    pub settled: Notify,
    reads: Mutex<BTreeSet<MenuOf>>,
}

impl ProductWork {
    /// Has a menu read in the background.
    pub fn request_read(&self, menu: MenuOf) {
        let mut reads = self.reads.lock();
        if reads.len() < MAX_READS {
            reads.insert(menu);
            self.menus.notify_one();
        }
    }

    /// The menus that were requested since the last call.
    pub fn take_reads(&self) -> BTreeSet<MenuOf> {
        std::mem::take(&mut *self.reads.lock())
    }
}
