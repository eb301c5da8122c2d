//! Names that several files of this connector share: credential fields and hook kinds.

pub const NEW_ORDER: &str = "new-order";
pub const CANCEL_ORDER: &str = "cancel-order";
/// Their bodies are not published, and nothing of an order follows from them.
pub const RESTAURANT_STATUS: &str = "restaurant-status";
pub const COURIER_ARRIVAL: &str = "courier-arrival";
pub const APP_KEY: &str = "appSecretKey";
pub const RESTAURANT_KEY: &str = "restaurantSecretKey";
