//! Restaurants: created, changed, deleted by typing the name; those of other accounts are not found.

use crate::support::{Page, PanelUser, TestService};
use serde_json::{Value, json};

cases! {
    a_restaurant_is_created_and_changed
    ; sqlite_only:
    error_is_shown_at_its_field
    unknown_config_keys_are_kept
    a_restaurant_is_deleted_by_typing_its_name
    restaurants_of_other_accounts_are_not_found
    empty_list_explains_the_next_step
}

pub async fn make(service: &TestService, body: Value) -> String {
    let made = service.a.post("/restaurants", &body).await.data();
    made["id"].as_str().unwrap().to_owned()
}

/// What is said to be wrong with a field.
pub fn complaint(page: &Page, field: &str) -> String {
    page.within(&format!("e-{field}"), "p").text()
}

async fn a_restaurant_is_created_and_changed(service: TestService) {
    let mut user = service.user().await;
    let business = service
        .a
        .post("/businesses", &json!({ "name": "Gıda A.Ş." }))
        .await
        .data()["id"]
        .clone();
    let form = user.open("/restaurants/new").await.form("/restaurants/new");
    let filled = [
        ("name", " Moda <b>Lokantası</b> "),
        ("businessId", business.as_str().unwrap()),
        ("address", "Moda Cad. 12\r\nKadıköy"),
        ("lat", "40,9842"),
        ("lon", "29.0271"),
        ("config.preparationMinutes", "20"),
        ("config.timezone", "Europe/Berlin"),
        ("config.autoVerify", "on"),
    ];
    let page = user.submit(&form, &filled).await;
    assert!(page.path.ends_with("/integrations"), "{}", page.path);
    assert!(page.has("Restoran oluşturuldu."), "{}", page.text());
    let made = service.a.get("/restaurants").await.data()[0].clone();
    assert_eq!(made["name"], "Moda <b>Lokantası</b>");
    assert_eq!(made["businessId"], business);
    assert_eq!(made["address"], "Moda Cad. 12\nKadıköy");
    assert_eq!((&made["lat"], &made["lon"]), (&json!(40.9842), &json!(29.0271)));
    let config = json!({ "autoVerify": true, "preparationMinutes": 20, "timezone": "Europe/Berlin" });
    assert_eq!(made["config"], config);
    let path = format!("/restaurants/{}", made["id"].as_str().unwrap());
    // The form shows stored values, and unchanged ones stay.
    let page = user.open(&path).await;
    assert!(page.has("Moda <b>Lokantası</b>") && !page.html.contains("<b>Lokantası"));
    let form = page.form(&path);
    assert_eq!(form.value("lat"), "40.9842");
    assert_eq!(form.value("config.preparationMinutes"), "20");
    assert_eq!(form.value("businessId"), business.as_str().unwrap());
    let page = user
        .submit(
            &form,
            &[("name", "Çarşı"), ("businessId", ""), ("config.autoVerify", "")],
        )
        .await;
    assert_eq!((page.status, &page.path), (200, &path));
    assert!(page.has("Değişiklikler kaydedildi."), "{}", page.text());
    let changed = service.a.get(&path).await.data();
    assert_eq!(
        (&changed["name"], &changed["businessId"]),
        (&json!("Çarşı"), &Value::Null)
    );
    assert_eq!(changed["lat"], made["lat"]);
    assert_eq!(
        changed["config"],
        json!({ "preparationMinutes": 20, "timezone": "Europe/Berlin" })
    );
    assert!(user.open("/restaurants").await.has("Çarşı"));
}

async fn error_is_shown_at_its_field(service: TestService) {
    let mut user = service.user().await;
    let id = make(&service, json!({ "name": "Moda" })).await;
    let own = format!("/restaurants/{id}");
    let long = "ş".repeat(201);
    for path in ["/restaurants/new", &own] {
        let form = user.open(path).await.form(path);
        for (field, value, said) in [
            ("name", "   ", "1 ile 200 karakter arasında olmalı"),
            ("name", long.as_str(), "1 ile 200 karakter arasında olmalı"),
            ("lat", "kuzey", "Bir sayı olmalı"),
            ("lon", "181", "-180 ile 180 arasında olmalı"),
            (
                "config.preparationMinutes",
                "0",
                "1 ile 1440 arasında bir tam sayı",
            ),
            (
                "config.preparationMinutes",
                "çok",
                "1 ile 1440 arasında bir tam sayı",
            ),
            ("config.timezone", "Mars/Olympus", "Bilinen bir saat dilimi"),
        ] {
            let filled = [("name", "Yeni ad"), ("address", "Burada <i>"), (field, value)];
            let page = user.submit(&form, &filled).await;
            assert_eq!((page.status, page.path.as_str()), (422, path), "{field}");
            assert!(page.has("İşaretli alanı düzeltip"), "{}", page.text());
            assert!(complaint(&page, field).contains(said), "{field}: {}", page.text());
            let again = page.form(path);
            assert_eq!(again.value(field), value.trim(), "what was typed is lost");
            assert_eq!(again.value("address").trim(), "Burada <i>");
        }
    }
    assert_eq!(
        service
            .a
            .get("/restaurants")
            .await
            .data()
            .as_array()
            .unwrap()
            .len(),
        1
    );
    assert_eq!(service.a.get(&own).await.data()["address"], Value::Null);
    user.in_english();
    let form = user.open(&own).await.form(&own);
    let page = user.submit(&form, &[("lat", "north")]).await;
    assert!(
        complaint(&page, "lat").contains("Must be a number"),
        "{}",
        page.text()
    );
}

