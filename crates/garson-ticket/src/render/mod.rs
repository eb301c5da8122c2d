//! Renders the model of a ticket in a format.

pub mod escpos;
pub mod html;
mod layout;
pub mod text;
