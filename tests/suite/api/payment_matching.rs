//! Payment matching with a simulated POS.

use crate::support::{Backend, CannedResponse, Gate, Receiver, TestService, block_on, order_body};
use serde_json::{Value, json};

cases! {
    payment_matches_are_set_and_shown_on_orders
    invalid_matches_are_refused_and_change_nothing
    matches_are_shown_without_a_pos_address
}

async fn restaurant(service: &TestService, body: Value) -> String {
    let made = service.a.post("/restaurants", &body).await.data();
    made["id"].as_str().unwrap().to_owned()
}

async fn payment_matches_are_set_and_shown_on_orders(service: TestService) {
    let id = restaurant(&service, json!({ "name": "r" })).await;
    let shop = service.connect(&service.a, &id, "s", json!({})).await;
    let path = format!("/restaurants/{id}/payment-matching");
    let matches = json!([
        { "provider": "direct", "type": "cash", "providerCode": null, "matchedId": "NAKIT" },
        { "provider": "direct", "type": null, "providerCode": "SDX", "matchedId": "17" },
    ]);
    assert_eq!(
        service.a.put(&path, &json!({ "matches": matches })).await.data(),
        matches
    );
    assert_eq!(service.a.get(&path).await.data()["matches"], matches);
    shop.order("1").await;
    assert_eq!(
        service.a.get("/orders/1").await.data()["payment"]["matchedId"],
        json!("NAKIT")
    );
    let mut body = order_body("s", "2", 100);
    body["payment"] = json!({ "type": "cash", "providerCode": "SDX" });
    shop.post(body.to_string().as_bytes()).await.success();
    assert_eq!(
        service.a.get("/orders/2").await.data()["payment"]["matchedId"],
        json!("17")
    );
    let mut body = order_body("s", "3", 100);
    body["payment"] = json!({ "type": "wallet" });
    shop.post(body.to_string().as_bytes()).await.success();
    assert_eq!(
        service.a.get("/orders/3").await.data()["payment"]["matchedId"],
        json!(null)
    );
    assert_eq!(
        service.a.put(&path, &json!({ "matches": [] })).await.data(),
        json!([])
    );
    assert_eq!(
        service.a.get("/orders/1").await.data()["payment"]["matchedId"],
        json!(null)
    );
}

async fn invalid_matches_are_refused_and_change_nothing(service: TestService) {
    let id = restaurant(&service, json!({ "name": "r" })).await;
    let path = format!("/restaurants/{id}/payment-matching");
    let good = json!({ "matches": [{ "provider": "direct", "type": "cash", "matchedId": "1" }] });
    service.a.put(&path, &good).await.data();
    let before = service.a.get(&path).await.data();
    for (wrong, field) in [
        (json!({}), "matches"),
        (json!({ "matches": {} }), "matches"),
        (
            json!({ "matches": [{ "provider": "direct", "type": "gold", "matchedId": "1" }] }),
            "matches[0].type",
        ),
        (
            json!({ "matches": [{ "provider": "direct", "matchedId": "1" }] }),
            "matches[0]",
        ),
        (
            json!({ "matches": [{ "provider": "direct", "type": "cash" }] }),
            "matches[0].matchedId",
        ),
        (
            json!({ "matches": [{ "provider": "direct", "type": "cash", "matchedId": 1 }] }),
            "matches[0].matchedId",
        ),
        (
            json!({ "matches": [
                { "provider": "direct", "type": "cash", "matchedId": "1" },
                { "provider": "direct", "type": "cash", "providerCode": "SDX", "matchedId": "2" },
                { "provider": "direct", "type": "cash", "matchedId": "3" },
            ] }),
            "matches[2]",
        ),
    ] {
        service
            .a
            .put(&path, &wrong)
            .await
            .wrong(422, "invalid_field", field);
    }
    let unknown = json!({ "matches": [{ "provider": "pigeon", "type": "cash", "matchedId": "1" }] });
    service
        .a
        .put(&path, &unknown)
        .await
        .refused(404, "unknown_provider");
    assert_eq!(service.a.get(&path).await.data(), before);
}

async fn matches_are_shown_without_a_pos_address(service: TestService) {
    let id = restaurant(&service, json!({ "name": "r" })).await;
    let shown = service
        .a
        .get(&format!("/restaurants/{id}/payment-matching"))
        .await
        .data();
    let wanted =
        json!({ "types": [], "problem": "The restaurant has no paymentMatchingUrl.", "matches": [] });
    assert_eq!(shown, wanted);
}

