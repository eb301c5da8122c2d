//! The products of a restaurant in the panel: search, switching, links, and the products of an order.

use crate::products::setup::{DISH, ProductWorld};
use crate::support::{Backend, Page, PanelUser, remote_id, wait_until};
use garson_sim::Platform;
use garson_sim::Platform::{Getir, Migros, Trendyol};
use garson_sim::views::{Courier, Fault, ItemRequest};
use serde_json::json;

on_both! {
    product_is_sold_out_everywhere_with_one_press
    selected_products_are_switched_together
    products_are_linked_and_separated
    ; sqlite_only:
    search_finds_words_in_any_order_and_turkish_letters
    refusal_is_shown_in_the_platforms_words
    product_is_off_until_the_entered_time
    likely_matches_are_decided_by_a_person
    products_of_an_order_are_found
    product_of_a_first_order_is_found_where_there_is_no_menu
    long_list_has_pages
    pages_of_five_thousand_products_are_light
    wrong_code_is_refused_in_the_language_of_the_page
    pages_and_forms_of_other_accounts_are_not_found
}

fn path(world: &ProductWorld) -> String {
    format!("/restaurants/{}/products", world.restaurant)
}

async fn press(user: &mut PanelUser, world: &ProductWorld, page: &Page, button: &str) -> Page {
    let form = page.form(&format!("{}/switch", path(world)));
    user.submit(&form, &[("do", &format!("{button}:{}", world.product))])
        .await
}

async fn product_is_sold_out_everywhere_with_one_press(backend: Backend) {
    let world = ProductWorld::open(backend).await;
    let mut user = world.service.user().await;
    let list = format!("{}?q=s%C4%B1nama", path(&world));
    let page = user.open(&list).await;
    assert!(page.has(DISH) && page.has("satışta"), "{}", page.text());
    let page = press(&mut user, &world, &page, "day").await;
    assert_eq!(page.path, list, "the search stays");
    for platform in Platform::ALL {
        world.wait_until_available(platform, false).await;
    }
    wait_until("the row shows it", async || {
        let page = user.clone().open(&list).await;
        !page.has("kapatılıyor") && page.has("yeniden satışa:") && !page.has(" satışta ")
    })
    .await;
    let off = user.open(&format!("{}?state=off", path(&world))).await;
    assert!(off.has(DISH));
    let on = user
        .open(&format!("{}?state=on&q=s%C4%B1nama", path(&world)))
        .await;
    assert!(on.has("Aramaya uyan ürün yok"), "{}", on.text());
    press(&mut user, &world, &off, "on").await;
    for platform in Platform::ALL {
        world.wait_until_available(platform, true).await;
    }
    // The history says that a person did it in the panel.
    let history = world.get("/history").await.data();
    let asked: Vec<_> = history
        .as_array()
        .unwrap()
        .iter()
        .filter(|it| it["action"] == json!("products_requested"))
        .collect();
    assert_eq!(asked.len(), 2, "{history:#}");
    for entry in asked {
        assert_eq!(
            (&entry["by"], &entry["keyId"]),
            (&json!("account"), &json!(null)),
            "{entry:#}"
        );
    }
}

async fn selected_products_are_switched_together(backend: Backend) {
    let world = ProductWorld::open(backend).await;
    let mut user = world.service.user().await;
    let page = user.open(&format!("{}?kind=product", path(&world))).await;
    let form = page.form(&format!("{}/switch", path(&world)));
    let boxes: Vec<String> = form
        .boxes
        .iter()
        .filter(|(name, _)| name == "product")
        .map(|(_, id)| id.clone())
        .collect();
    assert!(boxes.len() > 2);
    // Without a selection nothing happens.
    let nothing = user.submit(&form, &[("do", "day")]).await;
    assert!(nothing.has("Önce ürün seçin."), "{}", nothing.text());
    let body = format!(
        "{}&do=never&product={}&product={}",
        form.body(&[]),
        boxes[0],
        boxes[1]
    );
    let reply = user.send("POST", &form.action, &[], &body).await;
    assert_eq!(reply.status, 303);
    wait_until("both are off", async || {
        let off = world.get("/products?available=false").await.data();
        world.wake();
        off.as_array().unwrap().len() == 2
    })
    .await;
    let entries = world
        .service
        .count("restaurant_history WHERE action = 'products_requested'");
    assert_eq!(entries, 1, "one entry for all");
}

