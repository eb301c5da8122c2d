//! The sessions that are open, and the password.

use crate::flow::Fault;
use crate::flow::admin::accounts::SHORTEST_PASSWORD;
use crate::flow::admin::sessions;
use crate::http::state::HttpState as Api;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::form::Field;
use crate::panel::kit::frame::{Frame, Place, page};
use crate::panel::kit::visitor::{Sent, Visitor};
use crate::panel::words::SessionWords;
use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use garson_core::secret::Secret;
use garson_store::tables::sessions::Session;
use http::StatusCode;
use std::sync::Arc;

pub fn routes() -> Router<Arc<Api>> {
    Router::new()
        .route("/sessions", get(list_sessions))
        .route("/sessions/end", post(end_session))
        .route("/sessions/end-others", post(end_other_sessions))
        .route("/password", post(change_password))
}

#[derive(Template)]
#[template(path = "sessions.html")]
struct SessionsPage {
    frame: Frame,
    t: SessionWords,
    email: String,
    sessions: Vec<Row>,
    old: Field,
    new: Field,
}

struct Row {
    name: String,
    agent: String,
    since: String,
    seen: String,
    is_this: bool,
}

fn row(visitor: &Visitor, frame: &Frame, session: &Session) -> Row {
    Row {
        name: name_of(session),
        agent: session.agent.clone(),
        since: frame.moment(&session.created_at),
        seen: frame.moment(&session.seen_at),
        is_this: session.hash == visitor.session.hash,
    }
}

/// The name of a session in a form: its hash, which nobody can sign in with.
fn name_of(session: &Session) -> String {
    session.hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

async fn list_sessions(State(api): State<Arc<Api>>, visitor: Visitor) -> Result<Response, PanelError> {
    show(&api, &visitor, None, None).await
}

async fn show(
    api: &Api,
    visitor: &Visitor,
    old_wrong: Option<&str>,
    new_wrong: Option<&str>,
) -> Result<Response, PanelError> {
    let open = sessions::list(&api.app, visitor.account.id)
        .await
        .map_err(|fault| visitor.fail(fault))?;
    let frame = Frame::new(visitor, Place::Sessions);
    let t = SessionWords::of(visitor.lang);
    Ok(page(&SessionsPage {
        email: visitor.account.email.clone(),
        sessions: open.iter().map(|session| row(visitor, &frame, session)).collect(),
        old: Field::password("old", t.old_password)
            .autocomplete("current-password")
            .error(old_wrong)
            .required(),
        new: Field::password("new", t.new_password)
            .autocomplete("new-password")
            .hint(t.new_password_hint)
            .error(new_wrong)
            .between(SHORTEST_PASSWORD, 200)
            .required(),
        frame,
        t,
    }))
}

async fn end_session(State(api): State<Arc<Api>>, sent: Sent) -> Result<Response, PanelError> {
    let visitor = &sent.visitor;
    let fail = |fault| visitor.fail(fault);
    let open = sessions::list(&api.app, visitor.account.id).await.map_err(fail)?;
    let wanted = open
        .iter()
        .find(|session| name_of(session) == sent.fields.get("session"));
    if let Some(session) = wanted {
        sessions::end(&api.app, visitor.account.id, session.hash)
            .await
            .map_err(fail)?;
    }
    Ok(visitor.done("/sessions", SessionWords::of(visitor.lang).ended))
}

async fn end_other_sessions(State(api): State<Arc<Api>>, sent: Sent) -> Result<Response, PanelError> {
    let visitor = &sent.visitor;
    sessions::end_others(&api.app, visitor.account.id, visitor.session.hash)
        .await
        .map_err(|fault| visitor.fail(fault))?;
    Ok(visitor.done("/sessions", SessionWords::of(visitor.lang).others_ended))
}

async fn change_password(State(api): State<Arc<Api>>, sent: Sent) -> Result<Response, PanelError> {
    let visitor = &sent.visitor;
    let t = SessionWords::of(visitor.lang);
    let secret = |name| Secret::new(sent.fields.raw(name).to_owned());
    let changed = sessions::change_password(
        &api.app,
        &visitor.session,
        visitor.client,
        secret("old"),
        secret("new"),
    )
    .await;
    let (old_wrong, new_wrong) = match changed {
        Ok(()) => return Ok(visitor.done("/sessions", t.password_changed)),
        Err(Fault::SignInRefused) => (Some(t.old_wrong), None),
        Err(Fault::SignInLocked | Fault::SignInFlood) => (Some(t.locked), None),
        Err(Fault::Invalid { .. }) => (None, Some(t.new_wrong)),
        Err(fault) => return Err(visitor.fail(fault)),
    };
    let shown = show(&api, visitor, old_wrong, new_wrong).await?;
    Ok((StatusCode::UNPROCESSABLE_ENTITY, shown).into_response())
}
