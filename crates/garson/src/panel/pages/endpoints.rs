//! Webhook endpoints: the list, one endpoint with its settings, statistics and deliveries, and its actions.

mod actions;
mod delivery;
mod detail;
mod fields;
mod form;
mod shown;

use crate::flow::admin::endpoints;
use crate::flow::deliver::stats;
use crate::http::state::HttpState;
use crate::panel::kit::current_user::CurrentUser;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::layout::{Layout, page};
use crate::panel::kit::navigation::NavItem;
use crate::panel::words::EndpointWords;
use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::{get, post};
use garson_core::id::EndpointId;
use shown::{last_failure, name, percent, state};
use std::sync::Arc;

pub fn routes() -> Router<Arc<HttpState>> {
    Router::new()
        .route("/webhook/endpoints", get(list_endpoints))
        .route(
            "/webhook/endpoints/new",
            get(form::show_new_endpoint).post(form::create_endpoint),
        )
        .route(
            "/webhook/endpoints/{id}",
            get(detail::show_endpoint).post(form::update_endpoint),
        )
        .route("/webhook/endpoints/{id}/state", post(actions::set_state))
        .route("/webhook/endpoints/{id}/test", post(actions::test_endpoint))
        .route("/webhook/endpoints/{id}/rotate", post(actions::rotate_secret))
        .route("/webhook/endpoints/{id}/resend", post(actions::resend_missed))
        .route("/webhook/endpoints/{id}/delete", post(actions::delete_endpoint))
        .merge(delivery::routes())
}

struct Row {
    id: EndpointId,
    name: String,
    url: String,
    state: &'static str,
    tone: &'static str,
    success: String,
    last_failure: Option<String>,
}

#[derive(Template)]
#[template(path = "endpoints.html")]
struct EndpointsPage {
    layout: Layout,
    t: EndpointWords,
    rows: Vec<Row>,
}

async fn list_endpoints(
    State(api): State<Arc<HttpState>>,
    user: CurrentUser,
) -> Result<Response, PanelError> {
    let (app, account) = (&api.app, user.account.id);
    let fail = |fault| user.fail(fault);
    let t = EndpointWords::of(user.lang);
    let layout = Layout {
        here: "/webhook/endpoints".to_owned(),
        ..user.layout(NavItem::Webhook)
    };
    let mut rows = Vec::new();
    for endpoint in endpoints::list(app, account).await.map_err(fail)? {
        let statistics = stats::read(app, account, endpoint.id).await.map_err(fail)?;
        let (state, tone) = state(&t, &endpoint);
        rows.push(Row {
            id: endpoint.id,
            name: name(&t, account, &endpoint),
            url: endpoint.url.unwrap_or_default(),
            state,
            tone,
            success: percent(user.lang, statistics.success_per_mille()),
            last_failure: last_failure(&layout, &statistics),
        });
    }
    Ok(page(&EndpointsPage { layout, t, rows }))
}
