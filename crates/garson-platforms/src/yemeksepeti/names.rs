//! Names that several files of this connector share: credential fields, hook kinds and path parameters.

pub const ORDER: &str = "order";
pub const STATUS: &str = "status";
pub const REMOTE_ID: &str = "remoteId";
pub const REMOTE_ORDER_ID: &str = "remoteOrderId";
pub const USERNAME: &str = "username";
pub const PASSWORD: &str = "password";
pub const CHAIN_CODE: &str = "chainCode";
pub const PLUGIN_SECRET: &str = "pluginSecret";
/// The platform's key of the country, such as the one that `modify-product` wants.
pub const GLOBAL_ENTITY_ID: &str = "globalEntityId";

// Settings of the operator.
pub const PLATFORM_KEY: &str = "platformKey";
pub const CALLBACK_URL: &str = "callbackUrl";
pub const CATALOG_PUSH: &str = "catalogPush";
