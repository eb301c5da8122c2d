//! What each operation needs of the key that it is called with: one table. An operation that is missing in it is refused to keys
//! with limits.

use crate::app::App;
use crate::flow::Fault;
use crate::flow::admin::api_auth::Caller;
use crate::flow::fault::Thing;
use crate::flow::read::order_scope;
use crate::http::path::API_PREFIX;
use axum::extract::{FromRequestParts, MatchedPath, RawPathParams, Request};
use garson_core::field_problem::FieldProblem;
use garson_core::id::RestaurantId;
use garson_core::key_access::Scope;
use garson_core::permission::{Permission, RestaurantScope};
use http::{Method, Uri};
use std::collections::BTreeSet;

/// How an operation names the restaurants that it is about, for keys of named restaurants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// It concerns no restaurant, or the account as a whole.
    None,
    /// `{restaurantId}` in the path.
    Restaurant,
    /// `{orderId}` in the path.
    Order,
    /// The parameter `restaurantId`, which such a key has to give. Of a key of one restaurant it may be left out.
    Parameter,
    /// The handler leaves out, or refuses, what belongs to other restaurants.
    Handler,
}

/// What an operation needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// None: any key may call it.
    pub permission: Option<Permission>,
    pub subject: Subject,
}

/// An operation: its method and path.
pub struct Operation {
    pub method: Method,
    pub path: &'static str,
    pub needs: Needs,
}

const fn operation(
    method: Method,
    path: &'static str,
    permission: Permission,
    subject: Subject,
) -> Operation {
    Operation {
        method,
        path,
        needs: Needs {
            permission: Some(permission),
            subject,
        },
    }
}

const fn get(path: &'static str, permission: Permission, subject: Subject) -> Operation {
    operation(Method::GET, path, permission, subject)
}

const fn post(path: &'static str, permission: Permission, subject: Subject) -> Operation {
    operation(Method::POST, path, permission, subject)
}

const fn put(path: &'static str, permission: Permission, subject: Subject) -> Operation {
    operation(Method::PUT, path, permission, subject)
}

const fn patch(path: &'static str, permission: Permission, subject: Subject) -> Operation {
    operation(Method::PATCH, path, permission, subject)
}

const fn delete(path: &'static str, permission: Permission, subject: Subject) -> Operation {
    operation(Method::DELETE, path, permission, subject)
}

use Permission as P;
use Subject as S;

