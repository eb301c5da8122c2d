//! What connectors share: reading numbers, timestamps and texts as platforms write them, and building requests.

pub mod answer;
pub mod api_key;
pub mod body;
pub mod flag;
pub mod number;
pub mod request;
pub mod soft;
pub mod steps;
pub mod sums;
pub mod text;
pub mod timestamp;
pub mod tolerant;

pub use body::{Read, fault, parse};
