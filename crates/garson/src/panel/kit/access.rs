//! Who may use which route of the panel: one table. A route that is missing in it is refused to everybody.

use garson_core::permission::Permission;
use http::Method;

/// What a route needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// No session.
    Public,
    /// Any user.
    SignedIn,
    /// Any user, who has recently given the password or a code.
    Confirmed,
    Needs(Permission),
    /// The same, by a user who has recently given the password or a code.
    NeedsConfirmed(Permission),
}

impl Access {
    #[must_use]
    pub fn permission(self) -> Option<Permission> {
        match self {
            Self::Needs(permission) | Self::NeedsConfirmed(permission) => Some(permission),
            Self::Public | Self::SignedIn | Self::Confirmed => None,
        }
    }

    #[must_use]
    pub fn needs_confirmation(self) -> bool {
        matches!(self, Self::Confirmed | Self::NeedsConfirmed(_))
    }
}

/// What can be read (GET) and what can be changed (POST) at a path, as the router knows it.
pub struct Route {
    pub path: &'static str,
    pub get: Option<Access>,
    pub post: Option<Access>,
}

const fn page(path: &'static str, get: Access) -> Route {
    Route {
        path,
        get: Some(get),
        post: None,
    }
}

const fn form(path: &'static str, post: Access) -> Route {
    Route {
        path,
        get: None,
        post: Some(post),
    }
}

const fn both(path: &'static str, get: Access, post: Access) -> Route {
    Route {
        path,
        get: Some(get),
        post: Some(post),
    }
}

use Access::{Confirmed, Needs, NeedsConfirmed, Public, SignedIn};
use Permission::{
    ActOnOrders, ChangeBusinesses, ChangeHours, ChangeProducts, ChangeRestaurants, ChangeWebhook,
    ConnectPlatforms, ControlStores, ManageKeys, ManageNotices, ManagePrimaryKey, ManagePrivacy,
    ManageRestaurants, ManageUsers, MarkReported, ReadAudit, ReadBusinesses, ReadOrders, ReadReports,
    ReadRestaurants, ReadStatus, ReadWebhook,
};

