//! The column with the restaurants that a user or a key is limited to: a JSON list of ids, NULL for all.

use crate::Result;
use crate::tables::json::{from_json, to_json};
use garson_core::id::RestaurantId;
use garson_core::permission::RestaurantScope;
use std::collections::BTreeSet;

pub(crate) fn read(stored: Option<&str>) -> Result<RestaurantScope> {
    Ok(match stored {
        None => RestaurantScope::All,
        Some(json) => {
            RestaurantScope::Only(from_json::<BTreeSet<RestaurantId>>("list of restaurants", json)?)
        }
    })
}

pub(crate) fn write(scope: &RestaurantScope) -> Result<Option<String>> {
    match scope {
        RestaurantScope::All => Ok(None),
        RestaurantScope::Only(ids) => to_json("list of restaurants", ids).map(Some),
    }
}
