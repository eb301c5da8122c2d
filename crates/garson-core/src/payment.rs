//! How customers pay: one vocabulary for all platforms.

use serde::{Deserialize, Serialize};

macro_rules! payment_types {
    ($($variant:ident $key:literal $name:literal,)*) => {
        /// A way of paying.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum PaymentType {
            $($variant,)*
        }

        impl PaymentType {
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The word used in the API and in storage.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $key,)*
                }
            }

            /// What people call it.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            #[must_use]
            pub fn named(key: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|kind| kind.as_str() == key)
            }
        }
    };
}

payment_types! {
    OnlineCard "online_card" "Online card",
    CardOnDelivery "card_on_delivery" "Card on delivery",
    Cash "cash" "Cash",
    MealCardOnline "meal_card_online" "Meal card, online",
    MealCardOnDelivery "meal_card_on_delivery" "Meal card on delivery",
    Voucher "voucher" "Voucher",
    Wallet "wallet" "Wallet",
    Other "other" "Other",
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_json_agree() {
        for kind in PaymentType::ALL {
            assert_eq!(PaymentType::named(kind.as_str()), Some(*kind));
            assert_eq!(
                serde_json::to_string(kind).ok(),
                Some(format!("\"{}\"", kind.as_str()))
            );
        }
    }
}
