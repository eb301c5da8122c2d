//! Cancel reasons: the platform's fixed list, and which party each is attributed to.

use garson_core::order::{Actor, Courier, Order, Reason, Status};

/// The code, what it means, and whether it can be given only after the order was accepted. The first is the usual one.
const REASONS: [(&str, &str, bool); 24] = [
    ("ITEM_UNAVAILABLE", "An item is not available", false),
    ("TOO_BUSY", "The kitchen is too busy", false),
    ("CLOSED", "The restaurant is closed", false),
    ("NO_COURIER", "There is no courier", false),
    ("NO_PICKER", "There is nobody to prepare it", false),
    (
        "OUTSIDE_DELIVERY_AREA",
        "The address is outside the delivery area",
        false,
    ),
    (
        "ADDRESS_INCOMPLETE_MISSTATED",
        "The address is incomplete or wrong",
        false,
    ),
    ("MOV_NOT_REACHED", "The order is below the minimum", false),
    (
        "MENU_ACCOUNT_SETTINGS",
        "The menu or the account is set up wrongly",
        false,
    ),
    ("TECHNICAL_PROBLEM", "A technical problem", false),
    ("FRAUD_PRANK", "A fraud or a prank", false),
    ("BLACKLISTED", "The customer is barred", false),
    ("NO_RESPONSE", "Nobody answered", false),
    ("TEST_ORDER", "A test order", false),
    (
        "WILL_NOT_WORK_WITH_PLATFORM",
        "The restaurant no longer works with the platform",
        false,
    ),
    ("BAD_WEATHER", "Bad weather", true),
    ("CARD_READER_NOT_AVAILABLE", "There is no card reader", true),
    (
        "CONTENT_WRONG_MISLEADING",
        "The menu is wrong or misleading",
        true,
    ),
    ("FOOD_QUALITY_SPILLAGE", "The food was spilled or not good", true),
    ("LATE_DELIVERY", "The delivery is too late", true),
    ("UNABLE_TO_FIND", "The customer was not found", true),
    ("UNABLE_TO_PAY", "The customer cannot pay", true),
    ("UNPROFESSIONAL_BEHAVIOUR", "Unprofessional behaviour", true),
    (
        "WRONG_ORDER_ITEMS_DELIVERED",
        "The wrong items were delivered",
        true,
    ),
];

/// The usual reason after the order was accepted: one public reading of the platform's table takes only those of that
/// phase then.
const USUAL_AFTER: &str = "CONTENT_WRONG_MISLEADING";

/// What the platform itself gives as a reason; of the restaurants' list, but not theirs when it comes from there.
const OF_THE_PLATFORM: [&str; 3] = ["TECHNICAL_PROBLEM", "FRAUD_PRANK", "BLACKLISTED"];

/// Delivery problems are attributed to the party that delivers.
const ON_THE_WAY: [&str; 7] = [
    "NO_COURIER",
    "BAD_WEATHER",
    "FOOD_QUALITY_SPILLAGE",
    "LATE_DELIVERY",
    "UNABLE_TO_FIND",
    "UNABLE_TO_PAY",
    "UNPROFESSIONAL_BEHAVIOUR",
];

fn reason((id, name, _): &(&str, &str, bool)) -> Reason {
    Reason {
        id: (*id).to_owned(),
        name: (*name).to_owned(),
    }
}

/// The reasons that the platform takes for this order now, those of its phase first.
pub fn fixed(order: Option<&Order>) -> Vec<Reason> {
    let before = || REASONS.iter().filter(|(_, _, only_after)| !only_after);
    let after = || REASONS.iter().filter(|(_, _, only_after)| *only_after);
    match order.map(|order| order.status) {
        Some(Status::Scheduled | Status::New) => before().map(reason).collect(),
        Some(_) => {
            let usual = after().filter(|(id, ..)| *id == USUAL_AFTER);
            let others = after().filter(|(id, ..)| *id != USUAL_AFTER);
            usual.chain(others).chain(before()).map(reason).collect()
        }
        None => REASONS.iter().map(reason).collect(),
    }
}

/// The reason of that code; one that we do not know is called by its code.
pub fn reason_named(code: &str) -> Option<Reason> {
    let code = code.trim();
    let known = REASONS.iter().find(|(id, ..)| *id == code).map(reason);
    known.or_else(|| {
        crate::common::text::keep(code, crate::common::text::MAX_NAME).map(|code| Reason {
            name: code.clone(),
            id: code,
        })
    })
}

/// The known code among a text's words.
fn code_within(text: &str) -> Option<&'static (&'static str, &'static str, bool)> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .find_map(|word| REASONS.iter().find(|(id, ..)| *id == word))
}

/// The known reason that a text names.
pub fn reason_within(text: &str) -> Option<Reason> {
    code_within(text).map(reason)
}

/// Who cancelled, as far as what the platform says lets one know.
pub fn actor(said: &str, courier: Option<Courier>) -> Actor {
    let upper = said.to_uppercase();
    let names = |words: &[&str]| words.iter().any(|word| upper.contains(word));
    if names(&["CUSTOMER", "MÜŞTERI", "MÜŞTERİ"]) {
        return Actor::Customer;
    }
    if names(&["VENDOR", "RESTAURANT", "RESTORAN"]) {
        return Actor::Account;
    }
    match code_within(said) {
        None => Actor::Platform,
        Some((code, ..)) if ON_THE_WAY.contains(code) => match courier {
            Some(Courier::Restaurant | Courier::None) => Actor::Account,
            Some(Courier::Platform) | None => Actor::Platform,
        },
        Some((code, ..)) if OF_THE_PLATFORM.contains(code) => Actor::Platform,
        // The list is the restaurant's vocabulary: it said so itself, or the platform did on its behalf.
        Some(_) => Actor::Account,
    }
}
