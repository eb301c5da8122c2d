//! Rules for every page: both languages, headers, links, and access.

use crate::support::{Page, PanelUser, TestService, order_body, request, send};

cases! {
    every_page_exists_in_both_languages
    ; sqlite_only:
    every_page_is_valid_html_with_security_headers
    non_page_routes_are_protected
    every_link_resolves
    every_page_requires_sign_in
    unknown_path_gets_a_not_found_page
    form_only_path_refuses_get
    oversized_form_is_refused_with_a_page
    language_can_be_switched_after_a_refused_form
    language_can_be_switched
    pages_are_compressed_when_accepted
}

/// Every page that can be looked at, by its path. A new page joins here; `{order}`, `{restaurant}`, `{product}` and so on become
/// ids of the first account.
const PAGES: &[&str] = &[
    "/",
    "/?restaurant={restaurant}",
    "/?restaurant={restaurant}&platform=direct",
    "/kitchen",
    "/kitchen?restaurant={restaurant}",
    "/board/orders/{order}/cancel",
    "/restaurants",
    "/restaurants/new",
    "/restaurants/new?businessId={business}",
    "/restaurants/{restaurant}",
    "/restaurants/{restaurant}/integrations",
    "/restaurants/{restaurant}/integrations/direct",
    "/restaurants/{restaurant}/integrations/getir",
    "/restaurants/{restaurant}/integrations/yemeksepeti",
    "/restaurants/{restaurant}/integrations/trendyol",
    "/restaurants/{restaurant}/integrations/migros",
    "/restaurants/{restaurant}/packages",
    "/restaurants/{restaurant}/payments",
    "/restaurants/{restaurant}/menu",
    "/restaurants/{restaurant}/products",
    "/restaurants/{restaurant}/products?q=nobody",
    "/restaurants/{restaurant}/products?state=off&kind=option",
    "/restaurants/{restaurant}/products/suggestions",
    "/restaurants/{restaurant}/products/{product}",
    "/restaurants/{restaurant}/products/{product}?link=x",
    "/restaurants/{restaurant}/differences",
    "/restaurants/{restaurant}/differences?between=days&kind=price",
    "/restaurants/{restaurant}/prices/{change}",
    "/board/orders/{order}/products",
    "/restaurants/{restaurant}/escalation",
    "/restaurants/{restaurant}/store",
    "/restaurants/{restaurant}/store/hours",
    "/restaurants/{restaurant}/store/history",
    "/notices",
    "/notices/channels/new?kind=email",
    "/notices/channels/new?kind=http",
    "/notices/channels/{channel}",
    "/businesses",
    "/businesses/new",
    "/businesses/{business}",
    "/keys",
    "/orders",
    "/orders?q=K-1&status=new&platform=direct&restaurant={restaurant}&from=2026-01-01&to=2026-12-31",
    "/orders?q=nobody",
    "/orders/{order}",
    "/sessions",
    "/account",
    "/account/two-factor",
    "/users",
    "/users/new",
    "/users/{user}",
    "/requests?status=failed",
    "/requests?key=018f3c1e-7b1a-7c3e-8d2a-1b2c3d4e5f60",
    "/audit",
    "/audit?record=restaurant&actor=key&from=2026-01-01&restaurant={restaurant}",
    "/audit?id=nobody",
    "/privacy",
    "/reports",
    "/reports?restaurant={restaurant}&from=2026-03-01&to=2026-03-01",
    "/reports?list=marked",
    "/today",
    "/today?day=yesterday",
    "/today?day=2026-03-01&restaurant={restaurant}",
    "/payments",
    "/payments?period=today",
    "/payments?restaurant={restaurant}&from=2026-02-01&to=2026-03-01",
    "/payments?period=last-month",
    "/status",
    "/webhook",
    "/webhook?state=failed&order=K-1",
    "/webhook?event=siparis.olusturuldu&from=2026-03-01&to=2026-03-01",
    "/webhook/deliveries/{delivery}",
    "/webhook/endpoints",
    "/webhook/endpoints/new",
    "/webhook/endpoints/{endpoint}",
    // In debug builds only, as tests are.
    "/panel/components",
];

