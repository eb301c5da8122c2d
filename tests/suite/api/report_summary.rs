//! The summary of some days: totals that match the orders, as JSON and as files.

use crate::support::{ApiClient, Shop, TestService, WorkbookCell, order_body, read_workbook};
use serde_json::{Value, json};
use std::time::Duration;

cases! {
    summary_matches_the_orders
    ; sqlite_only:
    summary_is_a_file_for_spreadsheets
    wrong_parameters_are_refused
    other_accounts_are_not_counted
}

const HOUR: Duration = Duration::from_secs(60 * 60);

async fn order(shop: &Shop, id: &str, total: i64, kind: &str) -> String {
    let mut body = order_body(&shop.store, id, total);
    body["payment"]["type"] = json!(kind);
    let data = shop.post(body.to_string().as_bytes()).await.data();
    data["orderId"].as_str().unwrap().to_owned()
}

async fn summary(client: &ApiClient, query: &str) -> Value {
    client.get(&format!("/reports/summary{query}")).await.data()
}

/// Two restaurants over two days, from noon on 1 March.
async fn two_days(service: &TestService) -> (Shop, Shop) {
    let (one, two) = (
        service.shop(&service.a, "Moda").await,
        service.shop(&service.a, "Ora").await,
    );
    let first = order(&one, "M-1", 10_000, "cash").await;
    order(&one, "M-2", 20_000, "online_card").await;
    service.advance(Duration::from_secs(90));
    service.a.act(&format!("/orders/verify/{first}")).await.data();
    service.advance(Duration::from_secs(600));
    service.a.act(&format!("/orders/ready/{first}")).await.data();
    service.advance(24 * HOUR);
    order(&two, "O-1", 30_000, "cash").await;
    order(&two, "O-2", 5_000, "cash").await;
    let body = json!({ "by": "customer", "reason": "Vazgeçti" });
    two.cancel("O-2", body).await.data();
    (one, two)
}

async fn summary_matches_the_orders(service: TestService) {
    let (_, two) = two_days(&service).await;
    let both = summary(&service.a, "?from=2026-03-01&to=2026-03-02").await;
    assert_eq!(
        (&both["from"], &both["to"], &both["startsAt"], &both["endsAt"]),
        (
            &json!("2026-03-01"),
            &json!("2026-03-02"),
            &json!("2026-02-28T21:00:00.000Z"),
            &json!("2026-03-02T21:00:00.000Z")
        )
    );
    assert_eq!(
        both["totals"],
        json!([{ "currency": "TRY", "count": 3, "total": 60_000 }])
    );
    assert_eq!(
        both["byPlatform"],
        json!([{ "provider": "direct", "currency": "TRY", "count": 3, "total": 60_000 }])
    );
    let short = |list: &Value, key: &str| -> Vec<(Value, i64, i64)> {
        let rows = list.as_array().unwrap().iter();
        rows.map(|it| {
            (
                it[key].clone(),
                it["count"].as_i64().unwrap(),
                it["total"].as_i64().unwrap(),
            )
        })
        .collect()
    };
    assert_eq!(
        short(&both["byRestaurant"], "name"),
        [(json!("Moda"), 2, 30_000), (json!("Ora"), 1, 30_000)]
    );
    let mut kinds = short(&both["byPaymentType"], "type");
    kinds.sort_by_key(|(kind, ..)| kind.to_string());
    assert_eq!(
        kinds,
        [(json!("cash"), 2, 40_000), (json!("online_card"), 1, 20_000)]
    );
    assert_eq!(
        short(&both["byDay"], "day"),
        [(json!("2026-03-01"), 2, 30_000), (json!("2026-03-02"), 1, 30_000)]
    );
    assert_eq!(short(&both["byHour"], "hour"), [(json!(12), 3, 60_000)]);
    assert_eq!(
        both["timeToAccept"],
        json!({ "count": 1, "averageSeconds": 90, "medianSeconds": both["timeToAccept"]["medianSeconds"] })
    );
    assert_eq!(
        (
            &both["timeToPrepare"]["count"],
            &both["timeToPrepare"]["averageSeconds"]
        ),
        (&json!(1), &json!(600))
    );
    let cancelled = &both["cancellations"];
    assert_eq!(cancelled.as_array().unwrap().len(), 1);
    assert_eq!(
        (
            &cancelled[0]["by"],
            &cancelled[0]["count"],
            &cancelled[0]["total"]
        ),
        (&json!("customer"), &json!(1), &json!(5_000))
    );
    // Without days it is today, and with one day that day.
    let today = summary(&service.a, "").await;
    assert_eq!(
        (&today["from"], &today["to"]),
        (&json!("2026-03-02"), &json!("2026-03-02"))
    );
    assert_eq!(today["totals"][0]["total"], json!(30_000));
    let before = summary(&service.a, "?to=2026-03-01").await;
    assert_eq!(before["totals"][0]["total"], json!(30_000));
    assert_eq!(before["timeToPrepare"]["count"], json!(1));
    let none = summary(&service.a, "?to=2026-02-01").await;
    assert_eq!(
        (&none["totals"], &none["cancellations"]),
        (&json!([]), &json!([]))
    );
    assert_eq!(
        none["timeToAccept"],
        json!({ "count": 0, "averageSeconds": null, "medianSeconds": null })
    );
    let query = format!("?from=2026-03-01&to=2026-03-02&restaurantId={}", two.restaurant);
    let only = summary(&service.a, &query).await;
    assert_eq!(only["totals"][0]["total"], json!(30_000));
    assert_eq!(short(&only["byRestaurant"], "name"), [(json!("Ora"), 1, 30_000)]);
}

