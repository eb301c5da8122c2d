//! Parts that several pages show.

pub mod card;
pub mod card_content;
pub mod chart;
pub mod confirm_delete;
pub mod day_range;
pub mod delivery_row;
pub mod first_steps;
pub mod kitchen_card;
pub mod order_actions;
pub mod order_notices;
pub mod printers;
pub mod product_row;
pub mod qr_code;
pub mod report_filter;
pub mod restaurant_header;
pub mod role_name;
pub mod send_result;
pub mod store_state;
pub mod store_strip;
