//! Maps Getir's payment methods to ours.

use super::wire::{Order, text};
use crate::common::text::{MAX_ID, MAX_NAME, keep_some};
use garson_core::money::Minor;
use garson_core::order::Payment;
use garson_core::payment::PaymentType;

pub fn payment(order: &Order<'_>, total: Minor) -> Payment {
    let code = keep_some(text(&order.payment_method), MAX_ID);
    let kind = kind(code.as_deref().unwrap_or_default());
    let is_paid = matches!(
        kind,
        PaymentType::OnlineCard | PaymentType::MealCardOnline | PaymentType::Wallet
    );
    let name = order.payment_method_text.as_ref();
    Payment {
        kind,
        name: keep_some(name.and_then(|name| name.said()), MAX_NAME),
        provider_code: code,
        is_paid,
        collect: if is_paid { Minor::ZERO } else { total },
    }
}

fn kind(code: &str) -> PaymentType {
    match code {
        // MasterPass, BKM Express, MobilExpress, and Getir's own.
        "1" | "2" | "15" | "26" => PaymentType::OnlineCard,
        "3" => PaymentType::CardOnDelivery,
        "4" => PaymentType::Cash,
        // Multinet, Sodexo, Ticket, Setcard, Metropol, Paye, Sodexo Mobil, TokenFlex; then their QR codes.
        "5" | "6" | "8" | "10" | "11" | "12" | "17" | "21" => PaymentType::MealCardOnDelivery,
        "27" | "28" | "29" | "30" | "31" | "32" => PaymentType::MealCardOnDelivery,
        // On paper: Sodexo, Ticket.
        "7" | "9" => PaymentType::Voucher,
        // Getir's own credit.
        "16" => PaymentType::Wallet,
        // Sodexo, Ticket, Multinet.
        "19" | "22" | "24" => PaymentType::MealCardOnline,
        _ => PaymentType::Other,
    }
}
