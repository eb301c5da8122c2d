//! What the board shows without script: order of cards, content of a card, filters, density, and the kitchen screen.

use crate::support::{Page, TestService, order_body};
use serde_json::json;
use std::time::Duration;

cases! {
    cards_are_sorted_by_deadline_then_age
    board_can_be_filtered_by_platform
    kitchen_shows_only_what_is_to_be_prepared
    ; sqlite_only:
    card_shows_the_whole_order
    allergy_words_are_marked
    payment_is_said_in_one_line
    long_order_is_shortened_with_a_link
    chosen_view_is_remembered_on_the_device
    remembered_restaurant_of_another_account_is_ignored
    kitchen_is_filtered_and_isolated
    empty_board_of_a_connected_restaurant_waits
    title_counts_the_waiting_orders
    installed_app_has_its_files
}

/// The codes of all cards in the order of the page.
fn codes(page: &Page) -> Vec<String> {
    let parts = page.html.split("class=\"code").skip(1);
    parts
        .map(|part| {
            let text = &part[part.find('>').unwrap() + 1..];
            text[..text.find('<').unwrap()].to_owned()
        })
        .collect()
}

async fn cards_are_sorted_by_deadline_then_age(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    for id in ["NONE-1", "LATE", "NONE-2", "SOON", "TAKEN"] {
        shop.order(id).await;
        service.advance(Duration::from_secs(1));
    }
    let now = service.app.now().as_millis();
    for (id, seconds) in [("LATE", 300), ("SOON", 60), ("TAKEN", 30)] {
        let by = now + seconds * 1000;
        service.execute_sql(&format!(
            "UPDATE orders SET accept_by = {by} WHERE provider_order_id = '{id}'"
        ));
    }
    // The deadline of an accepted order no longer counts.
    service.a.act("/orders/verify/TAKEN").await.data();
    let page = service.user().await.open("/").await;
    assert_eq!(codes(&page), ["SOON", "LATE", "NONE-1", "NONE-2", "TAKEN"]);
    assert_eq!(page.html.matches("<progress").count(), 2);
    assert!(
        page.html.contains("<progress max=\"62\" value=\"60\""),
        "{}",
        page.html
    );
    assert_eq!(page.html.matches("data-waiting").count(), 4);
}

async fn board_can_be_filtered_by_platform(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    shop.order("WEB-1").await;
    shop.order("WEB-2").await;
    service.a.act("/orders/cancel/WEB-2").await.data();
    let mut user = service.user().await;
    for (platform, count) in [("direct", 2), ("getir", 0), ("", 2), ("unknown", 2)] {
        let page = user.open(&format!("/?platform={platform}")).await;
        assert_eq!(codes(&page).len(), count, "{platform}");
    }
    let page = user.open("/?platform=getir").await;
    assert!(page.has("Bu filtreye uyan sipariş yok"), "{}", page.text());
    let path = format!("/?restaurant={}&platform=direct", shop.restaurant);
    let page = user.open(&path).await;
    assert_eq!(codes(&page).len(), 2);
    let stream = page.attribute("data-stream");
    assert!(stream.contains("&platform=direct") && stream.contains(&shop.restaurant));
    // Actions return to the same view.
    let form = page
        .forms()
        .into_iter()
        .find(|form| form.is_post && form.action.starts_with("/board/orders/"));
    let page = user.press(&form.unwrap(), "verify").await;
    assert_eq!(page.path, path);
}

