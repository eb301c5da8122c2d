//! The summary of a day: figures, tables and comparisons match the orders.

use crate::support::{Page, Shop, TestService, order_body};
use serde_json::json;
use std::time::Duration;

cases! {
    summary_matches_the_orders
    days_are_compared
    night_belongs_to_the_business_day_before
    ; sqlite_only:
    summary_is_filtered_by_restaurant_and_day
    summary_is_exported
    other_accounts_are_not_counted
}

const HOUR: Duration = Duration::from_secs(60 * 60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

async fn order(shop: &Shop, id: &str, total: i64, kind: &str) -> String {
    let mut body = order_body(&shop.store, id, total);
    body["payment"]["type"] = json!(kind);
    let data = shop.post(body.to_string().as_bytes()).await.data();
    data["orderId"].as_str().unwrap().to_owned()
}

fn figure(page: &Page, id: &str) -> String {
    page.within(id, "p").text()
}

async fn summary_matches_the_orders(service: TestService) {
    let (one, two) = (
        service.shop(&service.a, "Moda").await,
        service.shop(&service.a, "Ora").await,
    );
    let first = order(&one, "M-1", 10_000, "cash").await;
    order(&one, "M-2", 20_000, "online_card").await;
    // Accepted after a minute, ready ten minutes later.
    service.advance(Duration::from_secs(60));
    service
        .a
        .post(&format!("/orders/verify/{first}"), &json!({}))
        .await
        .data();
    service.advance(Duration::from_secs(600));
    service
        .a
        .post(&format!("/orders/ready/{first}"), &json!({}))
        .await
        .data();
    service.advance(2 * HOUR);
    order(&two, "O-1", 30_000, "cash").await;
    order(&two, "O-2", 5_000, "cash").await;
    two.cancel("O-2", json!({ "by": "customer" })).await.data();
    let mut user = service.user().await;
    let page = user.open("/today").await;
    assert!(page.has("01.03.2026"), "{}", page.text());
    assert_eq!(figure(&page, "orders"), "3");
    assert_eq!(figure(&page, "sales-TRY"), "600,00 ₺");
    assert_eq!(figure(&page, "average-TRY"), "200,00 ₺");
    assert_eq!(figure(&page, "cancelled"), "1");
    assert_eq!(figure(&page, "accept"), "1 dk 0 sn");
    assert_eq!(figure(&page, "prepare"), "10 dk 0 sn");
    let payments = page.within("payments", "table").text();
    assert!(payments.contains("Nakit 2 400,00 ₺ %67"), "{payments}");
    assert!(payments.contains("Online kart 1 200,00 ₺ %33"), "{payments}");
    let platforms = page.within("platforms", "table").text();
    assert!(platforms.contains("Kendi kanalım 3 600,00 ₺ %100"), "{platforms}");
    let restaurants = page.within("restaurants", "table").text();
    assert!(
        restaurants.contains("Moda 2 300,00 ₺ %50") && restaurants.contains("Ora 1 300,00 ₺ %50"),
        "{restaurants}"
    );
    let cancellations = page.within("cancellations", "table").text();
    assert!(
        cancellations.contains("müşteri") && cancellations.contains("50,00 ₺"),
        "{cancellations}"
    );
    // The chart has a bar for each hour with orders, and the table the same numbers.
    assert!(
        page.html
            .contains("<title>12:00 Kendi kanalım: 300,00 ₺ (2)</title>")
    );
    assert!(
        page.html
            .contains("<title>14:00 Kendi kanalım: 300,00 ₺ (1)</title>")
    );
}

async fn days_are_compared(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    for n in 0..2 {
        order(&shop, &format!("A-{n}"), 10_000, "cash").await;
    }
    service.advance(6 * DAY);
    for n in 0..4 {
        order(&shop, &format!("B-{n}"), 10_000, "cash").await;
    }
    service.advance(HOUR);
    order(&shop, "B-late", 10_000, "cash").await;
    service.advance(DAY - HOUR);
    for n in 0..3 {
        order(&shop, &format!("C-{n}"), 10_000, "cash").await;
    }
    let mut user = service.user().await;
    let page = user.open("/today?day=yesterday").await;
    assert_eq!(figure(&page, "orders"), "5");
    service.advance(HOUR / 2);
    // Today until now against yesterday until the same time, and against the day a week ago.
    let text = user.open("/today").await.text();
    assert!(text.contains("−%25 dün bu saate göre"), "{text}");
    assert!(text.contains("+%50 geçen hafta aynı gün bu saate göre"), "{text}");
}

async fn summary_is_filtered_by_restaurant_and_day(service: TestService) {
    let (one, two) = (
        service.shop(&service.a, "Moda").await,
        service.shop(&service.a, "Ora").await,
    );
    order(&one, "M-1", 10_000, "cash").await;
    order(&two, "O-1", 30_000, "cash").await;
    service.advance(DAY);
    let mut user = service.user().await;
    let page = user.open("/today").await;
    assert!(page.has("Bu günde sipariş yok"), "{}", page.text());
    let path = format!("/today?day=2026-03-01&restaurant={}", two.restaurant);
    let page = user.open(&path).await;
    assert_eq!(figure(&page, "sales-TRY"), "300,00 ₺");
    // Another day or all restaurants would be shown unnoticed.
    for wrong in ["2026-02-30", "x"] {
        let page = user.open(&format!("/today?day={wrong}")).await;
        assert_eq!(page.status, 422);
        assert!(page.has("Geçerli bir tarih girin."), "{}", page.text());
        assert!(!page.html.contains("figures") && !page.has("sipariş yok"));
    }
    for path in [
        "/today",
        "/today.csv",
        "/reports",
        "/reports/orders.csv",
        "/reports/pending.xlsx",
        "/payments",
        "/payments.csv",
        "/orders",
    ] {
        let page = user.open(&format!("{path}?restaurant=zzz")).await;
        assert_eq!(page.status, 404, "{path}");
    }
    // A deleted restaurant no longer counts.
    service
        .a
        .delete(&format!("/restaurants/{}", one.restaurant))
        .await
        .success();
    let page = user.open("/today?day=2026-03-01").await;
    assert_eq!(figure(&page, "orders"), "1");
}

async fn summary_is_exported(service: TestService) {
    let shop = service.shop(&service.a, "Moda").await;
    let first = order(&shop, "M-1", 10_000, "cash").await;
    order(&shop, "M-2", 25_050, "online_card").await;
    order(&shop, "M-3", 5_000, "cash").await;
    shop.cancel("M-3", json!({ "by": "customer" })).await.data();
    service.advance(Duration::from_secs(70));
    service
        .a
        .post(&format!("/orders/verify/{first}"), &json!({}))
        .await
        .data();
    let mut user = service.user().await;
    let page = user.open("/today").await;
    for path in ["/today.csv", "/today.xlsx"] {
        assert!(
            page.html.contains(&format!("href=\"{path}?day=2026-03-01\"")),
            "{}",
            page.html
        );
    }
    let file = user.send("GET", "/today.csv?day=2026-03-01", &[], "").await;
    let text = file.text();
    for row in [
        "Bölüm;Ad;Sipariş;Toplam;Para birimi;Ortalama (sn);Ortanca (sn)",
        "Ciro;2026-03-01;2;350,50;TRY;;",
        "Saatlere göre;12:00;2;350,50;TRY;;",
        "Platformlara göre;Kendi kanalım;2;350,50;TRY;;",
        "Ödeme türüne göre;Nakit;1;100,00;TRY;;",
        "Ödeme türüne göre;Online kart;1;250,50;TRY;;",
        "Restoranlara göre;Moda;2;350,50;TRY;;",
        "Onaylama süresi;;1;;;70;70",
        "Hazırlama süresi;;0;;;;",
    ] {
        assert!(text.lines().any(|line| line.ends_with(row)), "{row}: {text}");
    }
    assert!(
        text.contains("\r\nİptaller;") && text.contains(";1;50,00;TRY;;"),
        "{text}"
    );
    let file = user.send("GET", "/today.xlsx", &[], "").await;
    assert_eq!(file.status, 200);
    // The page shows what is wrong.
    let page = user.open("/today.csv?day=x").await;
    assert!(page.has("Geçerli bir tarih girin."), "{}", page.text());
}

async fn other_accounts_are_not_counted(service: TestService) {
    let theirs = service.shop(&service.b, "onların").await;
    order(&theirs, "X-1", 10_000, "cash").await;
    let mine = service.shop(&service.a, "benim").await;
    order(&mine, "M-1", 20_000, "cash").await;
    let mut user = service.user().await;
    let page = user.open("/today").await;
    assert_eq!(figure(&page, "sales-TRY"), "200,00 ₺");
    assert!(!page.has("onların"));
    let path = format!("/today?restaurant={}", theirs.restaurant);
    assert_eq!(user.open(&path).await.status, 404);
}

/// The service starts at noon on 1 March; the business day ends at three in the morning.
async fn night_belongs_to_the_business_day_before(service: TestService) {
    let shop = service.shop(&service.a, "Gece").await;
    let path = format!("/restaurants/{}", shop.restaurant);
    let wrong = json!({ "name": "Gece", "config": { "dayEndsAt": "03:30" } });
    let reply = service.a.put(&path, &wrong).await;
    reply.wrong(422, "invalid_field", "config.dayEndsAt");
    let mut user = service.user().await;
    let form = user.open(&path).await.form(&path);
    user.submit(&form, &[("config.dayEndsAt", "03:00")]).await;
    let stored = service.a.get(&path).await.data();
    assert_eq!(stored["config"], json!({ "dayEndsAt": "03:00" }));

    order(&shop, "NOON", 10_000, "cash").await;
    service.advance(13 * HOUR + HOUR / 2);
    order(&shop, "NIGHT", 20_000, "cash").await;
    // Half past one in the morning of 2 March: it is still the business day of 1 March.
    let page = user.open("/today").await;
    assert!(page.has("01.03.2026"), "{}", page.text());
    assert_eq!(figure(&page, "sales-TRY"), "300,00 ₺");
    assert!(
        page.html
            .contains("<title>01:00 Kendi kanalım: 200,00 ₺ (1)</title>")
    );
    service.advance(2 * HOUR);
    order(&shop, "MORNING", 40_000, "cash").await;
    let page = user.open("/today").await;
    assert!(page.has("02.03.2026"), "{}", page.text());
    assert_eq!(figure(&page, "sales-TRY"), "400,00 ₺");
    let page = user.open("/today?day=yesterday").await;
    assert_eq!(figure(&page, "sales-TRY"), "300,00 ₺");

    // Lists, payments, files and the API count the same days, of the restaurant and of the account.
    for scope in [format!("&restaurant={}", shop.restaurant), String::new()] {
        let path = format!("/reports/orders.csv?from=2026-03-01&to=2026-03-01{scope}");
        let file = user.send("GET", &path, &[], "").await.text();
        let has = |id| file.contains(id);
        assert_eq!(
            (has("NOON"), has("NIGHT"), has("MORNING")),
            (true, true, false),
            "{file}"
        );
        let page = user.open(&format!("/payments?period=yesterday{scope}")).await;
        assert!(page.has("300,00 ₺") && !page.has("400,00 ₺"), "{}", page.text());
        let api = scope.replace("restaurant", "restaurantId");
        let path = format!("/orders/grouped-payments?from=2026-03-01&to=2026-03-01{api}");
        assert_eq!(
            service.a.get(&path).await.data()["currencies"][0]["total"],
            json!(30_000)
        );
        let path = format!("/orders?from=2026-03-02{api}");
        assert_eq!(service.a.get(&path).await.data().as_array().unwrap().len(), 1);
        let path = format!("/reports/summary?from=2026-03-01&to=2026-03-01{api}");
        assert_eq!(
            service.a.get(&path).await.data()["totals"][0]["total"],
            json!(30_000)
        );
    }
    // A second restaurant whose days end at midnight: the account's days do, too.
    service.shop(&service.a, "Gündüz").await;
    let page = user.open("/today?day=2026-03-01").await;
    assert_eq!(figure(&page, "sales-TRY"), "100,00 ₺");
}
