//! Names that several files of this connector share: credential fields and hook kinds.

pub const ORDER_CREATED: &str = "order-created";
pub const ORDER_CANCELLED: &str = "order-cancelled";
pub const DELIVERY_STATUS: &str = "delivery-status";

pub const API_KEY: &str = "apiKey";
pub const SECRET_KEY: &str = "secretKey";
pub const KEY_DERIVATION: &str = "keyDerivation";
pub const INBOUND_USER: &str = "inboundUser";
pub const INBOUND_PASSWORD: &str = "inboundPassword";

/// A setting of the operator: the name of "until the next shift".
pub const NEXT_SHIFT_OPTION: &str = "nextShiftOption";
