//! Search over orders.

use crate::support::{House, Page, Shop, order_body, until};
use serde_json::json;
use std::time::Duration;

cases! {
    orders_are_found_by_what_people_know_of_them
    filters_narrow_what_is_found
    filters_are_folded_unless_one_is_set
    pages_lead_both_ways
    what_is_typed_is_text
    only_the_own_orders_are_found
    what_is_deleted_is_not_found_any_more
    orders_are_made_ready_without_anybody_looking
    an_empty_search_says_what_to_do
}

async fn order(shop: &Shop, id: &str, code: &str, customer: &str) -> String {
    let mut body = order_body(&shop.store, id, 10_000);
    body["shortCode"] = json!(code);
    body["customer"] = json!({ "name": customer, "phone": "+90 532 123 45 67" });
    let data = shop.post(body.to_string().as_bytes()).await.data();
    data["orderId"].as_str().unwrap().to_owned()
}

/// The ids of the orders on a page, as they stand there.
fn listed(page: &Page) -> Vec<String> {
    let links = page.links();
    let ids = links.iter().filter_map(|link| link.strip_prefix("/orders/"));
    ids.map(str::to_owned).collect()
}

fn escape(text: &str) -> String {
    text.bytes().map(|b| format!("%{b:02X}")).collect()
}

async fn orders_are_found_by_what_people_know_of_them(house: House) {
    let shop = house.shop(&house.a, "Moda").await;
    let one = order(&shop, "GTR-0042", "K7", "İpek Şahin").await;
    let two = order(&shop, "TS-9/1", "B12", "ışıl ÇAĞLAR").await;
    let mut visitor = house.visitor().await;
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
        let page = visitor.open(&format!("/orders?q={}", escape(text))).await;
        assert_eq!(page.status, 200, "{text}");
        assert_eq!(listed(&page).iter().collect::<Vec<_>>(), found, "{text}");
        assert_eq!(page.form("/orders").value("q"), text);
    }
    // With the form, as a browser does.
    let page = visitor.open("/orders").await;
    let path = format!("/orders?{}", page.form("/orders").body(&[("q", "çağ")]));
    let page = visitor.open(&path).await;
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
    assert!(visitor.open(&format!("/orders/{two}")).await.has("ışıl ÇAĞLAR"));
}

async fn filters_narrow_what_is_found(house: House) {
    let (one, two) = (
        house.shop(&house.a, "Bir").await,
        house.shop(&house.a, "İki").await,
    );
    let first = order(&one, "F-1", "1", "Ali Kaya").await;
    // The next day begins in Istanbul.
    house.advance(Duration::from_secs(12 * 60 * 60));
    let second = order(&two, "F-2", "2", "Ali Öz").await;
    house.a.act("/orders/verify/F-2").await.data();
    house.a.act("/orders/cancel/F-1").await.data();
    let mut visitor = house.visitor().await;
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
        let page = visitor.open(&format!("/orders?{query}")).await;
        assert_eq!(listed(&page), found, "{query}");
        // The form keeps what was asked.
        for pair in query.split('&').filter(|pair| !pair.ends_with("nonsense")) {
            let (name, value) = pair.split_once('=').unwrap();
            assert_eq!(page.form("/orders").value(name), value, "{query}");
        }
    }
    for wrong in ["from=2026-02-30", "to=yesterday"] {
        let page = visitor.open(&format!("/orders?{wrong}")).await;
        assert!(page.has("Geçerli bir tarih girin"), "{wrong}");
        assert_eq!((page.status, listed(&page).len()), (200, 0), "{wrong}");
    }
    let page = visitor.open("/orders?from=2026-03-02&to=2026-03-01").await;
    assert!(
        page.has("Bitiş tarihi başlangıçtan önce olamaz."),
        "{}",
        page.text()
    );
    assert!(!page.has("Sipariş bulunamadı"), "{}", page.text());
}

async fn filters_are_folded_unless_one_is_set(house: House) {
    let shop = house.shop(&house.a, "s").await;
    let mut visitor = house.visitor().await;
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
        let page = visitor.open(&format!("/orders?{query}")).await;
        let filters = page.within("filters", "details").html;
        assert_eq!(
            filters.starts_with("<details id=\"filters\" open>"),
            is_open,
            "{query}"
        );
        // Folded or not, all of them are sent; what is looked for stands before them.
        for name in ["from", "to", "status", "platform", "restaurant"] {
            assert!(filters.contains(&format!("name=\"{name}\"")), "{name}");
        }
        assert!(!filters.contains("name=\"q\""));
    }
}

