//! Integrations: connected through the platform's form, switched, disconnected; secrets stay secret.

use super::restaurants::{complaint, make};
use crate::support::{PanelUser, TestService};
use serde_json::{Value, json};

cases! {
    connected_platform_never_shows_its_secrets
    ; sqlite_only:
    credential_error_is_shown_at_its_field
    form_asks_for_the_credentials_of_every_platform
    integration_is_deactivated_and_disconnected
    integration_without_package_cannot_be_activated
    a_branch_belongs_to_one_restaurant
    integration_health_is_shown
}

const KEY: &str = "very-secret-inbound-key";

async fn connect_direct(user: &mut PanelUser, restaurant: &str, branch: &str) {
    let path = format!("/restaurants/{restaurant}/integrations/direct");
    let form = user.open(&path).await.form(&path);
    let filled = [("remoteId", branch), ("credentials.inboundKey", KEY)];
    let page = user.submit(&form, &filled).await;
    assert!(page.has("Bağlantı kaydedildi."), "{}", page.text());
}

async fn integration(service: &TestService, restaurant: &str, provider: &str) -> Value {
    let path = format!("/restaurants/{restaurant}/integrations/{provider}");
    service.a.get(&path).await.data()
}

async fn connected_platform_never_shows_its_secrets(service: TestService) {
    let mut user = service.user().await;
    let id = make(&service, json!({ "name": "Moda" })).await;
    connect_direct(&mut user, &id, "moda-1").await;
    let made = integration(&service, &id, "direct").await;
    assert_eq!(
        (&made["isActive"], &made["remoteId"]),
        (&json!(true), &json!("moda-1"))
    );
    assert_eq!(made["hasCredentials"], true);
    // What was entered works: an order comes in by it.
    let shop = crate::support::Shop {
        addr: service.addr,
        restaurant: id.clone(),
        store: "moda-1".to_owned(),
        key: KEY.to_owned(),
    };
    shop.order("K-1").await;
    let own = format!("/restaurants/{id}");
    for page in [
        "",
        "/integrations",
        "/integrations/direct",
        "/packages",
        "/payments",
        "/menu",
    ] {
        assert!(
            !user.open(&format!("{own}{page}")).await.html.contains(KEY),
            "{page}"
        );
    }
    // An empty field keeps what is there; the rest changes.
    let path = format!("{own}/integrations/direct");
    let page = user.open(&path).await;
    assert!(
        page.has("Kayıtlı. Değiştirmemek için boş bırakın."),
        "{}",
        page.text()
    );
    let form = page.form(&path);
    assert_eq!(
        (form.value("credentials.inboundKey"), form.value("remoteId")),
        ("", "moda-1")
    );
    user.submit(
        &form,
        &[("remoteId", "moda-2"), ("defaultCancelReason", "closed")],
    )
    .await;
    let changed = integration(&service, &id, "direct").await;
    assert_eq!(
        (&changed["remoteId"], &changed["defaultCancelReason"]),
        (&json!("moda-2"), &json!("closed"))
    );
    let shop = crate::support::Shop {
        store: "moda-2".to_owned(),
        ..shop
    };
    shop.order("K-2").await;
    // What is optional can be taken away again.
    let form = user.open(&path).await.form(&path);
    assert!(form.boxes.iter().all(|(name, _)| name != "remove.callbackUrl"));
    let hook = "https://93.184.216.34/changes";
    user.submit(&form, &[("credentials.callbackUrl", hook)]).await;
    let form = user.open(&path).await.form(&path);
    let page = user.submit(&form, &[("remove.callbackUrl", "on")]).await;
    assert!(page.has("Bağlantı kaydedildi."));
    let form = user.open(&path).await.form(&path);
    assert!(form.boxes.iter().all(|(name, _)| name != "remove.callbackUrl"));
}

