//! Search over orders.

use crate::support::{Page, Shop, TestService, order_body, wait_until};
use serde_json::json;
use std::time::Duration;

cases! {
    orders_are_found_by_code_name_phone_and_content
    filters_narrow_the_results
    filters_are_collapsed_unless_set
    results_are_paged_in_both_directions
    search_input_is_escaped
    only_own_orders_are_found
    deleted_orders_are_not_found
    orders_are_indexed_in_the_background
    empty_search_explains_the_next_step
}

async fn order(shop: &Shop, id: &str, code: &str, customer: &str) -> String {
    let mut body = order_body(&shop.store, id, 10_000);
    body["shortCode"] = json!(code);
    body["customer"] = json!({ "name": customer, "phone": "+90 532 123 45 67" });
    let data = shop.post(body.to_string().as_bytes()).await.data();
    data["orderId"].as_str().unwrap().to_owned()
}

/// The ids of the orders on a page, in order.
fn listed(page: &Page) -> Vec<String> {
    let links = page.links();
    let ids = links.iter().filter_map(|link| link.strip_prefix("/orders/"));
    ids.map(str::to_owned).collect()
}

fn escape(text: &str) -> String {
    text.bytes().map(|b| format!("%{b:02X}")).collect()
}

async fn orders_are_found_by_code_name_phone_and_content(service: TestService) {
    let shop = service.shop(&service.a, "Moda").await;
    let one = order(&shop, "GTR-0042", "K7", "İpek Şahin").await;
    let two = order(&shop, "TS-9/1", "B12", "ışıl ÇAĞLAR").await;
    let mut user = service.user().await;
    for (text, found) in [
        ("gtr-00", vec![&one]),
        ("GTR-0042", vec![&one]),
        ("k7", vec![&one]),
        ("IPEK", vec![&one]),
        ("şah ip", vec![&one]),
        ("Işıl", vec![&two]),
        ("isil caglar", vec![&two]),
        ("ts-9", vec![&two]),
        (one.as_str(), vec![&one]),
        ("0532", vec![&two, &one]),
        ("532 124", vec![]),
        ("0532 123 45 67", vec![&two, &one]),
        ("", vec![&two, &one]),
        ("nobody", vec![]),
        ("%", vec![]),
        ("_", vec![]),
        ("' \"", vec![]),
        ("👻", vec![]),
    ] {
        let page = user.open(&format!("/orders?q={}", escape(text))).await;
        assert_eq!(page.status, 200, "{text}");
        assert_eq!(listed(&page).iter().collect::<Vec<_>>(), found, "{text}");
        assert_eq!(page.form("/orders").value("q"), text);
    }
    // With the form, as a browser does.
    let page = user.open("/orders").await;
    let path = format!("/orders?{}", page.form("/orders").body(&[("q", "çağ")]));
    let page = user.open(&path).await;
    assert_eq!(listed(&page), std::slice::from_ref(&two));
    for text in [
        "B12",
        "TS-9/1",
        "ışıl ÇAĞLAR",
        "Moda",
        "100,00 ₺",
        "01.03.2026 12:00",
        "Yeni",
    ] {
        assert!(page.has(text), "{text} in {}", page.text());
    }
    assert!(user.open(&format!("/orders/{two}")).await.has("ışıl ÇAĞLAR"));
}

