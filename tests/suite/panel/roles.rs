//! Every route of the panel with every role, with restaurants that are not the user's, and with ids of another account. The table of
//! routes is the service's own, and has every route.

use crate::support::{EventStream, PanelUser, Reply, TestService};
use garson::panel_access::{Access, PathSubject, ROUTES, subject};
use garson_core::permission::{RestaurantScope, may};
use garson_core::role::Role;
use serde_json::json;
use std::collections::BTreeSet;

cases! {
    every_route_with_every_role
    user_of_named_restaurants_sees_only_those
    deleted_restaurant_is_no_longer_the_users
    ; sqlite_only:
    ids_of_another_account_are_unknown_to_every_role
    menus_show_what_the_role_may_open
    read_only_user_changes_nothing
    developer_has_the_primary_key_sent_nowhere
    event_is_resent_from_its_own_order
}

/// What is said to a user whose role does not allow something.
const NOT_ALLOWED: &str = "Bunun için yetkiniz yok";
const NOT_FOUND: u16 = 404;

/// An account with something of everything, and the ids that replace the parameters of paths.
struct Ids {
    restaurant: String,
    order: String,
    business: String,
    channel: String,
    key: String,
    user: String,
    printer: String,
    delivery: String,
    endpoint: String,
    product: String,
}

async fn furnish(service: &TestService, client: &crate::support::ApiClient, store: &str) -> Ids {
    let id = |value: serde_json::Value| value["id"].as_str().unwrap().to_owned();
    let shop = service.shop(client, store).await;
    let order = shop.order(&format!("K-{store}")).await;
    let business = client
        .post("/businesses", &json!({ "name": "A.Ş." }))
        .await
        .data();
    let channel = json!({ "name": "Mail", "kind": "email", "recipients": ["a@example.com"] });
    let channel = client.post("/channels", &channel).await.data();
    let printer = json!({ "name": "Mutfak", "restaurantId": shop.restaurant });
    let printer = client.post("/printers", &printer).await.data();
    let product = json!({ "provider": "direct", "itemId": "D-1", "name": "Künefe" });
    let path = format!("/restaurants/{}/products", shop.restaurant);
    let product = client.post(&path, &product).await.data();
    let key = client
        .post("/keys", &json!({ "scopes": ["orders:read"] }))
        .await
        .data();
    let users = client.get("/users").await.data();
    let webhook = json!({ "url": "https://kasa.invalid/" });
    client.put("/webhook", &webhook).await.success();
    let endpoint = json!({ "url": "https://kds.invalid/" });
    let endpoint = client.post("/webhook-endpoints", &endpoint).await.data();
    shop.order(&format!("L-{store}")).await;
    let deliveries = client.get("/webhook/deliveries").await.data();
    Ids {
        restaurant: shop.restaurant.clone(),
        order,
        business: id(business),
        channel: id(channel),
        key: id(key),
        user: users[0]["id"].as_str().unwrap().to_owned(),
        printer: id(printer),
        delivery: deliveries[0]["id"].as_str().unwrap().to_owned(),
        endpoint: id(endpoint),
        product: id(product),
    }
}

impl Ids {
    /// A path with these ids.
    fn fill(&self, path: &str) -> String {
        let id: &str = match path.split('/').nth(1) {
            Some("restaurants") => &self.restaurant,
            Some("orders" | "board") => &self.order,
            Some("businesses") => &self.business,
            Some("notices") => &self.channel,
            Some("keys") => &self.key,
            Some("users") => &self.user,
            Some("printers") => &self.printer,
            Some("webhook") if path.starts_with("/webhook/endpoints") => &self.endpoint,
            Some("webhook") => &self.delivery,
            _ => "x",
        };
        let filled = path
            .replace("{id}", id)
            .replace("{provider}", "direct")
            .replace("{event}", &self.delivery)
            .replace("{product}", &self.product)
            .replace("{change}", "018f3c1e-7b1a-7c3e-8d2a-1b2c3d4e5f60")
            .replace("{token}", "x")
            .replace("{name}", "x");
        assert!(
            !filled.contains('{'),
            "{path} has a parameter that this test does not know"
        );
        filled
    }
}

