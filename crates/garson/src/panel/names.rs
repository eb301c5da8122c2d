//! Ways of paying and steps of an order by the names that people give them.

use super::lang::Lang;
use super::words::NameWords;
use garson_core::order::Status;
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