async fn summary_is_a_file_for_spreadsheets(service: TestService) {
    let (one, _) = two_days(&service).await;
    let days = "/reports/summary?from=2026-03-01&to=2026-03-02";
    let reply = service.a.get(&format!("{days}&format=csv")).await;
    assert_eq!(reply.header("content-type"), Some("text/csv; charset=utf-8"));
    assert_eq!(
        reply.header("content-disposition"),
        Some("attachment; filename=\"summary-2026-03-01-2026-03-02.csv\"")
    );
    let text = reply.text();
    assert!(
        text.starts_with("\u{feff}group;key;name;currency;count;total;"),
        "{text}"
    );
    assert!(text.contains("\r\nplatform;direct;;TRY;3;600,00;;\r\n"), "{text}");
    assert!(text.contains("\r\nhour;12:00;;TRY;3;600,00;;\r\n"), "{text}");
    let reply = service.a.get(&format!("{days}&format=xlsx")).await;
    assert_eq!(
        reply.header("content-type"),
        Some("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet")
    );
    let rows = read_workbook(&reply.body);
    assert_eq!(rows.len(), text.lines().count());
    let text = |text: &str| WorkbookCell::Text(text.to_owned());
    let row = rows.iter().find(|row| row[1] == text(&one.restaurant)).unwrap();
    assert_eq!((&row[0], &row[2]), (&text("restaurant"), &text("Moda")));
    assert_eq!(row[5], WorkbookCell::Number("300.00".to_owned(), 4));
}

async fn wrong_parameters_are_refused(service: TestService) {
    service.shop(&service.a, "s").await;
    for (query, field) in [
        ("from=2026-02-30", "from"),
        ("to=today", "to"),
        ("from=2026-03-01T00:00:00Z", "from"),
        ("from=2026-03-02&to=2026-03-01", "to"),
        ("from=2026-01-01&to=2026-03-04", "to"),
        ("format=pdf", "format"),
        ("from=2026-03-01&from=2026-03-01", "from"),
    ] {
        let reply = service.a.get(&format!("/reports/summary?{query}")).await;
        reply.wrong(422, "invalid_parameter", field);
    }
    let two_months = "/reports/summary?from=2026-01-01&to=2026-03-03";
    assert_eq!(service.a.get(two_months).await.data()["byDay"], json!([]));
}

async fn other_accounts_are_not_counted(service: TestService) {
    let (one, _) = two_days(&service).await;
    assert_eq!(summary(&service.b, "?from=2026-03-01").await["totals"], json!([]));
    let path = format!("/reports/summary?restaurantId={}", one.restaurant);
    service.b.get(&path).await.refused(404, "restaurant_not_found");
}