/// The token of the user's forms.
async fn csrf(user: &mut PanelUser) -> String {
    user.open("/account")
        .await
        .form("/account")
        .value("csrf")
        .to_owned()
}

/// One request to a route; of a stream only its beginning is read.
async fn call(user: &mut PanelUser, method: &str, path: &str, csrf: &str) -> Reply {
    if path
        .split('?')
        .next()
        .is_some_and(|path| path.ends_with("/stream"))
    {
        let cookie = user.cookie_header();
        return match EventStream::open(user.addr, path, &[("cookie", &cookie)]).await {
            Ok(_) => Reply {
                status: 200,
                headers: Vec::new(),
                body: Vec::new(),
            },
            Err(refused) => refused,
        };
    }
    let body = if method == "POST" {
        format!("csrf={csrf}")
    } else {
        String::new()
    };
    user.send(method, path, &[], &body).await
}

/// Every route that needs a permission: method, path and access.
fn guarded() -> Vec<(&'static str, &'static str, Access)> {
    let mut found = Vec::new();
    for route in ROUTES {
        for (method, access) in [("GET", route.get), ("POST", route.post)] {
            if let Some(access) = access.filter(|access| access.permission().is_some()) {
                found.push((method, route.path, access));
            }
        }
    }
    assert!(found.len() > 90, "only {} routes", found.len());
    found
}

async fn every_route_with_every_role(service: TestService) {
    let theirs = furnish(&service, &service.b, "theirs").await;
    let own = furnish(&service, &service.a, "own").await;
    for role in Role::ALL {
        let email = format!("{}@example.com", role.as_str());
        let (_, mut user) = service.colleague(&email, role.as_str(), None).await;
        let csrf = csrf(&mut user).await;
        for (method, path, access) in guarded() {
            let is_allowed = may(role, &RestaurantScope::All, access.permission().unwrap());
            // Pages are opened with the account's own ids. Forms of those who may send them are sent with ids of others: nothing is
            // to change.
            let ids = if method == "GET" || !is_allowed {
                &own
            } else {
                &theirs
            };
            // What would sign the account out of its own settings is for the tests of those pages.
            if is_allowed && method == "POST" && !path.contains('{') {
                continue;
            }
            let reply = call(&mut user, method, &ids.fill(path), &csrf).await;
            let text = reply.text();
            if is_allowed {
                let is_fine = reply.status < 400 || [404, 409, 422].contains(&reply.status);
                assert!(is_fine, "{role:?} {method} {path}: {} {text}", reply.status);
                assert!(!text.contains(NOT_ALLOWED), "{role:?} {method} {path}");
            } else {
                assert_eq!(reply.status, 403, "{role:?} {method} {path}: {text}");
                assert!(text.contains(NOT_ALLOWED), "{role:?} {method} {path}: {text}");
            }
        }
    }
}

async fn ids_of_another_account_are_unknown_to_every_role(service: TestService) {
    let theirs = furnish(&service, &service.b, "theirs").await;
    furnish(&service, &service.a, "own").await;
    let restaurants = service.b.get("/restaurants").await.data();
    let orders = service.b.get("/orders").await.data();
    for role in Role::ALL {
        let email = format!("{}@example.com", role.as_str());
        let (_, mut user) = service.colleague(&email, role.as_str(), None).await;
        let csrf = csrf(&mut user).await;
        for (method, path, access) in guarded() {
            if !path.contains("{id}") {
                continue;
            }
            let reply = call(&mut user, method, &theirs.fill(path), &csrf).await;
            let is_allowed = may(role, &RestaurantScope::All, access.permission().unwrap());
            let text = reply.text();
            assert!(
                !text.contains("K-theirs") && !text.contains("Künefe"),
                "{method} {path}"
            );
            if !is_allowed {
                assert_eq!(reply.status, 403, "{role:?} {method} {path}");
            } else if method == "GET" {
                assert_eq!(reply.status, NOT_FOUND, "{role:?} {method} {path}: {text}");
            } else {
                // A form may be refused for what is missing in it before its id is looked at.
                let is_refused = reply.status >= 400 || reply.status == 303;
                assert!(is_refused, "{role:?} {method} {path}: {} {text}", reply.status);
            }
        }
    }
    assert_eq!(service.b.get("/restaurants").await.data(), restaurants);
    assert_eq!(service.b.get("/orders").await.data(), orders);
}

