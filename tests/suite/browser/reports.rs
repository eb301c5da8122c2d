//! What accounting has not taken yet: exported to a file, and marked.

use super::scene::scenes;

scenes! {
    reports_are_exported_and_marked
}

mod case {
    use super::super::scene::Scene;
    use crate::support::until;
    use serde_json::json;

    pub async fn reports_are_exported_and_marked(scene: Scene) {
        let (browser, house) = (&scene.browser, &scene.town.house);
        let shop = house.shop(&house.a, "Çarşı Şubesi").await;
        for n in 0..3 {
            shop.order_of(&format!("K-{n}"), 12_350).await;
        }
        let folder = tempfile::tempdir().unwrap();
        let downloads = json!({ "behavior": "allow", "downloadPath": folder.path() });
        browser.command("Browser.setDownloadBehavior", downloads).await;
        browser.go("/reports").await;
        assert_eq!(browser.count("button[name=one]").await, 3);
        browser.click(".exports a").await;
        let mut written = String::new();
        until("the file is there", async || {
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
        browser.shows(".notice.good", "işaretlenen sipariş: 1").await;
        assert_eq!(browser.count("button[name=one]").await, 2);
        browser.click("button[name=all]").await;
        browser.shows(".notice.good", "işaretlenen sipariş: 2").await;
        browser.shows(".empty h2", "Bekleyen sipariş yok").await;
        let pending = house.a.get("/orders/reports/pending").await.data();
        assert_eq!(pending, json!([]));
    }
}