async fn products_are_linked_and_separated(backend: Backend) {
    let world = ProductWorld::open(backend).await;
    let mut user = world.service.user().await;
    let own = format!("{}/{}", path(&world), world.product);
    let page = user.open(&own).await;
    let page = user
        .submit(&page.form(&format!("{own}/unlink/trendyol")), &[])
        .await;
    assert!(page.has("Ürün ayrıldı."), "{}", page.text());
    assert!(!page.html.contains("/unlink/trendyol"));
    // Found by its name, and linked again.
    let page = user.open(&format!("{own}?link=kebab%C4%B1")).await;
    let merge = page.form(&format!("{}/merge", path(&world)));
    let page = user.submit(&merge, &[]).await;
    assert!(page.has("Ürünler bağlandı."), "{}", page.text());
    assert!(page.html.contains("/unlink/trendyol"));
    let product = world.get(&format!("/products/{}", world.product)).await.data();
    assert_eq!(product["platforms"].as_array().unwrap().len(), 4);
    // By its code, where the menu cannot be read.
    let page = user
        .submit(&page.form(&format!("{own}/unlink/yemeksepeti")), &[])
        .await;
    let link = page.form(&format!("{own}/link"));
    let page = user
        .submit(&link, &[("itemId", &world.dish["yemeksepeti"])])
        .await;
    assert!(page.html.contains("/unlink/yemeksepeti"), "{}", page.text());
    let gone = user.submit(&merge, &[]).await;
    assert_eq!(gone.status, 404, "the other product is no more");
}

async fn search_finds_words_in_any_order_and_turkish_letters(backend: Backend) {
    let world = ProductWorld::open(backend).await;
    let mut user = world.service.user().await;
    for words in ["KEBABI+sınama", "kebab+s%C4%B1", "SINAMA", "sinama+kebabi"] {
        let page = user.open(&format!("{}?q={words}", path(&world))).await;
        assert!(page.has(DISH), "{words}: {}", page.text());
    }
    let page = user.open(&format!("{}?q=sinama+pizza", path(&world))).await;
    assert!(page.has("Aramaya uyan ürün yok"), "{}", page.text());
    // The script gets only the list.
    let list = format!("{}?q=sinama", path(&world));
    let part = user
        .send("GET", &list, &[("x-part", "products")], "")
        .await
        .text();
    assert!(
        part.trim_start().starts_with("<div id=\"products\"") && part.contains(DISH),
        "{part}"
    );
    assert!(!part.contains("<html"));
}

async fn refusal_is_shown_in_the_platforms_words(backend: Backend) {
    let world = ProductWorld::open(backend).await;
    let mut user = world.service.user().await;
    let refusal = Fault::Status {
        status: 400,
        body: Some(json!({ "message": "Ürün kampanyada, kapatılamaz" })),
    };
    world.fault(Trendyol, "product-status", refusal, None).await;
    let list = format!("{}?q=sinama", path(&world));
    let page = user.open(&list).await;
    press(&mut user, &world, &page, "day").await;
    wait_until("the refusal is in the row", async || {
        world.wake();
        let page = user.clone().open(&list).await;
        page.has("kapatılamadı") && page.has("Ürün kampanyada, kapatılamaz") && page.has("tükendi")
    })
    .await;
    assert!(world.is_available(Trendyol).await);
    world.wait_until_available(Migros, false).await;
}

async fn product_is_off_until_the_entered_time(backend: Backend) {
    let world = ProductWorld::open(backend).await;
    let mut user = world.service.user().await;
    let own = format!("{}/{}", path(&world), world.product);
    let switch = format!("{}/switch", path(&world));
    let until = |page: &Page| {
        let forms = page.forms();
        let found = forms
            .into_iter()
            .find(|form| form.action == switch && form.fields.iter().any(|(name, _)| name == "until"));
        found.unwrap()
    };
    let button = format!("until:{}", world.product);
    let page = user.open(&own).await;
    let form = until(&page);
    assert!(form.value("until").ends_with("T06:00"), "{form:?}");
    for wrong in ["2020-01-01T10:00", "2199-01-01T10:00", "yarın"] {
        let page = user.submit(&form, &[("until", wrong), ("do", &button)]).await;
        assert!(page.has("Gelecekte, en çok bir yıl"), "{wrong}: {}", page.text());
    }
    assert_eq!(world.service.count("desired_items"), 0);
    user.submit(&form, &[("do", &button)]).await;
    for platform in Platform::ALL {
        world.wait_until_available(platform, false).await;
    }
    let wanted = world.wanted().await;
    let at = wanted["migros"]["wanted"]["until"].as_str().unwrap();
    assert!(at.ends_with("T03:00:00.000Z"), "{at}");
}

