//! What clients may write, as types that hold only checked values. The API parses bodies into them, the panel its forms.

mod business;
mod ids;
mod overlap;
mod packages;
mod patch;
mod payment_matches;
mod restaurant;
mod values;

pub use business::BusinessInput;
pub use ids::{
    business_id, catalog_push_id, channel_id, endpoint_id, key_id, price_push_id, printer_id, product_id,
    restaurant_id, user_id,
};
pub use overlap::overlap;
pub use packages::{PackageInput, packages};
pub use patch::Patch;
pub use payment_matches::{PaymentMatchInput, payment_matches};
pub use restaurant::{MatchingHeaders, RestaurantInput, masked_headers};
pub use values::{CredentialText, Degrees, ForeignId, JsonObject, Line, Name, Prose, Text};
