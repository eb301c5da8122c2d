//! A deleted business disappears immediately and is swept afterwards.

use crate::support::{Backend, TestService, order_body, run, wait_until};
use serde_json::{Value, json};

cases! {
    deleted_business_disappears_immediately
    sweep_removes_everything_of_one_business_only
    orders_arriving_during_deletion_are_swept
    unsweepable_restaurant_does_not_block_others
}

async fn business(service: &TestService, name: &str) -> String {
    let made = service
        .a
        .post("/businesses", &json!({ "name": name }))
        .await
        .data();
    made["id"].as_str().unwrap().to_owned()
}

/// A business with two restaurants, and a restaurant without a business.
async fn set_up(service: &TestService, orders: usize) -> (String, String) {
    let id = business(service, "gone").await;
    let mut keep = String::new();
    for (store, below) in [("one", true), ("two", true), ("three", false)] {
        let shop = service.shop(&service.a, store).await;
        if below {
            let body = json!({ "restaurantId": shop.restaurant });
            service
                .a
                .post(&format!("/businesses/{id}/restaurants"), &body)
                .await
                .data();
        } else {
            keep = shop.restaurant.clone();
        }
        for n in 0..orders {
            shop.order_of(&format!("{store}-{n}"), 100).await;
        }
    }
    (id, keep)
}

async fn total(service: &TestService) -> Value {
    service.a.get("/orders/grouped-payments").await.data()["currencies"].clone()
}

async fn deleted_business_disappears_immediately(service: TestService) {
    let (id, keep) = set_up(&service, 3).await;
    assert_eq!(total(&service).await[0]["total"], json!(900));
    service.a.delete(&format!("/businesses/{id}")).await.done();
    service
        .a
        .get(&format!("/businesses/{id}"))
        .await
        .refused(404, "business_not_found");
    service
        .a
        .get(&format!("/businesses/{id}/restaurants"))
        .await
        .refused(404, "business_not_found");
    service
        .a
        .delete(&format!("/businesses/{id}"))
        .await
        .refused(404, "business_not_found");
    let restaurants = service.a.get("/restaurants").await.data();
    assert_eq!(restaurants.as_array().unwrap().len(), 1);
    assert_eq!(restaurants[0]["id"], json!(keep));
    let seen = |list: &Value| {
        list.as_array()
            .unwrap()
            .iter()
            .all(|item| item["restaurantId"] == json!(keep) || item["veri"]["restaurantId"] == json!(keep))
    };
    for list in [
        "/orders",
        "/orders/reports/pending",
        "/events",
        "/webhook/deliveries",
    ] {
        let shown = service.a.get(list).await.data();
        assert!(seen(&shown), "{list}: {shown}");
        assert!(!shown.as_array().unwrap().is_empty());
    }
    assert_eq!(
        total(&service).await,
        json!([{ "currency": "TRY", "count": 3, "total": 300 }])
    );
    for order in ["one-0", "two-2"] {
        service
            .a
            .get(&format!("/orders/{order}"))
            .await
            .refused(404, "order_not_found");
        service
            .a
            .act(&format!("/orders/verify/{order}"))
            .await
            .refused(404, "order_not_found");
    }
}

async fn sweep_removes_everything_of_one_business_only(service: TestService) {
    let (id, keep) = set_up(&service, 60).await;
    let theirs = service.shop(&service.b, "theirs").await;
    theirs.order("1").await;
    let before = service.a.get("/orders/three-7").await.data();
    service.a.delete(&format!("/businesses/{id}")).await.done();
    while garson::flow::upkeep::sweep::step(&service.app).await.unwrap() {
        assert_eq!(
            total(&service).await,
            json!([{ "currency": "TRY", "count": 60, "total": 6_000 }])
        );
    }
    assert_eq!(
        total(&service).await,
        json!([{ "currency": "TRY", "count": 60, "total": 6_000 }])
    );
    // Sixty of ours and one of theirs, with one event and one line each.
    for (table, rows) in [
        ("orders", 61),
        ("order_contents", 61),
        ("order_timeline", 61),
        ("events", 63),
        ("inbox", 61),
        ("restaurants", 2),
        ("integrations", 2),
        ("packages", 2),
        ("businesses", 0),
    ] {
        assert_eq!(service.count(table), rows, "{table}");
    }
    assert_eq!(service.a.get("/orders/three-7").await.data(), before);
    assert_eq!(
        service
            .a
            .get("/orders?limit=200")
            .await
            .data()
            .as_array()
            .unwrap()
            .len(),
        60
    );
    assert_eq!(
        service
            .a
            .get(&format!("/orders?limit=200&restaurantId={keep}"))
            .await
            .data()
            .as_array()
            .unwrap()
            .len(),
        60
    );
    assert_eq!(service.b.get("/orders").await.data().as_array().unwrap().len(), 1);
}