async fn likely_matches_are_decided_by_a_person(backend: Backend) {
    let world = ProductWorld::open(backend).await;
    let mut user = world.service.user().await;
    let named = |name: &str| ItemRequest {
        name: Some(name.to_owned()),
        price: Some(20_000),
        ..ItemRequest::default()
    };
    let rename = async |platform, name: &str| {
        let id = &world.dish[&Platform::to_string(&platform)];
        let remote = remote_id(platform);
        world
            .control
            .change_item(platform, remote, id, &named(name))
            .await
            .unwrap();
    };
    // Separate products first, then names that are alike.
    for provider in ["trendyol", "migros"] {
        let link = format!("/products/{}/links/{provider}", world.product);
        world.a.delete(&world.path(&link)).await.data();
    }
    world.service.execute_sql("UPDATE products SET is_closed = 0");
    rename(Trendyol, "Özel Sınama Kebabı Tabağı").await;
    rename(Migros, "Acılı Sınama Kebabı Menüsü").await;
    world.world.advance_clock(60).await;
    world.read_menus().await;
    let suggestions = format!("{}/suggestions", path(&world));
    let page = user.open(&suggestions).await;
    let merge = format!("{}/merge", path(&world));
    let apart = format!("{}/keep-apart", path(&world));
    let before = world.service.count("products");
    let page = user.submit(&page.form(&merge), &[]).await;
    assert!(page.has("Ürünler bağlandı."), "{}", page.text());
    assert_eq!(world.service.count("products"), before - 1);
    // What was declined is not asked again.
    let mut page = user.open(&suggestions).await;
    for _ in 0..50 {
        if !page.html.contains(&apart) {
            break;
        }
        page = user.submit(&page.form(&apart), &[]).await;
        assert!(page.has("Ürünler ayrı kalacak."), "{}", page.text());
    }
    assert!(page.has("Öneri yok"), "{}", page.text());
    assert!(user.open(&suggestions).await.has("Öneri yok"));
    // Only the pairs are declined: no product is closed to other matches.
    assert!(world.service.count("declined_matches") > 0);
    assert_eq!(world.service.count("products WHERE is_closed = 1"), 0);
}

async fn products_of_an_order_are_found(backend: Backend) {
    let world = ProductWorld::open(backend).await;
    let mut user = world.service.user().await;
    let placed = world.order(Getir, Courier::Restaurant).await;
    let order = world.find_order(&placed).await.unwrap();
    let own = format!("/board/orders/{}/products", order["id"].as_str().unwrap());
    let board = user.open("/").await;
    assert!(board.links().contains(&own), "{:?}", board.links());
    let page = user.open(&own).await;
    for item in order["items"].as_array().unwrap() {
        assert!(page.has(item["name"].as_str().unwrap()), "{}", page.text());
    }
    let form = page.form(&format!("{}/switch", path(&world)));
    let (_, button) = form
        .buttons
        .iter()
        .find(|(_, value)| value.starts_with("day:"))
        .unwrap();
    let page = user.submit(&form, &[("do", button)]).await;
    assert_eq!(page.path, own, "back at the order");
    wait_until("it is off", async || {
        world.wake();
        world
            .service
            .count("platform_items WHERE provider = 'getir' AND is_available = 0")
            == 1
    })
    .await;
    // A closed order has no link.
    let reason = world.reasons(&placed).await.remove(0);
    world.cancel(&placed, json!({ "reasonId": reason })).await.data();
    let board = user.open("/").await;
    assert!(!board.links().contains(&own));
    // What is not in the list says so.
    world.service.execute_sql("DELETE FROM desired_items");
    world.service.execute_sql("DELETE FROM platform_items");
    world.service.execute_sql("DELETE FROM products");
    let page = user.open(&own).await;
    assert!(page.has("Ürün listesinde bulunamadı."), "{}", page.text());
    assert!(
        page.links()
            .iter()
            .any(|link| link.starts_with(&format!("{}?q=", path(&world)))),
        "{:?}",
        page.links()
    );
}