async fn kitchen_shows_only_what_is_to_be_prepared(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    for id in ["NEW", "COOK-1", "COOK-2", "READY", "WAY"] {
        shop.order(id).await;
        service.advance(Duration::from_secs(1));
    }
    for id in ["COOK-1", "COOK-2", "READY", "WAY"] {
        service.a.act(&format!("/orders/verify/{id}")).await.data();
    }
    service.a.act("/orders/change-status/WAY").await.data();
    let mut user = service.user().await;
    let page = user.open("/kitchen").await;
    assert_eq!(codes(&page), ["COOK-1", "COOK-2", "READY"]);
    // One tap, and the card is gone.
    let id = service.a.get("/orders/READY").await.data()["id"].clone();
    let form = page.form(&format!("/board/orders/{}", id.as_str().unwrap()));
    assert_eq!(form.buttons, [("do".to_owned(), "ready".to_owned())]);
    let page = user.press(&form, "ready").await;
    assert_eq!(page.path, "/kitchen");
    assert_eq!(codes(&page), ["COOK-1", "COOK-2"]);
    assert!(service.a.get("/orders/READY").await.data()["readyAt"].is_string());
}

async fn card_shows_the_whole_order(service: TestService) {
    let shop = service.shop(&service.a, "Moda").await;
    let mut body = order_body("Moda", "948213467812", 44_000);
    body["items"] = json!([
        { "name": "Adana dürüm", "quantity": 2, "unitPrice": 11_000, "note": "Az acılı", "options": [
            { "group": "İçecek", "name": "Ayran", "quantity": 2, "price": 0, "options": [{ "name": "Buzsuz" }] },
            { "name": "Soğan", "removed": true },
        ] },
        { "name": "Çorba", "quantity": 1, "unitPrice": 5_000 },
        { "name": "Pide", "quantity": 1, "unitPrice": 5_000 },
        { "name": "Salata", "quantity": 1, "unitPrice": 4_000 },
        { "name": "Künefe", "quantity": 1, "unitPrice": 4_000 },
        { "name": "Çay", "quantity": 4, "unitPrice": 1_000 },
    ]);
    body["amount"] = json!({ "subtotal": 44_000, "total": 44_000 });
    body["note"] = json!("Zile basmayın");
    body["customer"] = json!({ "name": "İpek Çağlar", "phone": "+90 532 000 00 00" });
    body["fulfilment"] = json!({ "type": "delivery", "courier": "restaurant" });
    shop.post(body.to_string().as_bytes()).await.data();
    let page = service.user().await.open("/").await;
    let text = page.text();
    let mut from = 0;
    for expected in [
        "948213467812",
        "İpek",
        "2 × Adana dürüm",
        "2 × Ayran",
        "Buzsuz",
        "Soğan olmasın",
        "Az acılı",
        "1 × Çorba",
        "1 × Pide",
        "1 × Salata",
        "1 × Künefe",
        "4 × Çay",
        "Zile basmayın",
        "Nakit tahsil et · 440 ₺ · Restoran kuryesi",
        "Onayla",
    ] {
        let at = text[from..].find(expected);
        from += at.unwrap_or_else(|| panic!("no {expected} after {from} in {text}"));
    }
    // The rest of the name is for the order's page.
    assert!(!text.contains("Çağlar") && !text.contains("532 000"), "{text}");
}

async fn allergy_words_are_marked(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let mut body = order_body("s", "1", 100);
    body["items"][0]["name"] = json!("Fıstıklı baklava");
    body["items"][0]["note"] = json!("FISTIKSIZ <b>olsun</b>");
    body["items"][0]["options"] = json!([{ "name": "Süt", "removed": true }]);
    body["note"] = json!("Alerjim var");
    shop.post(body.to_string().as_bytes()).await.data();
    let page = service.user().await.open("/").await;
    for marked in ["FISTIKSIZ", "Süt", "Alerjim"] {
        assert!(page.html.contains(&format!("<mark>{marked}</mark>")), "{marked}");
    }
    // What the restaurant itself calls an item is no request.
    assert_eq!(page.html.matches("<mark>").count(), 3);
    assert!(!page.html.contains("<b>olsun"));
}

