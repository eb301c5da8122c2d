//! Names that several files of this connector share: credential fields, hook kinds and rate limits.

// Hook kinds. Each event has its own path, since the bodies do not name the event.
pub const CREATED: &str = "created";
pub const PICKUP_ETA: &str = "pickupEtaCalculated";
pub const COURIER_NEARBY: &str = "courierNearby";
pub const SHIPPED: &str = "shipped";
pub const DELIVERED: &str = "delivered";
pub const CANCELLED: &str = "cancelled";
pub const UNSUPPLIED: &str = "unsupplied";
pub const STORE_CHANGED: &str = "storeChanged";
pub const SELLER_CHANGED: &str = "sellerChanged";

// Rate limits that have no other name.
pub const PACKAGES: &str = "packages";
pub const PACKAGE: &str = "package";
pub const PICKED: &str = "picked";
pub const INVOICED: &str = "invoiced";
pub const PRODUCTS: &str = "products";
pub const STORES: &str = "stores";
pub const STORE_STATUS: &str = "store-status";
pub const WORKING_HOURS: &str = "working-hours";
pub const PRODUCT_STATUS: &str = "product-status";
pub const PRICES: &str = "prices";
pub const BATCH: &str = "batch";

pub const SUPPLIER_ID: &str = "supplierId";
pub const API_KEY: &str = "apiKey";
pub const API_SECRET: &str = "apiSecret";
pub const INTEGRATOR_NAME: &str = "integratorName";
pub const EXECUTOR_USER: &str = "executorUser";
pub const INBOUND_HEADERS: &str = "inboundHeaders";