async fn filters_narrow_the_results(service: TestService) {
    let (one, two) = (
        service.shop(&service.a, "Bir").await,
        service.shop(&service.a, "İki").await,
    );
    let first = order(&one, "F-1", "1", "Ali Kaya").await;
    // The next day begins in Istanbul.
    service.advance(Duration::from_secs(12 * 60 * 60));
    let second = order(&two, "F-2", "2", "Ali Öz").await;
    service.a.act("/orders/verify/F-2").await.data();
    service.a.act("/orders/cancel/F-1").await.data();
    let mut user = service.user().await;
    let both = || vec![second.clone(), first.clone()];
    let (only_first, only_second) = (vec![first.clone()], vec![second.clone()]);
    for (query, found) in [
        ("from=2026-03-01&to=2026-03-01".to_owned(), only_first.clone()),
        ("from=2026-03-02".to_owned(), only_second.clone()),
        ("to=2026-03-01&q=ali".to_owned(), only_first.clone()),
        ("from=2026-03-01&to=2026-03-02".to_owned(), both()),
        ("from=2026-03-03".to_owned(), vec![]),
        ("status=cancelled".to_owned(), only_first.clone()),
        ("status=preparing&q=f-2".to_owned(), only_second.clone()),
        ("status=preparing".to_owned(), only_second.clone()),
        ("status=nonsense".to_owned(), both()),
        ("platform=direct".to_owned(), both()),
        ("platform=getir".to_owned(), vec![]),
        (format!("restaurant={}", one.restaurant), only_first.clone()),
        (
            format!("restaurant={}&q=ali", two.restaurant),
            only_second.clone(),
        ),
        (format!("restaurant={}&status=cancelled", two.restaurant), vec![]),
    ] {
        let page = user.open(&format!("/orders?{query}")).await;
        assert_eq!(listed(&page), found, "{query}");
        // The form keeps what was asked.
        for pair in query.split('&').filter(|pair| !pair.ends_with("nonsense")) {
            let (name, value) = pair.split_once('=').unwrap();
            assert_eq!(page.form("/orders").value(name), value, "{query}");
        }
    }
    for wrong in ["from=2026-02-30", "to=yesterday"] {
        let page = user.open(&format!("/orders?{wrong}")).await;
        assert!(page.has("Geçerli bir tarih girin"), "{wrong}");
        assert_eq!((page.status, listed(&page).len()), (200, 0), "{wrong}");
    }
    let page = user.open("/orders?from=2026-03-02&to=2026-03-01").await;
    assert!(
        page.has("Bitiş tarihi başlangıçtan önce olamaz."),
        "{}",
        page.text()
    );
    assert!(!page.has("Sipariş bulunamadı"), "{}", page.text());
}

async fn filters_are_collapsed_unless_set(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let mut user = service.user().await;
    let restaurant = format!("restaurant={}", shop.restaurant);
    for (query, is_open) in [
        ("", false),
        ("q=ali", false),
        ("status=nonsense", false),
        ("q=ali&status=new", true),
        ("platform=direct", true),
        ("from=2026-03-01", true),
        ("to=yesterday", true),
        (restaurant.as_str(), true),
    ] {
        let page = user.open(&format!("/orders?{query}")).await;
        let filters = page.within("filters", "details").html;
        assert_eq!(
            filters.starts_with("<details id=\"filters\" open>"),
            is_open,
            "{query}"
        );
        // All filters are sent, collapsed or not, after the search text.
        for name in ["from", "to", "status", "platform", "restaurant"] {
            assert!(filters.contains(&format!("name=\"{name}\"")), "{name}");
        }
        assert!(!filters.contains("name=\"q\""));
    }
}

async fn results_are_paged_in_both_directions(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let mut ids = Vec::new();
    for n in 0..60 {
        ids.insert(0, order(&shop, &format!("P-{n}"), "1", "Ayşe Kaya").await);
    }
    let mut user = service.user().await;
    for start in ["/orders", "/orders?q=ayse", "/orders?q=p-&status=new"] {
        let way = |page: &Page, rel: &str| {
            let mark = format!("rel=\"{rel}\" href=\"");
            let rest = page.html.split(&mark).nth(1)?;
            Some(rest.split('"').next()?.replace("&#38;", "&"))
        };
        let first = user.open(start).await;
        assert_eq!(
            (listed(&first), way(&first, "prev")),
            (ids[..25].to_vec(), None),
            "{start}"
        );
        // An order arrives meanwhile.
        let new = order(&shop, &format!("P-{start}"), "1", "Ayşe Kaya").await;
        let second = user.open(&way(&first, "next").unwrap()).await;
        assert_eq!(listed(&second), ids[25..50], "{start}");
        let third = user.open(&way(&second, "next").unwrap()).await;
        assert_eq!(
            (listed(&third), way(&third, "next")),
            (ids[50..].to_vec(), None),
            "{start}"
        );
        let back = user.open(&way(&third, "prev").unwrap()).await;
        assert_eq!(listed(&back), ids[25..50], "{start}");
        let top = user.open(&way(&back, "prev").unwrap()).await;
        ids.insert(0, new);
        // The newest page is whole.
        let shown = listed(&top);
        assert!(shown == ids[..25] || shown == ids[1..26], "{start}");
        assert_eq!(user.open(start).await.status, 200);
        assert_eq!(listed(&user.open(start).await), ids[..25], "{start}");
    }
    let page = user.open("/orders?cursor=nonsense&dir=prev").await;
    assert_eq!(listed(&page), ids[..25]);
}