async fn payment_is_said_in_one_line(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let mut user = service.user().await;
    for (id, payment, courier, expected) in [
        (
            "1",
            json!({ "type": "cash" }),
            "restaurant",
            "Nakit tahsil et · 440,50 ₺ · Restoran kuryesi",
        ),
        (
            "2",
            json!({ "type": "card_on_delivery" }),
            "none",
            "Kartla tahsil et · 440,50 ₺ · Gel al",
        ),
        (
            "3",
            json!({ "type": "cash" }),
            "platform",
            "Nakit, kurye tahsil eder · 440,50 ₺ · Platform kuryesi",
        ),
        (
            "4",
            json!({ "type": "online_card", "isPaid": true }),
            "restaurant",
            "Ödendi (Online kart) · 440,50 ₺ · Restoran kuryesi",
        ),
    ] {
        let mut body = order_body("s", id, 44_050);
        body["payment"] = payment;
        body["fulfilment"] = json!({ "courier": courier });
        let made = shop.post(body.to_string().as_bytes()).await.data();
        let card = format!("o-{}", made["orderId"].as_str().unwrap());
        let card = user.open("/").await.within(&card, "article");
        assert!(card.has(expected), "{expected} is not in {}", card.text());
    }
}

async fn long_order_is_shortened_with_a_link(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let mut body = order_body("s", "1", 300);
    let items: Vec<_> = (0..300)
        .map(|n| json!({ "name": format!("Ürün {n}"), "quantity": 1, "unitPrice": 1 }))
        .collect();
    body["items"] = json!(items);
    let id = shop.post(body.to_string().as_bytes()).await.data()["orderId"].clone();
    let page = service.user().await.open("/").await;
    assert!(page.has("1 × Ürün 119") && !page.has("1 × Ürün 120") && page.has("+180 satır daha"));
    assert!(
        page.links()
            .contains(&format!("/orders/{}", id.as_str().unwrap()))
    );
}

async fn chosen_view_is_remembered_on_the_device(service: TestService) {
    let (one, two) = (
        service.shop(&service.a, "Bir").await,
        service.shop(&service.a, "İki").await,
    );
    one.order("ONE").await;
    two.order("TWO").await;
    let mut user = service.user().await;
    let form = user.open("/").await.form("/");
    // The density is outside of the form, in the menu.
    let filled = form.body(&[("restaurant", two.restaurant.as_str())]);
    let page = user.open(&format!("/?{filled}&density=large")).await;
    assert_eq!(page.path, format!("/?restaurant={}", two.restaurant));
    for path in ["/", "/kitchen"] {
        let page = user.open(path).await;
        assert!(page.attribute("data-stream").contains(&two.restaurant), "{path}");
        assert!(page.html.contains(" large\" id=\"board\""), "{path}");
    }
    assert_eq!(codes(&user.open("/").await), ["TWO"]);
    // A link to something else is not remembered.
    let page = user.open(&format!("/?restaurant={}", one.restaurant)).await;
    assert_eq!(codes(&page), ["ONE"]);
    assert_eq!(codes(&user.open("/").await), ["TWO"]);
    // Another device shows everything.
    let mut other = user.clone();
    other.cookies.remove("garson_board");
    assert_eq!(codes(&other.open("/").await).len(), 2);
    let page = user.open("/?keep=1&restaurant=&platform=").await;
    assert_eq!((page.path.as_str(), codes(&page).len()), ("/", 2));
    assert_eq!(codes(&user.open("/").await).len(), 2);
}

async fn remembered_restaurant_of_another_account_is_ignored(service: TestService) {
    let (ours, theirs) = (
        service.shop(&service.a, "Bizim").await,
        service.shop(&service.b, "Onların").await,
    );
    ours.order("OURS").await;
    theirs.order("THEIRS").await;
    let mut user = service.user().await;
    for kept in [
        format!("{}.getir.large", theirs.restaurant),
        "....".to_owned(),
        "x".repeat(2000),
    ] {
        user.cookies.insert("garson_board".to_owned(), kept.clone());
        let page = user.open("/").await;
        assert_eq!(page.status, 200, "{kept}");
        assert!(!page.has("THEIRS"), "{kept}");
    }
    assert_eq!(codes(&user.open("/").await), ["OURS"]);
    for path in ["/", "/kitchen"] {
        let page = user
            .open(&format!("{path}?restaurant={}", theirs.restaurant))
            .await;
        assert_eq!(page.status, 404, "{path}");
    }
}