async fn deleted_restaurant_is_no_longer_the_users(service: TestService) {
    let (old, new) = (
        service.shop(&service.a, "old").await,
        service.shop(&service.a, "new").await,
    );
    let both = [old.restaurant.as_str(), &new.restaurant];
    let (_, mut user) = service.colleague("ayse@example.com", "shift", Some(&both)).await;
    let delete = async |shop: &str| service.a.delete(&format!("/restaurants/{shop}")).await.done();
    delete(&old.restaurant).await;
    assert_eq!(user.open("/").await.status, 200);
    delete(&new.restaurant).await;
    let page = user.open("/").await;
    assert!(
        page.status == 403 && page.has("Sorumlu olduğunuz restoran kalmadı"),
        "{}",
        page.text()
    );
    assert_eq!(user.open("/account").await.status, 200);
    let other = service.shop(&service.a, "other").await;
    assert_eq!(
        user.open(&format!("/restaurants/{}", other.restaurant))
            .await
            .status,
        403
    );
}

async fn user_of_named_restaurants_sees_only_those(service: TestService) {
    let other = furnish(&service, &service.a, "other").await;
    let own = furnish(&service, &service.a, "own").await;
    let (_, mut user) = service
        .colleague("manager@example.com", "manager", Some(&[own.restaurant.as_str()]))
        .await;
    let csrf = csrf(&mut user).await;
    let scope = RestaurantScope::Only(BTreeSet::from([own.restaurant.parse().unwrap()]));
    for (method, path, access) in guarded() {
        let is_allowed = may(Role::Manager, &scope, access.permission().unwrap());
        if !is_allowed {
            let reply = call(&mut user, method, &own.fill(path), &csrf).await;
            assert_eq!(reply.status, 403, "{method} {path}");
            continue;
        }
        if let Some(PathSubject::Restaurant | PathSubject::Order) = subject(path) {
            let reply = call(&mut user, method, &other.fill(path), &csrf).await;
            assert_eq!(reply.status, NOT_FOUND, "{method} {path}: {}", reply.text());
        }
        if method == "GET" {
            let reply = call(&mut user, method, &own.fill(path), &csrf).await;
            // Whole menus are switched off.
            let is_off = path.contains("/catalog") && reply.status == 409;
            assert!(
                reply.status < 400 || path.contains("{change}") || is_off,
                "{path}: {}",
                reply.status
            );
            let text = reply.text();
            for foreign in ["K-other", "L-other", &other.restaurant, &other.order] {
                assert!(!text.contains(foreign), "{path} shows {foreign}");
            }
            let query = format!("{}?restaurant={}", own.fill(path), other.restaurant);
            let reply = call(&mut user, method, &query, &csrf).await;
            assert!(!reply.text().contains("K-other"), "{query}");
        }
    }
    // In forms as well.
    for (path, fields) in [
        (
            "/board/stores",
            format!("restaurant={}&state=closed", other.restaurant),
        ),
        ("/test-order", format!("restaurant={}", other.restaurant)),
    ] {
        let body = format!("csrf={csrf}&{fields}");
        let reply = user.send("POST", path, &[], &body).await;
        assert_eq!(reply.status, NOT_FOUND, "{path}: {}", reply.text());
    }
    service
        .a
        .act(&format!("/orders/verify/{}", other.order))
        .await
        .data();
    let search = user.open(&format!("/orders?q={}", other.order)).await;
    assert!(!search.has("K-other"), "{}", search.text());
    let print = format!("csrf={csrf}&printer={}&kind=kitchen", other.printer);
    let reply = user
        .send("POST", &format!("/orders/{}/print", own.order), &[], &print)
        .await;
    assert_eq!(reply.status, NOT_FOUND, "{}", reply.text());
    // The board follows the own restaurant alone.
    let board = user.open("/").await;
    assert!(board.has("K-own") && !board.has("K-other"), "{}", board.text());
}

