//! An example for every request that has a body.

use serde_json::{Value, json};

const RESTAURANT: &str = "01980a3c-0000-7000-8000-000000000002";
const PRODUCT: &str = "01980a3c-0000-7000-8000-000000000005";
const CHANNEL: &str = "01980a3c-0000-7000-8000-000000000004";

/// The example of an operation's body.
pub fn of_request(operation_id: &str) -> Option<Value> {
    Some(match operation_id {
        "cancel_order" => json!({ "reason": "out_of_stock", "note": "No lahmacun left today" }),
        "mark_reported" | "unmark_reported" => json!({ "providerOrderId": "WEB-1" }),
        "retry_webhook" => json!({
            "webhookOrderId": "01980a3c-0000-7000-8000-000000000003",
            "url": "https://pos.example.com/olay",
            "headers": { "X-Branch": "Kadıköy" }
        }),
        "create_business" | "update_business" => json!({
            "name": "Lokanta A.Ş.", "vatNumber": "1234567890", "taxOffice": "Kadıköy", "city": "İstanbul", "country": "TR"
        }),
        "link_restaurant" => json!({ "restaurantId": RESTAURANT }),
        "create_restaurant" | "update_restaurant" => json!({
            "name": "Lokanta Kadıköy", "lat": 40.99, "lon": 29.03,
            "config": { "autoVerify": false, "preparationMinutes": 20, "timezone": "Europe/Istanbul" }
        }),
        "put_integration" => json!({
            "isActive": true, "remoteId": "kadikoy", "credentials": { "inboundKey": "a-long-secret" }
        }),
        "put_store" => json!({ "state": "closed", "minutes": 30, "reason": "kitchen_busy" }),
        "put_throttle" => {
            json!({ "enabled": true, "countBy": "open_orders", "busyAbove": 15, "closeAbove": 25 })
        }
        "put_hours" => json!({
            "timezone": "Europe/Istanbul",
            "weekly": [
                { "day": "monday", "opens": "10:00", "closes": "23:00" },
                { "day": "friday", "opens": "18:00", "closes": "02:00" }
            ],
            "special": [{ "date": "2026-10-29", "spans": [{ "opens": "12:00", "closes": "18:00" }], "name": "Cumhuriyet Bayramı" }]
        }),
        "put_product_availability" => json!({ "available": false, "until": "end_of_day" }),
        "put_products_availability" => json!({
            "products": [{ "productId": PRODUCT, "available": false, "until": "2026-03-01T18:00:00Z" }]
        }),
        "put_named_availability" => json!({
            "restaurantIds": [RESTAURANT], "names": ["Künefe"], "available": false, "until": "end_of_day"
        }),
        "create_product" => {
            json!({ "provider": "yemeksepeti", "itemId": "KNF", "name": "Künefe", "kind": "product" })
        }
        "search_customer" | "export_customer" | "erase_customer" => json!({ "phone": "+90 532 123 45 67" }),
        "put_privacy_settings" => json!({ "anonymiseDays": 180 }),
        "put_product_link" => json!({ "itemId": "4711" }),
        "preview_prices" => json!({ "prices": [{ "productId": PRODUCT, "price": 22500 }] }),
        "push_prices" => json!({ "previewId": "01980a3c-0000-7000-8000-000000000006" }),
        "push_catalog" => json!({ "from": "trendyol", "to": "yemeksepeti" }),
        "put_packages" => json!({
            "packages": [{ "name": "All platforms", "startsAt": "2026-01-01T00:00:00Z", "endsAt": "2027-01-01T00:00:00Z" }]
        }),
        "put_payment_matching" => json!({
            "matches": [{ "provider": "getir", "type": "online_card", "matchedId": "CARD" }]
        }),
        "put_webhook" => json!({ "url": "https://pos.example.com/olay", "authorization": "bearer" }),
        "retry_deliveries" => json!({ "since": "2026-03-01T00:00:00Z", "includeSkipped": false }),
        "register_printer" => json!({ "name": "Kitchen", "restaurantId": RESTAURANT }),
        "report_printer" => json!({ "state": "no_paper", "waiting": 1, "printed": [] }),
        "print_order" => json!({ "printerId": "01980a3c-0000-7000-8000-000000000004", "kind": "kitchen" }),
        "put_escalation" => json!({
            "steps": [
                { "when": "age", "seconds": 60, "action": "ring" },
                { "when": "beforeAcceptBy", "seconds": 90, "action": "message", "channelId": CHANNEL, "onlyIfUnwatched": true }
            ]
        }),
        "create_channel" | "update_channel" => json!({
            "name": "Manager SMS", "kind": "http", "language": "en", "method": "POST",
            "url": "https://sms.example.com/send", "headers": { "authorization": "Bearer {secret.token}" },
            "secrets": { "token": "a-long-secret" }, "body": "{\"to\":\"905550000000\",\"message\":\"{text}\"}"
        }),
        "create_endpoint" | "update_endpoint" => json!({
            "label": "Kitchen display", "url": "https://kds.example.com/olay", "events": ["siparis.olusturuldu"],
            "restaurantIds": [RESTAURANT], "platforms": ["getir"], "authorization": "token", "signed": true,
            "body": "withOrder", "retries": "long"
        }),
        "rotate_endpoint_secret" => json!({ "overlapHours": 24 }),
        "retry_endpoint_deliveries" => json!({ "since": "2026-03-01T00:00:00Z", "includeSkipped": true }),
        "put_notices" => json!({ "kinds": ["webhookFailing", "loginRefused"], "channelIds": [CHANNEL] }),
        "invite_user" => json!({
            "email": "ayse@example.com", "name": "Ayşe", "language": "tr", "role": "shift", "restaurantIds": [RESTAURANT]
        }),
        "change_user" => json!({ "role": "manager", "restaurantIds": null }),
        "create_key" => json!({ "label": "Till 2", "scopes": ["orders:read", "orders:act"] }),
        "rotate_key" => json!({ "overlapHours": 24 }),
        "place_order" => json!({
            "storeId": "kadikoy", "providerOrderId": "WEB-1", "note": "No onions",
            "customer": { "name": "Ayşe", "phone": "+905550000000", "address": { "text": "Moda Cad. 1", "city": "İstanbul" } },
            "items": [{
                "name": "Lahmacun", "quantity": 2, "unitPrice": 7_500,
                "options": [{ "group": "Drink", "name": "Ayran", "price": 1_500 }]
            }],
            "amount": { "deliveryFee": 2_000, "total": 20_000 },
            "payment": { "type": "cash" }
        }),
        "cancel_placed_order" => json!({ "storeId": "kadikoy", "by": "customer", "note": "Ordered twice" }),
        _ => return None,
    })
}

