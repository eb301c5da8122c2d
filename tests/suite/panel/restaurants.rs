//! Restaurants: created, changed, deleted by who types the name, and nobody else's.

use crate::support::{House, Page, Visitor};
use serde_json::{Value, json};

cases! {
    a_restaurant_is_created_and_changed
    what_is_wrong_is_said_at_its_field
    keys_of_config_that_are_not_ours_stay
    a_restaurant_is_deleted_by_typing_its_name
    nobody_elses_restaurant_is_there
    whoever_has_none_is_told_what_to_do
}

pub async fn make(house: &House, body: Value) -> String {
    let made = house.a.post("/restaurants", &body).await.data();
    made["id"].as_str().unwrap().to_owned()
}

/// What is said to be wrong with a field.
pub fn complaint(page: &Page, field: &str) -> String {
    page.within(&format!("e-{field}"), "p").text()
}

async fn a_restaurant_is_created_and_changed(house: House) {
    let mut visitor = house.visitor().await;
    let business = house
        .a
        .post("/businesses", &json!({ "name": "Gıda A.Ş." }))
        .await
        .data()["id"]
        .clone();
    let form = visitor.open("/restaurants/new").await.form("/restaurants/new");
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
    let page = visitor.submit(&form, &filled).await;
    assert!(page.path.ends_with("/integrations"), "{}", page.path);
    assert!(page.has("Restoran oluşturuldu."), "{}", page.text());
    let made = house.a.get("/restaurants").await.data()[0].clone();
    assert_eq!(made["name"], "Moda <b>Lokantası</b>");
    assert_eq!(made["businessId"], business);
    assert_eq!(made["address"], "Moda Cad. 12\nKadıköy");
    assert_eq!((&made["lat"], &made["lon"]), (&json!(40.9842), &json!(29.0271)));
    let config = json!({ "autoVerify": true, "preparationMinutes": 20, "timezone": "Europe/Berlin" });
    assert_eq!(made["config"], config);
    let path = format!("/restaurants/{}", made["id"].as_str().unwrap());
    // What is kept stands in the form, and what is left as it is stays.
    let page = visitor.open(&path).await;
    assert!(page.has("Moda <b>Lokantası</b>") && !page.html.contains("<b>Lokantası"));
    let form = page.form(&path);
    assert_eq!(form.value("lat"), "40.9842");
    assert_eq!(form.value("config.preparationMinutes"), "20");
    assert_eq!(form.value("businessId"), business.as_str().unwrap());
    let page = visitor
        .submit(
            &form,
            &[("name", "Çarşı"), ("businessId", ""), ("config.autoVerify", "")],
        )
        .await;
    assert_eq!((page.status, &page.path), (200, &path));
    assert!(page.has("Değişiklikler kaydedildi."), "{}", page.text());
    let changed = house.a.get(&path).await.data();
    assert_eq!(
        (&changed["name"], &changed["businessId"]),
        (&json!("Çarşı"), &Value::Null)
    );
    assert_eq!(changed["lat"], made["lat"]);
    assert_eq!(
        changed["config"],
        json!({ "preparationMinutes": 20, "timezone": "Europe/Berlin" })
    );
    assert!(visitor.open("/restaurants").await.has("Çarşı"));
}

async fn what_is_wrong_is_said_at_its_field(house: House) {
    let mut visitor = house.visitor().await;
    let id = make(&house, json!({ "name": "Moda" })).await;
    let own = format!("/restaurants/{id}");
    let long = "ş".repeat(201);
    for path in ["/restaurants/new", &own] {
        let form = visitor.open(path).await.form(path);
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
            let page = visitor.submit(&form, &filled).await;
            assert_eq!((page.status, page.path.as_str()), (422, path), "{field}");
            assert!(page.has("İşaretli alanı düzeltip"), "{}", page.text());
            assert!(complaint(&page, field).contains(said), "{field}: {}", page.text());
            let again = page.form(path);
            assert_eq!(again.value(field), value.trim(), "what was typed is lost");
            assert_eq!(again.value("address").trim(), "Burada <i>");
        }
    }
    assert_eq!(
        house.a.get("/restaurants").await.data().as_array().unwrap().len(),
        1
    );
    assert_eq!(house.a.get(&own).await.data()["address"], Value::Null);
    visitor.in_english();
    let form = visitor.open(&own).await.form(&own);
    let page = visitor.submit(&form, &[("lat", "north")]).await;
    assert!(
        complaint(&page, "lat").contains("Must be a number"),
        "{}",
        page.text()
    );
}

async fn keys_of_config_that_are_not_ours_stay(house: House) {
    let mut visitor = house.visitor().await;
    let config = json!({ "colour": "red", "autoVerify": true });
    let id = make(&house, json!({ "name": "Moda", "config": config })).await;
    let path = format!("/restaurants/{id}");
    let form = visitor.open(&path).await.form(&path);
    visitor
        .submit(&form, &[("config.preparationMinutes", "15")])
        .await;
    assert_eq!(
        house.a.get(&path).await.data()["config"],
        json!({ "colour": "red", "autoVerify": true, "preparationMinutes": 15 })
    );
}