/// An order with everything that a page can show of one.
fn a_whole_order(store: &str) -> serde_json::Value {
    let mut body = order_body(store, "K-1", 45_500);
    body["note"] = serde_json::json!("Zili çalmayın, bebek uyuyor.");
    body["items"] = serde_json::json!([
        { "name": "Adana dürüm", "quantity": 2, "unitPrice": 16_000, "note": "Az acılı", "options": [
            { "group": "İçecek", "name": "Ayran", "quantity": 2, "price": 1_500 },
            { "name": "Soğan", "removed": true },
        ] },
        { "name": "Künefe", "quantity": 1, "unitPrice": 7_500 },
    ]);
    body["amount"] = serde_json::json!({ "subtotal": 45_500, "total": 45_500 });
    body["customer"] = serde_json::json!({
        "name": "İpek Çağlar", "phone": "+90 532 000 00 00",
        "address": { "text": "Moda Cad. 12", "city": "İstanbul", "district": "Kadıköy", "floor": "3",
                     "directions": "Yeşil kapı", "lat": 40.985, "lon": 29.025 },
    });
    body
}

/// An account in which there is something to see, and the paths of its pages.
pub async fn furnished(service: &TestService) -> (PanelUser, Vec<String>) {
    let shop = service.shop(&service.a, "Çarşı").await;
    // There is no such name, so there are attempts that failed.
    let webhook = serde_json::json!({ "url": "https://kasa.invalid/siparisler" });
    service.a.put("/webhook", &webhook).await.success();
    let label = serde_json::json!({ "label": "İkinci kasa" });
    service.a.post("/keys", &label).await.success();
    let taken = shop.post(a_whole_order(&shop.store).to_string().as_bytes()).await;
    let order = taken.data()["orderId"].as_str().unwrap().to_owned();
    let deliveries = service.a.get("/webhook/deliveries").await.data();
    let delivery = deliveries[0]["id"].as_str().unwrap();
    let business = service
        .a
        .post("/businesses", &serde_json::json!({ "name": "Gıda A.Ş." }))
        .await
        .data()["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let channel = serde_json::json!({ "name": "Müdür", "kind": "http", "url": "https://sms.invalid/send",
                                      "headers": { "x-key": "abc" }, "secrets": { "pin": "1" } });
    let channel = service.a.post("/channels", &channel).await.data();
    let channel = channel["id"].as_str().unwrap();
    let endpoint =
        serde_json::json!({ "label": "Mutfak ekranı", "url": "https://kds.invalid/olay", "signed": true });
    let endpoint = service.a.post("/webhook-endpoints", &endpoint).await.data();
    let endpoint = endpoint["id"].as_str().unwrap();
    let steps = serde_json::json!({ "steps": [
        { "when": "beforeAcceptBy", "seconds": 60, "action": "ring" },
        { "when": "age", "seconds": 120, "action": "message", "channelId": channel },
    ] });
    let escalation = format!("/restaurants/{}/escalation", shop.restaurant);
    service.a.put(&escalation, &steps).await.success();
    let new = serde_json::json!({ "email": "ayse@example.com", "role": "shift", "name": "Ayşe Yılmaz",
                                  "restaurantIds": [shop.restaurant] });
    let user = service.a.post("/users", &new).await.data();
    let user = user["id"].as_str().unwrap();
    // For the request log.
    let missing = service.a.get("/orders/not-there").await;
    missing.refused(404, "order_not_found");
    let (product, change) = furnish_products(service, &shop.restaurant).await;
    let paths = PAGES
        .iter()
        .map(|path| {
            path.replace("{order}", &order)
                .replace("{restaurant}", &shop.restaurant)
                .replace("{delivery}", delivery)
                .replace("{business}", &business)
                .replace("{channel}", channel)
                .replace("{endpoint}", endpoint)
                .replace("{product}", &product)
                .replace("{change}", &change)
                .replace("{user}", user)
        })
        .collect();
    (service.user().await, paths)
}