async fn product_of_a_first_order_is_found_where_there_is_no_menu(backend: Backend) {
    let world = ProductWorld::open(backend).await;
    let mut user = world.service.user().await;
    let placed = world.order(Platform::Yemeksepeti, Courier::Restaurant).await;
    let order = world.find_order(&placed).await.unwrap();
    let own = format!("/board/orders/{}/products", order["id"].as_str().unwrap());
    wait_until("its products are known", async || {
        world.wake();
        let page = user.clone().open(&own).await;
        let form = page.form(&format!("{}/switch", path(&world)));
        form.buttons.iter().any(|(_, value)| value.starts_with("day:"))
    })
    .await;
    assert_eq!(user.open(&own).await.status, 200);
}

async fn long_list_has_pages(backend: Backend) {
    let world = ProductWorld::open(backend).await;
    let mut user = world.service.user().await;
    let all = world.service.count("products");
    let mut seen = 0;
    let mut page = user.open(&path(&world)).await;
    for _ in 0..50 {
        let rows = page.html.matches("<li class=\"product").count();
        assert!(rows <= 35, "{rows}");
        seen += rows;
        let next = page.links().into_iter().find(|link| link.contains("after="));
        let Some(next) = next else { break };
        page = user.open(&next).await;
    }
    assert_eq!(i64::try_from(seen).unwrap(), all);
    // A cursor that is no more shows the first page.
    let gone = format!("{}?after=018f3c1e-7b1a-7c3e-8d2a-1b2c3d4e5f60", path(&world));
    assert_eq!(user.open(&gone).await.status, 200);
}

async fn pages_and_forms_of_other_accounts_are_not_found(backend: Backend) {
    let world = ProductWorld::open(backend).await;
    let mut user = world.service.user_of("second@example.com").await;
    let placed = world.order(Getir, Courier::Restaurant).await;
    let order = world.find_order(&placed).await.unwrap();
    let base = format!("/restaurants/{}", world.restaurant);
    let own = format!("{}/{}", path(&world), world.product);
    for page in [
        path(&world),
        format!("{}/suggestions", path(&world)),
        own.clone(),
        format!("{base}/differences"),
        format!("{base}/prices/018f3c1e-7b1a-7c3e-8d2a-1b2c3d4e5f60"),
        format!("/board/orders/{}/products", order["id"].as_str().unwrap()),
    ] {
        assert_eq!(user.open(&page).await.status, 404, "{page}");
    }
    let csrf = user.open("/keys").await.form("/keys").value("csrf").to_owned();
    let id = &world.product;
    for (form, fields) in [
        (format!("{}/switch", path(&world)), format!("do=day%3A{id}")),
        (
            format!("{}/merge", path(&world)),
            format!("product={id}&other={id}"),
        ),
        (
            format!("{}/keep-apart", path(&world)),
            format!("product={id}&other={id}"),
        ),
        (format!("{own}/link"), "provider=yemeksepeti&itemId=1".to_owned()),
        (format!("{own}/unlink/getir"), String::new()),
        (format!("{base}/menus/read"), String::new()),
        (
            format!("{base}/prices"),
            format!("product={id}&price=1&on.getir=on"),
        ),
        (
            format!("{base}/prices/018f3c1e-7b1a-7c3e-8d2a-1b2c3d4e5f60"),
            String::new(),
        ),
    ] {
        let body = format!("csrf={csrf}&{fields}");
        let reply = user.send("POST", &form, &[], &body).await;
        assert_eq!(reply.status, 404, "{form}");
        let reply = user.send("POST", &form, &[], &fields).await;
        assert_eq!(reply.status, 403, "{form} without a token");
    }
    assert_eq!(world.service.count("desired_items"), 0);
    assert_eq!(world.service.count("price_pushes"), 0);
}

/// The most bytes of a page, before it is compressed.
const MOST_BYTES: usize = 100_000;

