//! Names that several files of this connector share: credential fields, hook kinds and path parameters.

pub const ORDER: &str = "order";
pub const STATUS: &str = "status";
pub const REMOTE_ID: &str = "remoteId";
pub const REMOTE_ORDER_ID: &str = "remoteOrderId";
pub const USERNAME: &str = "username";
pub const PASSWORD: &str = "password";
pub const CHAIN_CODE: &str = "chainCode";
pub const PLUGIN_SECRET: &str = "pluginSecret";
