//! Payments: chart and table match the orders.

use crate::support::{
    Backend, Page, PlatformWorld, Shop, TestService, WorkbookCell, order_body, read_workbook,
};
use garson_sim::Platform;
use garson_sim::views::Courier;
use serde_json::json;
use std::collections::BTreeMap;
use std::time::Duration;

cases! {
    totals_match_the_orders
    totals_are_filtered_by_period_and_restaurant
    ; sqlite_only:
    other_currencies_are_listed_separately
    totals_exclude_other_accounts
}

mod own_service {
    use super::*;

    on_both! {
        totals_are_split_by_platform_and_exported
    }
}

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

async fn order(shop: &Shop, id: &str, total: i64, kind: &str) {
    let mut body = order_body(&shop.store, id, total);
    body["payment"]["type"] = json!(kind);
    shop.post(body.to_string().as_bytes()).await.data();
}

/// The rows of the table, as their cells.
fn rows(page: &Page, currency: &str) -> Vec<Vec<String>> {
    let table = page.within(&format!("days-{currency}"), "table");
    let cells = |row: &str| -> Vec<String> {
        row.split("<t")
            .filter(|cell| cell.starts_with("d ") || cell.starts_with("h "))
            .map(|cell| {
                let text = cell.replace("<strong>", "").replace("</strong>", "");
                let start = text.find('>').unwrap() + 1;
                text[start..start + text[start..].find('<').unwrap()].to_owned()
            })
            .collect()
    };
    table.html.split("<tr>").skip(1).map(cells).collect()
}

/// Kuruş of an amount as Turkish people write it.
fn minor(text: &str) -> i64 {
    match text {
        "–" | "" => 0,
        text => text.replace([',', '.', '₺', ' '], "").parse().unwrap(),
    }
}

async fn totals_match_the_orders(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    // What the page should say, counted here: day, and type, to count and sum.
    let mut wanted: BTreeMap<(usize, &str), (i64, i64)> = BTreeMap::new();
    let kinds = [
        ("cash", "Nakit"),
        ("online_card", "Online kart"),
        ("meal_card_on_delivery", "Kapıda yemek kartı"),
    ];
    for day in 0..5_usize {
        for n in 0..=day * 2 {
            let (key, name) = kinds[(n + day) % 3];
            let total = i64::try_from(1_234 * (n + 1) + 100_000 * day + 7).unwrap();
            order(&shop, &format!("{day}-{n}"), total, key).await;
            let sum = wanted.entry((day, name)).or_default();
            *sum = (sum.0 + 1, sum.1 + total);
        }
        // One that does not count.
        order(&shop, &format!("{day}-x"), 999_999, "cash").await;
        shop.cancel(&format!("{day}-x"), json!({})).await.data();
        if day < 4 {
            service.advance(DAY);
        }
    }
    let mut user = service.user().await;
    let page = user.open("/payments").await;
    let rows = rows(&page, "TRY");
    assert_eq!(rows.len(), 1 + 7 + 1, "heading, days and sums: {rows:?}");
    assert_eq!(rows[0][0..2], ["Gün", "Sipariş"]);
    let days: Vec<&str> = rows[1..8].iter().map(|row| row[0].as_str()).collect();
    assert_eq!(
        (days[0], days[2], days[6]),
        ("27.02.2026", "01.03.2026", "05.03.2026")
    );
    let sum = |day: Option<usize>, name: Option<&str>| {
        wanted
            .iter()
            .filter(|((d, n), _)| day.is_none_or(|day| day == *d) && name.is_none_or(|name| name == *n))
            .fold((0, 0), |sum, (_, it)| (sum.0 + it.0, sum.1 + it.1))
    };
    for (n, row) in rows[1..].iter().enumerate() {
        let day = if n == 7 { None } else { Some(n.wrapping_sub(2)) };
        let (count, total) = sum(day, None);
        assert_eq!(row[1], count.to_string(), "{row:?}");
        assert_eq!(minor(row.last().unwrap()), total, "{row:?}");
        for (at, name) in rows[0][2..rows[0].len() - 1].iter().enumerate() {
            assert_eq!(minor(&row[2 + at]), sum(day, Some(name)).1, "{name} in {row:?}");
        }
    }
    assert_eq!(
        minor(&page.within("total-TRY", "strong").text()),
        sum(None, None).1
    );
    // Every bar of the chart says its number, and nothing else is drawn.
    for ((day, name), (_, total)) in &wanted {
        let lira = format!("{},{:02}", total / 100, total % 100);
        let says = page.html.match_indices("<title>").filter(|(at, _)| {
            let said = &page.html[at + 7..][..80];
            said.starts_with(&format!("{:02}.03, {name}: ", day + 1))
                && said.replace('.', "").contains(&lira.replace('.', ""))
        });
        assert_eq!(says.count(), 1, "{day} {name} {lira}");
    }
    assert_eq!(
        page.html.matches("<rect class=\"k-").count(),
        wanted.len() + 3,
        "and the legend"
    );
    // Its heights follow the numbers: day by day, from the same ground.
    let bars: Vec<Vec<i64>> = page
        .html
        .split("<rect class=\"k-")
        .skip(1)
        .filter(|bar| bar.contains(" x=\""))
        .map(|bar| {
            let value = |name: &str| {
                let start = bar.find(&format!(" {name}=\"")).unwrap() + name.len() + 3;
                bar[start..start + bar[start..].find('"').unwrap()]
                    .parse()
                    .unwrap()
            };
            vec![value("x"), value("height")]
        })
        .collect();
    let mut heights: BTreeMap<i64, i64> = BTreeMap::new();
    for bar in &bars {
        *heights.entry(bar[0]).or_default() += bar[1];
    }
    let heights: Vec<i64> = heights.into_values().collect();
    assert_eq!(heights.len(), 5);
    let (highest, most) = (heights[4], sum(Some(4), None).1);
    for (day, height) in heights.iter().enumerate() {
        let expected = highest * sum(Some(day), None).1 / most;
        assert!(
            (height - expected).abs() <= 1,
            "day {day}: {height} instead of {expected}"
        );
    }
}

