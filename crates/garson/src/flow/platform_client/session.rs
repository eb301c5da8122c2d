//! Logging in to platforms, and reusing the session until it ends.

use super::contact::Contact;
use super::limits::wait_for_limit;
use super::send::{send, unwritten};
use crate::app::App;
use crate::app::platform_sessions::SessionState;
use crate::telemetry::{CallOutcome, Topic};
use garson_core::explanation::{Explanation, PlatformFailure};
use garson_core::platform::{CallError, HttpRequest, Session};
use garson_core::secret::Secret;
use std::time::Duration;
use tokio::time::Instant;

/// A session is renewed when a tenth of its lifetime is left.
const RENEW_AT: f64 = 0.9;
/// The pause after a refused login.
const AFTER_A_REFUSED_LOGIN: Duration = Duration::from_secs(30);

/// Logs in again, so that the credentials are really tried; returns whether the platform has sessions. A login that was just
/// refused is not repeated.
pub async fn log_in(app: &App, contact: &Contact, until: Instant) -> Result<bool, CallError> {
    if let Some(login) = contact.platform.login(&contact.link(None)).map_err(unwritten)? {
        let session = app.platform_sessions.of(&login);
        if let Ok(mut state) = tokio::time::timeout_at(until, session.lock()).await
            && matches!(&*state, SessionState::Live { .. })
        {
            *state = SessionState::None;
        }
    }
    has_session(app, contact, until).await
}

/// Logs in unless there is a session; returns whether the platform has sessions.
pub async fn has_session(app: &App, contact: &Contact, until: Instant) -> Result<bool, CallError> {
    Ok(session_token(app, contact, until).await?.is_some())
}

/// The branch of the current session, if the platform named it.
pub async fn session_branch(app: &App, contact: &Contact) -> Option<String> {
    let login = contact.platform.login(&contact.link(None)).ok()??;
    match &*app.platform_sessions.of(&login).lock().await {
        SessionState::Live { branch, .. } => branch.clone(),
        SessionState::None | SessionState::Refused { .. } => None,
    }
}

/// The token of the session, after a login if there is none; nothing where the platform has no sessions.
pub(super) async fn session_token(
    app: &App,
    contact: &Contact,
    until: Instant,
) -> Result<Option<Secret<String>>, CallError> {
    let Some(login) = contact.platform.login(&contact.link(None)).map_err(unwritten)? else {
        return Ok(None);
    };
    let session = app.platform_sessions.of(&login);
    let mut slot = None;
    let mut state = loop {
        // Requests that come during a login wait for the lock and then find the session.
        let Ok(state) = tokio::time::timeout_at(until, session.lock()).await else {
            return Err(CallError::later(PlatformFailure::LoginInProgress));
        };
        match &*state {
            SessionState::Live { token, renew_at, .. } if Instant::now() < *renew_at => {
                return Ok(Some(token.clone()));
            }
            SessionState::Refused { message, until } if Instant::now() < *until => {
                return Err(CallError::later(message.clone()));
            }
            _ if contact.share.is_none() || slot.is_some() => break state,
            _ => {}
        }
        // The lock is released while waiting for a slot: a call that a client waits for may need the session.
        drop(state);
        slot = contact.slot(until).await?;
    };
    let session = request_session(app, contact, login, until).await;
    drop(slot);
    match session {
        Ok(Session { token, lasts, branch }) => {
            *state = SessionState::Live {
                token: token.clone(),
                renew_at: Instant::now() + lasts.mul_f64(RENEW_AT),
                branch,
            };
            Ok(Some(token))
        }
        Err(
            trouble @ (CallError::Refused { .. }
            | CallError::RetryableRefusal { .. }
            | CallError::SessionOver),
        ) => {
            // The credentials must be corrected first; until then not every call repeats the login.
            let cause = Box::new(trouble.explanation());
            let message = Explanation::LoginRefused { cause };
            *state = SessionState::Refused {
                message: message.clone(),
                until: Instant::now() + AFTER_A_REFUSED_LOGIN,
            };
            Err(CallError::later(message))
        }
        Err(trouble) => Err(nothing_done(trouble)),
    }
}

/// Sends the login request and reads the session from its answer.
async fn request_session(
    app: &App,
    contact: &Contact,
    login: HttpRequest,
    until: Instant,
) -> Result<Session, CallError> {
    let began = Instant::now();
    let sent = match wait_for_limit(app, contact, &login, until).await {
        Ok(_) => send(app, contact, login, until).await,
        Err(trouble) => Err(trouble),
    };
    let session = match sent {
        Ok(response) => contact.platform.session(&response),
        Err(trouble) => Err(nothing_done(trouble)),
    };
    let (provider, outcome) = (contact.platform.provider(), CallOutcome::from(&session));
    app.metrics
        .calls
        .count(provider, Topic::Login, outcome, began.elapsed());
    session
}

/// A login changes nothing on the platform: an unclear outcome can simply be retried.
fn nothing_done(trouble: CallError) -> CallError {
    match trouble {
        CallError::Unclear { message } => CallError::later(Explanation::LoginFailed {
            cause: Box::new(message),
        }),
        other => other,
    }
}

/// Removes a session that the platform no longer accepts, unless it has been renewed since.
pub(super) async fn discard_session(app: &App, contact: &Contact, rejected: &Option<Secret<String>>) {
    if let Ok(Some(login)) = contact.platform.login(&contact.link(None)) {
        let session = app.platform_sessions.of(&login);
        let mut state = session.lock().await;
        if matches!(&*state, SessionState::Live { token, .. } if Some(token) == rejected.as_ref()) {
            *state = SessionState::None;
        }
    }
}
