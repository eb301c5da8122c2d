//! Finding and exporting a customer's data.

use super::setup::{PHONE, deliver, indexed, order_of_zeynep, place};
use crate::support::{ApiClient, Backend, TestService, order_body};
use serde_json::{Value, json};

on_both! {
    customer_is_found_by_phone_email_or_name
    export_has_everything_and_nobody_else
    ; sqlite_only:
    wrong_queries_are_refused
    answers_are_not_stored_under_an_idempotency_key
}

async fn found(client: &ApiClient, query: Value) -> Vec<String> {
    let data = client.post("/privacy/search", &query).await.data();
    let orders = data["orders"].as_array().unwrap().iter();
    orders
        .map(|it| it["providerOrderId"].as_str().unwrap().to_owned())
        .collect()
}

async fn customer_is_found_by_phone_email_or_name(backend: Backend) {
    let service = TestService::open(backend).await;
    let shop = service.shop(&service.a, "s").await;
    for id in ["1", "2"] {
        place(&shop, &order_of_zeynep("s", id, 5_000)).await;
    }
    let mut other = order_body("s", "3", 1_000);
    // The same shared number, another customer.
    other["customer"] = json!({ "name": "Mehmet Demir", "phone": PHONE });
    place(&shop, &other).await;
    place(&shop, &order_body("s", "4", 1_000)).await;
    // Indexed or not yet.
    for is_indexed in [false, true] {
        if is_indexed {
            indexed(&service, 4).await;
        }
        let client = &service.a;
        for phone in ["05559871234", "(555) 987-12-34", "00905559871234"] {
            assert_eq!(
                found(client, json!({ "phone": phone })).await,
                ["1", "2", "3"],
                "{phone}"
            );
        }
        assert_eq!(
            found(client, json!({ "phone": PHONE, "name": "zeynep KARAAGAC" })).await,
            ["1", "2"]
        );
        assert_eq!(
            found(client, json!({ "name": "Karaağaç Zeynep" })).await,
            ["1", "2"]
        );
        assert_eq!(
            found(client, json!({ "email": "ZEYNEP@example.org" })).await,
            ["1", "2"]
        );
        for nobody in [
            json!({ "name": "Zeynep" }),
            json!({ "phone": "5559871235" }),
            json!({ "email": "x@example.org" }),
        ] {
            assert!(found(client, nobody.clone()).await.is_empty(), "{nobody}");
        }
        assert!(found(&service.b, json!({ "phone": PHONE })).await.is_empty());
    }
}

async fn export_has_everything_and_nobody_else(backend: Backend) {
    let service = TestService::open(backend).await;
    let shop = service.shop(&service.a, "s").await;
    for number in 0..120 {
        let id = format!("Z{number}");
        place(&shop, &order_of_zeynep("s", &id, 5_000)).await;
    }
    let order = place(&shop, &order_of_zeynep("s", "last", 5_000)).await;
    deliver(&service.a, &order).await;
    let mut other = order_body("s", "other", 1_000);
    other["customer"] = json!({ "name": "Mehmet Demir", "phone": "5551112233" });
    place(&shop, &other).await;
    let reply = service
        .a
        .post("/privacy/export", &json!({ "phone": PHONE }))
        .await;
    assert!(
        reply
            .header("content-disposition")
            .unwrap()
            .contains("customer.json")
    );
    let data = reply.data();
    let orders = data["orders"].as_array().unwrap();
    assert_eq!(orders.len(), 121);
    let last = orders.last().unwrap();
    assert_eq!(last["content"]["customer"]["address"]["text"], "Lavanta Sokağı 7");
    assert_eq!(
        last["platformMessages"][0]["body"]["customer"]["name"],
        "Zeynep Karaağaç"
    );
    assert_eq!(last["events"].as_array().unwrap().len(), 4);
    assert!(!data.to_string().contains("Mehmet"));
    // Nobody is found in the audit log.
    let log = service.a.get("/audit?action=customer").await.data();
    assert_eq!(log[0]["action"], "customer.exported");
    // Hashes may contain any three digits.
    let digits: String = PHONE.chars().filter(char::is_ascii_digit).collect();
    assert!(!log.to_string().contains(&digits[5..]), "{log}");
}

async fn wrong_queries_are_refused(backend: Backend) {
    let service = TestService::open(backend).await;
    for path in ["/privacy/search", "/privacy/export", "/privacy/erasures"] {
        let post = async |body: Value| service.a.post(path, &body).await;
        post(json!({})).await.wrong(422, "invalid_field", "phone");
        post(json!({ "phone": "12" }))
            .await
            .wrong(422, "invalid_field", "phone");
        post(json!({ "email": "nobody" }))
            .await
            .wrong(422, "invalid_field", "email");
        post(json!({ "name": "…" }))
            .await
            .wrong(422, "invalid_field", "name");
    }
    let days = json!({ "anonymiseDays": -1 });
    service
        .a
        .put("/privacy/settings", &days)
        .await
        .wrong(422, "invalid_field", "anonymiseDays");
    let nil = "/privacy/erasures/01980a3c-0000-7000-8000-000000000002";
    service.a.get(nil).await.refused(404, "erasure_not_found");
    service
        .a
        .get("/privacy/erasures/x")
        .await
        .refused(404, "erasure_not_found");
}

async fn answers_are_not_stored_under_an_idempotency_key(backend: Backend) {
    let service = TestService::open(backend).await;
    let shop = service.shop(&service.a, "s").await;
    place(&shop, &order_of_zeynep("s", "1", 5_000)).await;
    let body = json!({ "phone": PHONE }).to_string();
    for path in ["/privacy/search", "/privacy/export"] {
        service.a.keyed("k", path, &body).await.success();
    }
    assert_eq!(service.count("idempotency"), 0);
}