/// Every route of the pages.
pub const ROUTES: &[Route] = &[
    // Without a session.
    both("/sign-in", Public, Public),
    both("/sign-in/code", Public, Public),
    page("/sign-in/openid", Public),
    page("/sign-in/openid/callback", Public),
    both("/forgot-password", Public, Public),
    both("/reset-password/{token}", Public, Public),
    both("/invitation/{token}", Public, Public),
    form("/language", Public),
    page("/manifest.webmanifest", Public),
    page("/service-worker.js", Public),
    page("/offline", Public),
    page("/icons/{name}", Public),
    page("/docs", Public),
    page("/docs/", Public),
    page("/docs/{lang}", Public),
    page("/docs/{lang}/", Public),
    page("/docs/{lang}/search.json", Public),
    page("/docs/{lang}/{page}", Public),
    page("/docs/api", Public),
    page("/docs/api/", Public),
    // The user's own.
    form("/sign-out", SignedIn),
    both("/account", SignedIn, Confirmed),
    both("/account/two-factor", SignedIn, Confirmed),
    form("/account/two-factor/disable", Confirmed),
    form("/account/two-factor/codes", Confirmed),
    page("/sessions", SignedIn),
    form("/sessions/end", SignedIn),
    form("/sessions/end-others", SignedIn),
    form("/sessions/end-all", SignedIn),
    form("/password", SignedIn),
    page("/attention", SignedIn),
    page("/panel/components", SignedIn),
    // Users of the account.
    page("/users", Needs(ManageUsers)),
    both("/users/new", Needs(ManageUsers), NeedsConfirmed(ManageUsers)),
    both("/users/{id}", Needs(ManageUsers), NeedsConfirmed(ManageUsers)),
    form("/users/{id}/invite", NeedsConfirmed(ManageUsers)),
    form("/users/{id}/remove", NeedsConfirmed(ManageUsers)),
    form("/users/{id}/remove-two-factor", NeedsConfirmed(ManageUsers)),
    form("/users/{id}/forget-openid", NeedsConfirmed(ManageUsers)),
    form("/users/require-two-factor", NeedsConfirmed(ManageUsers)),
    // Who did what, and personal data of customers.
    page("/audit", Needs(ReadAudit)),
    page("/audit.csv", Needs(ReadAudit)),
    page("/privacy", Needs(ManagePrivacy)),
    form("/privacy/search", Needs(ManagePrivacy)),
    form("/privacy/export", NeedsConfirmed(ManagePrivacy)),
    form("/privacy/erase", NeedsConfirmed(ManagePrivacy)),
    form("/privacy/settings", NeedsConfirmed(ManagePrivacy)),
    // Orders.
    page("/", Needs(ReadOrders)),
    page("/kitchen", Needs(ReadOrders)),
    page("/board/stream", Needs(ReadOrders)),
    form("/board/orders/{id}", Needs(ActOnOrders)),
    both(
        "/board/orders/{id}/cancel",
        Needs(ActOnOrders),
        Needs(ActOnOrders),
    ),
    form("/board/orders/{id}/acknowledge", Needs(ActOnOrders)),
    page("/board/orders/{id}/products", Needs(ControlStores)),
    form("/board/stores", Needs(ControlStores)),
    page("/orders", Needs(ReadOrders)),
    page("/orders/{id}", Needs(ReadOrders)),
    form("/orders/{id}/resend", Needs(ChangeWebhook)),
    form("/orders/{id}/retry-sync", Needs(ActOnOrders)),
    page("/orders/{id}/ticket", Needs(ReadOrders)),
    form("/orders/{id}/print", Needs(ReadOrders)),
    page("/printers/notice", Needs(ReadOrders)),
    form("/printers/{id}/remove", Needs(ManageRestaurants)),
    // Sales.
    page("/today", Needs(ReadReports)),
    page("/today.csv", Needs(ReadReports)),
    page("/today.xlsx", Needs(ReadReports)),
    page("/reports", Needs(ReadReports)),
    form("/reports/mark", Needs(MarkReported)),
    form("/reports/unmark", Needs(MarkReported)),
    page("/reports/pending.csv", Needs(ReadReports)),
    page("/reports/pending.xlsx", Needs(ReadReports)),
    page("/reports/orders.csv", Needs(ReadReports)),
    page("/reports/orders.xlsx", Needs(ReadReports)),
    page("/payments", Needs(ReadReports)),
    page("/payments.csv", Needs(ReadReports)),
    page("/payments.xlsx", Needs(ReadReports)),
    // Restaurants.
    page("/restaurants", Needs(ReadRestaurants)),
    both(
        "/restaurants/new",
        Needs(ManageRestaurants),
        Needs(ManageRestaurants),
    ),
    both(
        "/restaurants/{id}",
        Needs(ReadRestaurants),
        Needs(ChangeRestaurants),
    ),
    form("/restaurants/{id}/delete", NeedsConfirmed(ManageRestaurants)),
    page("/restaurants/{id}/integrations", Needs(ReadRestaurants)),
    both(
        "/restaurants/{id}/integrations/{provider}",
        Needs(ConnectPlatforms),
        NeedsConfirmed(ConnectPlatforms),
    ),
    form(
        "/restaurants/{id}/integrations/{provider}/switch",
        Needs(ConnectPlatforms),
    ),
    form(
        "/restaurants/{id}/integrations/{provider}/try",
        Needs(ConnectPlatforms),
    ),
    form(
        "/restaurants/{id}/integrations/{provider}/disconnect",
        NeedsConfirmed(ConnectPlatforms),
    ),
    form("/test-order", Needs(ConnectPlatforms)),
    both(
        "/restaurants/{id}/packages",
        Needs(ReadRestaurants),
        Needs(ChangeRestaurants),
    ),
    both(
        "/restaurants/{id}/payments",
        Needs(ReadRestaurants),
        Needs(ChangeRestaurants),
    ),
    form(
        "/restaurants/{id}/payments/source",
        NeedsConfirmed(ChangeRestaurants),
    ),
    page("/restaurants/{id}/menu", Needs(ReadRestaurants)),
    page("/restaurants/{id}/products", Needs(ReadRestaurants)),
    form("/restaurants/{id}/products/switch", Needs(ControlStores)),
    page("/restaurants/{id}/products/suggestions", Needs(ReadRestaurants)),
    form("/restaurants/{id}/products/merge", Needs(ChangeProducts)),
    form("/restaurants/{id}/products/keep-apart", Needs(ChangeProducts)),
    page("/restaurants/{id}/products/{product}", Needs(ReadRestaurants)),
    form("/restaurants/{id}/products/{product}/link", Needs(ChangeProducts)),
    form(
        "/restaurants/{id}/products/{product}/unlink/{provider}",
        Needs(ChangeProducts),
    ),
    form("/restaurants/{id}/prices", Needs(ChangeProducts)),
    both(
        "/restaurants/{id}/prices/{change}",
        Needs(ReadRestaurants),
        Needs(ChangeProducts),
    ),
    page("/restaurants/{id}/prices/{change}/stream", Needs(ReadRestaurants)),
    both(
        "/restaurants/{id}/catalog",
        Needs(ReadRestaurants),
        Needs(ChangeProducts),
    ),
    page("/restaurants/{id}/catalog/stream", Needs(ReadRestaurants)),
    page("/restaurants/{id}/differences", Needs(ReadRestaurants)),
    form("/restaurants/{id}/menus/read", Needs(ChangeProducts)),
    both(
        "/restaurants/{id}/escalation",
        Needs(ReadRestaurants),
        Needs(ChangeRestaurants),
    ),
    page("/restaurants/{id}/store", Needs(ReadRestaurants)),
    page("/restaurants/{id}/store/stream", Needs(ReadRestaurants)),
    form("/restaurants/{id}/store/throttle", Needs(ChangeHours)),
    both(
        "/restaurants/{id}/store/hours",
        Needs(ReadRestaurants),
        Needs(ChangeHours),
    ),
    form("/restaurants/{id}/store/hours/write", Needs(ChangeHours)),
    page("/restaurants/{id}/store/history", Needs(ReadRestaurants)),
    // The account.
    page("/businesses", Needs(ReadBusinesses)),
    both(
        "/businesses/new",
        Needs(ChangeBusinesses),
        Needs(ChangeBusinesses),
    ),
    both("/businesses/{id}", Needs(ReadBusinesses), Needs(ChangeBusinesses)),
    form("/businesses/{id}/link", Needs(ChangeBusinesses)),
    form("/businesses/{id}/delete", NeedsConfirmed(ChangeBusinesses)),
    both("/notices", Needs(ManageNotices), Needs(ManageNotices)),
    both(
        "/notices/channels/new",
        Needs(ManageNotices),
        NeedsConfirmed(ManageNotices),
    ),
    both(
        "/notices/channels/{id}",
        Needs(ManageNotices),
        NeedsConfirmed(ManageNotices),
    ),
    form("/notices/channels/{id}/test", Needs(ManageNotices)),
    form("/notices/channels/{id}/delete", NeedsConfirmed(ManageNotices)),
    page("/status", Needs(ReadStatus)),
    both("/webhook", Needs(ReadWebhook), NeedsConfirmed(ChangeWebhook)),
    form("/webhook/remove", NeedsConfirmed(ChangeWebhook)),
    form("/webhook/test", Needs(ChangeWebhook)),
    form("/webhook/resend", Needs(ChangeWebhook)),
    page("/webhook/deliveries/{id}", Needs(ReadWebhook)),
    form("/webhook/deliveries/{id}/resend", Needs(ChangeWebhook)),
    page("/webhook/endpoints", Needs(ReadWebhook)),
    both(
        "/webhook/endpoints/new",
        Needs(ChangeWebhook),
        NeedsConfirmed(ChangeWebhook),
    ),
    both(
        "/webhook/endpoints/{id}",
        Needs(ReadWebhook),
        NeedsConfirmed(ChangeWebhook),
    ),
    form("/webhook/endpoints/{id}/state", Needs(ChangeWebhook)),
    form("/webhook/endpoints/{id}/test", Needs(ChangeWebhook)),
    form("/webhook/endpoints/{id}/rotate", NeedsConfirmed(ChangeWebhook)),
    form("/webhook/endpoints/{id}/resend", Needs(ChangeWebhook)),
    form("/webhook/endpoints/{id}/delete", NeedsConfirmed(ChangeWebhook)),
    page("/webhook/endpoints/{id}/deliveries/{event}", Needs(ReadWebhook)),
    form(
        "/webhook/endpoints/{id}/deliveries/{event}/resend",
        Needs(ChangeWebhook),
    ),
    form("/attention/given-up", Needs(ChangeWebhook)),
    page("/requests", Needs(ReadWebhook)),
    both("/keys", Needs(ManageKeys), NeedsConfirmed(ManageKeys)),
    form("/keys/{id}/rotate", NeedsConfirmed(ManageKeys)),
    form("/keys/{id}/primary", NeedsConfirmed(ManagePrimaryKey)),
    form("/keys/{id}/revoke", NeedsConfirmed(ManageKeys)),
];

