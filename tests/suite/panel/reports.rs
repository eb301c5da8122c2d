//! Reports: the pending list, its marks, and the export for spreadsheets.

use crate::support::{Page, PanelUser, Shop, TestService, WorkbookCell, order_body, read_workbook};
use serde_json::json;
use std::time::Duration;

cases! {
    orders_are_marked_individually_and_by_page
    list_is_filtered_and_paged
    large_export_is_complete
    marks_can_be_undone
    ; sqlite_only:
    invalid_days_are_refused
    unfinished_and_cancelled_orders_are_not_offered
    export_is_readable_by_excel
    workbook_has_the_rows_of_the_csv_file
    orders_of_other_accounts_are_not_listed_marked_or_exported
}

const HEADING: &str = "\u{feff}Tarih;Restoran;Platform;Sipariş no;Kısa kod;Durum;Ödeme türü;Tutar;Para birimi;Raporlandı;Müşteri;Kurye;\
     Ara toplam;İndirim;Teslimat ücreti;Bahşiş;İptal eden;İptal nedeni\r\n";

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
        ids.push(shop.delivered(&service.a, &format!("K-{n}")).await);
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
        here.delivered(&service.a, &format!("B-{n}")).await;
    }
    there.delivered(&service.a, "O-1").await;
    service.advance(Duration::from_secs(24 * 60 * 60));
    here.delivered(&service.a, "yarın").await;
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
    shop.delivered(&service.a, "K-1").await;
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
        for table in ["/reports/pending.csv", "/reports/orders.xlsx"] {
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

async fn deliver(service: &TestService, id: &str) {
    for _ in 0..3 {
        let path = format!("/orders/change-status/{id}");
        service.a.post(&path, &json!({})).await.data();
    }
}

async fn export_is_readable_by_excel(service: TestService) {
    let shop = service.shop(&service.a, "İğde; \"Şiş\"").await;
    ordered(&shop, "948123456789", 123_450, json!({ "shortCode": "@1" })).await;
    deliver(&service, "948123456789").await;
    let amount =
        json!({ "subtotal": 12_000, "discount": 2_500, "deliveryFee": 1_000, "tip": 500, "total": 11_000 });
    let more = json!({
        "payment": { "type": "meal_card_online" }, "customer": { "name": "=İpek" }, "amount": amount,
        "discounts": [{ "name": "Hoş geldin", "amount": 2_500 }],
    });
    ordered(&shop, "=HYPERLINK(\"x\")", 11_000, more).await;
    shop.cancel("%3DHYPERLINK(%22x%22)", json!({ "by": "customer" }))
        .await
        .data();
    let mut user = service.user().await;
    let delivered = "01.03.2026 12:00;\"İğde; \"\"Şiş\"\"\";Kendi kanalım;\"=\"\"948123456789\"\"\";'@1;Teslim edildi;Nakit;1234,50;\
                     TRY;hayır;;restoran;1234,50;0,00;0,00;0,00;;\r\n";
    let pending = csv(&mut user, "/reports/pending.csv").await;
    assert_eq!(pending, format!("{HEADING}{delivered}"));
    let all = csv(&mut user, "/reports/orders.csv?from=2026-03-01&to=2026-03-01").await;
    let rest = all.strip_prefix(HEADING).unwrap();
    let (cancelled, rest) = rest.split_at(rest.find("\r\n").unwrap() + 2);
    assert_eq!(rest, delivered);
    for part in [
        "\"'=HYPERLINK(\"\"x\"\")\"",
        ";Online yemek kartı;110,00;TRY;hayır;'=İpek;",
        ";120,00;25,00;10,00;5,00;müşteri;",
    ] {
        assert!(cancelled.contains(part), "{part} is not in {cancelled}");
    }
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
    assert!(english.contains(";1234,50;TRY;no;"), "{english}");
}

async fn workbook_has_the_rows_of_the_csv_file(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    for n in 0..260 {
        shop.order_of(&format!("94812345{n:04}"), 12_345).await;
    }
    ordered(
        &shop,
        "=1+1",
        5,
        json!({ "customer": { "name": "<Ayşe & \u{1}Can>" } }),
    )
    .await;
    let mut user = service.user().await;
    let reply = user.send("GET", "/reports/orders.xlsx", &[], "").await;
    assert_eq!(reply.status, 200);
    assert_eq!(
        reply.header("content-type"),
        Some("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet")
    );
    let rows = read_workbook(&reply.body);
    assert_eq!(rows.len(), 1 + 261);
    let (newest, oldest) = (&rows[1], &rows[261]);
    let text = |text: &str| WorkbookCell::Text(text.to_owned());
    let number = |text: &str, form| WorkbookCell::Number(text.to_owned(), form);
    // Ids and formulas are text, without the characters that XML does not allow; amounts are numbers, times are days.
    assert_eq!((&newest[3], &newest[10]), (&text("=1+1"), &text("<Ayşe & Can>")));
    assert_eq!((&newest[7], &newest[8]), (&number("0.05", 4), &text("TRY")));
    assert_eq!(
        (&oldest[3], &oldest[7]),
        (&text("948123450000"), &number("123.45", 4))
    );
    assert_eq!(oldest[0], number("46082.5", 164));
    // The same rows as in the CSV file.
    let file = csv(&mut user, "/reports/orders.csv").await;
    let lines: Vec<&str> = file.trim_start_matches('\u{feff}').lines().collect();
    assert_eq!(lines.len(), rows.len());
    let heading: Vec<WorkbookCell> = lines[0].split(';').map(text).collect();
    assert_eq!(rows[0], heading);
    for (row, line) in rows.iter().zip(&lines).skip(2) {
        let WorkbookCell::Text(id) = &row[3] else {
            panic!("an id is no text: {row:?}")
        };
        assert!(line.contains(id.as_str()), "{line} is not the row of {id}");
    }
}

async fn unfinished_and_cancelled_orders_are_not_offered(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let open = shop.order("ACIK").await;
    shop.order("IPTAL").await;
    shop.cancel("IPTAL", json!({})).await.data();
    shop.delivered(&service.a, "BITTI").await;
    let mut user = service.user().await;
    let page = user.open("/reports").await;
    assert!(page.has("BITTI") && !page.has("ACIK") && !page.has("IPTAL"));
    assert_eq!(listed(&page), 1);
    // A form that names one all the same marks nothing.
    let forged = page.form("/reports/mark").forged("one", Some(&open));
    user.send("POST", "/reports/mark", &[], &forged).await;
    let shown = service.a.get("/orders/ACIK").await.data();
    assert_eq!(shown["isReport"], json!(false));
    // Programs decide for themselves.
    assert_eq!(pending(&service).await, 3);
}

async fn marks_can_be_undone(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let order = shop.delivered(&service.a, "K-1").await;
    let mut user = service.user().await;
    let form = user.open("/reports").await.form("/reports/mark");
    let page = user.submit(&form, &[("one", &order)]).await;
    assert!(page.has("geri alabilirsiniz"), "{}", page.text());
    let page = user.open("/reports?list=marked").await;
    assert!(page.has("K-1") && listed(&page) == 1, "{}", page.text());
    let form = page.form("/reports/unmark");
    let page = user.submit(&form, &[("one", &order)]).await;
    assert_eq!(page.path, "/reports?list=marked");
    assert!(
        page.has("İşareti geri alınan sipariş: 1") && page.has("İşaretlenmiş sipariş yok"),
        "{}",
        page.text()
    );
    let page = user.submit(&form, &[("one", &order)]).await;
    assert!(page.has("Geri alınacak işaret kalmamış."), "{}", page.text());
    assert_eq!(listed(&user.open("/reports").await), 1);
    // The same for programs; the change is in the list of changes.
    let id = json!({ "providerOrderId": "K-1" });
    service.a.post("/orders/reports/mark", &id).await.data();
    let undone = service.a.post("/orders/reports/unmark", &id).await.data();
    assert_eq!(undone, json!({ "providerOrderId": "K-1", "isReport": false }));
    service.a.post("/orders/reports/unmark", &id).await.data();
    assert_eq!(pending(&service).await, 1);
    service
        .b
        .post("/orders/reports/unmark", &id)
        .await
        .refused(404, "order_not_found");
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
    let table = csv(&mut user, "/reports/orders.csv").await;
    let ids: std::collections::BTreeSet<&str> = table
        .lines()
        .skip(1)
        .map(|line| line.split(';').nth(3).unwrap())
        .collect();
    assert_eq!((ids.len(), table.lines().count()), (1_203, 1_204));
}

async fn orders_of_other_accounts_are_not_listed_marked_or_exported(service: TestService) {
    let mine = service.shop(&service.a, "benim").await;
    let theirs = service.shop(&service.b, "onların").await;
    let order = theirs.delivered(&service.b, "O-1").await;
    mine.delivered(&service.a, "B-1").await;
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
