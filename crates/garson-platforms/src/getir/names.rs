//! Names that several files of this connector share: credential fields and hook kinds.

pub const NEW_ORDER: &str = "new-order";
pub const CANCEL_ORDER: &str = "cancel-order";
/// Their bodies are not published, and nothing of an order follows from them.
pub const RESTAURANT_STATUS: &str = "restaurant-status";
pub const COURIER_ARRIVAL: &str = "courier-arrival";
pub const APP_KEY: &str = "appSecretKey";
pub const RESTAURANT_KEY: &str = "restaurantSecretKey";
/// The chain's menu whose prices can be changed.
pub const CHAIN_MENU_ID: &str = "chainMenuId";

// Settings of the operator.
pub const OPEN_STATUS: &str = "openStatus";
pub const CLOSED_STATUS: &str = "closedStatus";
pub const UNANSWERED_SOURCE: &str = "unansweredSource";
pub const DAY_ZERO: &str = "dayZero";
pub const OPTION_CALLS: &str = "optionCalls";
/// The value with which options are switched below their product.
pub const OPTION_CALLS_BY_PRODUCT: &str = "products";
