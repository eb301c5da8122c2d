//! Snapshots of public bodies: orders, events and errors. A changed field shows as a difference in a committed file.
//!
//! After an intended change, run the tests with `INSTA_UPDATE=always` and review the difference.

use crate::support::{TestService, request, send};
use serde_json::{Value, json};

cases! {
    ; sqlite_only:
    order_bodies_match_their_snapshots
    event_bodies_match_their_snapshots
    error_bodies_match_their_snapshots
}

/// Replaces ids, which differ in every run. Times do not: the test sets the clock.
fn redacted(value: Value) -> Value {
    match value {
        Value::String(text) if text.parse::<uuid::Uuid>().is_ok() => json!("[id]"),
        Value::Array(values) => values.into_iter().map(redacted).collect(),
        Value::Object(fields) => fields
            .into_iter()
            .map(|(name, value)| match name.as_str() {
                // Positions of lists hold the time of day.
                "next" | "prev" => (name, if value.is_null() { value } else { json!("[cursor]") }),
                _ => (name, redacted(value)),
            })
            .collect(),
        other => other,
    }
}

fn posted(id: &str, revision: i64) -> Value {
    json!({
        "storeId": "s",
        "providerOrderId": id,
        "shortCode": "A17",
        "revision": revision,
        "placedAt": "2026-03-01T11:58:00+03:00",
        "note": "Zil çalmayın",
        "fulfilment": {
            "type": "delivery", "courier": "restaurant",
            "flags": { "doNotRing": true, "dropAtDoor": false, "noCutlery": true },
        },
        "customer": {
            "name": "Ayşe Çağlar", "phone": "+908501112233",
            "address": { "text": "Moda Cad. 12", "city": "İstanbul", "district": "Kadıköy", "lat": 40.98, "lon": 29.02 },
        },
        "items": [{
            "id": "1", "productId": "P1", "name": "Dürüm", "quantity": 2 * revision, "unitPrice": 15_000, "note": "acılı",
            "options": [{ "group": "Sos", "name": "Acı", "price": 0 }],
        }],
        "amount": { "total": 30_000 * revision },
        "payment": { "type": "meal_card_on_delivery", "name": "Sodexo", "providerCode": "SDX" },
    })
}

/// An order that was verified, changed by its shop and cancelled by the account.
async fn order_with_a_history(service: &TestService) -> String {
    let shop = service.shop(&service.a, "s").await;
    service
        .a
        .put("/webhook", &json!({ "orderUpdates": true }))
        .await
        .data();
    shop.post(posted("W-1", 1).to_string().as_bytes()).await.success();
    service.a.act("/orders/verify/W-1").await.data();
    shop.post(posted("W-1", 2).to_string().as_bytes()).await.success();
    let cancel = json!({ "reason": "closed", "note": "Kapalıyız" });
    service.a.post("/orders/cancel/W-1", &cancel).await.data();
    shop.restaurant
}

async fn order_bodies_match_their_snapshots(service: TestService) {
    order_with_a_history(&service).await;
    let list = service.a.get("/orders").await.success();
    insta::assert_json_snapshot!("order_list", redacted(list));
    let detail = service.a.get("/orders/W-1").await.success();
    insta::assert_json_snapshot!("order_detail", redacted(detail));
}

async fn event_bodies_match_their_snapshots(service: TestService) {
    let restaurant = order_with_a_history(&service).await;
    let path = format!("/restaurants/{restaurant}/integrations/direct");
    service.a.put(&path, &json!({ "isActive": false })).await.data();
    let events = service.a.get("/events").await.success();
    insta::assert_json_snapshot!("events", redacted(events));
}

async fn error_bodies_match_their_snapshots(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    shop.order("W-1").await;
    service.a.post("/orders/cancel/W-1", &json!({})).await.data();
    let without_key = request("GET", "/web-api/v1/orders", &[], &[]);
    let errors = json!({
        "missing key": send(service.addr, &without_key).await.json(),
        "unknown order": service.a.get("/orders/W-2").await.json(),
        "unknown path": service.a.get("/nothing").await.json(),
        "invalid fields": service.a.post("/restaurants", &json!({ "name": "" })).await.json(),
        "malformed JSON": service.a.json("POST", "/restaurants", "{").await.json(),
        "invalid filter": service.a.get("/orders?provider=nowhere").await.json(),
        "not in this status": service.a.act("/orders/verify/W-1").await.json(),
        "unknown store at a hook": shop.post(posted("W-3", 1).to_string().replace("\"s\"", "\"t\"").as_bytes()).await.json(),
    });
    insta::assert_json_snapshot!("errors", redacted(errors));
}
