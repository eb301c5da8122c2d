//! The response to a form that was not accepted.

use super::form_errors::FormErrors;
use axum::response::{IntoResponse, Response};

/// The page with the form, with the error's status if there is one.
pub fn form_page(page: Response, wrong: Option<&FormErrors>) -> Response {
    match wrong {
        Some(wrong) => (wrong.status, page).into_response(),
        None => page,
    }
}