async fn totals_are_filtered_by_period_and_restaurant(service: TestService) {
    let (here, there) = (
        service.shop(&service.a, "<Bura>").await,
        service.shop(&service.a, "Ora").await,
    );
    order(&here, "1", 10_000, "cash").await;
    order(&there, "2", 20_000, "cash").await;
    service.advance(DAY * 10);
    order(&here, "3", 40_000, "cash").await;
    let mut user = service.user().await;
    let id = &here.restaurant;
    for (path, total, days) in [
        ("/payments".to_owned(), "400,00 ₺", 7),
        ("/payments?period=30".to_owned(), "700,00 ₺", 30),
        ("/payments?period=month".to_owned(), "700,00 ₺", 11),
        (format!("/payments?period=30&restaurant={id}"), "500,00 ₺", 30),
        (
            "/payments?from=2026-03-01&to=2026-03-01".to_owned(),
            "300,00 ₺",
            1,
        ),
        (
            format!("/payments?from=2026-03-01&to=2026-03-10&restaurant={id}"),
            "100,00 ₺",
            10,
        ),
    ] {
        let page = user.open(&path).await;
        assert_eq!(page.within("total-TRY", "strong").text(), total, "{path}");
        assert_eq!(rows(&page, "TRY").len(), days + 2, "{path}");
        assert!(page.has("<Bura>") && !page.html.contains("<Bura>"));
    }
    // The form keeps the days that are shown.
    let page = user.open("/payments?period=month").await;
    let form = page.form("/payments");
    assert_eq!(
        (form.value("from"), form.value("to")),
        ("2026-03-01", "2026-03-11")
    );
    let page = user.open("/payments?period=last-month").await;
    assert!(page.has("Bu dönemde sipariş yok"), "{}", page.text());
    for wrong in [
        "from=2026-03-02&to=2026-03-01",
        "from=2026-01-01&to=2026-03-04",
        "from=2026-03-01",
        "to=2026-02-30&from=2026-02-01",
        "from=31.12.2026",
        "from=31.12.2026&to=31.12.2026",
    ] {
        let page = user.open(&format!("/payments?{wrong}")).await;
        assert_eq!(page.status, 200);
        assert!(page.has("Bu dönem gösterilemez"), "{wrong}");
        assert_eq!(page.within("total-TRY", "strong").text(), "400,00 ₺");
    }
    let page = user.open("/payments?from=2026-01-09&to=2026-03-11").await;
    assert_eq!(rows(&page, "TRY").len(), 64);
}

