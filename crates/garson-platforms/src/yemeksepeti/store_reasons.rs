//! The platform's words for why a restaurant is closed.

use garson_core::store_status::ReasonCode;

const WORDS: [(&str, ReasonCode); 25] = [
    ("TOO_BUSY_KITCHEN", ReasonCode::KitchenBusy),
    ("TOO_BUSY_NO_DRIVERS", ReasonCode::NoCouriers),
    ("UPDATES_IN_MENU", ReasonCode::MenuUpdate),
    ("TECHNICAL_PROBLEM", ReasonCode::TechnicalProblem),
    ("CLOSED", ReasonCode::Closed),
    ("OTHER", ReasonCode::Other),
    ("CHECK_IN_REQUIRED", ReasonCode::CheckInRequired),
    ("CHECK_IN_FAILED", ReasonCode::CheckInFailed),
    ("ORDER_FAILURE", ReasonCode::OrderFailure),
    ("TOO_MANY_REJECTED_ORDERS", ReasonCode::TooManyRejections),
    ("UNREACHABLE", ReasonCode::Unreachable),
    ("COURIER_DELAYED_AT_PICKUP", ReasonCode::CourierDelayed),
    ("RESTRICTED_VISIBILITY", ReasonCode::RestrictedVisibility),
    ("BAD_WEATHER", ReasonCode::BadWeather),
    ("HOLIDAY_SPECIAL_DAY", ReasonCode::SpecialDay),
    ("ONBOARDING", ReasonCode::Onboarding),
    ("OFFBOARDING", ReasonCode::Offboarding),
    ("RETENTION", ReasonCode::Retention),
    ("COMPLIANCE_ISSUES", ReasonCode::Compliance),
    ("OWNERSHIP_CHANGE", ReasonCode::OwnershipChange),
    ("REFURBISHMENT", ReasonCode::Refurbishment),
    ("FOOD_HYGIENE", ReasonCode::FoodHygiene),
    ("FRAUD", ReasonCode::Fraud),
    ("RELIGIOUS_OBSERVANCE", ReasonCode::ReligiousObservance),
    ("AREA_DISRUPTION", ReasonCode::AreaDisruption),
];

pub fn reason_of(word: &str) -> ReasonCode {
    let known = WORDS
        .iter()
        .find(|(known, _)| known.eq_ignore_ascii_case(word.trim()));
    known.map_or(ReasonCode::Unknown, |(_, code)| *code)
}

pub fn word_of(code: ReasonCode) -> Option<&'static str> {
    WORDS
        .iter()
        .find(|(_, known)| *known == code)
        .map(|(word, _)| *word)
}
