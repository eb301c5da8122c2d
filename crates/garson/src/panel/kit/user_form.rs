//! Forms of signed-in users.

use super::access::Access;
use super::confirmation;
use super::current_user::{CurrentUser, access_of};
use super::error::PanelError;
use super::form_data::FormData;
use crate::http::body_budget::BodySource;
use crate::http::state::HttpState;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::response::{IntoResponse, Response};
use std::sync::Arc;

/// A form that a signed-in user has sent, with a valid CSRF token. Before a sensitive change the user has confirmed it.
pub struct UserForm {
    pub user: CurrentUser,
    pub fields: FormData,
}

impl FromRequest<Arc<HttpState>> for UserForm {
    type Rejection = Response;

    async fn from_request(request: Request, api: &Arc<HttpState>) -> Result<Self, Response> {
        let (mut parts, body) = request.into_parts();
        let mut user = CurrentUser::from_request_parts(&mut parts, api).await?;
        let needs_confirmation = access_of(&parts).is_none_or(Access::needs_confirmation);
        let action = parts.uri.path().to_owned();
        let sender = BodySource::Account(user.account.id);
        let fields = FormData::read(Request::from_parts(parts, body), api, sender)
            .await
            .map_err(|error| user.fail_with(error).into_response())?;
        fields.page().clone_into(&mut user.here);
        if !user.owns_token(fields.get("csrf")) {
            return Err(PanelError::stale_form(user.lang, &user.here).into_response());
        }
        if needs_confirmation {
            confirmation::require(api, &user, &action, &fields).await?;
        }
        Ok(Self { user, fields })
    }
}
