//! A deleted business is out of sight at once, and swept away afterwards.

use crate::support::{House, Kind, order_body, run, until};
use serde_json::{Value, json};

cases! {
    a_deleted_business_is_out_of_sight_at_once
    sweeping_leaves_nothing_behind_and_touches_nobody_else
    orders_that_arrive_while_it_is_deleted_leave_nothing_either
    a_restaurant_that_cannot_be_swept_holds_up_nothing_else
}

async fn business(house: &House, name: &str) -> String {
    let made = house.a.post("/businesses", &json!({ "name": name })).await.data();
    made["id"].as_str().unwrap().to_owned()
}

/// A business with two restaurants, and one that stands alone.
async fn set_up(house: &House, orders: usize) -> (String, String) {
    let id = business(house, "gone").await;
    let mut keep = String::new();
    for (store, below) in [("one", true), ("two", true), ("three", false)] {
        let shop = house.shop(&house.a, store).await;
        if below {
            let body = json!({ "restaurantId": shop.restaurant });
            house
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

async fn total(house: &House) -> Value {
    house.a.get("/orders/grouped-payments").await.data()["currencies"].clone()
}

async fn a_deleted_business_is_out_of_sight_at_once(house: House) {
    let (id, keep) = set_up(&house, 3).await;
    assert_eq!(total(&house).await[0]["total"], json!(900));
    house.a.delete(&format!("/businesses/{id}")).await.done();
    house
        .a
        .get(&format!("/businesses/{id}"))
        .await
        .refused(404, "business_not_found");
    house
        .a
        .get(&format!("/businesses/{id}/restaurants"))
        .await
        .refused(404, "business_not_found");
    house
        .a
        .delete(&format!("/businesses/{id}"))
        .await
        .refused(404, "business_not_found");
    let restaurants = house.a.get("/restaurants").await.data();
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
        let shown = house.a.get(list).await.data();
        assert!(seen(&shown), "{list}: {shown}");
        assert!(!shown.as_array().unwrap().is_empty());
    }
    assert_eq!(
        total(&house).await,
        json!([{ "currency": "TRY", "count": 3, "total": 300 }])
    );
    for order in ["one-0", "two-2"] {
        house
            .a
            .get(&format!("/orders/{order}"))
            .await
            .refused(404, "order_not_found");
        house
            .a
            .act(&format!("/orders/verify/{order}"))
            .await
            .refused(404, "order_not_found");
    }
}

async fn sweeping_leaves_nothing_behind_and_touches_nobody_else(house: House) {
    let (id, keep) = set_up(&house, 60).await;
    let theirs = house.shop(&house.b, "theirs").await;
    theirs.order("1").await;
    let before = house.a.get("/orders/three-7").await.data();
    house.a.delete(&format!("/businesses/{id}")).await.done();
    while garson::flow::upkeep::sweep::step(&house.app).await.unwrap() {
        assert_eq!(
            total(&house).await,
            json!([{ "currency": "TRY", "count": 60, "total": 6_000 }])
        );
    }
    assert_eq!(
        total(&house).await,
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
        assert_eq!(house.count(table), rows, "{table}");
    }
    assert_eq!(house.a.get("/orders/three-7").await.data(), before);
    assert_eq!(
        house
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
        house
            .a
            .get(&format!("/orders?limit=200&restaurantId={keep}"))
            .await
            .data()
            .as_array()
            .unwrap()
            .len(),
        60
    );
    assert_eq!(house.b.get("/orders").await.data().as_array().unwrap().len(), 1);
}

async fn orders_that_arrive_while_it_is_deleted_leave_nothing_either(house: House) {
    let id = business(&house, "gone").await;
    let shop = house.shop(&house.a, "s").await;
    let body = json!({ "restaurantId": shop.restaurant });
    house
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
    until("some orders have come", async || {
        house.a.get("/orders").await.data().as_array().unwrap().len() > 20
    })
    .await;
    house.a.delete(&format!("/businesses/{id}")).await.done();
    // Whoever was not in time was told so, and did not go on.
    assert!(running.join_all().await.iter().any(|count| *count < 200));
    assert_eq!(house.a.get("/orders").await.data(), json!([]));
    assert_eq!(total(&house).await, json!([]));
    house.sweep().await;
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
        assert_eq!(house.count(table), 0, "{table}");
    }
}

/// The customer's name stands in the order, the platform's message and the words of search; none of it stays in the file.
#[test]
fn a_deleted_order_leaves_no_bytes_in_the_file_of_sqlite() {
    const NAME: &str = "Qwyjibo";
    run(Kind::Sqlite, async |house: House| {
        let is_in_file = || {
            // What is not in the database yet is brought there from its log.
            house.meddle("PRAGMA wal_checkpoint(FULL)");
            let mut bytes = std::fs::read(house.home().data().join("garson.db")).unwrap();
            bytes.make_ascii_lowercase();
            let name = NAME.to_ascii_lowercase();
            bytes.windows(name.len()).any(|part| part == name.as_bytes())
        };
        let shop = house.shop(&house.a, "s").await;
        let mut body = order_body("s", "1", 100);
        body["customer"] = json!({ "name": NAME });
        shop.post(body.to_string().as_bytes()).await.data();
        until("search knows it", async || house.count("word_places") > 0).await;
        until("it is in the file", async || is_in_file()).await;
        let path = format!("/restaurants/{}", shop.restaurant);
        house.a.delete(&path).await.done();
        house.sweep().await;
        until("nothing of it is left", async || !is_in_file()).await;
    });
}

async fn a_restaurant_that_cannot_be_swept_holds_up_nothing_else(house: House) {
    house.meddle(match house.kind {
        Kind::Sqlite => {
            "CREATE TRIGGER stuck BEFORE DELETE ON restaurants WHEN OLD.name = 'stuck'
             BEGIN SELECT RAISE(ABORT, 'stuck'); END"
        }
        Kind::Postgres => {
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
                 $$ BEGIN RAISE EXCEPTION 'stuck'; END $$;
             CREATE TRIGGER stuck BEFORE DELETE ON restaurants FOR EACH ROW
             WHEN (OLD.name = 'stuck') EXECUTE FUNCTION refuse()"
        }
    });
    for name in ["stuck", "other"] {
        let made = house
            .a
            .post("/restaurants", &json!({ "name": name }))
            .await
            .data();
        let path = format!("/restaurants/{}", made["id"].as_str().unwrap());
        house.a.delete(&path).await.done();
    }
    while garson::flow::upkeep::sweep::step(&house.app)
        .await
        .is_ok_and(|worked| worked)
    {}
    assert_eq!(house.count("restaurants WHERE name = 'stuck'"), 1);
    assert_eq!(house.count("restaurants WHERE name = 'other'"), 0);
}