/// What a route needs; nothing if the table does not have it.
#[must_use]
pub fn of(method: &Method, path: &str) -> Option<Access> {
    let route = ROUTES.iter().find(|route| route.path == path)?;
    if *method == Method::POST {
        route.post
    } else {
        route.get
    }
}

/// May a user without the second factor that the owner requires use this path? It leads to getting one, or out.
#[must_use]
pub fn is_open_without_two_factor(path: &str) -> bool {
    path.starts_with("/account") || matches!(path, "/sign-out" | "/attention" | "/password")
}

/// Whose id the `{id}` of a path is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathSubject {
    Restaurant,
    Order,
}

/// What a user of named restaurants must be responsible for at this path.
#[must_use]
pub fn subject(path: &str) -> Option<PathSubject> {
    if path.starts_with("/restaurants/{id}") {
        Some(PathSubject::Restaurant)
    } else if path.starts_with("/orders/{id}") || path.starts_with("/board/orders/{id}") {
        Some(PathSubject::Order)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::Path;

    fn count_routes(folder: &Path) -> usize {
        let mut count = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            count += if path.is_dir() {
                count_routes(&path)
            } else {
                std::fs::read_to_string(&path).unwrap().matches(".route(").count()
            };
        }
        count
    }

    /// The router cannot be asked for its routes, so they are counted in its source.
    #[test]
    fn table_has_every_route_once() {
        let paths: BTreeSet<&str> = ROUTES.iter().map(|route| route.path).collect();
        assert_eq!(paths.len(), ROUTES.len());
        let pages = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/panel/pages");
        assert_eq!(
            count_routes(&pages),
            ROUTES.len(),
            "a route of a page is missing in the table"
        );
    }

    #[test]
    fn unknown_route_is_refused() {
        assert_eq!(of(&Method::GET, "/nothing"), None);
        assert_eq!(of(&Method::POST, "/orders"), None);
        assert_eq!(of(&Method::HEAD, "/orders"), Some(Needs(ReadOrders)));
        assert_eq!(of(&Method::POST, "/keys"), Some(NeedsConfirmed(ManageKeys)));
    }
}
