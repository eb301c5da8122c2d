//! Listing and reading orders: exact fields and types.

use crate::support::TestService;
use serde_json::json;

cases! {
    list_item_has_exactly_its_fields
    order_detail_returns_everything_that_was_posted
    missing_fields_are_null_or_default
    order_list_can_be_filtered_by_restaurant
    account_without_orders_has_an_empty_list
}

const NOW: &str = "2026-03-01T09:00:00.000Z";

async fn account_without_orders_has_an_empty_list(service: TestService) {
    let empty = service.a.get("/orders").await.success();
    assert_eq!(empty["data"], json!([]));
    assert_eq!(empty["paging"]["next"], json!(null));
}

async fn list_item_has_exactly_its_fields(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let id = shop.order("W-1").await;
    let listed = service.a.get("/orders").await.data();
    let wanted = json!([{
        "id": id,
        "providerOrderId": "W-1",
        "restaurantId": shop.restaurant,
        "provider": "direct",
        "shortCode": null,
        "status": 400,
        "statusName": "new",
        "isReport": false,
        "total": 10_000,
        "currency": "TRY",
        "paymentType": "cash",
        "placedAt": NOW,
        "acceptBy": null,
        "createdAt": NOW,
    }]);
    assert_eq!(listed, wanted);
}

async fn order_detail_returns_everything_that_was_posted(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let said = json!({
        "storeId": "s",
        "providerOrderId": "W/1 ş",
        "shortCode": "A17",
        "placedAt": "2026-03-01T11:58:00+03:00",
        "scheduledFor": "2026-03-01T12:00:00Z",
        "note": "Zil çalmayın 🙏",
        "fulfilment": {
            "type": "delivery", "courier": "restaurant",
            "flags": { "doNotRing": true, "dropAtDoor": true, "noCutlery": false },
        },
        "customer": {
            "name": "Ayşe Çağlar", "phone": "+908501112233", "phoneCode": "4711", "email": "a@example.com",
            "address": {
                "text": "Moda Cad. 12", "city": "İstanbul", "district": "Kadıköy", "neighbourhood": "Caferağa",
                "apartment": "3", "floor": "2", "door": "5", "directions": "Köşede", "lat": 40.98, "lon": 29.02,
            },
        },
        "items": [{
            "id": "1", "productId": "P1", "name": "Dürüm 🌯", "quantity": 2, "unitPrice": 15_000, "total": 32_000,
            "note": "acılı",
            "options": [
                { "group": "Sos", "name": "Acı", "quantity": 1, "price": 1_000, "removed": false,
                  "options": [{ "group": null, "name": "Extra", "quantity": 1, "price": 0, "removed": false, "options": [] }] },
                { "group": null, "name": "Soğan", "quantity": 1, "price": 0, "removed": true, "options": [] },
            ],
        }],
        "amount": {
            "currency": "TRY", "subtotal": 32_000, "discount": 2_000, "deliveryFee": 1_500, "tip": 500, "total": 32_000,
            "discounts": [{ "name": "Hoş geldin", "amount": 2_000, "fundedBy": "restaurant" }],
        },
        "payment": { "type": "meal_card_on_delivery", "name": "Sodexo", "providerCode": "SDX", "isPaid": false, "collect": 32_000 },
    });
    let taken = shop.post(said.to_string().as_bytes()).await.success();
    let id = taken["data"]["orderId"].as_str().unwrap().to_owned();
    assert_eq!(taken, json!({ "success": true, "data": { "orderId": id } }));
    let detail = service.a.get("/orders/W%2F1%20%C5%9F").await.data();
    let mut payment = said["payment"].clone();
    payment["matchedId"] = json!(null);
    let wanted = json!({
        "id": id,
        "pid": "W/1 ş",
        "provider": "direct",
        "providerOrderId": "W/1 ş",
        "shortCode": "A17",
        "restaurantId": shop.restaurant,
        "status": 400,
        "statusName": "new",
        "providerStatus": null,
        "isReport": false,
        "reportedAt": null,
        "placedAt": "2026-03-01T08:58:00.000Z",
        "acceptBy": null,
        "scheduledFor": "2026-03-01T12:00:00.000Z",
        "readyAt": null,
        "createdAt": NOW,
        "updatedAt": NOW, "revision": 1,
        "note": "Zil çalmayın 🙏",
        "flag": null,
        "fulfilment": said["fulfilment"],
        "customer": said["customer"],
        "items": said["items"],
        "amount": said["amount"],
        "payment": payment,
        "cancellation": null,
        "timeline": [{ "at": NOW, "from": null, "to": 400, "by": "platform", "why": "arrived" }],
        "providerSync": { "state": "not_needed", "dueAt": null, "message": null },
    });
    assert_eq!(detail, wanted);
    let by_record = service.a.get(&format!("/orders/{id}")).await.data();
    assert_eq!(by_record["pid"], json!(id));
}

async fn missing_fields_are_null_or_default(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let said = json!({
        "storeId": "s", "providerOrderId": "1", "unknownField": { "deep": [1] },
        "items": [{ "name": "Çay", "unitPrice": 1_500 }, { "name": "Simit", "unitPrice": 1_000, "quantity": 3 }],
        "amount": { "total": 4_500 },
        "payment": { "type": "online_card", "isPaid": true },
        "fulfilment": { "type": "pickup" },
    });
    shop.post(said.to_string().as_bytes()).await.success();
    let detail = service.a.get("/orders/1").await.data();
    assert_eq!(
        detail["customer"],
        json!({ "name": null, "phone": null, "phoneCode": null, "email": null, "address": null })
    );
    assert_eq!(detail["items"][1]["total"], json!(3_000));
    assert_eq!(detail["amount"]["subtotal"], json!(4_500));
    assert_eq!(detail["amount"]["discounts"], json!([]));
    assert_eq!(detail["payment"]["collect"], json!(0));
    assert_eq!(detail["fulfilment"]["courier"], json!("none"));
    assert_eq!(detail["placedAt"], json!(NOW));
}

async fn order_list_can_be_filtered_by_restaurant(service: TestService) {
    let (first, second) = (
        service.shop(&service.a, "one").await,
        service.shop(&service.a, "two").await,
    );
    first.order("1").await;
    let wanted = second.order("2").await;
    let listed = service
        .a
        .get(&format!("/orders?restaurantId={}", second.restaurant))
        .await
        .data();
    assert_eq!(listed.as_array().unwrap().len(), 1);
    assert_eq!(listed[0]["id"], json!(wanted));
    let both = service.a.get("/orders").await.data();
    assert_eq!(
        (&both[0]["providerOrderId"], &both[1]["providerOrderId"]),
        (&json!("2"), &json!("1"))
    );
    assert_eq!(service.b.get("/orders").await.data(), json!([]));
}
