//! JSON in text columns.

use crate::{Result, StoreError};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Parses a stored value; `what` names it in the error.
pub(crate) fn from_json<T: DeserializeOwned>(what: &str, json: &str) -> Result<T> {
    serde_json::from_str(json)
        .map_err(|error| StoreError::corrupt(format!("stored {what} is damaged: {error}")))
}

pub(crate) fn to_json<T: Serialize + ?Sized>(what: &str, value: &T) -> Result<String> {
    serde_json::to_string(value)
        .map_err(|error| StoreError::internal(format!("{what} does not serialise: {error}")))
}
