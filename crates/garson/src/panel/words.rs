//! Every text of the panel, in Turkish and English side by side. A missing translation does not compile.

mod board;
mod businesses;
mod components;
mod delivery;
mod error;
mod integrations;
mod keys;
mod lang;
mod layout;
mod matching;
mod menu;
mod names;
mod order;
mod orders;
mod packages;
mod payments;
mod reports;
mod restaurants;
mod sessions;
mod sign_in;
mod status;
mod webhook;
mod wrong;

pub use board::BoardWords;
pub use businesses::BusinessWords;
pub use components::ComponentWords;
pub use delivery::DeliveryWords;
pub use error::ErrorWords;
pub use integrations::IntegrationWords;
pub use keys::KeyWords;
pub use lang::Lang;
pub use layout::LayoutWords;
pub use matching::MatchingWords;
pub use menu::MenuWords;
pub use names::NameWords;
pub use order::OrderWords;
pub use orders::OrdersWords;
pub use packages::PackageWords;
pub use payments::PaymentWords;
pub use reports::ReportWords;
pub use restaurants::RestaurantWords;
pub use sessions::SessionWords;
pub use sign_in::SignInWords;
pub use status::StatusWords;
pub use webhook::WebhookWords;
pub use wrong::{WrongWords, say};

/// Declares a set of texts: `name: "Turkish" | "English"`.
macro_rules! words {
    ($(#[$doc:meta])* $set:ident { $($name:ident: $tr:literal | $en:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $set {
            $(pub $name: &'static str,)*
        }

        impl $set {
            pub const fn of(lang: $crate::panel::words::lang::Lang) -> Self {
                match lang {
                    $crate::panel::words::lang::Lang::Tr => Self { $($name: $tr,)* },
                    $crate::panel::words::lang::Lang::En => Self { $($name: $en,)* },
                }
            }
        }
    };
}
use words;
