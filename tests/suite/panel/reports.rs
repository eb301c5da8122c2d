//! Reports: the pending list, its marks, and the export for spreadsheets.

use crate::support::{Page, PanelUser, Shop, TestService, order_body};
use serde_json::json;
use std::time::Duration;

cases! {
    orders_are_marked_individually_and_by_page
    list_is_filtered_and_paged
    large_export_is_complete
    ; sqlite_only:
    invalid_days_are_refused
    export_is_readable_by_excel
    orders_of_other_accounts_are_not_listed_marked_or_exported
}

const HEADING: &str =
    "\u{feff}Tarih;Restoran;Platform;Sipariş no;Kısa kod;Durum;Ödeme türü;Tutar;Para birimi;Raporlandı\r\n";

async fn pending(service: &TestService) -> usize {
    let listed = service.a.get("/orders/reports/pending?limit=200").await.data();
    listed.as_array().unwrap().len()
}

fn listed(page: &Page) -> usize {
    page.html.matches("name=\"one\"").count()
}

async fn csv(user: &mut PanelUser, path: &str) -> String {
    let reply = user.send("GET", path, &[], "").await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    assert_eq!(reply.header("content-type"), Some("text/csv; charset=utf-8"));
    assert!(reply.header("x-content-type-options").is_some());
    String::from_utf8(reply.body).unwrap()
}

async fn orders_are_marked_individually_and_by_page(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let mut ids = Vec::new();
    for n in 0..3 {
        ids.push(shop.order(&format!("K-{n}")).await);
    }
    let mut user = service.user().await;
    let page = user.open("/reports").await;
    assert_eq!(listed(&page), 3);
    assert!(page.has("K-0") && page.has("100,00 ₺") && page.has("Nakit") && page.has("Kendi kanalım"));
    let form = page.form("/reports/mark");
    let page = user.submit(&form, &[("one", &ids[1])]).await;
    assert_eq!((page.path.as_str(), listed(&page)), ("/reports", 2));
    assert!(
        page.has("Raporlandı olarak işaretlenen sipariş: 1"),
        "{}",
        page.text()
    );
    let shown = service.a.get("/orders/K-1").await.data();
    assert_eq!(shown["isReport"], json!(true));
    // The old page still shows three, of which two are left.
    let page = user.submit(&form, &[("all", "1")]).await;
    assert!(
        page.has("Raporlandı olarak işaretlenen sipariş: 2"),
        "{}",
        page.text()
    );
    assert!(page.has("Bekleyen sipariş yok"), "{}", page.text());
    assert_eq!(pending(&service).await, 0);
    let page = user.submit(&form, &[("all", "1")]).await;
    assert!(page.has("İşaretlenecek sipariş kalmamış."), "{}", page.text());
}

async fn list_is_filtered_and_paged(service: TestService) {
    let (here, there) = (
        service.shop(&service.a, "Bura").await,
        service.shop(&service.a, "Ora").await,
    );
    for n in 0..60 {
        here.order(&format!("B-{n}")).await;
    }
    there.order("O-1").await;
    service.advance(Duration::from_secs(24 * 60 * 60));
    here.order("yarın").await;
    let mut user = service.user().await;
    let page = user
        .open(&format!("/reports?restaurant={}", there.restaurant))
        .await;
    assert!(page.has("O-1") && listed(&page) == 1, "{}", page.text());
    let page = user.open("/reports?from=2026-03-02").await;
    assert!(page.has("yarın") && listed(&page) == 1, "{}", page.text());

    let path = format!("/reports?restaurant={}&to=2026-03-01", here.restaurant);
    let page = user.open(&path).await;
    assert_eq!(listed(&page), 50);
    let older = page
        .links()
        .into_iter()
        .find(|link| link.contains("cursor="))
        .unwrap();
    assert!(
        older.contains(&here.restaurant) && older.contains("to=2026-03-01"),
        "{older}"
    );
    let page = user.open(&older).await;
    assert_eq!(listed(&page), 10);
    // All that are shown, and no more; and back to the same page.
    let page = user.submit(&page.form("/reports/mark"), &[("all", "1")]).await;
    assert_eq!((page.path.as_str(), listed(&page)), (older.as_str(), 0));
    assert_eq!(pending(&service).await, 52);
}

async fn invalid_days_are_refused(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    shop.order("K-1").await;
    let mut user = service.user().await;
    for (query, field, text) in [
        (
            "from=2026-03-02&to=2026-03-01",
            "to",
            "Bitiş tarihi başlangıçtan önce olamaz.",
        ),
        ("from=2026-02-30", "from", "Geçerli bir tarih girin."),
        ("from=31.12.2026", "from", "Geçerli bir tarih girin."),
        ("to=%3Cx%3E", "to", "Geçerli bir tarih girin."),
    ] {
        let page = user.open(&format!("/reports?{query}")).await;
        assert_eq!((page.status, listed(&page)), (200, 0), "{query}");
        assert_eq!(page.within(&format!("e-{field}"), "p").text(), text, "{query}");
        assert!(
            !page.has("muhasebeye aktarılmış") && !page.html.contains(".csv"),
            "{query}"
        );
        // No table is made of other days than those that were asked for.
        for table in ["/reports/pending.csv", "/reports/orders.csv"] {
            let page = user.open(&format!("{table}?{query}")).await;
            assert!(page.path.starts_with("/reports?"), "{table}?{query}");
            assert!(page.has(text) && !page.has("K-1"), "{table}?{query}");
        }
    }
    let page = user.open("/reports?from=2026-03-01&to=2026-03-01").await;
    assert_eq!(listed(&page), 1);
}

