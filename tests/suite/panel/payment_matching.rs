//! Payment matching of a restaurant: the POS connection and its payment types.

use super::restaurants::{complaint, make};
use crate::support::{Backend, CannedResponse, Receiver, TestService};
use serde_json::json;

cases! {
    matches_are_entered_changed_and_removed
    ; sqlite_only:
    match_error_is_shown_in_its_row
}

mod asked {
    use super::pos_is_called_and_its_headers_are_never_shown;

    on_both! {
        ; sqlite_only:
        pos_is_called_and_its_headers_are_never_shown
    }
}

async fn matches_are_entered_changed_and_removed(service: TestService) {
    let mut user = service.user().await;
    let id = make(&service, json!({ "name": "Moda" })).await;
    let path = format!("/restaurants/{id}/payments");
    let kept = async || {
        let path = format!("/restaurants/{id}/payment-matching");
        service.a.get(&path).await.data()["matches"].clone()
    };
    let page = user.open(&path).await;
    assert!(
        page.has("Henüz eşleme yok") && page.has("Kasanın adresi girilmedi"),
        "{}",
        page.text()
    );
    let filled = [
        ("matches[0].provider", "getir"),
        ("matches[0].type", "cash"),
        ("matches[0].matchedId", "NAKIT"),
        ("matches[2].provider", "migros"),
        ("matches[2].type", ""),
        ("matches[2].providerCode", "SDX"),
        ("matches[2].matchedId", "17"),
    ];
    let page = user.submit(&page.form(&path), &filled).await;
    assert!(page.has("Eşlemeler kaydedildi."), "{}", page.text());
    let getir = json!({ "provider": "getir", "type": "cash", "providerCode": null, "matchedId": "NAKIT" });
    let migros = json!({ "provider": "migros", "type": null, "providerCode": "SDX", "matchedId": "17" });
    assert_eq!(kept().await, json!([getir, migros]));
    let form = page.form(&path);
    assert_eq!(
        (
            form.value("matches[1].provider"),
            form.value("matches[1].matchedId")
        ),
        ("migros", "17")
    );
    assert_eq!(form.value("matches[4].matchedId"), "", "there are empty rows");
    user.submit(&form, &[("matches[0].matchedId", "")]).await;
    assert_eq!(kept().await, json!([migros]));
}

async fn match_error_is_shown_in_its_row(service: TestService) {
    let mut user = service.user().await;
    let id = make(&service, json!({ "name": "Moda" })).await;
    let path = format!("/restaurants/{id}/payments");
    let form = user.open(&path).await.form(&path);
    let long = "x".repeat(101);
    for (field, value, said) in [
        ("matches[1].providerCode", "", "Ödeme türünü seçin"),
        ("matches[1].matchedId", long.as_str(), "1 ile 100 karakter"),
    ] {
        let filled = [
            ("matches[1].provider", "getir"),
            ("matches[1].type", ""),
            ("matches[1].matchedId", "K1"),
            (field, value),
        ];
        let page = user.submit(&form, &filled).await;
        assert_eq!((page.status, &page.path), (422, &path));
        assert!(complaint(&page, field).contains(said), "{}", page.text());
        assert_eq!(page.form(&path).value("matches[1].provider"), "getir");
    }
    let source = format!("{path}/source");
    for (field, value, said) in [
        (
            "paymentMatchingUrl",
            "http://10.0.0.1/types",
            "Bu adrese gönderilemez",
        ),
        ("paymentMatchingUrl", "kasa", "Bu adrese gönderilemez"),
        ("paymentMatchingHeaders", "no colon here", "her satır"),
        (
            "paymentMatchingHeaders",
            "Host: elsewhere-secret",
            "servis kendisi yazar",
        ),
    ] {
        let page = user.open(&path).await;
        let page = user.submit(&page.form(&source), &[(field, value)]).await;
        assert_eq!(page.status, 422, "{value}");
        assert!(complaint(&page, field).contains(said), "{}", page.text());
        assert!(!page.html.contains("elsewhere-secret"));
        assert_eq!(page.form("/language").value("back"), path);
    }
}

async fn pos_is_called_and_its_headers_are_never_shown(backend: Backend) {
    let service = TestService::open_private(backend).await;
    let mut user = service.user().await;
    let till = Receiver::start().await;
    till.set_default_response(CannedResponse::Body(
        200,
        r#"[{"id":"1","name":"Nakit <TL>"},{"id":"2","name":"Kart"}]"#.to_owned(),
    ));
    let id = make(&service, json!({ "name": "Moda" })).await;
    let path = format!("/restaurants/{id}/payments");
    let source = format!("{path}/source");
    let page = user.open(&path).await;
    let address = till.url("/types");
    let filled = [
        ("paymentMatchingUrl", address.as_str()),
        (
            "paymentMatchingHeaders",
            "X-Till: secret-of-the-till\r\nX-More: 7",
        ),
    ];
    let page = user.submit(&page.form(&source), &filled).await;
    assert!(
        page.has("Adres kaydedildi.") && page.has("Nakit <TL>"),
        "{}",
        page.text()
    );
    assert_eq!(till.seen()[0].header("x-till"), Some("secret-of-the-till"));
    assert!(!page.html.contains("secret-of-the-till") && page.has("gösterilmez"));
    let page = user
        .submit(
            &page.form(&path),
            &[("matches[0].matchedId", "2"), ("matches[0].type", "cash")],
        )
        .await;
    assert_eq!(page.form(&path).value("matches[0].matchedId"), "2");
    // The name is not touched, empty headers stay, and can be taken away.
    let page = user.submit(&page.form(&source), &[]).await;
    let kept = service.a.get(&format!("/restaurants/{id}")).await.data();
    assert_eq!(
        (&kept["name"], &kept["paymentMatchingUrl"]),
        (&json!("Moda"), &json!(address))
    );
    assert_eq!(kept["paymentMatchingHeaders"]["X-Till"], "secret-of-the-till");
    let page = user.submit(&page.form(&source), &[("forgetHeaders", "on")]).await;
    let kept = service.a.get(&format!("/restaurants/{id}")).await.data();
    assert_eq!(kept["paymentMatchingHeaders"], json!(null));
    // An unavailable POS is reported; the matches stay visible.
    till.set_default_response(CannedResponse::Status(500));
    let shown = user.open(&path).await;
    assert!(shown.has("okunamadı") && shown.has("500"), "{}", shown.text());
    assert_eq!(shown.form(&path).value("matches[0].matchedId"), "2");
    till.set_default_response(CannedResponse::Body(
        200,
        r#"[{"id":"9","name":"Çek"}]"#.to_owned(),
    ));
    let shown = user.open(&path).await;
    assert_eq!(shown.form(&path).value("matches[0].matchedId"), "2");
    drop(page);
}
