//! The order that the benchmark posts, and the credentials of the branches that post it.

pub const SHOP_KEY: &str = "bench-shop-key";

/// The inbound key of a branch.
pub fn inbound_key(branch: usize) -> String {
    match branch {
        0 => SHOP_KEY.to_owned(),
        other => format!("{SHOP_KEY}-{other}"),
    }
}

/// The store id of a branch.
pub fn store_id(number: usize) -> String {
    format!("branch-{number}")
}

/// Placeholder of the order's number, with as many digits.
pub const NUMBER: &str = "0000000000";

/// The body that a shop posts.
pub fn body() -> String {
    body_of(0)
}

/// The same for another branch.
pub fn body_of(branch: usize) -> String {
    serde_json::json!({
        "storeId": store_id(branch),
        "providerOrderId": format!("WEB-{NUMBER}"),
        "shortCode": "417",
        "note": "Zil çalışmıyor, lütfen arayın.",
        "items": [
            { "name": "Karışık pide", "quantity": 2, "unitPrice": 24_000,
              "options": [{ "group": "İçecek", "name": "Ayran", "price": 3_000 }] },
            { "name": "Künefe", "quantity": 1, "unitPrice": 18_000 },
        ],
        "customer": { "name": "İpek Yıldırım", "phone": "+90 555 000 00 00",
                      "address": { "text": "Caferağa Mah. Moda Cad. 12", "city": "İstanbul", "district": "Kadıköy" } },
        "amount": { "total": 72_000 },
        "payment": { "type": "card_on_delivery" },
    })
    .to_string()
}
