//! Packages of a restaurant: one form replaces all of them.

use super::restaurants::{complaint, make};
use crate::support::TestService;
use serde_json::{Value, json};

cases! {
    packages_are_added_changed_and_removed
    ; sqlite_only:
    package_error_is_shown_in_its_row
    integrations_without_package_are_deactivated
}

async fn packages(service: &TestService, id: &str) -> Vec<Value> {
    let shown = service.a.get(&format!("/restaurants/{id}/packages")).await.data();
    let mut shown = shown.as_array().unwrap().clone();
    shown.sort_by_key(|package| package["startsAt"].to_string());
    shown
}

async fn packages_are_added_changed_and_removed(service: TestService) {
    let mut user = service.user().await;
    let id = make(&service, json!({ "name": "Moda" })).await;
    let path = format!("/restaurants/{id}/packages");
    let page = user.open(&path).await;
    assert!(page.has("Standart") && page.has("geçerli"), "{}", page.text());
    let form = page.form(&path);
    assert_eq!(form.value("packages[0].startsAt"), "2026-03-01");
    let filled = [
        ("packages[0].name", "Temel"),
        ("packages[1].name", "Getir & Migros"),
        ("packages[1].all", ""),
        ("packages[1].providers.getir", "on"),
        ("packages[1].providers.migros", "on"),
        ("packages[1].startsAt", "2026-04-01"),
        ("packages[1].endsAt", "2026-04-30"),
    ];
    let page = user.submit(&form, &filled).await;
    assert!(
        page.has("Paketler kaydedildi.") && page.has("başlamadı"),
        "{}",
        page.text()
    );
    let now = packages(&service, &id).await;
    // The day was not changed, so the time is the same.
    assert_eq!(
        (&now[0]["name"], &now[0]["startsAt"]),
        (&json!("Temel"), &json!("2026-03-01T09:00:00.000Z"))
    );
    assert_eq!(now[0]["providers"].as_array().unwrap().len(), 5);
    assert_eq!(now[1]["providers"], json!(["getir", "migros"]));
    assert_eq!(now[1]["startsAt"], "2026-03-31T21:00:00.000Z");
    assert_eq!(now[1]["endsAt"], "2026-04-30T21:00:00.000Z");
    // Shown again as it was entered.
    let form = page.form(&path);
    assert_eq!(form.value("packages[1].endsAt"), "2026-04-30");
    assert_eq!(form.value("packages[1].providers.getir"), "on");
    let page = user
        .submit(&form, &[("packages[0].remove", "on"), ("packages[1].endsAt", "")])
        .await;
    assert!(page.has("Paketler kaydedildi."), "{}", page.text());
    let now = packages(&service, &id).await;
    assert_eq!(now.len(), 1);
    assert_eq!(
        (&now[0]["name"], &now[0]["endsAt"]),
        (&json!("Getir & Migros"), &Value::Null)
    );
    let page = user
        .submit(&page.form(&path), &[("packages[0].remove", "on")])
        .await;
    assert!(page.has("Henüz paket yok"), "{}", page.text());
    assert_eq!(packages(&service, &id).await, Vec::<Value>::new());
}

async fn package_error_is_shown_in_its_row(service: TestService) {
    let mut user = service.user().await;
    let id = make(&service, json!({ "name": "Moda" })).await;
    let path = format!("/restaurants/{id}/packages");
    let before = packages(&service, &id).await;
    let form = user.open(&path).await.form(&path);
    for (field, value, said) in [
        ("packages[1].endsAt", "2026-03-31", "Başlangıçtan sonra olmalı"),
        ("packages[1].startsAt", "31.03.2026", "Geçersiz tarih"),
        ("packages[1].endsAt", "2026-02-30", "Geçersiz tarih"),
    ] {
        // The first is removed, so what is sent on has another number.
        let filled = [
            ("packages[0].remove", "on"),
            ("packages[1].name", "Yeni"),
            ("packages[1].startsAt", "2026-04-01"),
            (field, value),
        ];
        let page = user.submit(&form, &filled).await;
        assert_eq!(page.status, 422, "{field}");
        assert!(complaint(&page, field).contains(said), "{field}: {}", page.text());
        let again = page.form(&path);
        assert_eq!(
            (again.value("packages[1].name"), again.value(field)),
            ("Yeni", value)
        );
        assert_eq!(again.value("packages[0].remove"), "on");
    }
    let page = user.submit(&form, &[("packages[0].name", " ")]).await;
    assert!(
        complaint(&page, "packages[0].name").contains("1 ile 200"),
        "{}",
        page.text()
    );
    assert_eq!(packages(&service, &id).await, before);
}

async fn integrations_without_package_are_deactivated(service: TestService) {
    let mut user = service.user().await;
    let shop = service.shop(&service.a, "Moda").await;
    let path = format!("/restaurants/{}/packages", shop.restaurant);
    let form = user.open(&path).await.form(&path);
    user.submit(
        &form,
        &[("packages[0].all", ""), ("packages[0].providers.getir", "on")],
    )
    .await;
    let shown = service
        .a
        .get(&format!("/restaurants/{}", shop.restaurant))
        .await
        .data();
    assert_eq!(shown["integrations"][0]["isActive"], false);
}
