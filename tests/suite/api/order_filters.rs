//! Filters of the order list, and the list with details.

use crate::support::{TestService, order_body};
use serde_json::{Value, json};
use std::time::Duration;

cases! {
    order_list_applies_filters
    changes_are_listed_since_a_timestamp
    cursors_are_valid_across_filters
    invalid_filters_are_named
    detailed_list_matches_order_details
    page_of_large_orders_ends_early
}

fn ids(list: &Value) -> Vec<&str> {
    let items = list.as_array().unwrap().iter();
    items
        .map(|order| order["providerOrderId"].as_str().unwrap())
        .collect()
}

async fn order_list_applies_filters(service: TestService) {
    let (one, two) = (
        service.shop(&service.a, "one").await,
        service.shop(&service.a, "two").await,
    );
    one.order("noon").await;
    service.a.act("/orders/verify/noon").await.data();
    service.advance(Duration::from_secs(8 * 3600));
    two.order("evening").await;
    service.advance(Duration::from_secs(5 * 3600));
    one.order("night").await;
    service.a.act("/orders/cancel/night").await.data();
    let mark = json!({ "providerOrderId": "noon" });
    service.a.post("/orders/reports/mark", &mark).await.data();
    let of_one = format!("restaurantId={}", one.restaurant);
    for (query, wanted) in [
        ("status=400", vec!["evening"]),
        ("status=500,1600", vec!["night", "noon"]),
        ("status=500,500,%20400", vec!["evening", "noon"]),
        ("status=900", vec![]),
        ("open=true", vec!["evening", "noon"]),
        ("open=false", vec!["night"]),
        ("open=true&status=1600", vec![]),
        ("open=false&status=400,1600", vec!["night"]),
        ("provider=direct", vec!["night", "evening", "noon"]),
        ("provider=getir,direct&status=500", vec!["noon"]),
        ("provider=getir,migros", vec![]),
        ("from=2026-03-01&to=2026-03-01", vec!["evening", "noon"]),
        (
            "from=2026-03-01T17:00:00Z&status=1600,400",
            vec!["night", "evening"],
        ),
        ("to=2026-02-28&open=true", vec![]),
    ] {
        let list = service.a.get(&format!("/orders?{query}")).await.data();
        assert_eq!(ids(&list), wanted, "{query}");
        let of_one = service.a.get(&format!("/orders?{of_one}&{query}")).await.data();
        let wanted: Vec<_> = wanted.into_iter().filter(|id| *id != "evening").collect();
        assert_eq!(ids(&of_one), wanted, "{query} of a restaurant");
    }
    // Items are those of the plain list, byte for byte.
    let (plain, narrowed) = (
        service.a.get("/orders").await.data(),
        service.a.get("/orders?status=400,500,1600").await.data(),
    );
    assert_eq!(plain.to_string(), narrowed.to_string());
    assert_eq!(service.b.get("/orders?open=true").await.data(), json!([]));
}