async fn a_restaurant_is_deleted_by_typing_its_name(house: House) {
    let mut visitor = house.visitor().await;
    let id = make(&house, json!({ "name": "Moda Lokantası" })).await;
    let path = format!("/restaurants/{id}");
    let delete = format!("{path}/delete");
    let form = visitor.open(&path).await.form(&delete);
    for wrong in ["", "moda lokantası", "Moda"] {
        let page = visitor.submit(&form, &[("confirm", wrong)]).await;
        assert_eq!(page.status, 422);
        assert!(
            complaint(&page, "confirm").contains("hiçbir şey silinmedi"),
            "{}",
            page.text()
        );
        // The language can be switched on this page too.
        assert_eq!(page.form("/language").value("back"), path);
    }
    house.a.get(&path).await.data();
    let page = visitor.submit(&form, &[("confirm", " Moda  Lokantası ")]).await;
    assert_eq!((page.status, page.path.as_str()), (200, "/restaurants"));
    assert!(page.has("Restoran silindi."), "{}", page.text());
    house.a.get(&path).await.refused(404, "restaurant_not_found");
    assert_eq!(visitor.open(&path).await.status, 404);
}

/// Every page of a restaurant, and every form that it has.
async fn try_all(visitor: &mut Visitor, id: &str, csrf: &str) {
    for page in [
        "",
        "/integrations",
        "/integrations/direct",
        "/packages",
        "/payments",
        "/menu",
    ] {
        let path = format!("/restaurants/{id}{page}");
        let shown = visitor.open(&path).await;
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
    ] {
        let path = format!("/restaurants/{id}{action}");
        let body = format!("csrf={csrf}&name=Benim&confirm=Onlar%C4%B1n&active=no");
        let reply = visitor.send("POST", &path, &[], &body).await;
        assert_eq!(reply.status, 404, "{path}");
    }
}

async fn nobody_elses_restaurant_is_there(house: House) {
    let theirs = house
        .b
        .post("/restaurants", &json!({ "name": "Onların" }))
        .await
        .data();
    let theirs = theirs["id"].as_str().unwrap();
    house.connect(&house.b, theirs, "theirs", json!({})).await;
    let before = house.b.get(&format!("/restaurants/{theirs}")).await.data();
    let mut visitor = house.visitor().await;
    let csrf = visitor
        .open("/restaurants")
        .await
        .form("/language")
        .value("csrf")
        .to_owned();
    assert!(!visitor.open("/restaurants").await.has("Onların"));
    try_all(&mut visitor, theirs, &csrf).await;
    try_all(&mut visitor, "none", &csrf).await;
    assert_eq!(
        house.b.get(&format!("/restaurants/{theirs}")).await.data(),
        before
    );
    let business = house
        .b
        .post("/businesses", &json!({ "name": "Onların" }))
        .await
        .data();
    let path = format!("/businesses/{}", business["id"].as_str().unwrap());
    assert_eq!(visitor.open(&path).await.status, 404);
    let mine = make(&house, json!({ "name": "Benim" })).await;
    for action in ["", "/delete", "/link"] {
        let body = format!("csrf={csrf}&name=Benim&confirm=Onlar%C4%B1n&restaurant={mine}");
        let reply = visitor.send("POST", &format!("{path}{action}"), &[], &body).await;
        assert_eq!(reply.status, 404, "{action}");
    }
    assert_eq!(house.b.get(&path).await.data(), business);
    // Nor can one's own be put below it, or theirs be taken.
    let form = visitor.open(&format!("/restaurants/{mine}")).await;
    let form = form.form(&format!("/restaurants/{mine}"));
    let body = form.forged("businessId", business["id"].as_str());
    let reply = visitor.send("POST", &form.action, &[], &body).await;
    assert_eq!(reply.status, 404);
}

async fn whoever_has_none_is_told_what_to_do(house: House) {
    let mut visitor = house.visitor().await;
    let page = visitor.open("/restaurants").await;
    assert!(page.has("Henüz restoran yok"), "{}", page.text());
    assert!(page.links().contains(&"/restaurants/new".to_owned()));
    let page = visitor.open("/businesses").await;
    assert!(page.has("Henüz işletme yok"), "{}", page.text());
    let id = make(&house, json!({ "name": "Moda" })).await;
    let page = visitor.open("/restaurants").await;
    assert!(page.has("bağlı platform yok") && page.has("Platform bağla"));
    let page = visitor.open(&format!("/restaurants/{id}/menu")).await;
    assert!(
        page.has("Menüsü okunabilen bağlı platform yok"),
        "{}",
        page.text()
    );
    let page = visitor.open(&format!("/restaurants/{id}/integrations")).await;
    assert!(!page.has("Test siparişi gönder"), "there is no simulator here");
}
