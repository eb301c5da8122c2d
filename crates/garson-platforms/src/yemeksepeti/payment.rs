//! How an order is paid. The platform writes the way of paying as free text, in Turkish in Turkey.

use super::soft::keep_text;
use super::wire;
use crate::common::text::{MAX_ID, MAX_NAME};
use garson_core::money::Minor;
use garson_core::order::Payment;
use garson_core::payment::PaymentType;

const MEAL_CARDS: [&str; 12] = [
    "multinet",
    "sodexo",
    "pluxee",
    "ticket",
    "edenred",
    "setcard",
    "metropol",
    "tokenflex",
    "winwin",
    "yemek kart",
    "yemek cek",
    "meal",
];
const WALLETS: [&str; 4] = ["cuzdan", "wallet", "apple pay", "google pay"];
const VOUCHERS: [&str; 4] = ["kupon", "voucher", "hediye", "gift"];
const CASH: [&str; 2] = ["nakit", "cash"];
const CARDS: [&str; 5] = ["kart", "card", "kredi", "credit", "debit"];

pub fn payment(wire: &wire::Order<'_>, total: Minor) -> Payment {
    let wire_payment = wire.payment.as_ref();
    let status = wire_payment.and_then(|payment| payment.status.as_ref());
    let says_paid = status.is_some_and(|status| status.as_str().eq_ignore_ascii_case("paid"));
    // What is to be collected says more than the status does.
    let collect = match wire.price.collect_from_customer {
        Some(collect) => Minor(collect.0.0.max(0)),
        None if says_paid => Minor::ZERO,
        None => total,
    };
    let is_paid = collect == Minor::ZERO;
    let name = keep_text(wire_payment.and_then(|payment| payment.kind.as_ref()), MAX_NAME);
    let code = keep_text(
        wire_payment.and_then(|payment| payment.remote_code.as_ref()),
        MAX_ID,
    );
    Payment {
        kind: kind(name.as_deref().or(code.as_deref()).unwrap_or_default(), is_paid),
        // The text is all there is, so accounts match it where there is no code.
        provider_code: code.or_else(|| name.clone()),
        name,
        is_paid,
        collect,
    }
}

pub fn kind(text: &str, is_paid: bool) -> PaymentType {
    let text: String = text.chars().flat_map(plain).collect();
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    let is_online = has(&["online"]) || (is_paid && !has(&["kapida", "door", "on delivery"]));
    // A short name, which longer words may hold.
    let is_paye = text
        .split(|c: char| !c.is_alphanumeric())
        .any(|word| word == "paye");
    if has(&MEAL_CARDS) || is_paye {
        return if is_online {
            PaymentType::MealCardOnline
        } else {
            PaymentType::MealCardOnDelivery
        };
    }
    let known: [(&[&str], PaymentType); 3] = [
        (&VOUCHERS, PaymentType::Voucher),
        (&WALLETS, PaymentType::Wallet),
        (&CASH, PaymentType::Cash),
    ];
    match known.iter().find(|(words, _)| has(words)) {
        Some((_, kind)) => *kind,
        // It pays by card, and only over the network.
        None if has(&["bkm"]) => PaymentType::OnlineCard,
        None if has(&CARDS) && !is_online => PaymentType::CardOnDelivery,
        None if has(&CARDS) || has(&["online"]) => PaymentType::OnlineCard,
        None => PaymentType::Other,
    }
}

/// Small letters without marks: people write `KREDİ KARTI`, `Kredi Kartı` and `kredi karti`.
fn plain(c: char) -> impl Iterator<Item = char> {
    let base = match c {
        'İ' | 'I' | 'ı' => 'i',
        'Ş' | 'ş' => 's',
        'Ç' | 'ç' => 'c',
        'Ğ' | 'ğ' => 'g',
        'Ü' | 'ü' => 'u',
        'Ö' | 'ö' => 'o',
        '_' | '-' => ' ',
        other => other,
    };
    base.to_lowercase()
}
