//! Simulated platforms are connected through the form, tested, and send test orders.

use crate::support::{
    Backend, Page, PanelUser, PlatformWorld, TestService, credentials, remote_id, wait_until,
};
use garson_sim::Platform;
use garson_sim::views::Fault;
use serde_json::Value;

on_both! {
    every_platform_can_be_connected_tested_and_ordered_from
    ; sqlite_only:
    empty_pages_offer_a_test_order
    every_missing_credential_is_marked
    wrong_credentials_are_detected
    unavailable_platform_is_not_reported_as_wrong_credentials
}

fn list(world: &PlatformWorld) -> String {
    format!("/restaurants/{}/integrations", world.restaurant)
}

/// What is entered for a platform, by the names of the form.
fn entries(platform: Platform) -> Vec<(String, String)> {
    let known = credentials(platform);
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let mut entries: Vec<_> = known
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, value)| (format!("credentials.{name}"), text(value)))
        .collect();
    entries.push(("remoteId".to_owned(), remote_id(platform).to_owned()));
    entries
}

async fn connect(
    user: &mut PanelUser,
    world: &PlatformWorld,
    platform: Platform,
    entries: &[(String, String)],
) {
    let path = format!("{}/{platform}", list(world));
    let form = user.open(&path).await.form(&path);
    let filled: Vec<(&str, &str)> = entries.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
    let page = user.submit(&form, &filled).await;
    assert!(page.has("Bağlantı kaydedildi."), "{platform}: {}", page.text());
    // Some are words that every page has.
    let is_telling = |value: &&(String, String)| value.1.len() > 6 && value.0 != "remoteId";
    let again = user.open(&path).await;
    for (name, value) in entries.iter().filter(is_telling) {
        assert!(!again.html.contains(value.as_str()), "{name} is shown");
    }
}

async fn try_it(user: &mut PanelUser, world: &PlatformWorld, platform: Platform) -> String {
    let page = user.open(&list(world)).await;
    let form = page.form(&format!("{}/{platform}/try", list(world)));
    user.submit(&form, &[]).await.text()
}

async fn every_platform_can_be_connected_tested_and_ordered_from(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    let mut user = world.service.user().await;
    // An empty board offers one too; that of a restaurant one that comes to it, if it can.
    let other = world.service.shop(&world.service.a, "Bağlantısız").await;
    for (restaurant, comes_to) in [
        ("", Some("")),
        (&world.restaurant, Some(world.restaurant.as_str())),
        (&other.restaurant, None),
    ] {
        let page = user.open(&format!("/?restaurant={restaurant}")).await;
        let forms = page.forms();
        let offer = forms.iter().find(|form| form.action == "/test-order");
        assert_eq!(offer.map(|form| form.value("restaurant")), comes_to);
    }
    for platform in Platform::ALL {
        let page = user.open(&list(&world)).await;
        let form = page.form(&format!("{}/{platform}/disconnect", list(&world)));
        user.submit(&form, &[]).await;
        connect(&mut user, &world, platform, &entries(platform)).await;
        let said = try_it(&mut user, &world, platform).await;
        assert!(said.contains("Bağlantı çalışıyor"), "{platform}: {said}");
        // A test order arrives.
        let page = user.open(&list(&world)).await;
        let form = page
            .forms()
            .into_iter()
            .find(|form| form.action == "/test-order" && form.value("provider") == platform.to_string())
            .unwrap();
        let page = user.submit(&form, &[]).await;
        assert!(
            page.has("Test siparişi gönderildi;"),
            "{platform}: {}",
            page.text()
        );
        assert_eq!(page.path, list(&world));
        wait_until("the test order is there", async || {
            let orders = world.orders().await;
            orders
                .iter()
                .any(|order| order["provider"] == platform.to_string())
        })
        .await;
    }
    // Switched off, it is not ordered from.
    let page = user.open(&list(&world)).await;
    let csrf = page.form("/language").value("csrf").to_owned();
    user.submit(&page.form(&format!("{}/getir/switch", list(&world))), &[])
        .await;
    let body = format!(
        "csrf={csrf}&restaurant={}&provider=getir&back=/keys",
        world.restaurant
    );
    let reply = user.send("POST", "/test-order", &[], &body).await;
    assert_eq!(reply.header("location"), Some("/keys"));
    let page = user.open("/keys").await;
    assert!(page.has("Test siparişi gönderilemedi:"), "{}", page.text());
    // Without a restaurant, the first suitable one of the account gets it.
    let reply = user
        .send("POST", "/test-order", &[], &format!("csrf={csrf}&back=/keys"))
        .await;
    assert_eq!(reply.status, 303);
    assert!(user.open("/keys").await.has("Test siparişi gönderildi;"));
    let mut theirs = world.service.user_of("second@example.com").await;
    assert!(
        !theirs.open("/").await.has("Test siparişi gönder"),
        "no platform is connected"
    );
    let csrf = theirs
        .open("/keys")
        .await
        .form("/language")
        .value("csrf")
        .to_owned();
    let body = format!("csrf={csrf}&restaurant={}", world.restaurant);
    assert_eq!(theirs.send("POST", "/test-order", &[], &body).await.status, 404);
    theirs
        .send("POST", "/test-order", &[], &format!("csrf={csrf}&back=/keys"))
        .await;
    assert!(theirs.open("/keys").await.has("Test siparişi gönderilemedi:"));
}