async fn other_currencies_are_listed_separately(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    order(&shop, "1", 10_000, "cash").await;
    let mut body = order_body(&shop.store, "2", 700);
    body["amount"]["currency"] = json!("EUR");
    shop.post(body.to_string().as_bytes()).await.data();
    let mut user = service.user().await;
    user.in_english();
    let page = user.open("/payments").await;
    assert_eq!(page.within("total-TRY", "strong").text(), "₺100.00");
    assert_eq!(page.within("total-EUR", "strong").text(), "7.00 EUR");
    assert_eq!(page.html.matches("<svg viewBox=\"0 0 960 300\"").count(), 2);
}

async fn totals_exclude_other_accounts(service: TestService) {
    let shop = service.shop(&service.b, "onların").await;
    order(&shop, "1", 10_000, "cash").await;
    let mut user = service.user().await;
    let page = user.open("/payments").await;
    assert!(page.has("Henüz sipariş yok") && !page.has("onların") && !page.has("100,00"));
    let page = user
        .open(&format!("/payments?restaurant={}", shop.restaurant))
        .await;
    assert_eq!(page.status, 404);
}

async fn totals_are_split_by_platform_and_exported(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    let mut wanted: BTreeMap<&str, (usize, i64)> = BTreeMap::new();
    for (platform, name) in [
        (Platform::Getir, "Getir"),
        (Platform::Migros, "Migros Yemek"),
        (Platform::Getir, "Getir"),
    ] {
        let placed = world.order(platform, Courier::Restaurant).await;
        let sum = wanted.entry(name).or_default();
        *sum = (sum.0 + 1, sum.1 + world.view(&placed).await.total);
    }
    let mut user = world.service.user().await;
    let page = user.open("/payments?period=today").await;
    let total: i64 = wanted.values().map(|(_, total)| total).sum();
    assert_eq!(minor(&page.within("total-TRY", "strong").text()), total);
    for (name, (count, total)) in &wanted {
        let shown = page.text();
        let (_, rest) = shown
            .split_once(name)
            .unwrap_or_else(|| panic!("no {name} in {shown}"));
        let said: String = rest.chars().take(40).collect();
        assert!(said.contains(&count.to_string()), "{name}: {said}");
        let lira = format!("{},{:02}", total / 100, total % 100);
        assert!(said.replace('.', "").contains(&lira), "{name}: {said}");
    }
    // The files of the page have the same totals.
    let link = |kind: &str| {
        let start = page.html.find(&format!("/payments.{kind}?")).unwrap();
        let rest = &page.html[start..];
        rest[..rest.find('"').unwrap()]
            .replace("&#38;", "&")
            .replace("&amp;", "&")
    };
    let file = user.send("GET", &link("csv"), &[], "").await;
    assert_eq!(
        (file.status, file.header("content-type")),
        (200, Some("text/csv; charset=utf-8"))
    );
    let text = file.text();
    let rows: Vec<Vec<&str>> = text
        .lines()
        .skip(1)
        .map(|line| line.split(';').collect())
        .collect();
    let sum = |of: &dyn Fn(&[&str]) -> i64| rows.iter().map(|row| of(row)).sum::<i64>();
    assert_eq!(sum(&|row| row[2].parse().unwrap()), 3, "{text}");
    assert_eq!(sum(&|row| minor(row[3])), total, "{text}");
    let file = user.send("GET", &link("xlsx"), &[], "").await;
    let cells = read_workbook(&file.body);
    assert_eq!(cells.len(), 1 + rows.len());
    let amounts = cells.iter().skip(1).map(|row| match &row[3] {
        WorkbookCell::Number(text, 4) => minor(&text.replace('.', ",")),
        other => panic!("an amount is no number: {other:?}"),
    });
    assert_eq!(amounts.sum::<i64>(), total);
}