async fn ordered(shop: &Shop, id: &str, total: i64, more: serde_json::Value) {
    let mut body = order_body(&shop.store, id, total);
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    shop.post(body.to_string().as_bytes()).await.data();
}

async fn export_is_readable_by_excel(service: TestService) {
    let shop = service.shop(&service.a, "İğde; \"Şiş\"").await;
    ordered(&shop, "=HYPERLINK(\"x\")", 123_450, json!({ "shortCode": "@1" })).await;
    ordered(
        &shop,
        "00123456789012",
        5,
        json!({ "payment": { "type": "meal_card_online" } }),
    )
    .await;
    service
        .a
        .post(
            "/orders/reports/mark",
            &json!({ "providerOrderId": "00123456789012" }),
        )
        .await
        .data();
    let mut user = service.user().await;
    let first = "01.03.2026 12:00;\"İğde; \"\"Şiş\"\"\";Kendi kanalım;\"'=HYPERLINK(\"\"x\"\")\";'@1;Yeni;Nakit;1234,50;TRY;hayır\r\n";
    let second = "01.03.2026 12:00;\"İğde; \"\"Şiş\"\"\";Kendi kanalım;\"=\"\"00123456789012\"\"\";;Yeni;Online yemek kartı;0,05;TRY;evet\r\n";
    let pending = csv(&mut user, "/reports/pending.csv").await;
    assert_eq!(pending, format!("{HEADING}{first}"));
    let all = csv(&mut user, "/reports/orders.csv?from=2026-03-01&to=2026-03-01").await;
    assert_eq!(all, format!("{HEADING}{second}{first}"));
    let none = csv(&mut user, "/reports/orders.csv?from=2026-03-02").await;
    assert_eq!(none, HEADING);
    let reply = user
        .send("GET", "/reports/pending.csv", &[("accept-encoding", "gzip")], "")
        .await;
    let name = "attachment; filename=\"bekleyen-siparisler-2026-03-01.csv\"";
    assert_eq!(reply.header("content-disposition"), Some(name));
    user.in_english();
    let english = csv(&mut user, "/reports/pending.csv").await;
    assert!(
        english.starts_with("\u{feff}Date;Restaurant;Platform;"),
        "{english}"
    );
    assert!(english.contains(";1234,50;TRY;no\r\n"), "{english}");
}

async fn large_export_is_complete(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let mut hands = tokio::task::JoinSet::new();
    for hand in 0..8 {
        let shop = shop.clone();
        hands.spawn(async move {
            for n in (hand..1_203).step_by(8) {
                shop.order_of(&format!("n{n}"), 100).await;
            }
        });
    }
    hands.join_all().await;
    let mut user = service.user().await;
    for path in ["/reports/pending.csv", "/reports/orders.csv"] {
        let table = csv(&mut user, path).await;
        let ids: std::collections::BTreeSet<&str> = table
            .lines()
            .skip(1)
            .map(|line| line.split(';').nth(3).unwrap())
            .collect();
        assert_eq!((ids.len(), table.lines().count()), (1_203, 1_204), "{path}");
    }
}

async fn orders_of_other_accounts_are_not_listed_marked_or_exported(service: TestService) {
    let mine = service.shop(&service.a, "benim").await;
    let theirs = service.shop(&service.b, "onların").await;
    let order = theirs.order("O-1").await;
    mine.order("B-1").await;
    let mut user = service.user().await;
    let page = user.open("/reports").await;
    assert!(page.has("B-1") && !page.has("O-1") && !page.has("onların"));
    assert!(!csv(&mut user, "/reports/orders.csv").await.contains("O-1"));
    let forged = page.form("/reports/mark").forged("one", Some(&order));
    let reply = user.send("POST", "/reports/mark", &[], &forged).await;
    assert_eq!(reply.status, 303);
    assert_eq!(
        service.b.get("/orders/O-1").await.data()["isReport"],
        json!(false)
    );
    for path in ["/reports", "/reports/pending.csv", "/reports/orders.csv"] {
        let path = format!("{path}?restaurant={}", theirs.restaurant);
        let reply = user.send("GET", &path, &[], "").await;
        assert_eq!(reply.status, 404, "{path}");
    }
    // Without a session there is no export.
    let reply = service
        .anonymous_user()
        .send("GET", "/reports/orders.csv", &[], "")
        .await;
    assert_eq!(reply.status, 303);
    let nonsense = page.form("/reports/mark").forged("one", Some("x"));
    let reply = user.send("POST", "/reports/mark", &[], &nonsense).await;
    assert_eq!(reply.status, 404);
}
