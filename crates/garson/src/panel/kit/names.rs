//! Display names and colours of statuses, payment types, actors and cancellation reasons.

use crate::panel::words::{DeliveryWords, Lang, NameWords, OrderWords};
use garson_core::delivery::DeliveryState;
use garson_core::order::{Actor, Reason, Status};
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

/// The CSS class of a status.
pub fn status_tone(status: Status) -> &'static str {
    match status {
        Status::New | Status::Scheduled => "main",
        Status::ScheduledAccepted | Status::Preparing | Status::OnTheWay => "warn",
        Status::Delivered => "good",
        Status::Cancelled | Status::CancelledByPlatform => "bad",
    }
}

/// The name and the CSS class of a delivery state.
pub fn delivery_state(t: &DeliveryWords, state: DeliveryState) -> (&'static str, &'static str) {
    match state {
        DeliveryState::Pending => (t.pending, "warn"),
        DeliveryState::Delivered => (t.delivered, "good"),
        DeliveryState::Failed => (t.failed, "bad"),
        DeliveryState::Skipped => (t.skipped, ""),
    }
}

/// Who changed an order.
pub fn actor(t: &OrderWords, actor: Actor) -> &'static str {
    match actor {
        Actor::Account => t.by_account,
        Actor::Platform => t.by_the_platform,
        Actor::Customer => t.by_customer,
        Actor::System => t.by_system,
    }
}

/// Cancellation reasons that our connectors name, because the platforms publish only codes.
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

/// Translates a reason. Names that a platform gave stay as they are.
pub fn reason(lang: Lang, name: &str) -> String {
    let known = REASONS.iter().find(|(english, _)| *english == name);
    match (lang, known) {
        (Lang::Tr, Some((_, turkish))) => (*turkish).to_owned(),
        _ => name.to_owned(),
    }
}

/// Names that the service itself has given, in the user's language.
const GIVEN_NAMES: &[(&str, &str)] = &[("Standard", "Standart"), ("First key", "İlk anahtar")];

/// Translates the name of a first package or key. Names that users gave stay as they are.
pub fn given_name(lang: Lang, name: &str) -> &str {
    let known = GIVEN_NAMES.iter().find(|(english, _)| *english == name);
    match (lang, known) {
        (Lang::Tr, Some((_, turkish))) => turkish,
        _ => name,
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
    fn every_fixed_reason_has_a_turkish_name() {
        for platform in garson_platforms::all() {
            for it in platform.fixed_reasons(None) {
                assert_ne!(reason(Lang::Tr, &it.name), it.name, "{}", platform.provider());
                assert_eq!(reason(Lang::En, &it.name), it.name);
            }
        }
    }
}
