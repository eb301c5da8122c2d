//! The page about personal data.

use super::setup::{PHONE, deliver, finish, order_of_zeynep, place, traces};
use crate::support::{Backend, TestService};

on_both! {
    ; sqlite_only:
    customer_is_found_exported_and_erased_in_the_panel
}

async fn customer_is_found_exported_and_erased_in_the_panel(backend: Backend) {
    let service = TestService::open(backend).await;
    let shop = service.shop(&service.a, "s").await;
    let order = place(&shop, &order_of_zeynep("s", "Z-1", 5_000)).await;
    deliver(&service.a, &order).await;
    let mut user = service.user().await;
    let page = user.open("/privacy").await;
    let form = page.form("/privacy/search");
    let wrong = user.submit(&form, &[("phone", "1")]).await;
    assert_eq!(wrong.status, 422);
    for text in ["En az 7 rakam içermeli.", "yeniden deneyin"] {
        assert!(wrong.has(text), "{}", wrong.text());
    }
    let nobody = user.submit(&form, &[("phone", "5550000000")]).await;
    assert!(nobody.has("Sipariş bulunamadı"), "{}", nobody.text());
    let found = user.submit(&form, &[("phone", PHONE)]).await;
    assert!(
        found.has("Zeynep Karaağaç") && found.has("Z-1"),
        "{}",
        found.text()
    );
    let export = found.form("/privacy/export");
    let file = user.send("POST", "/privacy/export", &[], &export.body(&[])).await;
    assert!(file.text().contains("Lavanta"), "{}", file.text());
    let erase = found.form("/privacy/erase");
    let refused = user.submit(&erase, &[("confirm", "evet")]).await;
    assert_eq!(refused.status, 422);
    finish(&service).await;
    assert!(!traces(&service).is_empty());
    let erased = user
        .submit(&refused.form("/privacy/erase"), &[("confirm", "sil")])
        .await;
    assert_eq!((erased.status, erased.path.as_str()), (200, "/privacy"));
    assert!(erased.has("Silme başladı"), "{}", erased.text());
    finish(&service).await;
    assert_eq!(traces(&service), [] as [String; 0]);
    let settings = erased.form("/privacy/settings");
    let wrong = user.submit(&settings, &[("anonymiseDays", "çok")]).await;
    assert_eq!(wrong.status, 422);
    assert!(wrong.has("Kaydedilmedi."), "{}", wrong.text());
    let saved = user.submit(&settings, &[("anonymiseDays", "90")]).await;
    assert!(saved.has("Kaydedildi"), "{}", saved.text());
}