async fn search_input_is_escaped(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    order(&shop, "\"><img src=x>", "<i>1</i>", "<script>alert(1)</script>").await;
    let mut user = service.user().await;
    for text in [
        "",
        "\"><img src=x>",
        "<script>",
        "' OR 1=1 --",
        "%",
        "\\",
        "a\u{0}b",
    ] {
        let page = user.open(&format!("/orders?q={}", escape(text))).await;
        assert_eq!(page.status, 200, "{text}");
        for wrong in ["<img", "<script>", "<i>1"] {
            assert!(!page.html.contains(wrong), "{wrong}");
        }
    }
    let page = user.open(&format!("/orders?q={}", escape("\"><img"))).await;
    assert!(
        page.has("<script>alert(1)</script>") && page.has("<i>1</i>"),
        "{}",
        page.text()
    );
}

async fn only_own_orders_are_found(service: TestService) {
    let theirs = service.shop(&service.b, "Onların").await;
    let id = order(&theirs, "THEIRS-1", "K7", "İpek Şahin").await;
    let mut user = service.user().await;
    for query in [
        String::new(),
        "q=ipek".to_owned(),
        "q=theirs-1".to_owned(),
        format!("q={id}"),
        format!("restaurant={}", theirs.restaurant),
        format!("restaurant={}&q=ipek", theirs.restaurant),
        "cursor=0000000000000000&dir=prev".to_owned(),
    ] {
        let page = user.open(&format!("/orders?{query}")).await;
        assert_eq!((page.status, listed(&page).len()), (200, 0), "{query}");
        assert!(!page.has("Onların") && !page.has("Şahin"), "{query}");
    }
}

async fn deleted_orders_are_not_found(service: TestService) {
    let (stays, goes) = (
        service.shop(&service.a, "Kalan").await,
        service.shop(&service.a, "Giden").await,
    );
    let kept = order(&stays, "1", "1", "Ayşe Kaya").await;
    for n in 0..5 {
        order(&goes, &format!("G-{n}"), "1", "Ayşe Giden").await;
    }
    let mut user = service.user().await;
    assert_eq!(listed(&user.open("/orders?q=ayse").await).len(), 6);
    service
        .a
        .delete(&format!("/restaurants/{}", goes.restaurant))
        .await
        .success();
    for query in ["q=ayse", "", "q=giden"] {
        let found = listed(&user.open(&format!("/orders?{query}")).await);
        assert_eq!(
            found,
            if query == "q=giden" {
                vec![]
            } else {
                vec![kept.clone()]
            },
            "{query}"
        );
    }
    service.sweep().await;
    wait_until("its words are gone", async || {
        (service.count("order_words"), service.count("orders")) == (1, 1)
    })
    .await;
    // Its id, which is its code too; two names and a telephone.
    assert_eq!(service.count("word_places"), 4);
}

async fn orders_are_indexed_in_the_background(mut service: TestService) {
    let mut shop = service.shop(&service.a, "s").await;
    order(&shop, "1", "1", "Ayşe").await;
    wait_until("the first is ready", async || service.count("order_words") == 1).await;
    // What was there before the service, too.
    service.execute_sql("DELETE FROM order_words; DELETE FROM word_places; DELETE FROM search_progress;");
    service.restart().await;
    shop.addr = service.addr;
    wait_until("it is ready again", async || service.count("order_words") == 1).await;
    order(&shop, "2", "2", "Fatma").await;
    wait_until("both are ready", async || service.count("order_words") == 2).await;
}

async fn empty_search_explains_the_next_step(service: TestService) {
    let mut user = service.user().await;
    let page = user.open("/orders").await;
    assert!(
        page.has("Henüz sipariş yok") && page.has("bir platforma bağlayın"),
        "{}",
        page.text()
    );
    // What is looked for can be missing only where there is something.
    service.shop(&service.a, "s").await.order("1").await;
    let page = user.open("/orders?q=x").await;
    assert!(
        page.has("Sipariş bulunamadı") && page.has("Aramayı kısaltın"),
        "{}",
        page.text()
    );
    let page = user.open("/orders?q=%25").await;
    assert!(
        page.has("Sipariş bulunamadı") && page.has("aranacak harf ya da rakam yok"),
        "{}",
        page.text()
    );
}