async fn changes_are_listed_since_a_timestamp(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    for id in ["a", "b", "c"] {
        shop.order(id).await;
        service.advance(Duration::from_secs(60));
    }
    service.a.act("/orders/verify/a").await.data();
    service.advance(Duration::from_secs(60));
    let mark = json!({ "providerOrderId": "b" });
    service.a.post("/orders/reports/mark", &mark).await.data();
    let list = "/orders?updatedSince=2026-03-01T09:02:00Z";
    let page = service.a.get(list).await.success();
    assert_eq!(ids(&page["data"]), ["b", "a", "c"]);
    let moments: Vec<_> = page["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["updatedAt"])
        .collect();
    assert_eq!(
        moments,
        [
            "2026-03-01T09:04:00.000Z",
            "2026-03-01T09:03:00.000Z",
            "2026-03-01T09:02:00.000Z"
        ]
    );
    assert_eq!(
        ids(&service
            .a
            .get("/orders?updatedSince=2026-03-01T09:03:00Z&status=400")
            .await
            .data()),
        ["b"]
    );
    assert_eq!(
        ids(&service
            .a
            .get("/orders?updatedSince=2026-03-01&limit=2")
            .await
            .data()),
        ["b", "a"]
    );
    // The plain list says nothing of it.
    let plain = service.a.get("/orders").await.data();
    assert!(plain[0].get("updatedAt").is_none());
    // Going on from the newest page shows each later change once.
    let mut prev = page["paging"]["prev"].as_str().unwrap().to_owned();
    for (path, id) in [("/orders/verify/c", "c"), ("/orders/cancel/b", "b")] {
        service.a.act(path).await.data();
        let page = service
            .a
            .get(&format!("{list}&dir=prev&cursor={prev}"))
            .await
            .success();
        assert_eq!(ids(&page["data"]), [id]);
        page["paging"]["prev"].as_str().unwrap().clone_into(&mut prev);
    }
    let nothing = service
        .a
        .get(&format!("{list}&dir=prev&cursor={prev}"))
        .await
        .success();
    assert_eq!(
        (&nothing["data"], &nothing["paging"]["prev"]),
        (&json!([]), &json!(prev))
    );
}

async fn cursors_are_valid_across_filters(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    for id in ["a", "b", "c", "d"] {
        shop.order(id).await;
    }
    service.a.act("/orders/verify/b").await.data();
    let page = service.a.get("/orders?limit=2").await.success();
    let next = page["paging"]["next"].as_str().unwrap();
    // A position among all orders: what narrows the list is given again, and may be something else.
    for (filter, wanted) in [
        ("", vec!["b", "a"]),
        ("&status=400", vec!["a"]),
        ("&status=500", vec!["b"]),
    ] {
        let page = service
            .a
            .get(&format!("/orders?cursor={next}{filter}"))
            .await
            .data();
        assert_eq!(ids(&page), wanted, "{filter}");
    }
}

async fn invalid_filters_are_named(service: TestService) {
    for (query, field) in [
        ("status=x", "status"),
        ("status=400,401", "status"),
        ("status=400&status=500", "status"),
        ("provider=", "provider"),
        ("provider=getir,nobody", "provider"),
        ("open=yes", "open"),
        ("open=", "open"),
        ("from=yesterday", "from"),
        ("to=2026-02-30", "to"),
        ("updatedSince=now", "updatedSince"),
        ("updatedSince=2026-03-01T12:00", "updatedSince"),
        ("include=everything", "include"),
    ] {
        let reply = service.a.get(&format!("/orders?{query}")).await;
        reply.wrong(422, "invalid_parameter", field);
    }
}

async fn detailed_list_matches_order_details(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    for id in ["a", "b", "c"] {
        shop.order(id).await;
    }
    service.a.act("/orders/verify/b").await.data();
    service.a.act("/orders/cancel/c").await.data();
    let plain = service.a.get("/orders").await.data();
    for filter in ["", "&provider=direct", "&updatedSince=2026-01-01"] {
        let page = service
            .a
            .get(&format!("/orders?include=detail{filter}"))
            .await
            .data();
        assert_eq!(page.as_array().unwrap().len(), 3, "{filter}");
        for order in page.as_array().unwrap() {
            let id = order["providerOrderId"].as_str().unwrap();
            let detail = service.a.get(&format!("/orders/{id}")).await.data();
            for (field, value) in detail.as_object().unwrap() {
                assert_eq!(&order[field], value, "{field} of {id}");
            }
            // What list items have is there too.
            let item = plain
                .as_array()
                .unwrap()
                .iter()
                .find(|it| it["id"] == order["id"])
                .unwrap();
            for (field, value) in item.as_object().unwrap() {
                assert_eq!(&order[field], value, "{field} of {id}");
            }
        }
    }
    let page = service.a.get("/orders?include=detail&limit=2").await.success();
    assert_eq!(ids(&page["data"]), ["c", "b"]);
    let next = page["paging"]["next"].as_str().unwrap();
    let rest = service
        .a
        .get(&format!("/orders?include=detail&cursor={next}"))
        .await
        .data();
    assert_eq!(ids(&rest), ["a"]);
}

async fn page_of_large_orders_ends_early(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let mut wanted = Vec::new();
    for n in 0..8 {
        let id = format!("{n}");
        let mut body = order_body(&shop.store, &id, 1_000);
        body["items"] = (0..400)
            .map(|_| json!({ "name": "Lahmacun", "quantity": 1, "unitPrice": 1, "note": "x".repeat(1_900) }))
            .collect();
        shop.post(body.to_string().as_bytes()).await.data();
        wanted.insert(0, id);
    }
    for direction in ["next", "prev"] {
        let (mut all, mut cursor, mut pages) = (Vec::new(), String::new(), 0);
        loop {
            let list = format!("/orders?include=detail&dir={direction}{cursor}");
            let page = service.a.get(&list).await.success();
            let found: Vec<String> = ids(&page["data"]).into_iter().map(str::to_owned).collect();
            let is_empty = found.is_empty();
            match direction {
                "next" => all.extend(found),
                _ => drop(all.splice(0..0, found)),
            }
            pages += 1;
            let Some(next) = page["paging"][direction].as_str().filter(|_| !is_empty) else {
                break;
            };
            cursor = format!("&cursor={next}");
        }
        assert_eq!(all, wanted, "{direction}");
        assert!(pages > 1, "{direction}");
    }
}
