//! Changes prices on platforms in two steps: a preview of exactly what would be sent, and sending that preview.
//!
//! A change affects the branches of one restaurant. If a platform only has prices for a whole chain, the user has to confirm that.

mod preview;
mod push;
mod send;
mod view;
mod worker;

pub use preview::{DesiredPrice, PREVIEW_LASTS, preview};
pub use push::{get, push};
pub use view::PriceChangeView;
pub use worker::run;
