//! Businesses: created, changed, linked, deleted by typing the name.

use super::restaurants::{complaint, make};
use crate::support::TestService;
use serde_json::{Value, json};

cases! {
    a_business_is_created_changed_and_linked
    ; sqlite_only:
    business_error_is_shown_at_its_field
    a_business_is_deleted_by_typing_its_name
}

async fn a_business_is_created_changed_and_linked(service: TestService) {
    let mut user = service.user().await;
    let form = user.open("/businesses/new").await.form("/businesses/new");
    let filled = [
        ("name", "Demo <Gıda> A.Ş."),
        ("vatNumber", "1234567890"),
        ("taxOffice", "Kadıköy"),
        ("city", "İstanbul"),
        ("description", "İlk şube"),
    ];
    let page = user.submit(&form, &filled).await;
    assert!(
        page.has("İşletme oluşturuldu.") && page.has("Demo <Gıda> A.Ş."),
        "{}",
        page.text()
    );
    let path = page.path.clone();
    let made = service.a.get(&path).await.data();
    assert_eq!(
        (&made["vatNumber"], &made["city"]),
        (&json!("1234567890"), &json!("İstanbul"))
    );
    assert_eq!(
        (&made["taxOffice"], &made["phone"]),
        (&json!("Kadıköy"), &Value::Null)
    );
    let form = page.form(&path);
    assert_eq!(form.value("taxOffice"), "Kadıköy");
    let page = user.submit(&form, &[("taxOffice", ""), ("phone", "0216")]).await;
    assert!(page.has("Değişiklikler kaydedildi."), "{}", page.text());
    let changed = service.a.get(&path).await.data();
    assert_eq!(
        (&changed["taxOffice"], &changed["phone"]),
        (&Value::Null, &json!("0216"))
    );
    assert_eq!(changed["description"], "İlk şube");
    // Without a restaurant there is nothing to link.
    assert!(page.has("Bu işletmeye bağlı restoran yok."));
    let link = format!("{path}/link");
    assert!(!page.forms().iter().any(|form| form.action == link));
    let restaurant = make(&service, json!({ "name": "Moda" })).await;
    let page = user.open(&path).await;
    let page = user
        .submit(&page.form(&link), &[("restaurant", &restaurant)])
        .await;
    assert!(page.has("Restoran işletmeye bağlandı."), "{}", page.text());
    assert!(page.links().contains(&format!("/restaurants/{restaurant}")));
    let linked = service.a.get(&format!("/restaurants/{restaurant}")).await.data();
    assert_eq!(linked["businessId"], made["id"]);
    let list = user.open("/restaurants").await;
    assert!(list.has("Demo <Gıda> A.Ş.") && list.links().contains(&path));
    assert!(user.open("/businesses").await.has("İstanbul"));
}

async fn business_error_is_shown_at_its_field(service: TestService) {
    let mut user = service.user().await;
    let made = service
        .a
        .post("/businesses", &json!({ "name": "Gıda" }))
        .await
        .data();
    let own = format!("/businesses/{}", made["id"].as_str().unwrap());
    let long = "ş".repeat(201);
    for path in ["/businesses/new", &own] {
        let form = user.open(path).await.form(path);
        for (field, value, said) in [
            ("name", "", "1 ile 200 karakter"),
            ("city", long.as_str(), "En çok 200 karakter"),
        ] {
            let page = user
                .submit(&form, &[("name", "Yeni"), ("phone", "0216"), (field, value)])
                .await;
            assert_eq!((page.status, page.path.as_str()), (422, path));
            assert!(complaint(&page, field).contains(said), "{}", page.text());
            assert_eq!(page.form(path).value("phone"), "0216");
        }
    }
    assert_eq!(service.a.get(&own).await.data(), made);
    assert_eq!(
        service
            .a
            .get("/businesses")
            .await
            .data()
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

async fn a_business_is_deleted_by_typing_its_name(service: TestService) {
    let mut user = service.user().await;
    let made = service
        .a
        .post("/businesses", &json!({ "name": "Gıda A.Ş." }))
        .await
        .data();
    let restaurant = make(&service, json!({ "name": "Moda", "businessId": made["id"] })).await;
    let path = format!("/businesses/{}", made["id"].as_str().unwrap());
    let form = user.open(&path).await.form(&format!("{path}/delete"));
    let page = user.submit(&form, &[("confirm", "Gıda")]).await;
    assert_eq!(page.status, 422);
    assert!(
        complaint(&page, "confirm").contains("hiçbir şey silinmedi"),
        "{}",
        page.text()
    );
    service.a.get(&path).await.data();
    let page = user.submit(&form, &[("confirm", "Gıda A.Ş.")]).await;
    assert_eq!((page.status, page.path.as_str()), (200, "/businesses"));
    assert!(page.has("İşletme silindi."), "{}", page.text());
    assert_eq!(user.open(&path).await.status, 404);
    assert_eq!(user.open(&format!("/restaurants/{restaurant}")).await.status, 404);
}