async fn kitchen_is_filtered_and_isolated(service: TestService) {
    let (one, two) = (
        service.shop(&service.a, "Bir").await,
        service.shop(&service.a, "İki").await,
    );
    let theirs = service.shop(&service.b, "Onların").await;
    for (shop, client, id) in [
        (&one, &service.a, "ONE"),
        (&two, &service.a, "TWO"),
        (&theirs, &service.b, "THEIRS"),
    ] {
        shop.order(id).await;
        client.act(&format!("/orders/verify/{id}")).await.data();
    }
    let mut user = service.user().await;
    assert_eq!(codes(&user.open("/kitchen").await), ["ONE", "TWO"]);
    let page = user
        .open(&format!("/kitchen?restaurant={}", two.restaurant))
        .await;
    assert_eq!(codes(&page), ["TWO"]);
    assert!(page.attribute("data-stream").contains("place=kitchen"));
    assert!(
        user.open("/kitchen?platform=migros")
            .await
            .has("Hazırlanacak sipariş yok")
    );
}

async fn empty_board_of_a_connected_restaurant_waits(service: TestService) {
    let mut user = service.user().await;
    assert!(user.open("/").await.has("bir platforma bağlayın"));
    service.shop(&service.a, "s").await;
    let page = user.open("/").await;
    assert!(page.has("Platform bağlantınız hazır"), "{}", page.text());
    assert!(!page.has("bir platforma bağlayın"));
}

async fn title_counts_the_waiting_orders(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let mut user = service.user().await;
    assert!(
        user.open("/")
            .await
            .html
            .contains("<title>Canlı pano · Garson</title>")
    );
    shop.order("1").await;
    shop.order("2").await;
    shop.order("3").await;
    service.a.act("/orders/verify/3").await.data();
    assert!(
        user.open("/")
            .await
            .html
            .contains("<title>(2) Canlı pano · Garson</title>")
    );
}

async fn installed_app_has_its_files(service: TestService) {
    let mut stranger = service.anonymous_user();
    let page = stranger.open("/sign-in").await;
    assert!(
        page.html
            .contains("<link rel=\"manifest\" href=\"/manifest.webmanifest?lang=tr\">")
    );
    let manifest = stranger
        .send("GET", "/manifest.webmanifest?lang=en", &[], "")
        .await;
    assert_eq!(manifest.header("content-type"), Some("application/manifest+json"));
    let manifest: serde_json::Value = serde_json::from_slice(&manifest.body).unwrap();
    assert_eq!(
        (&manifest["lang"], &manifest["display"]),
        (&json!("en"), &json!("standalone"))
    );
    assert!(manifest["shortcuts"].to_string().contains("Kitchen screen"));
    let icons = manifest["icons"].as_array().unwrap();
    assert!(icons.iter().any(|icon| icon["purpose"] == "maskable"));
    for icon in icons {
        let reply = stranger.send("GET", icon["src"].as_str().unwrap(), &[], "").await;
        assert_eq!(reply.status, 200, "{icon}");
        assert_eq!(reply.header("content-type"), icon["type"].as_str());
        // The size of a PNG is in its header.
        if icon["type"] == "image/png" {
            let width = u32::from_be_bytes(reply.body[16..20].try_into().unwrap());
            assert_eq!(icon["sizes"], format!("{width}x{width}"));
        }
    }
    let worker = stranger.send("GET", "/service-worker.js", &[], "").await;
    assert!(
        worker
            .header("content-type")
            .unwrap()
            .starts_with("text/javascript")
    );
    assert_eq!(worker.header("cache-control"), Some("no-cache"));
    for (lang, text) in [("tr", "Bağlantı yok"), ("en", "No connection")] {
        let page = stranger.open(&format!("/offline?lang={lang}")).await;
        assert!(page.has(text), "{}", page.text());
    }
}