/// Every operation of the API, without its prefix.
pub const OPERATIONS: &[Operation] = &[
    // Orders.
    get("/orders", P::ReadOrders, S::Parameter),
    get("/orders/{orderId}", P::ReadOrders, S::Order),
    get("/orders/reasons/{orderId}", P::ReadOrders, S::Order),
    get("/orders/{orderId}/ticket", P::ReadOrders, S::Order),
    post("/orders/verify/{orderId}", P::ActOnOrders, S::Order),
    post("/orders/change-status/{orderId}", P::ActOnOrders, S::Order),
    post("/orders/ready/{orderId}", P::ActOnOrders, S::Order),
    post("/orders/cancel/{orderId}", P::ActOnOrders, S::Order),
    post("/orders/retry-sync/{orderId}", P::ActOnOrders, S::Order),
    get("/events", P::ReadOrders, S::Handler),
    // Tickets.
    post("/orders/{orderId}/print", P::ReadOrders, S::Order),
    get("/printers", P::ReadOrders, S::Handler),
    post("/printers", P::ReadOrders, S::Handler),
    post("/printers/{printerId}/report", P::ReadOrders, S::Handler),
    delete("/printers/{printerId}", P::ManageRestaurants, S::None),
    // Reports.
    get("/orders/grouped-payments", P::ReadReports, S::Parameter),
    get("/orders/reports/pending", P::ReadReports, S::Parameter),
    get("/reports/summary", P::ReadReports, S::Parameter),
    post("/orders/reports/mark", P::MarkReported, S::Handler),
    post("/orders/reports/unmark", P::MarkReported, S::Handler),
    // Restaurants.
    get("/restaurants", P::ReadRestaurants, S::Handler),
    post("/restaurants", P::ManageRestaurants, S::None),
    get("/restaurants/{restaurantId}", P::ReadRestaurants, S::Restaurant),
    put("/restaurants/{restaurantId}", P::ChangeRestaurants, S::Restaurant),
    delete("/restaurants/{restaurantId}", P::ManageRestaurants, S::Restaurant),
    get(
        "/restaurants/{restaurantId}/packages",
        P::ReadRestaurants,
        S::Restaurant,
    ),
    put(
        "/restaurants/{restaurantId}/packages",
        P::ChangeRestaurants,
        S::Restaurant,
    ),
    get(
        "/restaurants/{restaurantId}/payment-matching",
        P::ReadRestaurants,
        S::Restaurant,
    ),
    put(
        "/restaurants/{restaurantId}/payment-matching",
        P::ChangeRestaurants,
        S::Restaurant,
    ),
    get(
        "/restaurants/{restaurantId}/integrations/{provider}",
        P::ReadRestaurants,
        S::Restaurant,
    ),
    put(
        "/restaurants/{restaurantId}/integrations/{provider}",
        P::ConnectPlatforms,
        S::Restaurant,
    ),
    delete(
        "/restaurants/{restaurantId}/integrations/{provider}",
        P::ConnectPlatforms,
        S::Restaurant,
    ),
    get(
        "/restaurants/{restaurantId}/escalation",
        P::ReadRestaurants,
        S::Restaurant,
    ),
    put(
        "/restaurants/{restaurantId}/escalation",
        P::ChangeRestaurants,
        S::Restaurant,
    ),
    get(
        "/restaurants/{restaurantId}/presence",
        P::ReadRestaurants,
        S::Restaurant,
    ),
    get(
        "/restaurants/{restaurantId}/history",
        P::ReadRestaurants,
        S::Restaurant,
    ),
    // Stores.
    get(
        "/restaurants/{restaurantId}/store",
        P::ReadRestaurants,
        S::Restaurant,
    ),
    put(
        "/restaurants/{restaurantId}/store",
        P::ControlStores,
        S::Restaurant,
    ),
    get(
        "/restaurants/{restaurantId}/throttle",
        P::ReadRestaurants,
        S::Restaurant,
    ),
    put(
        "/restaurants/{restaurantId}/throttle",
        P::ChangeHours,
        S::Restaurant,
    ),
    get(
        "/restaurants/{restaurantId}/hours",
        P::ReadRestaurants,
        S::Restaurant,
    ),
    put("/restaurants/{restaurantId}/hours", P::ChangeHours, S::Restaurant),
    // Products.
    get(
        "/restaurants/{restaurantId}/products",
        P::ReadRestaurants,
        S::Restaurant,
    ),
    post(
        "/restaurants/{restaurantId}/products",
        P::ChangeProducts,
        S::Restaurant,
    ),
    get(
        "/restaurants/{restaurantId}/products/{productId}",
        P::ReadRestaurants,
        S::Restaurant,
    ),
    put(
        "/restaurants/{restaurantId}/products/{productId}/links/{provider}",
        P::ChangeProducts,
        S::Restaurant,
    ),
    delete(
        "/restaurants/{restaurantId}/products/{productId}/links/{provider}",
        P::ChangeProducts,
        S::Restaurant,
    ),
    put(
        "/restaurants/{restaurantId}/products/{productId}/availability",
        P::ControlStores,
        S::Restaurant,
    ),
    put(
        "/restaurants/{restaurantId}/products/availability",
        P::ControlStores,
        S::Restaurant,
    ),
    put("/products/availability", P::ControlStores, S::Handler),
    post(
        "/restaurants/{restaurantId}/prices/preview",
        P::ChangeProducts,
        S::Restaurant,
    ),
    post(
        "/restaurants/{restaurantId}/prices",
        P::ChangeProducts,
        S::Restaurant,
    ),
    get(
        "/restaurants/{restaurantId}/prices/{priceChangeId}",
        P::ReadRestaurants,
        S::Restaurant,
    ),
    get(
        "/restaurants/{restaurantId}/catalog",
        P::ReadRestaurants,
        S::Restaurant,
    ),
    post(
        "/restaurants/{restaurantId}/catalog",
        P::ChangeProducts,
        S::Restaurant,
    ),
    get(
        "/restaurants/{restaurantId}/catalog/{catalogPushId}",
        P::ReadRestaurants,
        S::Restaurant,
    ),
    get(
        "/restaurants/{restaurantId}/catalog/imports/{provider}",
        P::ReadRestaurants,
        S::Restaurant,
    ),
    get(
        "/restaurants/{restaurantId}/menus",
        P::ReadRestaurants,
        S::Restaurant,
    ),
    post(
        "/restaurants/{restaurantId}/menus/read",
        P::ChangeProducts,
        S::Restaurant,
    ),
    get(
        "/restaurants/{restaurantId}/menus/{provider}/versions",
        P::ReadRestaurants,
        S::Restaurant,
    ),
    get(
        "/restaurants/{restaurantId}/menu-differences",
        P::ReadRestaurants,
        S::Restaurant,
    ),
    Operation {
        method: Method::GET,
        path: "/providers",
        needs: Needs {
            permission: None,
            subject: S::None,
        },
    },
    get("/providers/{provider}/menus", P::ReadRestaurants, S::Parameter),
    // The account.
    get("/businesses", P::ReadBusinesses, S::None),
    post("/businesses", P::ChangeBusinesses, S::None),
    get("/businesses/{businessId}", P::ReadBusinesses, S::None),
    put("/businesses/{businessId}", P::ChangeBusinesses, S::None),
    delete("/businesses/{businessId}", P::ChangeBusinesses, S::None),
    get("/businesses/{businessId}/restaurants", P::ReadBusinesses, S::None),
    post(
        "/businesses/{businessId}/restaurants",
        P::ChangeBusinesses,
        S::None,
    ),
    get("/channels", P::ManageNotices, S::None),
    post("/channels", P::ManageNotices, S::None),
    get("/channels/{channelId}", P::ManageNotices, S::None),
    put("/channels/{channelId}", P::ManageNotices, S::None),
    delete("/channels/{channelId}", P::ManageNotices, S::None),
    post("/channels/{channelId}/test", P::ManageNotices, S::None),
    get("/notices", P::ManageNotices, S::None),
    put("/notices", P::ManageNotices, S::None),
    get("/messages", P::ManageNotices, S::None),
    // Webhooks.
    get("/webhook", P::ReadWebhook, S::None),
    put("/webhook", P::ChangeWebhook, S::None),
    delete("/webhook", P::ChangeWebhook, S::None),
    post("/webhook/test", P::ChangeWebhook, S::None),
    post("/orders/retry-webhook", P::ChangeWebhook, S::None),
    get("/webhook/deliveries", P::ReadWebhook, S::None),
    post("/webhook/deliveries/retry", P::ChangeWebhook, S::None),
    get("/webhook/deliveries/retries", P::ReadWebhook, S::None),
    get("/webhook/deliveries/retries/{retryId}", P::ReadWebhook, S::None),
    get("/webhook-endpoints", P::ReadWebhook, S::None),
    post("/webhook-endpoints", P::ChangeWebhook, S::None),
    get("/webhook-endpoints/{endpointId}", P::ReadWebhook, S::None),
    patch("/webhook-endpoints/{endpointId}", P::ChangeWebhook, S::None),
    delete("/webhook-endpoints/{endpointId}", P::ChangeWebhook, S::None),
    post(
        "/webhook-endpoints/{endpointId}/secret/rotate",
        P::ChangeWebhook,
        S::None,
    ),
    post("/webhook-endpoints/{endpointId}/test", P::ChangeWebhook, S::None),
    get(
        "/webhook-endpoints/{endpointId}/statistics",
        P::ReadWebhook,
        S::None,
    ),
    get(
        "/webhook-endpoints/{endpointId}/deliveries",
        P::ReadWebhook,
        S::None,
    ),
    post(
        "/webhook-endpoints/{endpointId}/deliveries/{eventId}/resend",
        P::ChangeWebhook,
        S::None,
    ),
    post(
        "/webhook-endpoints/{endpointId}/deliveries/retry",
        P::ChangeWebhook,
        S::None,
    ),
    get("/requests", P::ReadWebhook, S::None),
    // Keys, users, the audit log, and personal data of customers.
    get("/keys", P::ManageKeys, S::None),
    post("/keys", P::ManageKeys, S::None),
    delete("/keys/{keyId}", P::ManageKeys, S::None),
    post("/keys/{keyId}/primary", P::ManageKeys, S::None),
    post("/keys/{keyId}/rotate", P::ManageKeys, S::None),
    get("/users", P::ManageUsers, S::None),
    post("/users", P::ManageUsers, S::None),
    patch("/users/{userId}", P::ManageUsers, S::None),
    delete("/users/{userId}", P::ManageUsers, S::None),
    get("/audit", P::ReadAudit, S::None),
    post("/privacy/search", P::ManagePrivacy, S::None),
    post("/privacy/export", P::ManagePrivacy, S::None),
    get("/privacy/erasures", P::ManagePrivacy, S::None),
    post("/privacy/erasures", P::ManagePrivacy, S::None),
    get("/privacy/erasures/{erasureId}", P::ManagePrivacy, S::None),
    get("/privacy/settings", P::ManagePrivacy, S::None),
    put("/privacy/settings", P::ManagePrivacy, S::None),
];

