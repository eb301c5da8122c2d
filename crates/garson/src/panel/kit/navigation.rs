//! The main menu.

use crate::panel::words::LayoutWords;

/// The entries of the main menu.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NavItem {
    Board,
    Orders,
    Restaurants,
    Reports,
    Payments,
    Webhook,
    Keys,
    Notices,
    Status,
    Sessions,
    /// The page belongs to no entry.
    None,
}

impl NavItem {
    /// In the order of the menu.
    const MENU: [Self; 10] = [
        Self::Board,
        Self::Orders,
        Self::Restaurants,
        Self::Reports,
        Self::Payments,
        Self::Webhook,
        Self::Keys,
        Self::Notices,
        Self::Status,
        Self::Sessions,
    ];

    fn path_and_name(self, t: &LayoutWords) -> (&'static str, &'static str) {
        match self {
            Self::Board => ("/", t.board),
            Self::Orders => ("/orders", t.orders),
            Self::Restaurants => ("/restaurants", t.restaurants),
            Self::Reports => ("/reports", t.reports),
            Self::Payments => ("/payments", t.payments),
            Self::Webhook => ("/webhook", t.webhook),
            Self::Keys => ("/keys", t.keys),
            Self::Notices => ("/notices", t.notices),
            Self::Status => ("/status", t.status),
            Self::Sessions => ("/sessions", t.sessions),
            Self::None => ("/", ""),
        }
    }
}

pub struct NavLink {
    pub href: &'static str,
    pub name: &'static str,
    pub is_current: bool,
}

/// The menu of a page that belongs to `current`.
pub fn menu(t: &LayoutWords, current: NavItem) -> Vec<NavLink> {
    let link = |item: NavItem| {
        let (href, name) = item.path_and_name(t);
        NavLink {
            href,
            name,
            is_current: item == current,
        }
    };
    NavItem::MENU.into_iter().map(link).collect()
}
