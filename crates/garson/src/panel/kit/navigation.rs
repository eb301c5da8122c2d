//! The main menu: pages of the shift, and pages for developers. The account has a menu of its own.

use crate::panel::words::LayoutWords;

/// The entries of the menus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NavItem {
    Board,
    Orders,
    Today,
    Restaurants,
    Reports,
    Payments,
    Webhook,
    Keys,
    Notices,
    Reference,
    Status,
    Sessions,
    /// The page belongs to no entry.
    None,
}

/// What restaurant staff need during a shift, in the order of the menu.
const SHIFT: [NavItem; 8] = [
    NavItem::Board,
    NavItem::Orders,
    NavItem::Today,
    NavItem::Payments,
    NavItem::Reports,
    NavItem::Restaurants,
    NavItem::Notices,
    NavItem::Status,
];

/// What developers of POS programs need.
const DEVELOPER: [NavItem; 3] = [NavItem::Webhook, NavItem::Keys, NavItem::Reference];

impl NavItem {
    fn path_and_name(self, t: &LayoutWords) -> (&'static str, &'static str) {
        match self {
            Self::Board => ("/", t.board),
            Self::Orders => ("/orders", t.orders),
            Self::Today => ("/today", t.today),
            Self::Restaurants => ("/restaurants", t.restaurants),
            Self::Reports => ("/reports", t.reports),
            Self::Payments => ("/payments", t.payments),
            Self::Webhook => ("/webhook", t.webhook),
            Self::Keys => ("/keys", t.keys),
            Self::Notices => ("/notices", t.notices),
            Self::Reference => ("/docs/", t.reference),
            Self::Status => ("/status", t.status),
            Self::Sessions => ("/sessions", t.sessions),
            Self::None => ("/", ""),
        }
    }

    fn link(self, t: &LayoutWords, current: Self) -> NavLink {
        let (href, name) = self.path_and_name(t);
        NavLink {
            href,
            name,
            is_current: self == current,
        }
    }

    pub fn is_for_developers(self) -> bool {
        DEVELOPER.contains(&self)
    }
}

pub struct NavLink {
    pub href: &'static str,
    pub name: &'static str,
    pub is_current: bool,
}

/// The menu of the shift on a page that belongs to `current`.
pub fn shift_menu(t: &LayoutWords, current: NavItem) -> Vec<NavLink> {
    SHIFT.into_iter().map(|item| item.link(t, current)).collect()
}

/// The menu for developers.
pub fn developer_menu(t: &LayoutWords, current: NavItem) -> Vec<NavLink> {
    DEVELOPER.into_iter().map(|item| item.link(t, current)).collect()
}