/// What an operation needs; nothing if the table does not have it.
#[must_use]
pub fn needs(method: &Method, path: &str) -> Option<Needs> {
    let path = path.strip_prefix(API_PREFIX)?;
    let method = if *method == Method::HEAD {
        &Method::GET
    } else {
        method
    };
    let found = OPERATIONS
        .iter()
        .find(|it| it.path == path && it.method == *method)?;
    Some(found.needs)
}

/// The scopes that allow an operation; none if any key may call it.
#[must_use]
pub fn scopes_for(permission: Permission) -> Vec<Scope> {
    Scope::ALL
        .into_iter()
        .filter(|scope| scope.permissions().contains(&permission))
        .collect()
}

/// Refuses a request that the caller's key does not allow. Completes the parameter `restaurantId` for a key of one restaurant.
pub async fn check(app: &App, caller: &Caller, request: &mut Request) -> Result<(), Fault> {
    let access = &caller.access;
    if access.scopes.is_none() && access.restaurants.is_all() {
        return Ok(());
    }
    let path = request.extensions().get::<MatchedPath>().cloned();
    let path = path.as_ref().map_or("", MatchedPath::as_str);
    let needs = needs(request.method(), path).ok_or(Fault::KeyNotAllowed { scopes: Vec::new() })?;
    if let Some(permission) = needs.permission
        && !access.may(permission)
    {
        let has_scope = access.scopes.as_ref().is_none_or(|scopes| {
            let mut permissions = scopes.iter().flat_map(|scope| scope.permissions());
            permissions.any(|it| *it == permission)
        });
        let scopes = if has_scope {
            Vec::new()
        } else {
            scopes_for(permission)
        };
        return Err(Fault::KeyNotAllowed { scopes });
    }
    let RestaurantScope::Only(own) = &access.restaurants else {
        return Ok(());
    };
    match needs.subject {
        Subject::None | Subject::Handler => Ok(()),
        Subject::Parameter => complete_parameter(request, own),
        Subject::Restaurant => {
            let id = path_parameter(request, "restaurantId").await;
            let is_own = id.parse().is_ok_and(|id: RestaurantId| own.contains(&id));
            if is_own {
                Ok(())
            } else {
                Err(Fault::not_found(Thing::Restaurant, id))
            }
        }
        Subject::Order => {
            let id = path_parameter(request, "orderId").await;
            let scope = access.restaurants.clone();
            if order_scope::has_order(app, caller.account, scope, id.clone()).await? {
                Ok(())
            } else {
                Err(Fault::not_found(Thing::Order, id))
            }
        }
    }
}

