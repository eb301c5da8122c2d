//! Parts that several pages show.

pub mod card;
pub mod chart;
pub mod confirm_delete;
pub mod day_range;
pub mod first_steps;
pub mod order_actions;
pub mod printers;
pub mod report_filter;
pub mod restaurant_header;
pub mod send_result;