async fn credential_error_is_shown_at_its_field(service: TestService) {
    let mut user = service.user().await;
    let id = make(&service, json!({ "name": "Moda" })).await;
    let at = |provider: &str| format!("/restaurants/{id}/integrations/{provider}");
    for (provider, field, value, said) in [
        ("direct", "credentials.inboundKey", "short", "En az 8 karakter"),
        ("direct", "credentials.inboundKey", "", "açmak için gerekli"),
        ("direct", "remoteId", "", "açmak için gerekli"),
        (
            "direct",
            "credentials.callbackUrl",
            "http://127.0.0.1/",
            "Bu adrese gönderilemez",
        ),
        ("trendyol", "remoteId", "101", "iki nokta olmalı"),
        ("trendyol", "credentials.inboundHeaders", "x-key", "JSON nesnesi"),
        ("yemeksepeti", "credentials.username", "Ayşe", "Türkçe harf"),
        ("getir", "credentials.appSecretKey", "", "açmak için gerekli"),
    ] {
        let path = at(provider);
        let form = user.open(&path).await.form(&path);
        let mut filled = vec![("remoteId", "1:1")];
        if provider == "direct" {
            filled.push(("credentials.inboundKey", KEY));
        }
        filled.retain(|(name, _)| *name != field);
        filled.push((field, value));
        let page = user.submit(&form, &filled).await;
        assert_eq!((page.status, &page.path), (422, &path), "{field} {value}");
        assert!(complaint(&page, field).contains(said), "{field}: {}", page.text());
        // What was typed stays, but no secret comes back.
        let again = page.form(&path);
        assert_eq!(
            again.value("remoteId"),
            filled.iter().find(|(n, _)| *n == "remoteId").unwrap().1
        );
        assert!(!page.html.contains(KEY) && !page.html.contains("value=\"short\""));
    }
    assert_eq!(
        service.a.get(&format!("/restaurants/{id}")).await.data()["integrations"],
        json!([])
    );
    assert_eq!(user.open(&at("pigeon")).await.status, 404);
}

async fn form_asks_for_the_credentials_of_every_platform(service: TestService) {
    let mut user = service.user().await;
    let id = make(&service, json!({ "name": "Moda" })).await;
    let list = user.open(&format!("/restaurants/{id}/integrations")).await;
    for provider in service.a.get("/providers").await.data().as_array().unwrap() {
        let path = format!(
            "/restaurants/{id}/integrations/{}",
            provider["key"].as_str().unwrap()
        );
        assert!(list.links().contains(&path), "{path}");
        let page = user.open(&path).await;
        let form = page.form(&path);
        for credential in provider["credentials"].as_array().unwrap() {
            let name = format!("credentials.{}", credential["name"].as_str().unwrap());
            assert_eq!(form.value(&name).trim(), "", "{path}");
            let id = format!("id=\"f-{name}\"");
            let start = page.html.find(&id).unwrap();
            let tag = &page.html[page.html[..start].rfind('<').unwrap()..start];
            let wanted = match credential["kind"].as_str().unwrap() {
                "secret" => "<input type=\"password\"",
                "text" => "<input type=\"text\"",
                "address" => "<input type=\"url\"",
                "headers" => "<textarea",
                _ => "<select",
            };
            assert!(tag.starts_with(wanted), "{name}: {tag}");
        }
        assert!(page.has(&format!("/hooks/{}/", provider["key"].as_str().unwrap())));
    }
}

async fn integration_is_deactivated_and_disconnected(service: TestService) {
    let mut user = service.user().await;
    let id = make(&service, json!({ "name": "Moda" })).await;
    connect_direct(&mut user, &id, "moda-1").await;
    let list = format!("/restaurants/{id}/integrations");
    let path = format!("{list}/direct");
    let switch = format!("{path}/switch");
    let page = user.open(&list).await;
    let page = user.submit(&page.form(&switch), &[]).await;
    assert!(page.has("Bağlantı kapatıldı."), "{}", page.text());
    assert_eq!(integration(&service, &id, "direct").await["isActive"], false);
    let page = user.submit(&page.form(&switch), &[]).await;
    assert!(page.has("Bağlantı açıldı."), "{}", page.text());
    assert_eq!(integration(&service, &id, "direct").await["isActive"], true);
    let events = service.a.get("/events").await.data();
    let toggled = events.as_array().unwrap().iter();
    assert_eq!(
        toggled
            .filter(|it| it["olay"] == "entegrasyon.durum_degisti")
            .count(),
        3,
        "{events:#}"
    );
    // It cannot be asked anything, and says so.
    let page = user.submit(&page.form(&format!("{path}/try")), &[]).await;
    assert!(page.has("yalnızca sipariş gönderir"), "{}", page.text());
    let page = user.submit(&page.form(&format!("{path}/disconnect")), &[]).await;
    assert!(
        page.has("Bağlantı kesildi.") && page.has("bağlı değil"),
        "{}",
        page.text()
    );
    service.a.get(&path).await.refused(404, "integration_not_found");
    // A switch alone connects nothing.
    let csrf = page.form("/language").value("csrf").to_owned();
    let body = format!("csrf={csrf}&active=yes");
    assert_eq!(user.send("POST", &switch, &[], &body).await.status, 404);
    // What is switched on without what it needs leads to the form.
    let off = json!({ "isActive": false, "remoteId": "x" });
    service.a.put(&path, &off).await.data();
    let page = user.open(&list).await;
    let page = user.submit(&page.form(&switch), &[]).await;
    assert_eq!(page.path, path);
    assert!(page.has("Mağazanın göndereceği anahtar"), "{}", page.text());
}

