//! Asking a platform for the orders of one integration, page by page.

use crate::app::App;
use crate::flow::intake::fetch::{record_fetched, storage_trouble};
use crate::flow::platform_client::{Contact, converse};
use crate::telemetry::Topic;
use garson_core::explanation::PlatformFailure;
use garson_core::platform::{CallError, Page, Window};
use garson_store::tables::integrations::Connected;
use std::collections::HashSet;
use std::sync::Arc;
use tokio::time::Instant;

const MAX_PAGES: u32 = 200;

pub(super) struct OrderQuery<'a> {
    pub app: &'a Arc<App>,
    pub connected: &'a Connected,
    pub contact: &'a Contact,
    pub window: Window,
    pub until: Instant,
}

impl OrderQuery<'_> {
    /// Records the orders of all pages, and adds their identities to `listed`; returns the number of pages.
    pub async fn record_all_pages(&self, listed: &mut HashSet<String>) -> Result<u32, CallError> {
        for page in 0..MAX_PAGES {
            let Page { orders, more } = self.page(page).await?;
            if !orders.is_empty() {
                listed.extend(self.record(orders).await?);
            }
            if !more {
                return Ok(page + 1);
            }
        }
        Err(CallError::later(PlatformFailure::EndlessList))
    }

    pub async fn page(&self, page: u32) -> Result<Page, CallError> {
        let platform = self.contact.platform;
        converse(
            self.app,
            self.contact,
            Topic::Poll,
            self.until,
            |link| platform.poll(link, &self.window, page),
            |link, response| platform.polled(link, page, response),
        )
        .await
    }

    /// Records orders; returns their identities.
    pub async fn record(&self, orders: Vec<Vec<u8>>) -> Result<Vec<String>, CallError> {
        record_fetched(self.app, self.connected, orders)
            .await
            .map_err(storage_trouble)
    }
}
