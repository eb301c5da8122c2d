//! A menu as it was read from a platform, for the menu cache.

use garson_core::menu::Menu;
use garson_core::time::Timestamp;

#[derive(Clone)]
pub struct FetchedMenu {
    pub menu: Menu,
    pub fetched_at: Timestamp,
}
