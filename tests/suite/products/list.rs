//! One list of products: matched, searched, linked by people.

use super::setup::{DISH, ProductWorld, by_provider};
use crate::support::Backend;
use serde_json::json;

on_both! {
    dish_of_several_platforms_is_one_product
    links_of_people_survive_the_next_menu
    ; sqlite_only:
    products_are_paged
    products_of_other_accounts_are_not_found
    wrong_input_is_refused
    items_of_a_platform_without_a_menu_come_from_orders
}

async fn dish_of_several_platforms_is_one_product(backend: Backend) {
    let world = ProductWorld::open(backend).await;
    let product = world.find(DISH).await;
    assert_eq!(product["kind"], json!("product"));
    assert_eq!(product["available"], json!(true));
    let platforms = by_provider(&product["platforms"]);
    let keys: Vec<&str> = platforms.keys().map(String::as_str).collect();
    assert_eq!(keys, ["getir", "migros", "trendyol", "yemeksepeti"]);
    for (provider, item) in &platforms {
        assert_eq!(item["itemId"], json!(world.dish[provider]));
        let is_manual = provider == "yemeksepeti";
        assert_eq!(item["isLinkedManually"], json!(is_manual));
        assert_eq!(item["source"], json!(if is_manual { "manual" } else { "menu" }));
        assert_eq!(item["price"], if is_manual { json!(null) } else { json!(20_000) });
    }
}

async fn links_of_people_survive_the_next_menu(backend: Backend) {
    let world = ProductWorld::open(backend).await;
    let link = format!("/products/{}/links/trendyol", world.product);
    let left = world.a.delete(&world.path(&link)).await.data();
    assert!(!by_provider(&left["platforms"]).contains_key("trendyol"));
    world.read_menus().await;
    let found = world
        .get("/products?search=sinama&include=suggestions")
        .await
        .data();
    assert_eq!(found.as_array().unwrap().len(), 2, "{found:#}");
    let own = found
        .as_array()
        .unwrap()
        .iter()
        .find(|it| it["id"] != json!(world.product))
        .unwrap();
    assert_eq!(by_provider(&own["platforms"]).len(), 1);
    assert_eq!(own["suggestions"], json!([]), "a person has separated it");
    // Linked again by a person, its own product is no more.
    let body = json!({ "itemId": world.dish["trendyol"] });
    let linked = world.put(&link, &body).await.data();
    assert_eq!(
        by_provider(&linked["platforms"])["trendyol"]["isLinkedManually"],
        json!(true)
    );
    assert_eq!(world.find(DISH).await["id"], json!(world.product), "its id stays");
    let unknown = json!({ "itemId": "not-there" });
    world.put(&link, &unknown).await.refused(422, "invalid_field");
    let history = world
        .service
        .count("restaurant_history WHERE action LIKE 'product_%'");
    assert_eq!(history, 3, "linked by hand at first, separated, linked again");
}

async fn products_are_paged(backend: Backend) {
    let world = ProductWorld::open(backend).await;
    let mut seen = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = world.get(&format!("/products?limit=7{cursor}")).await.json();
        let data = page["data"].as_array().unwrap();
        seen.extend(data.iter().map(|it| it["id"].as_str().unwrap().to_owned()));
        match page["paging"]["next"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    let all = world.service.count("products");
    assert_eq!(i64::try_from(seen.len()).unwrap(), all);
    seen.sort();
    seen.dedup();
    assert_eq!(i64::try_from(seen.len()).unwrap(), all, "each once");
    let body = json!({ "available": false });
    let path = format!("/products/{}/availability", world.product);
    world.put(&path, &body).await.data();
    let off = world.get("/products?available=false").await.data();
    assert_eq!(off.as_array().unwrap().len(), 1);
    assert_eq!(off[0]["id"], json!(world.product));
}

async fn products_of_other_accounts_are_not_found(backend: Backend) {
    let world = ProductWorld::open(backend).await;
    let stranger = &world.service.b;
    let product = format!("/products/{}", world.product);
    for path in [
        "/products",
        "/menus",
        "/menu-differences?between=platforms",
        &product,
    ] {
        stranger
            .get(&world.path(path))
            .await
            .refused(404, "restaurant_not_found");
    }
    let body = json!({ "available": false });
    let path = world.path(&format!("{product}/availability"));
    stranger
        .put(&path, &body)
        .await
        .refused(404, "restaurant_not_found");
    let theirs = stranger
        .post("/restaurants", &json!({ "name": "B" }))
        .await
        .data();
    let path = format!("/restaurants/{}{product}", theirs["id"].as_str().unwrap());
    stranger.get(&path).await.refused(404, "product_not_found");
    assert!(world.is_available(garson_sim::Platform::Trendyol).await);
}

async fn wrong_input_is_refused(backend: Backend) {
    let world = ProductWorld::open(backend).await;
    let path = format!("/products/{}/availability", world.product);
    for body in [
        json!({ "available": true, "until": "end_of_day" }),
        json!({ "available": false, "until": "2001-01-01T00:00:00Z" }),
        json!({ "available": false, "until": "soon" }),
        json!({ "available": "no" }),
        json!([]),
    ] {
        let reply = world.put(&path, &body).await;
        assert_eq!(reply.status, 422, "{body}: {}", reply.text());
    }
    for providers in [json!(["getir", "ubereats"]), json!([]), json!("getir")] {
        let body = json!({ "available": false, "providers": providers });
        world.put(&path, &body).await.refused(422, "invalid_field");
    }
    for query in ["limit=0", "available=yes", "kind=x", "cursor=1", "include=all"] {
        let reply = world.get(&format!("/products?{query}")).await;
        assert_eq!(reply.status, 422, "{query}");
    }
    let cursor = "018f3c1e-7b1a-7c3e-8d2a-1b2c3d4e5f60";
    world
        .get(&format!("/products?cursor={cursor}"))
        .await
        .refused(422, "invalid_cursor");
    let batch = json!({ "products": [] });
    world
        .put("/products/availability", &batch)
        .await
        .refused(422, "invalid_field");
    assert!(
        world.is_available(garson_sim::Platform::Trendyol).await,
        "nothing has changed"
    );
}

async fn items_of_a_platform_without_a_menu_come_from_orders(backend: Backend) {
    let world = ProductWorld::open(backend).await;
    let before = world.service.count("platform_items WHERE source = 'order'");
    assert_eq!(before, 0);
    world
        .order(
            garson_sim::Platform::Yemeksepeti,
            garson_sim::views::Courier::Platform,
        )
        .await;
    world.read_menus().await;
    let after = world
        .service
        .count("platform_items WHERE source = 'order' AND provider = 'yemeksepeti'");
    assert!(after > 0);
}