async fn pages_lead_both_ways(house: House) {
    let shop = house.shop(&house.a, "s").await;
    let mut ids = Vec::new();
    for n in 0..60 {
        ids.insert(0, order(&shop, &format!("P-{n}"), "1", "Ayşe Kaya").await);
    }
    let mut visitor = house.visitor().await;
    for start in ["/orders", "/orders?q=ayse", "/orders?q=p-&status=new"] {
        let way = |page: &Page, rel: &str| {
            let mark = format!("rel=\"{rel}\" href=\"");
            let rest = page.html.split(&mark).nth(1)?;
            Some(rest.split('"').next()?.replace("&#38;", "&"))
        };
        let first = visitor.open(start).await;
        assert_eq!(
            (listed(&first), way(&first, "prev")),
            (ids[..25].to_vec(), None),
            "{start}"
        );
        // Somebody orders meanwhile.
        let new = order(&shop, &format!("P-{start}"), "1", "Ayşe Kaya").await;
        let second = visitor.open(&way(&first, "next").unwrap()).await;
        assert_eq!(listed(&second), ids[25..50], "{start}");
        let third = visitor.open(&way(&second, "next").unwrap()).await;
        assert_eq!(
            (listed(&third), way(&third, "next")),
            (ids[50..].to_vec(), None),
            "{start}"
        );
        let back = visitor.open(&way(&third, "prev").unwrap()).await;
        assert_eq!(listed(&back), ids[25..50], "{start}");
        let top = visitor.open(&way(&back, "prev").unwrap()).await;
        ids.insert(0, new);
        // The newest page is whole.
        let shown = listed(&top);
        assert!(shown == ids[..25] || shown == ids[1..26], "{start}");
        assert_eq!(visitor.open(start).await.status, 200);
        assert_eq!(listed(&visitor.open(start).await), ids[..25], "{start}");
    }
    let page = visitor.open("/orders?cursor=nonsense&dir=prev").await;
    assert_eq!(listed(&page), ids[..25]);
}

async fn what_is_typed_is_text(house: House) {
    let shop = house.shop(&house.a, "s").await;
    order(&shop, "\"><img src=x>", "<i>1</i>", "<script>alert(1)</script>").await;
    let mut visitor = house.visitor().await;
    for text in [
        "",
        "\"><img src=x>",
        "<script>",
        "' OR 1=1 --",
        "%",
        "\\",
        "a\u{0}b",
    ] {
        let page = visitor.open(&format!("/orders?q={}", escape(text))).await;
        assert_eq!(page.status, 200, "{text}");
        for wrong in ["<img", "<script>", "<i>1"] {
            assert!(!page.html.contains(wrong), "{wrong}");
        }
    }
    let page = visitor.open(&format!("/orders?q={}", escape("\"><img"))).await;
    assert!(
        page.has("<script>alert(1)</script>") && page.has("<i>1</i>"),
        "{}",
        page.text()
    );
}

async fn only_the_own_orders_are_found(house: House) {
    let theirs = house.shop(&house.b, "Onların").await;
    let id = order(&theirs, "THEIRS-1", "K7", "İpek Şahin").await;
    let mut visitor = house.visitor().await;
    for query in [
        String::new(),
        "q=ipek".to_owned(),
        "q=theirs-1".to_owned(),
        format!("q={id}"),
        format!("restaurant={}", theirs.restaurant),
        format!("restaurant={}&q=ipek", theirs.restaurant),
        "cursor=0000000000000000&dir=prev".to_owned(),
    ] {
        let page = visitor.open(&format!("/orders?{query}")).await;
        assert_eq!((page.status, listed(&page).len()), (200, 0), "{query}");
        assert!(!page.has("Onların") && !page.has("Şahin"), "{query}");
    }
}

async fn what_is_deleted_is_not_found_any_more(house: House) {
    let (stays, goes) = (
        house.shop(&house.a, "Kalan").await,
        house.shop(&house.a, "Giden").await,
    );
    let kept = order(&stays, "1", "1", "Ayşe Kaya").await;
    for n in 0..5 {
        order(&goes, &format!("G-{n}"), "1", "Ayşe Giden").await;
    }
    let mut visitor = house.visitor().await;
    assert_eq!(listed(&visitor.open("/orders?q=ayse").await).len(), 6);
    house
        .a
        .delete(&format!("/restaurants/{}", goes.restaurant))
        .await
        .success();
    for query in ["q=ayse", "", "q=giden"] {
        let found = listed(&visitor.open(&format!("/orders?{query}")).await);
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
    house.sweep().await;
    until("its words are gone", async || {
        (house.count("order_words"), house.count("orders")) == (1, 1)
    })
    .await;
    // Its id, which is its code too; two names and a telephone.
    assert_eq!(house.count("word_places"), 4);
}

async fn orders_are_made_ready_without_anybody_looking(mut house: House) {
    let mut shop = house.shop(&house.a, "s").await;
    order(&shop, "1", "1", "Ayşe").await;
    until("the first is ready", async || house.count("order_words") == 1).await;
    // What was there before the service, too.
    house.meddle("DELETE FROM order_words; DELETE FROM word_places; DELETE FROM search_progress;");
    house.restart().await;
    shop.addr = house.addr;
    until("it is ready again", async || house.count("order_words") == 1).await;
    order(&shop, "2", "2", "Fatma").await;
    until("both are ready", async || house.count("order_words") == 2).await;
}

async fn an_empty_search_says_what_to_do(house: House) {
    let mut visitor = house.visitor().await;
    let page = visitor.open("/orders").await;
    assert!(
        page.has("Henüz sipariş yok") && page.has("bir platforma bağlayın"),
        "{}",
        page.text()
    );
    // What is looked for can be missing only where there is something.
    house.shop(&house.a, "s").await.order("1").await;
    let page = visitor.open("/orders?q=x").await;
    assert!(
        page.has("Sipariş bulunamadı") && page.has("Aramayı kısaltın"),
        "{}",
        page.text()
    );
    let page = visitor.open("/orders?q=%25").await;
    assert!(
        page.has("Sipariş bulunamadı") && page.has("aranacak harf ya da rakam yok"),
        "{}",
        page.text()
    );
}