/// A product, and a preview of its price; the menus have been looked at.
async fn furnish_products(service: &TestService, restaurant: &str) -> (String, String) {
    let path = |path: &str| format!("/restaurants/{restaurant}{path}");
    let mut product = String::new();
    for (code, name) in [("D-1", "Künefe"), ("D-2", "Adana dürüm")] {
        let new = serde_json::json!({ "provider": "direct", "itemId": code, "name": name });
        let made = service.a.post(&path("/products"), &new).await.data();
        made["id"].as_str().unwrap().clone_into(&mut product);
    }
    let prices = serde_json::json!({ "prices": [{ "productId": product, "price": 22_500 }] });
    let change = service.a.post(&path("/prices/preview"), &prices).await.data();
    service
        .a
        .post(&path("/menus/read"), &serde_json::json!({}))
        .await
        .data();
    crate::support::wait_until("the menus have been looked at", async || {
        let states = service.a.get(&path("/menus")).await.data();
        let mut states = states.as_array().unwrap().iter();
        states.all(|it| it["isDue"] == serde_json::json!(false))
    })
    .await;
    (product, change["id"].as_str().unwrap().to_owned())
}

fn language(page: &Page) -> &'static str {
    match (
        page.html.contains("<html lang=\"tr\">"),
        page.html.contains("<html lang=\"en\">"),
    ) {
        (true, false) => "tr",
        (false, true) => "en",
        _ => panic!("no language in {}", page.html),
    }
}

async fn every_page_exists_in_both_languages(service: TestService) {
    let (mut user, paths) = furnished(&service).await;
    let mut english = user.clone();
    english.in_english();
    for path in paths {
        let (tr, en) = (user.open(&path).await, english.open(&path).await);
        assert_eq!((tr.status, en.status), (200, 200), "{path}");
        assert_eq!((&tr.path, &en.path), (&path, &path));
        assert_eq!((language(&tr), language(&en)), ("tr", "en"));
        assert!(tr.has("Çıkış") && en.has("Sign out"), "{path}");
        assert_ne!(tr.text(), en.text(), "{path}");
    }
}

async fn every_page_is_valid_html_with_security_headers(service: TestService) {
    let (mut user, mut paths) = furnished(&service).await;
    paths.extend(["/sign-in", "/nothing-here", "/orders/none/x"].map(str::to_owned));
    for path in paths {
        let page = user.open(&path).await;
        let policy = page.header("content-security-policy").unwrap();
        assert!(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"));
        assert!(!policy.contains("unsafe-inline"), "{policy}");
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("x-frame-options", "DENY"),
            ("referrer-policy", "same-origin"),
            ("cache-control", "no-store"),
        ] {
            assert_eq!(page.header(name), Some(value), "{path}");
        }
        assert_eq!(page.header("strict-transport-security"), None);
        let secure = user
            .send("GET", &path, &[("x-forwarded-proto", "https")], "")
            .await;
        assert!(secure.header("strict-transport-security").is_some(), "{path}");
        // No script or style in the page, nothing from elsewhere, every form with its token, one title.
        // The way to a customer's door is the one link that leads elsewhere.
        let html = &page
            .html
            .replace("href=\"https://www.google.com/maps/", "href=\"/");
        for wrong in [
            " style=",
            "<style",
            " onclick=",
            "javascript:",
            "src=\"http",
            "href=\"http",
        ] {
            assert!(!html.contains(wrong), "{wrong} in {path}");
        }
        assert_eq!(html.matches("<script").count(), 1, "{path}");
        assert!(html.contains("<script src=\"/assets/panel-"), "{path}");
        assert_eq!(html.matches("<h1").count(), 1, "{path}");
        for form in page.forms().iter().filter(|form| form.is_post) {
            assert_eq!(form.value("csrf").len(), 64, "{path}: {form:?}");
        }
        for link in ["/assets/panel-", "stylesheet"] {
            assert!(html.contains(link), "{path}");
        }
    }
    let page = user.open("/").await;
    let marks = ["href=\"/assets/", "src=\"/assets/"];
    for mark in marks {
        let start = page.html.find(mark).unwrap() + mark.len() - "/assets/".len();
        let path = &page.html[start..][..page.html[start..].find('"').unwrap()];
        let asset = user.send("GET", path, &[], "").await;
        assert_eq!(asset.status, 200, "{path}");
        assert!(asset.header("cache-control").unwrap().contains("immutable"));
    }
    let gone = user.send("GET", "/assets/panel-000000000000.css", &[], "").await;
    assert_eq!(gone.status, 404);
}