#[test]
fn pos_is_called_with_its_headers() {
    for backend in [Backend::Sqlite, Backend::Postgres] {
        block_on(async {
            let service = TestService::open_private(backend).await;
            let pos = Receiver::start().await;
            let headers = json!({ "X-Till": "7", "Authorization": "Basic abc" });
            let body = json!({
                "name": "r", "paymentMatchingUrl": pos.url("/types?a=1"), "paymentMatchingHeaders": headers,
            });
            let id = restaurant(&service, body).await;
            let path = format!("/restaurants/{id}/payment-matching");
            pos.next(CannedResponse::Body(
                200,
                r#"[{"id":"1","name":"Nakit","more":true},{"id":"2","name":"Kart"}]"#.to_owned(),
            ));
            let types = json!([{ "id": "1", "name": "Nakit" }, { "id": "2", "name": "Kart" }]);
            let shown = service.a.get(&path).await.data();
            assert_eq!(shown, json!({ "types": types, "problem": null, "matches": [] }));
            let seen = pos.seen();
            assert_eq!(seen[0].line, "GET /types?a=1 HTTP/1.1");
            assert_eq!(seen[0].header("x-till"), Some("7"));
            // The account's own key is for its webhook, not for its till.
            assert_eq!(seen[0].header("authorization"), Some("Basic abc"));
            for (answer, word) in [
                (CannedResponse::Status(500), "500"),
                (CannedResponse::Body(200, "not json".to_owned()), "list"),
                (CannedResponse::Body(200, r#"{"id":"1"}"#.to_owned()), "list"),
                (CannedResponse::Redirect(pos.url("/elsewhere")), "302"),
                (CannedResponse::Endless, "list"),
            ] {
                pos.next(answer.clone());
                let shown = service.a.get(&path).await.data();
                assert_eq!(shown["types"], json!([]), "{answer:?}");
                assert!(
                    shown["problem"].as_str().unwrap().contains(word),
                    "{answer:?}: {shown}"
                );
            }
            assert_eq!(pos.seen().len(), 6);
        });
    }
}

#[test]
fn numeric_payment_types_are_accepted() {
    block_on(async {
        let service = TestService::open_private(Backend::Sqlite).await;
        let pos = Receiver::start().await;
        let types = json!([{ "id": 7, "name": "Nakit" }, { "id": "K", "name": "Kart" }]);
        pos.set_default_response(CannedResponse::Body(200, types.to_string()));
        let body = json!({ "name": "r", "paymentMatchingUrl": pos.url("/types") });
        let id = restaurant(&service, body).await;
        let shown = service
            .a
            .get(&format!("/restaurants/{id}/payment-matching"))
            .await
            .data();
        let expected = json!([{ "id": "7", "name": "Nakit" }, { "id": "K", "name": "Kart" }]);
        assert_eq!((&shown["types"], &shown["problem"]), (&expected, &json!(null)));
    });
}

#[test]
fn concurrent_pos_calls_per_account_are_limited() {
    for backend in [Backend::Sqlite, Backend::Postgres] {
        block_on(async {
            let service = TestService::open_private(backend).await;
            let pos = Receiver::start().await;
            let gate = Gate::closed();
            pos.set_default_response(CannedResponse::Behind(gate.clone(), 200));
            let body = json!({ "name": "r", "paymentMatchingUrl": pos.url("/types") });
            let id = restaurant(&service, body).await;
            let path = format!("/restaurants/{id}/payment-matching");
            let mut waiting = tokio::task::JoinSet::new();
            for _ in 0..4 {
                let (client, path) = (service.a.clone(), path.clone());
                waiting.spawn(async move { client.get(&path).await.data() });
            }
            pos.wait_for(4).await;
            service.a.get(&path).await.refused(429, "too_many_sends");
            assert_eq!(pos.count(), 4);
            // Another account has its own.
            let other = Receiver::start().await;
            let body = json!({ "name": "r", "paymentMatchingUrl": other.url("/types") });
            let made = service.b.post("/restaurants", &body).await.data();
            let of_b = format!("/restaurants/{}/payment-matching", made["id"].as_str().unwrap());
            service.b.get(&of_b).await.data();
            assert_eq!(other.count(), 1);
            gate.open();
            waiting.join_all().await;
            service.a.get(&path).await.data();
        });
    }
}
