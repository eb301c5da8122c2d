//! Ways of paying and steps of an order by the names that people give them.

use super::lang::Lang;
use crate::panel::words::NameWords;
use garson_core::order::{Reason, Status};
use garson_core::payment::PaymentType;

pub fn payment(lang: Lang, kind: PaymentType) -> &'static str {
    let t = NameWords::of(lang);
    match kind {
        PaymentType::OnlineCard => t.online_card,
        PaymentType::CardOnDelivery => t.card_on_delivery,
        PaymentType::Cash => t.cash,
        PaymentType::MealCardOnline => t.meal_card_online,
        PaymentType::MealCardOnDelivery => t.meal_card_on_delivery,
        PaymentType::Voucher => t.voucher,
        PaymentType::Wallet => t.wallet,
        PaymentType::Other => t.other,
    }
}

pub fn status(lang: Lang, status: Status) -> &'static str {
    let t = NameWords::of(lang);
    match status {
        Status::Scheduled => t.scheduled,
        Status::ScheduledAccepted => t.scheduled_accepted,
        Status::New => t.new,
        Status::Preparing => t.preparing,
        Status::OnTheWay => t.on_the_way,
        Status::Delivered => t.delivered,
        Status::CancelledByPlatform => t.cancelled_by_platform,
        Status::Cancelled => t.cancelled,
    }
}

/// Reasons to cancel that this service has named itself, for platforms that do not say what they call them.
const REASONS: &[(&str, &str)] = &[
    ("Out of stock", "Ürün kalmadı"),
    ("The restaurant is closed", "Restoran kapalı"),
    ("The kitchen is too busy", "Mutfak çok yoğun"),
    ("The customer asked for it", "Müşteri istedi"),
    ("The address cannot be delivered to", "Adrese teslim edilemiyor"),
    ("Another reason", "Başka bir neden"),
    ("A product cannot be supplied", "Ürün temin edilemiyor"),
    ("The store is closed", "Mağaza kapalı"),
    (
        "The store cannot prepare the order",
        "Mağaza siparişi hazırlayamıyor",
    ),
    ("High demand, or no courier", "Yoğunluk ya da kurye yok"),
    ("Outside the delivery area", "Teslimat bölgesi dışında"),
    ("Orders were mixed up", "Siparişler karıştı"),
    (
        "The restaurant did not accept the order",
        "Restoran siparişi kabul etmedi",
    ),
    ("Fraud, found by the system", "Sistemin saptadığı dolandırıcılık"),
    ("Wrong address", "Yanlış adres"),
    ("Nobody at the address", "Adreste kimse yok"),
    ("Fraud", "Dolandırıcılık"),
    ("Cancelled by the customer", "Müşteri iptal etti"),
    ("Too late", "Çok gecikti"),
    ("The address does not match", "Adres uyuşmuyor"),
    ("An item is not available", "Bir ürün yok"),
    ("There is no courier", "Kurye yok"),
    ("There is nobody to prepare it", "Hazırlayacak kimse yok"),
    (
        "The address is outside the delivery area",
        "Adres teslimat bölgesi dışında",
    ),
    ("The address is incomplete or wrong", "Adres eksik ya da yanlış"),
    ("The order is below the minimum", "Sipariş alt tutarın altında"),
    (
        "The menu or the account is set up wrongly",
        "Menü ya da hesap ayarı yanlış",
    ),
    ("A technical problem", "Teknik sorun"),
    ("A fraud or a prank", "Dolandırıcılık ya da şaka"),
    ("The customer is barred", "Müşteri engelli"),
    ("Nobody answered", "Kimse yanıt vermedi"),
    ("A test order", "Test siparişi"),
    (
        "The restaurant no longer works with the platform",
        "Restoran artık bu platformla çalışmıyor",
    ),
    ("Bad weather", "Kötü hava"),
    ("There is no card reader", "Kart okuyucu yok"),
    ("The menu is wrong or misleading", "Menü yanlış ya da yanıltıcı"),
    ("The food was spilled or not good", "Yemek döküldü ya da kötüydü"),
    ("The delivery is too late", "Teslimat çok gecikti"),
    ("The customer was not found", "Müşteri bulunamadı"),
    ("The customer cannot pay", "Müşteri ödeyemiyor"),
    ("Unprofessional behaviour", "Uygunsuz davranış"),
    ("The wrong items were delivered", "Yanlış ürünler teslim edildi"),
];

/// A reason by its name; one that a platform has named itself stays as it is.
pub fn reason(lang: Lang, name: &str) -> String {
    let known = REASONS.iter().find(|(english, _)| *english == name);
    match (lang, known) {
        (Lang::Tr, Some((_, turkish))) => (*turkish).to_owned(),
        _ => name.to_owned(),
    }
}

pub fn reasons(lang: Lang, mut reasons: Vec<Reason>) -> Vec<Reason> {
    for it in &mut reasons {
        it.name = reason(lang, &it.name);
    }
    reasons
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fixed_reason_has_its_turkish_name() {
        for platform in garson_platforms::all() {
            for it in platform.fixed_reasons(None) {
                assert_ne!(reason(Lang::Tr, &it.name), it.name, "{}", platform.provider());
                assert_eq!(reason(Lang::En, &it.name), it.name);
            }
        }
    }
}