async fn non_page_routes_are_protected(service: TestService) {
    let mut user = service.anonymous_user();
    let page = user.open("/sign-in").await;
    let script = page.attribute("src");
    for (path, status) in [
        ("/docs", 303),
        ("/docs/", 200),
        ("/docs/nothing", 404),
        ("/openapi.json", 200),
        ("/asyncapi.json", 200),
        (script.as_str(), 200),
        ("/assets/nothing", 404),
        ("/manifest.webmanifest", 200),
        ("/service-worker.js", 200),
        ("/offline", 200),
        ("/icons/icon-192.png", 200),
        ("/icons/nothing", 404),
    ] {
        let over_tls = [("x-forwarded-proto", "https")];
        let reply = user.send("GET", path, &over_tls, "").await;
        assert_eq!(reply.status, status, "{path}");
        let policy = reply.header("content-security-policy").unwrap_or_default();
        assert!(
            policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"),
            "{path}: {policy}"
        );
        assert!(policy.contains("script-src 'self';"), "{path}: {policy}");
        for name in [
            "strict-transport-security",
            "x-content-type-options",
            "x-frame-options",
        ] {
            assert!(reply.header(name).is_some(), "{name} of {path}");
        }
        let reply = user.send("GET", path, &[], "").await;
        assert_eq!(reply.header("strict-transport-security"), None, "{path}");
    }
}

async fn every_link_resolves(service: TestService) {
    let (mut user, paths) = furnished(&service).await;
    let mut links = std::collections::BTreeSet::new();
    // The cards of the component page are of orders that do not exist.
    for path in paths.iter().filter(|path| *path != "/panel/components") {
        links.extend(user.open(path).await.links());
    }
    assert!(links.contains("/") && links.contains("/keys") && links.contains("/sessions"));
    let map = links.iter().find(|link| link.starts_with("https://"));
    assert_eq!(map.map(|link| link.contains("40.985")), Some(true), "{map:?}");
    // A browser keeps the part of a page to itself.
    let whole = links.iter().filter_map(|link| link.split('#').next());
    for link in whole.filter(|link| link.starts_with('/')) {
        let page = user.open(link).await;
        assert_eq!((page.status, page.path.as_str()), (200, link));
    }
}

async fn every_page_requires_sign_in(service: TestService) {
    let (_, paths) = furnished(&service).await;
    let mut stranger = service.anonymous_user();
    for path in paths {
        let page = stranger.open(&path).await;
        assert!(page.path.starts_with("/sign-in"), "{path} leads to {}", page.path);
        assert!(!page.has("K-1"), "{path}");
    }
    // And after signing in, on to the page that was wanted.
    service.give_password("first@example.com").await;
    let page = stranger.open("/keys").await;
    let filled = [
        ("email", "first@example.com"),
        ("password", crate::support::PASSWORD),
    ];
    let page = stranger.submit(&page.form("/sign-in"), &filled).await;
    assert_eq!((page.status, page.path.as_str()), (200, "/keys"));
}

async fn unknown_path_gets_a_not_found_page(service: TestService) {
    let mut user = service.user().await;
    let page = user.open("/nothing-here").await;
    assert_eq!(page.status, 404);
    assert!(page.has("Bulunamadı"), "{}", page.html);
    let page = user.open("/board/orders/none/cancel").await;
    assert_eq!(page.status, 404);
    assert!(page.has("Çıkış"), "the way to the others is lost");
    // Programs are answered as ever.
    let reply = user.send("GET", "/web-api/v1/nothing", &[], "").await;
    reply.refused(404, "not_found");
}