async fn menus_show_what_the_role_may_open(service: TestService) {
    service.shop(&service.a, "moda").await.order("K-1").await;
    for role in Role::ALL {
        let email = format!("{}@example.com", role.as_str());
        let (_, mut user) = service.colleague(&email, role.as_str(), None).await;
        let links = user.open("/").await.links();
        // What is sold out is offered on cards, and hidden by the style sheet from those who may not say so.
        let is_menu = |link: &&String| link.starts_with('/') && !link.starts_with("/board/");
        for link in links.iter().filter(is_menu) {
            let page = user.open(link).await;
            assert_eq!(page.status, 200, "{role:?} is shown {link}");
        }
        let has = |path: &str| links.iter().any(|link| link == path);
        assert_eq!(has("/users"), role == Role::Owner);
        assert_eq!(has("/keys"), matches!(role, Role::Owner | Role::Developer));
        assert_eq!(has("/reports"), !matches!(role, Role::Shift | Role::Developer));
        assert!(has("/orders") && has("/account"));
    }
}

async fn read_only_user_changes_nothing(service: TestService) {
    let own = furnish(&service, &service.a, "own").await;
    let before = service.a.get("/restaurants").await.data();
    let (_, mut user) = service.colleague("reader@example.com", "read-only", None).await;
    let csrf = csrf(&mut user).await;
    for (method, path, access) in guarded() {
        // Printing a ticket again changes nothing of the account.
        if method == "POST" && path != "/orders/{id}/print" {
            let reply = call(&mut user, method, &own.fill(path), &csrf).await;
            assert_eq!(reply.status, 403, "{path} {access:?}");
        }
    }
    assert_eq!(service.a.get("/restaurants").await.data(), before);
    assert_eq!(
        service.a.get(&format!("/orders/{}", own.order)).await.data()["status"],
        json!(400)
    );
}

/// A webhook carries the account's most powerful key, so that whoever chooses its address could become an owner.
async fn developer_has_the_primary_key_sent_nowhere(service: TestService) {
    let webhook = json!({ "url": "https://pos.example.com/" });
    service.a.put("/webhook", &webhook).await.data();
    let (_, mut user) = service.colleague("dev@example.com", "developer", None).await;
    let csrf = csrf(&mut user).await;
    let mut send = async |path: &str, fields: &str| {
        let body = format!("csrf={csrf}&{fields}");
        user.send("POST", path, &[], &body).await
    };
    let stolen = "url=https%3A%2F%2Fevil.example.com%2F&authorization=bearer";
    assert_eq!(send("/webhook", stolen).await.status, 403);
    let id = "id=018f3c1e-7b1a-7c3e-8d2a-1b2c3d4e5f60&label=x&retries=standard";
    let with_key = format!("{id}&{}", stolen.replace("bearer", "key"));
    assert_eq!(send("/webhook/endpoints/new", &with_key).await.status, 403);
    let keys = service.a.get("/keys").await.data();
    let primary = format!("/keys/{}", keys[0]["id"].as_str().unwrap());
    for action in ["rotate", "revoke"] {
        let path = format!("{primary}/{action}");
        assert_eq!(send(&path, id).await.status, 403, "{path}");
    }
    let strong = service.a.act("/keys").await.data();
    let path = format!("/keys/{}/primary", strong["id"].as_str().unwrap());
    assert_eq!(send(&path, "").await.status, 403);
    assert_eq!(service.a.get("/webhook").await.data()["url"], webhook["url"]);
    // A receiver without that key is theirs to set up.
    let without = with_key.replace("authorization=key", "authorization=none");
    assert_eq!(send("/webhook/endpoints/new", &without).await.status, 200);
    let endpoints = service.a.get("/webhook-endpoints").await.data();
    assert_eq!(endpoints.as_array().unwrap().len(), 2);
}

async fn event_is_resent_from_its_own_order(service: TestService) {
    let one = furnish(&service, &service.a, "one").await;
    furnish(&service, &service.a, "two").await;
    let mut owner = service.user().await;
    let csrf = csrf(&mut owner).await;
    let events = service.a.get("/webhook/deliveries?orderId=L-two").await.data();
    let event = events[0]["id"].as_str().unwrap();
    let body = format!("csrf={csrf}&event={event}");
    let path = format!("/orders/{}/resend", one.order);
    assert_eq!(owner.send("POST", &path, &[], &body).await.status, NOT_FOUND);
}
