//! The main menu: pages of the shift, and pages for developers. The account has a menu of its own.

use crate::panel::words::LayoutWords;
use garson_core::permission::Permission;

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
    Requests,
    Notices,
    Book,
    Reference,
    Status,
    Account,
    Sessions,
    Users,
    Audit,
    Privacy,
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
const DEVELOPER: [NavItem; 5] = [
    NavItem::Webhook,
    NavItem::Keys,
    NavItem::Requests,
    NavItem::Book,
    NavItem::Reference,
];

/// The user's own pages, the users of the account, and what concerns the account itself.
const ACCOUNT: [NavItem; 5] = [
    NavItem::Account,
    NavItem::Sessions,
    NavItem::Users,
    NavItem::Audit,
    NavItem::Privacy,
];

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
            Self::Requests => ("/requests", t.requests),
            Self::Notices => ("/notices", t.notices),
            Self::Book => ("/docs/", t.book),
            Self::Reference => ("/docs/api/", t.reference),
            Self::Status => ("/status", t.status),
            Self::Account => ("/account", t.account),
            Self::Sessions => ("/sessions", t.sessions),
            Self::Users => ("/users", t.users),
            Self::Audit => ("/audit", t.audit),
            Self::Privacy => ("/privacy", t.privacy),
            Self::None => ("/", ""),
        }
    }

    /// What a user must be allowed to see the entry.
    fn permission(self) -> Option<Permission> {
        match self {
            Self::Board | Self::Orders => Some(Permission::ReadOrders),
            Self::Today | Self::Reports | Self::Payments => Some(Permission::ReadReports),
            Self::Restaurants => Some(Permission::ReadRestaurants),
            Self::Webhook | Self::Requests => Some(Permission::ReadWebhook),
            Self::Keys => Some(Permission::ManageKeys),
            Self::Notices => Some(Permission::ManageNotices),
            Self::Status => Some(Permission::ReadStatus),
            Self::Users => Some(Permission::ManageUsers),
            Self::Audit => Some(Permission::ReadAudit),
            Self::Privacy => Some(Permission::ManagePrivacy),
            Self::Book | Self::Reference | Self::Account | Self::Sessions | Self::None => None,
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

    pub fn is_of_account(self) -> bool {
        ACCOUNT.contains(&self)
    }
}

pub struct NavLink {
    pub href: &'static str,
    pub name: &'static str,
    pub is_current: bool,
}

/// Is the user allowed to do something?
type May<'a> = &'a dyn Fn(Permission) -> bool;

fn menu(items: &[NavItem], t: &LayoutWords, current: NavItem, may: May<'_>) -> Vec<NavLink> {
    let allowed = items.iter().filter(|item| item.permission().is_none_or(may));
    allowed.map(|item| item.link(t, current)).collect()
}

/// The menu of the shift on a page that belongs to `current`, as far as the user may open its pages.
pub fn shift_menu(t: &LayoutWords, current: NavItem, may: impl Fn(Permission) -> bool) -> Vec<NavLink> {
    menu(&SHIFT, t, current, &may)
}

/// The menu for developers.
pub fn developer_menu(t: &LayoutWords, current: NavItem, may: impl Fn(Permission) -> bool) -> Vec<NavLink> {
    menu(&DEVELOPER, t, current, &may)
}

/// The menu of the account.
pub fn account_menu(t: &LayoutWords, current: NavItem, may: impl Fn(Permission) -> bool) -> Vec<NavLink> {
    menu(&ACCOUNT, t, current, &may)
}
