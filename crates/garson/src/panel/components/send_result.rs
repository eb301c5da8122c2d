//! The message after an event was sent by hand.

use crate::flow::Fault;
use crate::panel::kit::current_user::CurrentUser;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::explain;
use axum::response::Response;

/// The texts for each outcome.
pub struct SendTexts {
    pub accepted: &'static str,
    pub refused: &'static str,
    pub unreachable: &'static str,
}

/// Redirects to `back`, which shows how the receiver answered.
pub fn redirect_with_result(
    user: &CurrentUser,
    back: &str,
    sent: Result<u16, Fault>,
    t: &SendTexts,
) -> Result<Response, PanelError> {
    match sent {
        Ok(status @ 200..300) => Ok(user.redirect_with_notice(back, format!("{} {status}", t.accepted))),
        Ok(status) => Ok(user.redirect_with_error(back, format!("{} {status}", t.refused))),
        Err(Fault::TargetUnreachable { explanation }) => {
            let why = explain::text(user.lang, &explanation);
            Ok(user.redirect_with_error(back, format!("{} {why}", t.unreachable)))
        }
        Err(fault @ (Fault::TooManySends | Fault::NoWebhook | Fault::TargetNotAllowed { .. })) => {
            Ok(user.redirect_with_error(back, user.fail(fault).text()))
        }
        Err(fault) => Err(user.fail(fault)),
    }
}
