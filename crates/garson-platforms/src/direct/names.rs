//! Names that several files of this connector share: hook kinds and a credential field.

pub const NEW_ORDER: &str = "order";
pub const CANCEL: &str = "cancel";
pub const CALLBACK_URL: &str = "callbackUrl";
