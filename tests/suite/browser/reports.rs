//! Unreported orders are exported to a file and marked.

use super::setup::browser_tests;

browser_tests! {
    reports_are_exported_and_marked
}

mod case {
    use super::super::setup::Setup;
    use crate::support::wait_until;
    use serde_json::json;

    pub async fn reports_are_exported_and_marked(setup: Setup) {
        let (browser, service) = (&setup.browser, &setup.world.service);
        let shop = service.shop(&service.a, "Çarşı Şubesi").await;
        for n in 0..3 {
            let order = shop.order_of(&format!("K-{n}"), 12_350).await;
            for _ in 0..3 {
                let path = format!("/orders/change-status/{order}");
                service.a.post(&path, &json!({})).await.data();
            }
        }
        let folder = tempfile::tempdir().unwrap();
        let downloads = json!({ "behavior": "allow", "downloadPath": folder.path() });
        browser.command("Browser.setDownloadBehavior", downloads).await;
        browser.go("/reports").await;
        assert_eq!(browser.count("button[name=one]").await, 3);
        browser.click(".exports summary").await;
        browser.click(".exports a").await;
        let mut written = String::new();
        wait_until("the file is there", async || {
            let files = std::fs::read_dir(folder.path()).unwrap();
            let file = files
                .map(|file| file.unwrap().path())
                .find(|path| path.extension().is_some_and(|it| it == "csv"));
            written = file.map_or_else(String::new, |path| std::fs::read_to_string(path).unwrap());
            !written.is_empty()
        })
        .await;
        // The mark by which Excel knows how letters are written.
        assert!(written.starts_with("\u{feff}Tarih;Restoran;"), "{written}");
        assert_eq!(written.matches("Çarşı Şubesi").count(), 3, "{written}");
        assert!(written.contains(";123,50;"), "{written}");

        browser.click("button[name=one]").await;
        browser
            .wait_for_text(".notice.good", "işaretlenen sipariş: 1")
            .await;
        assert_eq!(browser.count("button[name=one]").await, 2);
        browser.click("button[name=all]").await;
        browser
            .wait_for_text(".notice.good", "işaretlenen sipariş: 2")
            .await;
        browser.wait_for_text(".empty h2", "Bekleyen sipariş yok").await;
        let pending = service.a.get("/orders/reports/pending").await.data();
        assert_eq!(pending, json!([]));
    }
}
