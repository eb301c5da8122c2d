//! API keys: issue, replace, revoke, choose the primary one.

mod form;

use crate::flow::Fault;
use crate::flow::admin::keys::OVERLAP;
use crate::flow::admin::{keys, restaurants};
use crate::flow::fault::Thing;
use crate::http::state::HttpState;
use crate::panel::kit::current_user::CurrentUser;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::form_data::FormData;
use crate::panel::kit::form_errors::FormErrors;
use crate::panel::kit::form_page::form_page;
use crate::panel::kit::layout::{Layout, page};
use crate::panel::kit::navigation::NavItem;
use crate::panel::kit::user_form::UserForm;
use crate::panel::words::KeyWords;
use askama::Template;
use axum::Router;
use axum::extract::{Path, State};
use axum::response::Response;
use axum::routing::{get, post};
use form::{KeyForm, form, parse, scope_text};
use garson_core::account::{ApiKey, IssuedKey};
use garson_core::id::{KeyId, RestaurantId};
use garson_core::permission::{Permission, RestaurantScope};
use std::sync::Arc;

pub fn routes() -> Router<Arc<HttpState>> {
    Router::new()
        .route("/keys", get(list_keys).post(issue_key))
        .route("/keys/{id}/primary", post(make_primary))
        .route("/keys/{id}/rotate", post(rotate_key))
        .route("/keys/{id}/revoke", post(revoke_key))
}

struct Row {
    key: ApiKey,
    /// What it is limited to, line by line.
    limits: Vec<String>,
    is_expired: bool,
    /// It has no limits, no end and no replacement, so that it can become primary.
    is_lasting: bool,
    /// The user may replace and revoke it.
    is_own: bool,
    /// The id of the key that replaces it: a form that is sent twice issues one.
    next_id: KeyId,
}

#[derive(Template)]
#[template(path = "keys.html")]
struct KeysPage {
    layout: Layout,
    t: KeyWords,
    rows: Vec<Row>,
    /// A key that was just issued. It is shown this one time.
    issued: Option<String>,
    form: KeyForm,
    problem: Option<String>,
    /// The user may choose the primary key.
    may_choose: bool,
    /// The id of the key that the form issues: a form that is sent twice issues one key.
    next_id: KeyId,
}

/// How many restaurants are named before the rest is counted.
const NAMED: usize = 3;

fn limits(t: &KeyWords, layout: &Layout, key: &ApiKey, names: &[(RestaurantId, String)]) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(scopes) = &key.access.scopes {
        let texts: Vec<&str> = scopes.iter().map(|scope| scope_text(t, *scope)).collect();
        lines.push(texts.join(", "));
    }
    if let RestaurantScope::Only(ids) = &key.access.restaurants {
        let named = names.iter().filter(|(id, _)| ids.contains(id));
        let mut texts: Vec<String> = named.map(|(_, name)| name.clone()).take(NAMED).collect();
        if ids.len() > texts.len() {
            texts.push(format!("+{}", ids.len() - texts.len()));
        }
        lines.push(texts.join(", "));
    }
    if !key.access.networks.is_empty() {
        let texts: Vec<String> = key.access.networks.iter().map(ToString::to_string).collect();
        lines.push(texts.join(", "));
    }
    if let Some(at) = &key.expires_at {
        lines.push(format!("{} {}", t.until, layout.timestamp(at)));
    }
    lines
}

async fn show(
    api: &HttpState,
    user: &CurrentUser,
    issued: Option<String>,
    typed: Option<(&FormData, &FormErrors)>,
) -> Result<Response, PanelError> {
    let t = KeyWords::of(user.lang);
    let fail = |fault| user.fail(fault);
    let (found, names) = (
        keys::list(&api.app, user.account.id).await.map_err(fail)?,
        restaurants::names(&api.app, user.account.id)
            .await
            .map_err(fail)?,
    );
    let mut form = form(api, user, typed.map(|(typed, _)| typed)).await?;
    let problem = typed.map(|(_, wrong)| wrong.mark(form.fields()));
    let layout = user.layout(NavItem::Keys);
    let now = api.app.now();
    let may_choose = user.may(Permission::ManagePrimaryKey);
    let row = |key: ApiKey| Row {
        limits: limits(&t, &layout, &key, &names),
        is_expired: key.is_expired(now),
        is_lasting: key.replaced_by.is_none() && key.expires_at.is_none() && key.access.is_unlimited(),
        is_own: may_choose || !key.is_primary,
        next_id: KeyId::at(now),
        key,
    };
    let page = page(&KeysPage {
        rows: found.into_iter().map(row).collect(),
        layout,
        form,
        problem,
        may_choose,
        next_id: KeyId::at(now),
        issued,
        t,
    });
    Ok(form_page(page, typed.map(|(_, wrong)| wrong)))
}

async fn list_keys(State(api): State<Arc<HttpState>>, user: CurrentUser) -> Result<Response, PanelError> {
    show(&api, &user, None, None).await
}

/// Shows the key that a form has made instead of redirecting. Reloading sends the form again, which makes no second key.
async fn show_issued(
    api: &HttpState,
    user: &CurrentUser,
    issued: Option<IssuedKey>,
) -> Result<Response, PanelError> {
    match issued {
        Some(issued) => show(api, user, Some(issued.secret.expose().clone()), None).await,
        None => Ok(user.redirect_with_error("/keys", KeyWords::of(user.lang).issued_before)),
    }
}

async fn issue_key(
    State(api): State<Arc<HttpState>>,
    UserForm { user, fields }: UserForm,
) -> Result<Response, PanelError> {
    let id = parse_id(&user, fields.get("id"))?;
    let issued = match parse(&fields, api.app.now()) {
        Ok(new) => keys::issue_once(&api.app, user.by(), id, new).await,
        Err(fault) => Err(fault),
    };
    match issued {
        Ok(issued) => show_issued(&api, &user, issued).await,
        Err(fault) => {
            let wrong = FormErrors::new(&user, fault)?;
            show(&api, &user, None, Some((&fields, &wrong))).await
        }
    }
}

fn parse_id(user: &CurrentUser, id: &str) -> Result<KeyId, PanelError> {
    id.parse()
        .map_err(|_| user.fail(Fault::not_found(Thing::Key, id)))
}

async fn rotate_key(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    UserForm { user, fields }: UserForm,
) -> Result<Response, PanelError> {
    let ids = (parse_id(&user, &id)?, parse_id(&user, fields.get("id"))?);
    let issued = keys::rotate_once(&api.app, user.by(), ids, OVERLAP)
        .await
        .map_err(|fault| user.fail(fault))?;
    api.auth.forget_keys();
    show_issued(&api, &user, issued).await
}

async fn make_primary(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    UserForm { user, .. }: UserForm,
) -> Result<Response, PanelError> {
    keys::make_primary(&api.app, user.by(), parse_id(&user, &id)?)
        .await
        .map_err(|fault| user.fail(fault))?;
    Ok(user.redirect_with_notice("/keys", KeyWords::of(user.lang).made_primary))
}

async fn revoke_key(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    UserForm { user, .. }: UserForm,
) -> Result<Response, PanelError> {
    let t = KeyWords::of(user.lang);
    match keys::revoke(&api.app, user.by(), parse_id(&user, &id)?).await {
        Ok(()) => {
            api.auth.forget_keys();
            Ok(user.redirect_with_notice("/keys", t.revoked))
        }
        Err(Fault::LastKey) => Ok(user.redirect_with_error("/keys", t.last_key)),
        Err(fault) => Err(user.fail(fault)),
    }
}