async fn integration_without_package_cannot_be_activated(service: TestService) {
    let mut user = service.user().await;
    let id = make(&service, json!({ "name": "Moda" })).await;
    connect_direct(&mut user, &id, "moda-1").await;
    let packages = json!({ "packages": [{ "name": "Getir", "providers": ["getir"] }] });
    service
        .a
        .put(&format!("/restaurants/{id}/packages"), &packages)
        .await
        .data();
    let list = format!("/restaurants/{id}/integrations");
    let page = user.open(&list).await;
    assert!(
        page.within("p-direct", "section").has("paket kapsamıyor"),
        "{}",
        page.text()
    );
    assert!(!page.within("p-getir", "section").has("paket kapsamıyor"));
    let page = user
        .submit(&page.form(&format!("{list}/direct/switch")), &[])
        .await;
    assert!(page.has("Paket bu platformu kapsamıyor"), "{}", page.text());
    let path = format!("{list}/direct");
    let form = user.open(&path).await.form(&path);
    let page = user.submit(&form, &[("isActive", "on")]).await;
    assert_eq!(page.status, 409);
    assert!(page.has("Paket bu platformu kapsamıyor"), "{}", page.text());
}

async fn a_branch_belongs_to_one_restaurant(service: TestService) {
    let mut user = service.user().await;
    let first = make(&service, json!({ "name": "Moda" })).await;
    connect_direct(&mut user, &first, "moda-1").await;
    let second = make(&service, json!({ "name": "Çarşı" })).await;
    let path = format!("/restaurants/{second}/integrations/direct");
    let form = user.open(&path).await.form(&path);
    let filled = [("remoteId", "moda-1"), ("credentials.inboundKey", KEY)];
    let page = user.submit(&form, &filled).await;
    assert_eq!(page.status, 409);
    assert!(
        complaint(&page, "remoteId").contains("başka bir bağlantıya ait"),
        "{}",
        page.text()
    );
}

async fn integration_health_is_shown(service: TestService) {
    let mut user = service.user().await;
    let shop = service.shop(&service.a, "Çarşı").await;
    let list = format!("/restaurants/{}/integrations", shop.restaurant);
    let card = user.open(&list).await.within("p-direct", "section");
    assert!(card.has("henüz yok") && card.has("açık"), "{}", card.text());
    shop.order("K-1").await;
    service.execute_sql("UPDATE integrations SET last_error_at = 1, last_error = 'it answered <500>'");
    let card = user.open(&list).await.within("p-direct", "section");
    assert!(card.has("01.03.2026 12:00"), "{}", card.text());
    assert!(card.has("it answered <500>") && !card.html.contains("class=\"wrong\""));
    assert!(!user.open("/restaurants").await.has("sorun var"));
    service.execute_sql("UPDATE integrations SET last_error_at = 4000000000000");
    assert!(!user.open("/restaurants").await.has("sorun var"));
    service.execute_sql("UPDATE integrations SET trouble_at = 4000000000000");
    assert!(user.open("/restaurants").await.has("sorun var"));
    let card = user.open(&list).await.within("p-direct", "section");
    assert!(card.html.contains("class=\"wrong\""));
}