/// A decoded parameter of the path; empty if it has none.
async fn path_parameter(request: &mut Request, name: &str) -> String {
    let (mut parts, body) = std::mem::take(request).into_parts();
    let found = match RawPathParams::from_request_parts(&mut parts, &()).await {
        Ok(params) => params
            .iter()
            .find(|(it, _)| *it == name)
            .map(|(_, value)| value.to_owned()),
        // Not UTF-8: no record has such an id.
        Err(_) => None,
    };
    *request = Request::from_parts(parts, body);
    found.unwrap_or_default()
}

/// Checks the parameter `restaurantId`, and adds it for a key of one restaurant.
fn complete_parameter(request: &mut Request, own: &BTreeSet<RestaurantId>) -> Result<(), Fault> {
    const NAME: &str = "restaurantId";
    let query = request.uri().query().unwrap_or_default();
    let mut given = url::form_urlencoded::parse(query.as_bytes())
        .filter(|(name, _)| name == NAME)
        .map(|(_, value)| value.into_owned())
        .peekable();
    if given.peek().is_none() {
        let Some(only) = own.first().filter(|_| own.len() == 1) else {
            let problem = FieldProblem::text("is required with this key, which is for several restaurants");
            return Err(Fault::invalid(NAME, problem));
        };
        let separator = if query.is_empty() { "" } else { "&" };
        let completed = format!("{}?{query}{separator}{NAME}={only}", request.uri().path());
        let completed: Uri = completed
            .parse()
            .map_err(|_| Fault::invalid(NAME, FieldProblem::Required))?;
        *request.uri_mut() = completed;
        return Ok(());
    }
    for id in given {
        if !id.parse().is_ok_and(|id: RestaurantId| own.contains(&id)) {
            return Err(Fault::not_found(Thing::Restaurant, id));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::routes::Operations;
    use utoipa::OpenApi;

    /// The operations of the router, as `GET /orders`.
    fn routed() -> BTreeSet<String> {
        let document = serde_json::to_value(Operations::openapi()).unwrap();
        let paths = document["paths"].as_object().unwrap().clone();
        paths
            .iter()
            .flat_map(|(path, operations)| {
                let methods = operations.as_object().unwrap().keys();
                methods
                    .filter(|it| ["get", "post", "put", "patch", "delete"].contains(&it.as_str()))
                    .map(move |method| format!("{} {path}", method.to_uppercase()))
                    .collect::<Vec<_>>()
            })
            .collect()
    }

    #[test]
    fn table_has_every_operation_once() {
        let listed: Vec<String> = OPERATIONS
            .iter()
            .map(|it| format!("{} {}", it.method, it.path))
            .collect();
        let unique: BTreeSet<String> = listed.iter().cloned().collect();
        assert_eq!(unique.len(), listed.len());
        assert_eq!(unique, routed());
    }

    #[test]
    fn operation_for_named_restaurants_says_how_they_are_named() {
        for Operation { method, path, needs } in OPERATIONS {
            let is_of_account = needs.permission.is_none_or(Permission::is_of_account);
            let expected = if path.contains("{restaurantId}") {
                Some(Subject::Restaurant)
            } else if path.contains("{orderId}") {
                Some(Subject::Order)
            } else {
                None
            };
            match expected {
                Some(expected) => assert_eq!(needs.subject, expected, "{method} {path}"),
                None if is_of_account => assert_eq!(needs.subject, Subject::None, "{method} {path}"),
                None => assert!(
                    matches!(needs.subject, Subject::Parameter | Subject::Handler),
                    "{method} {path}"
                ),
            }
        }
    }

    fn completed(uri: &str, own: &BTreeSet<RestaurantId>) -> Result<String, Fault> {
        let mut request = Request::new(axum::body::Body::empty());
        *request.uri_mut() = uri.parse().unwrap();
        complete_parameter(&mut request, own)?;
        Ok(request.uri().to_string())
    }

    #[test]
    fn key_of_named_restaurants_gives_one_of_them() {
        let [one, other, foreign] =
            [1, 2, 3].map(|at| RestaurantId::at(garson_core::time::Timestamp::from_millis(at)));
        let (of_one, of_two) = (BTreeSet::from([one]), BTreeSet::from([one, other]));
        for (given, expected) in [
            ("/orders", format!("/orders?restaurantId={one}")),
            ("/orders?limit=5", format!("/orders?limit=5&restaurantId={one}")),
        ] {
            assert_eq!(completed(given, &of_one).unwrap(), expected);
            assert!(completed(given, &of_two).is_err());
        }
        let given = format!("/orders?restaurantId={other}");
        assert_eq!(completed(&given, &of_two).unwrap(), given);
        assert!(completed(&given, &of_one).is_err());
        // A second value does not slip through.
        let both = format!("/orders?restaurantId={one}&restaurantId={foreign}");
        assert!(completed(&both, &of_one).is_err());
    }
}