async fn empty_pages_offer_a_test_order(backend: Backend) {
    const PATHS: [&str; 3] = ["/orders", "/reports", "/payments"];
    let world = PlatformWorld::open_without_polling(backend).await;
    let mut user = world.service.user().await;
    let mut theirs = world.service.user_of("second@example.com").await;
    let offers = |page: &Page| page.forms().iter().any(|form| form.action == "/test-order");
    for path in PATHS {
        let page = user.open(path).await;
        assert!(
            page.has("Henüz sipariş yok") && offers(&page),
            "{path}: {}",
            page.text()
        );
        assert!(
            !page.has("muhasebeye aktarılmış") && !page.has("Başka bir dönem"),
            "{path}"
        );
        assert_eq!(page.form("/test-order").value("back"), path);
        // Where no platform is connected, that comes first.
        let page = theirs.open(path).await;
        assert!(
            page.has("Restoranınızı bir platforma bağlayın") && !offers(&page),
            "{path}"
        );
    }
    let page = user.open("/payments").await;
    let page = user.submit(&page.form("/test-order"), &[]).await;
    assert!(page.has("Test siparişi gönderildi;"), "{}", page.text());
    assert_eq!(page.path, "/payments");
    wait_until("the test order is there", async || {
        !world.orders().await.is_empty()
    })
    .await;
    for path in PATHS {
        let page = user.open(path).await;
        assert!(
            !page.has("Henüz sipariş yok") && !offers(&page),
            "{path}: {}",
            page.text()
        );
    }
}

async fn every_missing_credential_is_marked(backend: Backend) {
    let service = TestService::open(backend).await;
    let made = service
        .a
        .post("/restaurants", &serde_json::json!({ "name": "r" }))
        .await
        .data();
    let mut user = service.user().await;
    for platform in Platform::ALL {
        let path = format!(
            "/restaurants/{}/integrations/{platform}",
            made["id"].as_str().unwrap()
        );
        let required: Vec<String> = garson_platforms::find(&platform.to_string())
            .unwrap()
            .credential_fields()
            .iter()
            .filter(|field| field.required)
            .map(|field| format!("credentials.{}", field.name))
            .collect();
        assert!(required.len() > 1, "{platform}");
        let marked = |page: &Page| -> Vec<String> {
            let inputs = page.html.split("<div class=\"field bad\">").skip(1);
            let name = |input: &str| {
                let start = input.find("name=\"").unwrap() + 6;
                input[start..start + input[start..].find('"').unwrap()].to_owned()
            };
            inputs.map(name).collect()
        };
        let form = user.open(&path).await.form(&path);
        let page = user.submit(&form, &[("isActive", "on")]).await;
        assert_eq!(page.status, 422, "{platform}");
        assert_eq!(marked(&page)[0], "remoteId", "{platform}");
        assert_eq!(marked(&page)[1..], required, "{platform}");
        let filled = [("remoteId", remote_id(platform)), ("isActive", "on")];
        let page = user.submit(&form, &filled).await;
        assert_eq!(marked(&page), required, "{platform}");
        assert_eq!(
            page.html.matches("aria-invalid=\"true\"").count(),
            required.len(),
            "{platform}"
        );
        // One is entered; the others stay marked.
        let (first, rest) = required.split_first().unwrap();
        let filled = [
            ("remoteId", remote_id(platform)),
            ("isActive", "on"),
            (first, "a-long-enough-value"),
        ];
        let page = user.submit(&page.form(&path), &filled).await;
        assert_eq!(marked(&page), rest, "{platform}");
    }
}

async fn wrong_credentials_are_detected(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    let mut user = world.service.user().await;
    for (platform, name) in [
        (Platform::Getir, "restaurantSecretKey"),
        (Platform::Yemeksepeti, "password"),
        (Platform::Trendyol, "apiSecret"),
        (Platform::Migros, "apiKey"),
    ] {
        let wrong = (format!("credentials.{name}"), "not-the-right-one".to_owned());
        connect(&mut user, &world, platform, &[wrong]).await;
        let said = try_it(&mut user, &world, platform).await;
        assert!(!said.contains("Bağlantı çalışıyor"), "{platform}: {said}");
        assert!(
            said.contains("Platform bağlantıyı kabul etmedi") || said.contains("Platforma ulaşılamadı"),
            "{platform}: {said}"
        );
        // Mended, it works again.
        let right: Vec<_> = entries(platform)
            .into_iter()
            .filter(|(n, _)| n.ends_with(name))
            .collect();
        connect(&mut user, &world, platform, &right).await;
        let said = try_it(&mut user, &world, platform).await;
        assert!(said.contains("Bağlantı çalışıyor"), "{platform}: {said}");
    }
}

async fn unavailable_platform_is_not_reported_as_wrong_credentials(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    let mut user = world.service.user().await;
    world.fault(Platform::Migros, "*", Fault::Drop, None).await;
    let said = try_it(&mut user, &world, Platform::Migros).await;
    assert!(said.contains("Platforma ulaşılamadı"), "{said}");
    world.control.clear_faults().await.unwrap();
    let said = try_it(&mut user, &world, Platform::Migros).await;
    assert!(said.contains("Bağlantı çalışıyor"), "{said}");
}