async fn form_only_path_refuses_get(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let mut user = service.user().await;
    let delete = format!("/restaurants/{}/delete", shop.restaurant);
    for path in ["/password", "/language", "/sign-out", "/reports/mark", &delete] {
        let page = user.open(path).await;
        assert_eq!((page.status, page.header("allow")), (405, Some("POST")), "{path}");
        assert!(
            page.has("Bu adres yalnızca formları alır."),
            "{path}: {}",
            page.html
        );
        assert!(page.header("content-security-policy").is_some(), "{path}");
        // Programs are answered as ever.
        let reply = send(service.addr, &request("GET", path, &[], &[])).await;
        reply.refused(405, "method_not_allowed");
    }
}

async fn oversized_form_is_refused_with_a_page(service: TestService) {
    let mut user = service.user().await;
    let large = format!("label={}", "x".repeat(1024 * 1024));
    let reply = user.send("POST", "/keys", &[], &large).await;
    let page = Page::new("/keys".to_owned(), &reply);
    assert_eq!(page.status, 413);
    assert!(page.has("Form çok büyük") && page.has("Çıkış"), "{}", page.html);
    let reply = service
        .anonymous_user()
        .send("POST", "/sign-in", &[], &large)
        .await;
    assert!(reply.status == 413 && reply.text().contains("Form çok büyük"));
}

async fn language_can_be_switched_after_a_refused_form(service: TestService) {
    let shop = service.shop(&service.a, "Çarşı").await;
    let mut user = service.user().await;
    let restaurant = format!("/restaurants/{}", shop.restaurant);
    let name = [("confirm", "something else")];
    let passwords = [("old", "wrong one"), ("new", "another horse")];
    for (path, action, filled) in [
        ("/sessions", "/password".to_owned(), passwords.as_slice()),
        (restaurant.as_str(), format!("{restaurant}/delete"), &name),
    ] {
        let page = user.open(path).await;
        // The page after a POST cannot be opened directly, the second time neither.
        let page = user.submit(&page.form(&action), filled).await;
        let page = user.submit(&page.form(&action), filled).await;
        assert_eq!((page.status, &page.path), (422, &action));
        let page = user.submit(&page.form("/language"), &[]).await;
        assert_eq!((page.status, page.path.as_str()), (200, path));
    }
    // Nor is there a page where an error was shown.
    let page = user.open("/keys").await;
    let form = page.form("/keys").body(&[]);
    let reply = user.send("POST", "/keys/none/revoke", &[], &form).await;
    let page = Page::new("/keys/none/revoke".to_owned(), &reply);
    assert_eq!(page.status, 404);
    let page = user.submit(&page.form("/language"), &[]).await;
    assert_eq!((page.status, page.path.as_str()), (200, "/keys"));
}

async fn language_can_be_switched(service: TestService) {
    let mut user = service.user().await;
    let page = user.open("/keys").await;
    assert_eq!(language(&page), "tr");
    let page = user.submit(&page.form("/language"), &[]).await;
    assert_eq!((language(&page), page.path.as_str()), ("en", "/keys"));
    let page = user.open("/").await;
    assert_eq!(language(&page), "en");
    let page = user.submit(&page.form("/language"), &[]).await;
    assert_eq!(language(&page), "tr");
    // Before signing in as well.
    let mut stranger = service.anonymous_user();
    let page = stranger.open("/sign-in").await;
    let page = stranger.submit(&page.form("/language"), &[]).await;
    assert_eq!((language(&page), page.path.as_str()), ("en", "/sign-in"));
    // No redirect to another site.
    let page = stranger.open("/sign-in").await;
    let body = page.form("/language").forged("back", Some("//evil.example/"));
    let reply = stranger.send("POST", "/language", &[], &body).await;
    assert_eq!(reply.header("location"), Some("/"));
}

async fn pages_are_compressed_when_accepted(service: TestService) {
    let (mut user, _) = furnished(&service).await;
    let plain = user.send("GET", "/", &[], "").await;
    assert_eq!(plain.header("content-encoding"), None);
    let pressed = user
        .send("GET", "/", &[("accept-encoding", "br, gzip")], "")
        .await;
    assert_eq!(pressed.header("content-encoding"), Some("gzip"));
    assert!(pressed.body.starts_with(&[0x1f, 0x8b]) && pressed.body.len() < plain.body.len());
}
