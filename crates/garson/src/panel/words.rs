//! Every text of the panel, in Turkish and English side by side: a text that is missing in one does not compile.

mod board;
mod businesses;
mod delivery;
mod error;
mod frame;
mod integrations;
mod keys;
mod matching;
mod menu;
mod names;
mod order;
mod orders;
mod packages;
mod parts;
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
pub use delivery::DeliveryWords;
pub use error::ErrorWords;
pub use frame::FrameWords;
pub use integrations::IntegrationWords;
pub use keys::KeyWords;
pub use matching::MatchingWords;
pub use menu::MenuWords;
pub use names::NameWords;
pub use order::OrderWords;
pub use orders::OrdersWords;
pub use packages::PackageWords;
pub use parts::PartWords;
pub use payments::PaymentWords;
pub use reports::ReportWords;
pub use restaurants::RestaurantWords;
pub use sessions::SessionWords;
pub use sign_in::SignInWords;
pub use status::StatusWords;
pub use webhook::WebhookWords;
pub use wrong::WrongWords;

/// Makes a set of texts: `name: "Turkish" | "English"`.
macro_rules! words {
    ($(#[$doc:meta])* $set:ident { $($name:ident: $tr:literal | $en:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $set {
            $(pub $name: &'static str,)*
        }

        impl $set {
            pub const fn of(lang: $crate::panel::kit::lang::Lang) -> Self {
                match lang {
                    $crate::panel::kit::lang::Lang::Tr => Self { $($name: $tr,)* },
                    $crate::panel::kit::lang::Lang::En => Self { $($name: $en,)* },
                }
            }
        }
    };
}
use words;