async fn orders_arriving_during_deletion_are_swept(service: TestService) {
    let id = business(&service, "gone").await;
    let shop = service.shop(&service.a, "s").await;
    let body = json!({ "restaurantId": shop.restaurant });
    service
        .a
        .post(&format!("/businesses/{id}/restaurants"), &body)
        .await
        .data();
    let mut running = tokio::task::JoinSet::new();
    for task in 0..16 {
        let shop = shop.clone();
        running.spawn(async move {
            for n in 0..200 {
                let body = order_body("s", &format!("{task}-{n}"), 100).to_string();
                let reply = shop.post(body.as_bytes()).await;
                match reply.status {
                    200 => {}
                    401 | 404 => return n,
                    _ => panic!("{}", reply.text()),
                }
            }
            200
        });
    }
    wait_until("some orders have come", async || {
        service.a.get("/orders").await.data().as_array().unwrap().len() > 20
    })
    .await;
    service.a.delete(&format!("/businesses/{id}")).await.done();
    // Late requests were refused and had no effect.
    assert!(running.join_all().await.iter().any(|count| *count < 200));
    assert_eq!(service.a.get("/orders").await.data(), json!([]));
    assert_eq!(total(&service).await, json!([]));
    service.sweep().await;
    let tables = [
        "orders",
        "order_contents",
        "order_timeline",
        "events",
        "inbox",
        "integrations",
        "restaurants",
    ];
    for table in tables {
        assert_eq!(service.count(table), 0, "{table}");
    }
}

/// The customer's name is in the order, the platform's message and the search index; none of it stays in the file.
#[test]
fn deleted_order_leaves_no_bytes_in_the_sqlite_file() {
    const NAME: &str = "Qwyjibo";
    run(Backend::Sqlite, async |service: TestService| {
        let is_in_file = || {
            // What is not in the database yet is brought there from its log.
            service.execute_sql("PRAGMA wal_checkpoint(FULL)");
            let mut bytes = std::fs::read(service.storage().data().join("garson.db")).unwrap();
            bytes.make_ascii_lowercase();
            let name = NAME.to_ascii_lowercase();
            bytes.windows(name.len()).any(|part| part == name.as_bytes())
        };
        let shop = service.shop(&service.a, "s").await;
        let mut body = order_body("s", "1", 100);
        body["customer"] = json!({ "name": NAME });
        shop.post(body.to_string().as_bytes()).await.data();
        wait_until("search knows it", async || service.count("word_places") > 0).await;
        wait_until("it is in the file", async || is_in_file()).await;
        let path = format!("/restaurants/{}", shop.restaurant);
        service.a.delete(&path).await.done();
        service.sweep().await;
        wait_until("nothing of it is left", async || !is_in_file()).await;
    });
}

async fn unsweepable_restaurant_does_not_block_others(service: TestService) {
    service.execute_sql(match service.backend {
        Backend::Sqlite => {
            "CREATE TRIGGER stuck BEFORE DELETE ON restaurants WHEN OLD.name = 'stuck'
             BEGIN SELECT RAISE(ABORT, 'stuck'); END"
        }
        Backend::Postgres => {
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
                 $$ BEGIN RAISE EXCEPTION 'stuck'; END $$;
             CREATE TRIGGER stuck BEFORE DELETE ON restaurants FOR EACH ROW
             WHEN (OLD.name = 'stuck') EXECUTE FUNCTION refuse()"
        }
    });
    for name in ["stuck", "other"] {
        let made = service
            .a
            .post("/restaurants", &json!({ "name": name }))
            .await
            .data();
        let path = format!("/restaurants/{}", made["id"].as_str().unwrap());
        service.a.delete(&path).await.done();
    }
    while garson::flow::upkeep::sweep::step(&service.app)
        .await
        .is_ok_and(|worked| worked)
    {}
    assert_eq!(service.count("restaurants WHERE name = 'stuck'"), 1);
    assert_eq!(service.count("restaurants WHERE name = 'other'"), 0);
}
