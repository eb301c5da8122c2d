//! Open sessions and the password.

use crate::flow::Fault;
use crate::flow::admin::passwords::SHORTEST_PASSWORD;
use crate::flow::admin::{sessions, user_passwords};
use crate::http::state::HttpState;
use crate::panel::kit::browser_name::browser_name;
use crate::panel::kit::confirmation;
use crate::panel::kit::cookies;
use crate::panel::kit::current_user::CurrentUser;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::form::Field;
use crate::panel::kit::https::is_https;
use crate::panel::kit::layout::{Layout, page};
use crate::panel::kit::navigation::NavItem;
use crate::panel::kit::time_ago::TimeAgo;
use crate::panel::kit::user_form::UserForm;
use crate::panel::words::SessionWords;
use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use garson_core::secret::Secret;
use garson_store::tables::sessions::Session;
use http::{HeaderMap, StatusCode, header};
use std::sync::Arc;

pub fn routes() -> Router<Arc<HttpState>> {
    Router::new()
        .route("/sessions", get(list_sessions))
        .route("/sessions/end", post(end_session))
        .route("/sessions/end-others", post(end_other_sessions))
        .route("/sessions/end-all", post(end_all_sessions))
        .route("/password", post(change_password))
}

#[derive(Template)]
#[template(path = "sessions.html")]
struct SessionsPage {
    layout: Layout,
    t: SessionWords,
    email: String,
    sessions: Vec<SessionRow>,
    /// For users with a password.
    old: Option<Field>,
    new: Field,
}

struct SessionRow {
    form_id: String,
    agent: String,
    /// What the browser says about itself.
    raw_agent: String,
    address: String,
    since: TimeAgo,
    seen: TimeAgo,
    is_current: bool,
}

fn row(user: &CurrentUser, layout: &Layout, session: &Session) -> SessionRow {
    SessionRow {
        form_id: form_id(session),
        agent: browser_name(&session.agent),
        raw_agent: session.agent.clone(),
        address: session.address.clone().unwrap_or_default(),
        since: layout.time_ago(&session.created_at),
        seen: layout.time_ago(&session.seen_at),
        is_current: session.hash == user.session.hash,
    }
}

/// Identifies a session in a form. The hash cannot be used to sign in.
fn form_id(session: &Session) -> String {
    session.hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

async fn list_sessions(State(api): State<Arc<HttpState>>, user: CurrentUser) -> Result<Response, PanelError> {
    show(&api, &user, None, None).await
}

async fn show(
    api: &HttpState,
    user: &CurrentUser,
    old_error: Option<&str>,
    new_error: Option<&str>,
) -> Result<Response, PanelError> {
    let open = sessions::list(&api.app, user.account.id, user.person.id)
        .await
        .map_err(|fault| user.fail(fault))?;
    let layout = user.layout(NavItem::Sessions);
    let t = SessionWords::of(user.lang);
    Ok(page(&SessionsPage {
        email: user.person.email.clone(),
        sessions: open.iter().map(|session| row(user, &layout, session)).collect(),
        old: user.person.has_password.then(|| {
            Field::password("old", t.old_password)
                .autocomplete("current-password")
                .error(old_error)
                .required()
        }),
        new: Field::password("new", t.new_password)
            .autocomplete("new-password")
            .hint(t.new_password_hint)
            .error(new_error)
            .length(SHORTEST_PASSWORD, 200)
            .required(),
        layout,
        t,
    }))
}

async fn end_session(State(api): State<Arc<HttpState>>, sent: UserForm) -> Result<Response, PanelError> {
    let user = &sent.user;
    let fail = |fault| user.fail(fault);
    let open = sessions::list(&api.app, user.account.id, user.person.id)
        .await
        .map_err(fail)?;
    let wanted = open
        .iter()
        .find(|session| form_id(session) == sent.fields.get("session"));
    if let Some(session) = wanted {
        sessions::end(&api.app, user.by(), user.person.id, session.hash)
            .await
            .map_err(fail)?;
    }
    Ok(user.redirect_with_notice("/sessions", SessionWords::of(user.lang).ended))
}

async fn end_other_sessions(
    State(api): State<Arc<HttpState>>,
    sent: UserForm,
) -> Result<Response, PanelError> {
    let user = &sent.user;
    sessions::end_others(&api.app, user.by(), user.person.id, user.session.hash)
        .await
        .map_err(|fault| user.fail(fault))?;
    Ok(user.redirect_with_notice("/sessions", SessionWords::of(user.lang).others_ended))
}

/// Signs the user out everywhere, here too.
async fn end_all_sessions(
    State(api): State<Arc<HttpState>>,
    headers: HeaderMap,
    sent: UserForm,
) -> Result<Response, PanelError> {
    let user = &sent.user;
    sessions::end_all(&api.app, user.by(), user.person.id)
        .await
        .map_err(|fault| user.fail(fault))?;
    let cookie = cookies::set(is_https(&headers), cookies::SESSION, "", 0);
    Ok(([(header::SET_COOKIE, cookie)], Redirect::to("/sign-in")).into_response())
}

async fn change_password(State(api): State<Arc<HttpState>>, sent: UserForm) -> Result<Response, PanelError> {
    let user = &sent.user;
    if !user.person.has_password
        && let Err(question) = confirmation::require(&api, user, "/password", &sent.fields).await
    {
        return Ok(question);
    }
    let t = SessionWords::of(user.lang);
    let secret = |name| Secret::new(sent.fields.raw(name).to_owned());
    let (session, person) = (&user.session, &user.person);
    let (old, new) = (secret("old"), secret("new"));
    let changed = user_passwords::change(&api.app, user.by(), session, person, old, new).await;
    let (old_error, new_error) = match changed {
        Ok(()) => return Ok(user.redirect_with_notice("/sessions", t.password_changed)),
        Err(Fault::SignInRefused) => (Some(t.old_wrong), None),
        Err(Fault::SignInLocked | Fault::SignInFlood) => (Some(t.locked), None),
        Err(Fault::Invalid { .. }) => (None, Some(t.new_wrong)),
        Err(fault) => return Err(user.fail(fault)),
    };
    let page = show(&api, user, old_error, new_error).await?;
    Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response())
}
