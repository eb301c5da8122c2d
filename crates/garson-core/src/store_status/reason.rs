//! Why a store is closed, in one set of codes for every platform.

use super::state::UnknownWord;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Why a store is closed: our code, and the platform's own word if it gave one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoreReason {
    pub code: ReasonCode,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub word: Option<String>,
}

impl From<ReasonCode> for StoreReason {
    fn from(code: ReasonCode) -> Self {
        Self { code, word: None }
    }
}

macro_rules! reasons {
    ($($(#[$meta:meta])* $variant:ident $code:literal $turkish:literal $english:literal,)*) => {
        /// The reasons that platforms give or accept.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum ReasonCode {
            $($(#[$meta])* #[serde(rename = $code)] $variant,)*
        }

        impl ReasonCode {
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $code,)*
                }
            }

            /// The texts for staff, in Turkish and in English.
            #[must_use]
            pub const fn texts(self) -> (&'static str, &'static str) {
                match self {
                    $(Self::$variant => ($turkish, $english),)*
                }
            }
        }
    };
}

reasons! {
    // Reasons that an account can give.
    KitchenBusy "kitchen_busy" "Mutfak çok yoğun" "The kitchen is too busy",
    NoCouriers "no_couriers" "Kurye yok" "There are no couriers",
    MenuUpdate "menu_update" "Menü güncelleniyor" "The menu is being updated",
    TechnicalProblem "technical_problem" "Teknik sorun" "There is a technical problem",
    Closed "closed" "Restoran kapalı" "The restaurant is closed",
    Other "other" "Diğer" "Other",

    // Reasons that only platforms give.
    OrderNotAnswered "order_not_answered" "Bir siparişe zamanında yanıt verilmedi" "An order was not answered in time",
    CheckInRequired "check_in_required" "Platform açılıştan önce giriş onayı istiyor" "The platform requires a check-in before opening",
    CheckInFailed "check_in_failed" "Platformdaki giriş onayı başarısız oldu" "The check-in on the platform failed",
    OrderFailure "order_failure" "Siparişler iletilemedi" "Orders could not be delivered to the restaurant",
    TooManyRejections "too_many_rejections" "Çok fazla sipariş reddedildi" "Too many orders were rejected",
    Unreachable "unreachable" "Platform restorana ulaşamadı" "The platform could not reach the restaurant",
    CourierDelayed "courier_delayed" "Kuryeler restoranda bekletildi" "Couriers had to wait at the restaurant",
    RestrictedVisibility "restricted_visibility" "Restoranın görünürlüğü kısıtlandı" "The restaurant's visibility is restricted",
    BadWeather "bad_weather" "Kötü hava koşulları" "Bad weather",
    SpecialDay "special_day" "Tatil veya özel gün" "A holiday or special day",
    Onboarding "onboarding" "Restoranın kaydı tamamlanmadı" "The restaurant's registration is not complete",
    Offboarding "offboarding" "Restoran platformdan ayrılıyor" "The restaurant is leaving the platform",
    Retention "retention" "Sözleşme görüşmesi sürüyor" "The contract is being discussed",
    Compliance "compliance" "Mevzuata uyum sorunu" "A compliance issue",
    OwnershipChange "ownership_change" "İşletme el değiştiriyor" "The business is changing its owner",
    Refurbishment "refurbishment" "Tadilat" "Refurbishment",
    FoodHygiene "food_hygiene" "Gıda hijyeni incelemesi" "A food hygiene issue",
    Fraud "fraud" "Sahtecilik şüphesi" "Suspected fraud",
    ReligiousObservance "religious_observance" "Dini gün" "A religious observance",
    AreaDisruption "area_disruption" "Bölgede hizmet aksaması" "A disruption in the area",
    OutsideHours "outside_hours" "Çalışma saatleri dışında" "Outside opening hours",
    /// The platform has deactivated the store permanently; only its own staff can reactivate it.
    Inactive "inactive" "Restoran platformda etkin değil" "The restaurant is not active on the platform",
    /// The platform gave an unknown reason.
    Unknown "unknown" "Platformun bildirdiği bir neden" "A reason given by the platform",
}

impl fmt::Display for ReasonCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for ReasonCode {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut all = Self::ALL.iter().copied();
        all.find(|code| code.as_str() == text).ok_or(UnknownWord)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_read_as_they_are_written() {
        for code in ReasonCode::ALL {
            assert_eq!(code.as_str().parse(), Ok(*code));
            assert_eq!(serde_json::to_value(code).unwrap(), code.as_str());
            let (turkish, english) = code.texts();
            assert!(!turkish.is_empty() && !english.is_empty());
        }
        assert_eq!("TOO_BUSY".parse::<ReasonCode>(), Err(UnknownWord));
    }
}