/// What is sent with an event.
pub fn of_event(name: &str) -> Value {
    let mut veri = json!({
        "id": "01980a3c-0000-7000-8000-000000000003", "restaurantId": RESTAURANT, "provider": "direct",
        "occurredAt": "2026-03-01T15:22:10.000Z"
    });
    let of_order = json!({
        "orderId": "01980a3c-0000-7000-8000-000000000001", "pid": "WEB-1", "providerOrderId": "WEB-1", "sequence": 1
    });
    let more = match name {
        garson_core::event::CREATED => json!({ "status": 400 }),
        garson_core::event::MOVED => {
            json!({ "sequence": 2, "oldStatus": 400, "newStatus": 500, "by": "account" })
        }
        garson_core::event::CANCELLED => json!({
            "sequence": 3, "status": 1600, "by": "account", "reason": { "id": "out_of_stock", "name": "Out of stock" },
            "note": null
        }),
        garson_core::event::UPDATED => json!({
            "sequence": 2, "status": 500, "by": "platform", "revision": 2, "total": 20000, "currency": "TRY",
            "changes": [
                { "field": "item_quantity", "name": "Adana Dürüm", "from": 2, "to": 1 },
                { "field": "total", "from": 40000, "to": 20000 }
            ]
        }),
        garson_core::event::STORE_CHANGED => json!({
            "oldState": "open", "state": "closed", "since": "2026-03-01T15:22:10.000Z", "until": null, "by": "platform",
            "stateReason": { "code": "order_not_answered", "text": "Bir siparişe zamanında yanıt verilmedi" }
        }),
        garson_core::event::PRODUCT_CHANGED => json!({
            "provider": "trendyol", "productId": PRODUCT, "itemId": "4711", "name": "Künefe", "available": false,
            "until": "2026-03-02T03:00:00.000Z", "by": "account"
        }),
        garson_core::event::MENU_CHANGED => json!({
            "provider": "trendyol", "version": 4, "added": 1, "removed": 0, "prices": 12, "names": 0, "availability": 2, "images": 0
        }),
        garson_core::event::TEST => {
            let id = &veri["id"];
            return json!({ "olay": name, "veri": { "id": id, "occurredAt": veri["occurredAt"] } });
        }
        _ => json!({ "isActive": true }),
    };
    let parts = if name.starts_with("siparis.") {
        vec![of_order, more]
    } else {
        vec![more]
    };
    if let Value::Object(veri) = &mut veri {
        for part in parts {
            veri.extend(part.as_object().cloned().unwrap_or_default());
        }
    }
    json!({ "olay": name, "veri": veri })
}