async fn unknown_config_keys_are_kept(service: TestService) {
    let mut user = service.user().await;
    let config = json!({ "colour": "red", "autoVerify": true });
    let id = make(&service, json!({ "name": "Moda", "config": config })).await;
    let path = format!("/restaurants/{id}");
    let form = user.open(&path).await.form(&path);
    user.submit(&form, &[("config.preparationMinutes", "15")]).await;
    assert_eq!(
        service.a.get(&path).await.data()["config"],
        json!({ "colour": "red", "autoVerify": true, "preparationMinutes": 15 })
    );
}

async fn a_restaurant_is_deleted_by_typing_its_name(service: TestService) {
    let mut user = service.user().await;
    let id = make(&service, json!({ "name": "Moda Lokantası" })).await;
    let path = format!("/restaurants/{id}");
    let delete = format!("{path}/delete");
    let form = user.open(&path).await.form(&delete);
    for wrong in ["", "moda lokantası", "Moda"] {
        let page = user.submit(&form, &[("confirm", wrong)]).await;
        assert_eq!(page.status, 422);
        assert!(
            complaint(&page, "confirm").contains("hiçbir şey silinmedi"),
            "{}",
            page.text()
        );
        // The language can be switched on this page too.
        assert_eq!(page.form("/language").value("back"), path);
    }
    service.a.get(&path).await.data();
    let page = user.submit(&form, &[("confirm", " Moda  Lokantası ")]).await;
    assert_eq!((page.status, page.path.as_str()), (200, "/restaurants"));
    assert!(page.has("Restoran silindi."), "{}", page.text());
    service.a.get(&path).await.refused(404, "restaurant_not_found");
    assert_eq!(user.open(&path).await.status, 404);
}

/// Every page of a restaurant, and every form that it has.
async fn try_all(user: &mut PanelUser, id: &str, csrf: &str) {
    for page in [
        "",
        "/integrations",
        "/integrations/direct",
        "/packages",
        "/payments",
        "/menu",
        "/store",
        "/store/hours",
        "/store/history",
    ] {
        let path = format!("/restaurants/{id}{page}");
        let shown = user.open(&path).await;
        assert_eq!(shown.status, 404, "{path}");
        assert!(!shown.has("Onların"), "{path}");
    }
    for action in [
        "",
        "/delete",
        "/integrations/direct",
        "/integrations/direct/switch",
        "/integrations/direct/try",
        "/integrations/direct/disconnect",
        "/packages",
        "/payments",
        "/payments/source",
        "/store/throttle",
        "/store/hours",
        "/store/hours/write",
    ] {
        let path = format!("/restaurants/{id}{action}");
        let body = format!("csrf={csrf}&name=Benim&confirm=Onlar%C4%B1n&active=no");
        let reply = user.send("POST", &path, &[], &body).await;
        assert_eq!(reply.status, 404, "{path}");
    }
    let body = format!("csrf={csrf}&restaurant={id}&platform=getir&do=close");
    let reply = user.send("POST", "/board/stores", &[], &body).await;
    assert_eq!(reply.status, 404);
}

async fn restaurants_of_other_accounts_are_not_found(service: TestService) {
    let theirs = service
        .b
        .post("/restaurants", &json!({ "name": "Onların" }))
        .await
        .data();
    let theirs = theirs["id"].as_str().unwrap();
    service.connect(&service.b, theirs, "theirs", json!({})).await;
    let before = service.b.get(&format!("/restaurants/{theirs}")).await.data();
    let mut user = service.user().await;
    let csrf = user
        .open("/restaurants")
        .await
        .form("/language")
        .value("csrf")
        .to_owned();
    assert!(!user.open("/restaurants").await.has("Onların"));
    try_all(&mut user, theirs, &csrf).await;
    try_all(&mut user, "none", &csrf).await;
    assert_eq!(
        service.b.get(&format!("/restaurants/{theirs}")).await.data(),
        before
    );
    let business = service
        .b
        .post("/businesses", &json!({ "name": "Onların" }))
        .await
        .data();
    let path = format!("/businesses/{}", business["id"].as_str().unwrap());
    assert_eq!(user.open(&path).await.status, 404);
    let mine = make(&service, json!({ "name": "Benim" })).await;
    for action in ["", "/delete", "/link"] {
        let body = format!("csrf={csrf}&name=Benim&confirm=Onlar%C4%B1n&restaurant={mine}");
        let reply = user.send("POST", &format!("{path}{action}"), &[], &body).await;
        assert_eq!(reply.status, 404, "{action}");
    }
    assert_eq!(service.b.get(&path).await.data(), business);
    // Nor can one's own be put below it, or theirs be taken.
    let form = user.open(&format!("/restaurants/{mine}")).await;
    let form = form.form(&format!("/restaurants/{mine}"));
    let body = form.forged("businessId", business["id"].as_str());
    let reply = user.send("POST", &form.action, &[], &body).await;
    assert_eq!(reply.status, 404);
}

async fn empty_list_explains_the_next_step(service: TestService) {
    let mut user = service.user().await;
    let page = user.open("/restaurants").await;
    assert!(page.has("Henüz restoran yok"), "{}", page.text());
    assert!(page.links().contains(&"/restaurants/new".to_owned()));
    let page = user.open("/businesses").await;
    assert!(page.has("Henüz işletme yok"), "{}", page.text());
    let id = make(&service, json!({ "name": "Moda" })).await;
    let page = user.open("/restaurants").await;
    assert!(page.has("bağlı platform yok") && page.has("Platform bağla"));
    let page = user.open(&format!("/restaurants/{id}/menu")).await;
    assert!(
        page.has("Menüsü okunabilen bağlı platform yok"),
        "{}",
        page.text()
    );
    let page = user.open(&format!("/restaurants/{id}/integrations")).await;
    assert!(!page.has("Test siparişi gönder"), "there is no simulator here");
}
