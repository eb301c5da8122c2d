//! The product that a path or form names.

use crate::flow::Fault;
use crate::flow::fault::Thing;
use crate::panel::kit::current_user::CurrentUser;
use crate::panel::kit::error::PanelError;
use garson_core::id::ProductId;

/// A malformed id is answered like an unknown one.
pub fn product_id(user: &CurrentUser, text: &str) -> Result<ProductId, PanelError> {
    text.parse()
        .map_err(|_| user.fail(Fault::not_found(Thing::Product, text)))
}
