//! Creating and changing an endpoint.

use super::detail::{Shown, show};
use super::fields::{Form, form, parse};
use super::shown::parse_id;
use crate::flow::admin::endpoints;
use crate::http::state::HttpState;
use crate::panel::kit::current_user::CurrentUser;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::form_data::FormData;
use crate::panel::kit::form_errors::FormErrors;
use crate::panel::kit::form_page::form_page;
use crate::panel::kit::layout::{Layout, page};
use crate::panel::kit::navigation::NavItem;
use crate::panel::kit::user_form::UserForm;
use crate::panel::words::EndpointWords;
use askama::Template;
use axum::extract::{Path, State};
use axum::response::Response;
use garson_core::id::EndpointId;
use std::sync::Arc;
use std::time::Duration;

/// Whoever presses twice, or whose browser sends again by itself, does so within this time.
const SAME_PRESS: Duration = Duration::from_secs(10);

#[derive(Template)]
#[template(path = "endpoint_new.html")]
struct NewEndpointPage {
    layout: Layout,
    t: EndpointWords,
    /// The id of the endpoint that the form creates: a form that is sent twice creates one.
    id: EndpointId,
    form: Form,
    problem: Option<String>,
}

async fn show_new(
    api: &HttpState,
    user: &CurrentUser,
    id: EndpointId,
    typed: Option<&FormData>,
    wrong: Option<&FormErrors>,
) -> Result<Response, PanelError> {
    let mut form = form(api, user, None, typed).await?;
    let problem = wrong.map(|wrong| wrong.mark(form.all()));
    let page = page(&NewEndpointPage {
        layout: Layout {
            here: "/webhook/endpoints/new".to_owned(),
            ..user.layout(NavItem::Webhook)
        },
        t: EndpointWords::of(user.lang),
        id,
        form,
        problem,
    });
    Ok(form_page(page, wrong))
}

pub async fn show_new_endpoint(
    State(api): State<Arc<HttpState>>,
    user: CurrentUser,
) -> Result<Response, PanelError> {
    show_new(&api, &user, EndpointId::at(api.app.now()), None, None).await
}

pub async fn create_endpoint(
    State(api): State<Arc<HttpState>>,
    UserForm { user, fields }: UserForm,
) -> Result<Response, PanelError> {
    let id = parse_id(&user, fields.get("id"))?;
    // A form that is sent again later shows no secret again.
    if let Ok(existing) = endpoints::get(&api.app, user.account.id, id).await
        && existing.created_at.plus(SAME_PRESS) < api.app.now()
    {
        let t = EndpointWords::of(user.lang);
        return Ok(user.redirect_with_notice(&format!("/webhook/endpoints/{id}"), t.created));
    }
    let created = match parse(&fields) {
        Ok(input) => endpoints::create(&api.app, user.by(), id, input).await,
        Err(fault) => Err(fault),
    };
    match created {
        Ok(created) => {
            let t = EndpointWords::of(user.lang);
            let shown = Shown::of(created, t.created);
            show(&api, &user, id, &FormData::default(), None, Some(shown)).await
        }
        Err(fault) => {
            let wrong = FormErrors::new(&user, fault)?;
            show_new(&api, &user, id, Some(&fields), Some(&wrong)).await
        }
    }
}

pub async fn update_endpoint(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    UserForm { user, fields }: UserForm,
) -> Result<Response, PanelError> {
    let id = parse_id(&user, &id)?;
    let updated = match parse(&fields) {
        Ok(input) => endpoints::update(&api.app, user.by(), id, input).await,
        Err(fault) => Err(fault),
    };
    let t = EndpointWords::of(user.lang);
    match updated {
        Ok(changed) if changed.token.is_none() && changed.signing_secret.is_none() => {
            Ok(user.redirect_with_notice(&format!("/webhook/endpoints/{id}"), t.saved))
        }
        // The response itself shows the secret instead of redirecting.
        Ok(changed) => {
            let shown = Shown::of(changed, t.saved);
            show(&api, &user, id, &FormData::default(), None, Some(shown)).await
        }
        Err(fault) => {
            let wrong = FormErrors::new(&user, fault)?;
            show(
                &api,
                &user,
                id,
                &FormData::default(),
                Some((&fields, &wrong)),
                None,
            )
            .await
        }
    }
}
