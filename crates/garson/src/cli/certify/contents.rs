//! Orders whose content is unusual. Everything in them is invented.

use serde_json::{Value, json};

const LONG: usize = 2_000;
const MANY: usize = 500;

pub fn masked_phone(body: &mut Value) {
    body["customer"]["name"] = json!("D*** A***");
    body["customer"]["phone"] = json!("+908502150000");
    body["customer"]["phoneCode"] = json!("4821734");
}

pub fn no_customer(body: &mut Value) {
    body["customer"] = Value::Null;
}

pub fn huge_basket(body: &mut Value) {
    let item = |n: usize| {
        let options = if n.is_multiple_of(2) {
            json!([{ "group": "Sos", "name": format!("Acı sos {n}") }, { "name": "Soğan", "removed": true }])
        } else {
            json!([])
        };
        json!({
            "id": n.to_string(), "productId": format!("urun-{n}"), "name": format!("{n}. ürün: ızgara köfte, pilav"),
            "quantity": 1 + n % 3, "unitPrice": 1_500, "options": options,
        })
    };
    body["items"] = (1..=MANY).map(item).collect();
    let pieces: usize = (1..=MANY).map(|n| 1 + n % 3).sum();
    body["amount"] = json!({ "total": pieces * 1_500 });
}

/// So many letters, of which many need two bytes.
fn long_text() -> String {
    "Kapıda çocuk uyuyor, zile basmayın; güvenliğe bırakın. "
        .chars()
        .cycle()
        .take(LONG)
        .collect()
}

pub fn huge_notes(body: &mut Value) {
    body["note"] = json!(long_text());
    body["customer"]["address"]["directions"] = json!(long_text());
    body["items"][0]["note"] = json!(long_text());
}

pub fn turkish_letters(body: &mut Value) {
    body["shortCode"] = json!("Ğ-12");
    body["note"] = json!("Çiğ köfte acılı olsun; \"şöyle\" bol, IĞDIR'dan İnci'ye ÖĞÜT");
    body["customer"]["name"] = json!("İpek Çağlayan Şahinoğlu");
    body["customer"]["address"] = json!({
        "text": "Şehit Öğretmen Sk. 3", "city": "IĞDIR", "district": "Çeşme", "neighbourhood": "Güneşli",
    });
    body["items"][0]["name"] = json!("İçli köfte, ılık şalgam");
    body["items"][0]["options"][0]["name"] = json!("Közlenmiş biber");
}

pub fn odd_characters(body: &mut Value) {
    body["note"] =
        json!("👩‍🍳🌯🧿🇹🇷 👨‍👩‍👧‍👦\u{200d}\u{fe0f} \u{2028}\u{2029}\u{feff} e\u{301}\u{327} <b>&amp;'\"\\ %s {0} $1");
    body["customer"]["name"] = json!("\u{202e}محمد\u{202c} דוד \u{2066}Ali\u{2069}");
    body["customer"]["address"]["directions"] =
        json!("line 1\r\nline 2\ttab \u{1b}[31m \u{7} \u{1f} \u{7f} \u{85}");
    body["items"][0]["name"] = json!("Adana dürüm 🌯");
    body["items"][0]["note"] = json!("𝕒𝕔ı \u{10ffff} \u{fffd}");
}

pub fn zero_price(body: &mut Value) {
    body["items"] = json!([{
        "name": "Free dessert", "quantity": 1, "unitPrice": 0,
        "options": [{ "group": "Sos", "name": "Kaymak", "price": 0 }],
    }]);
    body["amount"] = json!({ "total": 0 });
}

pub fn large_discount(body: &mut Value) {
    body["items"] = json!([{ "name": "Lahmacun", "quantity": 1, "unitPrice": 5_000 }]);
    body["amount"] = json!({
        "subtotal": 5_000, "discount": 6_000, "deliveryFee": 2_500, "tip": 500, "total": 2_000,
        "discounts": [
            { "name": "Welcome", "amount": 4_000, "fundedBy": "platform" },
            { "name": "Restoran indirimi", "amount": 2_000, "fundedBy": "restaurant" },
        ],
    });
}

/// Paid in one of the ways; what is not paid online is collected.
pub fn paid_with(body: &mut Value, kind: &str) {
    let is_paid = matches!(kind, "online_card" | "meal_card_online" | "voucher" | "wallet");
    body["payment"] = json!({ "type": kind, "isPaid": is_paid, "name": format!("Payment: {kind}") });
}

pub fn cash_with_change(body: &mut Value) {
    body["payment"] = json!({ "type": "cash", "collect": 39_000 });
    body["note"] = json!("Change for 500 TL: 110 TL");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_as_long_as_is_possible() {
        assert_eq!(long_text().chars().count(), LONG);
        let mut body = json!({ "items": [{}], "customer": { "address": {} } });
        huge_notes(&mut body);
        assert_eq!(body["items"][0]["note"], body["note"]);
    }

    #[test]
    fn total_of_the_huge_basket_is_that_of_its_items() {
        let mut body = json!({});
        huge_basket(&mut body);
        let items = body["items"].as_array().unwrap();
        assert_eq!(items.len(), MANY);
        let total: i64 = items
            .iter()
            .map(|item| item["quantity"].as_i64().unwrap() * item["unitPrice"].as_i64().unwrap())
            .sum();
        assert_eq!(body["amount"]["total"], total);
    }
}
