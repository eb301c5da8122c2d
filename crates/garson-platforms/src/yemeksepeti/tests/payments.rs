//! How orders are paid.

use super::*;
use garson_core::payment::PaymentType;

#[test]
fn turkish_ways_of_paying_are_understood() {
    use PaymentType::*;
    for (text, collect, kind) in [
        ("Kapıda Nakit", "10", Cash),
        ("NAKİT", "10", Cash),
        ("cash", "10", Cash),
        ("Kapıda Kredi Kartı", "10", CardOnDelivery),
        ("KREDİ KARTI", "10", CardOnDelivery),
        ("KREDİ KARTI", "0", OnlineCard),
        ("credit-card", "0", OnlineCard),
        ("Online Ödeme", "0", OnlineCard),
        ("Multinet", "10", MealCardOnDelivery),
        ("Pluxee Kart (Online)", "0", MealCardOnline),
        ("Yemek Çeki", "10", MealCardOnDelivery),
        ("Paye Kart", "10", MealCardOnDelivery),
        ("PAYE", "0", MealCardOnline),
        ("sipaye", "10", Other),
        ("BKM Express", "0", OnlineCard),
        ("bkm-express", "10", OnlineCard),
        ("Cüzdan", "0", Wallet),
        ("Hediye Kartı", "0", Voucher),
        ("", "0", Other),
        ("Altın 🪙", "10", Other),
    ] {
        let body = with(OWN, "/payment/type", Some(json!(text)));
        let body = with(&body, "/payment/remoteCode", None);
        let body = with(&body, "/price/collectFromCustomer", Some(json!(collect)));
        let payment = new_order(&body).unwrap().content.payment;
        assert_eq!(payment.kind, kind, "{text}");
        assert_eq!(payment.provider_code, payment.name);
    }
}

#[test]
fn what_is_collected_says_whether_it_is_paid() {
    for (collect, status, paid, left) in [
        (Some("0"), "pending", true, 0),
        (Some("10.50"), "paid", false, 1_050),
        (Some("-1"), "paid", true, 0),
        (None, "paid", true, 0),
        (None, "PAID", true, 0),
        (None, "pending", false, 44_500),
    ] {
        let body = with(OWN, "/payment/status", Some(json!(status)));
        let body = with(
            &body,
            "/price/collectFromCustomer",
            collect.map(|text| json!(text)),
        );
        let payment = new_order(&body).unwrap().content.payment;
        assert_eq!(
            (payment.is_paid, payment.collect.0),
            (paid, left),
            "{collect:?} {status}"
        );
    }
}
