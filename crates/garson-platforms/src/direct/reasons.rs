//! The reasons with which an order of the shop can be cancelled.

/// Id and English name of each reason.
pub const REASONS: [(&str, &str); 6] = [
    ("out_of_stock", "Out of stock"),
    ("closed", "The restaurant is closed"),
    ("too_busy", "The kitchen is too busy"),
    ("customer_request", "The customer asked for it"),
    ("address", "The address cannot be delivered to"),
    ("other", "Another reason"),
];