async fn pages_of_five_thousand_products_are_light(backend: Backend) {
    let world = ProductWorld::open(backend).await;
    let mut user = world.service.user().await;
    world.service.execute_sql(
        "INSERT INTO products (id, account_id, restaurant_id, is_option, name, name_key, is_closed, is_available,
             created_at, updated_at)
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
         SELECT randomblob(16), p.account_id, p.restaurant_id, 0, 'Közlenmiş patlıcanlı ' || i || ' numaralı kebap',
             'kozlenmis patlicanli ' || i || ' numarali kebap', 0, 1, 0, 0
         FROM n, (SELECT account_id, restaurant_id FROM products LIMIT 1) p",
    );
    world.service.execute_sql(
        "INSERT INTO platform_items (restaurant_id, provider, is_option, remote_id, account_id, product_id, is_manual,
             source, name, category, price, currency, is_available, available_at, traits, places, updated_at)
         SELECT p.restaurant_id, q.provider, 0, 'remote-' || hex(p.id), p.account_id, p.id, 0, 'menu', p.name,
             'Kebaplar', 25000, 'TRY', 1, 0, '[]', '[]', 0
         FROM products p, (SELECT DISTINCT provider FROM platform_items) q
         WHERE NOT EXISTS (SELECT 1 FROM platform_items i WHERE i.product_id = p.id)",
    );
    assert!(world.service.count("platform_items") > 20_000);
    let all = path(&world);
    let mut next = Some(format!("{all}?q=kebap"));
    for _ in 0..3 {
        let page = user.open(&next.take().unwrap()).await;
        assert!(page.html.len() < MOST_BYTES, "{} bytes", page.html.len());
        next = page.links().into_iter().find(|link| link.contains("after="));
    }
    let found = user.open(&format!("{all}?q=kebap+4711")).await;
    assert_eq!(found.html.matches("<li class=\"product").count(), 1);
    for other in ["/suggestions", &format!("/{}", world.product)] {
        let page = user.open(&format!("{all}{other}")).await;
        assert!(page.html.len() < MOST_BYTES, "{other}: {} bytes", page.html.len());
    }
    // A change of very many prices has pages too.
    let ids = world.get("/products?limit=200&search=kebap").await.data();
    let wanted: Vec<_> = ids
        .as_array()
        .unwrap()
        .iter()
        .map(|it| json!({ "productId": it["id"], "price": 26_000 }))
        .collect();
    let preview = json!({ "prices": wanted });
    let preview = world
        .a
        .post(&world.path("/prices/preview"), &preview)
        .await
        .data();
    let own = format!(
        "/restaurants/{}/prices/{}",
        world.restaurant,
        preview["id"].as_str().unwrap()
    );
    let total = preview["prices"].as_array().unwrap().len();
    assert!(total >= 400, "{total}");
    let (mut seen, mut next) = (0, Some(own));
    while let Some(path) = next {
        let page = user.open(&path).await;
        assert!(page.html.len() < MOST_BYTES, "{} bytes", page.html.len());
        seen += page.html.matches("<tr>").count() - 1;
        let links = page.html.split("rel=\"next\" href=\"").nth(1);
        next = links.map(|rest| rest.split('"').next().unwrap().to_owned());
    }
    assert_eq!(seen, total);
}

async fn wrong_code_is_refused_in_the_language_of_the_page(backend: Backend) {
    let world = ProductWorld::open(backend).await;
    let mut user = world.service.user().await;
    let own = format!("{}/{}", path(&world), world.product);
    let csrf = user.open("/keys").await.form("/keys").value("csrf").to_owned();
    let link = |form: &str, fields: &str| (form.to_owned(), format!("csrf={csrf}&{fields}"));
    let id = &world.product;
    for (form, body) in [
        link(&format!("{own}/link"), "provider=getir&itemId=none"),
        link(
            &format!("{}/keep-apart", path(&world)),
            &format!("product={id}&other={id}"),
        ),
    ] {
        let reply = user.send("POST", &form, &[], &body).await;
        assert_eq!(reply.status, 303, "{form}");
        let page = user.open(&own).await;
        let is_turkish = page.has("Bu kod platformun menüsünde yok.") || page.has("Başka bir ürün olmalı.");
        assert!(is_turkish, "{}", page.text());
    }
}
