//! A restaurant's integrations: how each platform is doing, on and off, trying it, a test order, and disconnecting.

mod connect;

use crate::api::Api;
use crate::flow::Fault;
use crate::flow::admin::accounts::Actor;
use crate::flow::admin::connection_test::{Proof, try_connection};
use crate::flow::admin::integrations::IntegrationChange;
use crate::flow::admin::{integrations, restaurants};
use crate::flow::intake::test_orders;
use crate::flow::read::board;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::form_errors::Wrong;
use crate::panel::kit::frame::{Frame, Place, page};
use crate::panel::kit::restaurant_header::{About, Tab, chosen_restaurant, restaurant_id};
use crate::panel::kit::visitor::{Sent, Visitor};
use crate::panel::kit::{explain, format};
use crate::panel::words::IntegrationWords;
use askama::Template;
use axum::Router;
use axum::extract::{Path, State};
use axum::response::Response;
use axum::routing::{get, post};
use garson_core::explanation::Explanation;
use garson_core::integration::{BranchClaim, Integration};
use garson_core::platform::{Platform, PlatformError};
use garson_core::restaurant::Restaurant;
use std::sync::Arc;

pub fn routes() -> Router<Arc<Api>> {
    let one = "/restaurants/{id}/integrations/{provider}";
    Router::new()
        .route("/restaurants/{id}/integrations", get(list_integrations))
        .route(one, get(connect::show_form).post(connect::save))
        .route(&format!("{one}/switch"), post(switch_integration))
        .route(&format!("{one}/try"), post(try_integration))
        .route(&format!("{one}/disconnect"), post(disconnect))
        .route("/test-order", post(send_test_order))
}

#[derive(Template)]
#[template(path = "integrations.html")]
struct IntegrationsPage {
    frame: Frame,
    t: IntegrationWords,
    about: About,
    /// Those that are connected first.
    platforms: Vec<Shown>,
}

/// A platform, connected or not.
struct Shown {
    key: String,
    name: String,
    path: String,
    is_covered: bool,
    connection: Option<Connection>,
}

struct Connection {
    is_active: bool,
    branch: Option<String>,
    /// Why the platform's messages may not arrive.
    branch_problem: Option<&'static str>,
    last_order: String,
    last_error: Option<(String, String)>,
    is_in_trouble: bool,
    can_order: bool,
}

impl Connection {
    fn new(api: &Api, frame: &Frame, t: &IntegrationWords, found: &Integration) -> Self {
        let health = &found.health;
        Self {
            is_active: found.is_active,
            branch: found.remote_id.clone(),
            branch_problem: branch_problem(api, t, found),
            last_order: frame.moment_or(&health.last_order_at, t.no_order),
            last_error: health.last_error_at.as_ref().map(|at| {
                (
                    frame.moment(at),
                    explain::optional(frame.lang, health.last_error.as_ref()),
                )
            }),
            is_in_trouble: board::is_in_trouble(found, api.app.now()),
            can_order: test_orders::can_order(&api.app, found),
        }
    }
}

/// Only where the operator has credentials for the platform does it matter who owns a branch.
fn branch_problem(api: &Api, t: &IntegrationWords, found: &Integration) -> Option<&'static str> {
    if api.app.terms(found.provider).credentials.is_empty() {
        return None;
    }
    match integrations::shown_claim(found)? {
        BranchClaim::Proven => None,
        BranchClaim::Unproven => Some(t.branch_unproven),
        BranchClaim::Taken => Some(t.branch_taken),
    }
}

async fn list_integrations(
    State(api): State<Arc<Api>>,
    Path(id): Path<String>,
    visitor: Visitor,
) -> Result<Response, PanelError> {
    let id = restaurant_id(&visitor, &id)?;
    let restaurant = restaurants::get(&api.app, visitor.account.id, id)
        .await
        .map_err(|fault| visitor.fail(fault))?;
    let (t, frame) = (
        IntegrationWords::of(visitor.lang),
        Frame::new(&visitor, Place::Restaurants),
    );
    let now = api.app.now();
    let shown = |platform: &&'static dyn Platform| {
        let provider = platform.provider();
        let found = restaurant.integrations.iter().find(|it| it.provider == provider);
        Shown {
            key: provider.to_string(),
            name: frame.provider(&provider),
            path: form_path(&restaurant, provider.as_str()),
            is_covered: restaurant.packages.iter().any(|it| it.covers(provider, now)),
            connection: found.map(|found| Connection::new(&api, &frame, &t, found)),
        }
    };
    let mut platforms: Vec<Shown> = garson_platforms::all().iter().map(shown).collect();
    platforms.sort_by_key(|it| it.connection.is_none());
    Ok(page(&IntegrationsPage {
        about: About::new(&visitor, &restaurant, Tab::Integrations),
        platforms,
        t,
        frame,
    }))
}

fn form_path(restaurant: &Restaurant, provider: &str) -> String {
    format!("{}/{provider}", Tab::Integrations.path(restaurant.id))
}

async fn switch_integration(
    State(api): State<Arc<Api>>,
    Path((id, provider)): Path<(String, String)>,
    Sent { visitor, fields }: Sent,
) -> Result<Response, PanelError> {
    let id = restaurant_id(&visitor, &id)?;
    let t = IntegrationWords::of(visitor.lang);
    let (app, account) = (&api.app, visitor.account.id);
    let is_active = fields.get("active") == "yes";
    let change = IntegrationChange {
        is_active: Some(is_active),
        ..IntegrationChange::default()
    };
    // A switch belongs to something: it does not connect a platform.
    integrations::get(app, account, id, &provider)
        .await
        .map_err(|fault| visitor.fail(fault))?;
    let list = Tab::Integrations.path(id);
    match integrations::put(app, account, Actor::Owner, id, &provider, change).await {
        Ok(_) if is_active => Ok(visitor.done(&list, t.switched_on)),
        Ok(_) => Ok(visitor.done(&list, t.switched_off)),
        // What is missing is entered in the form.
        Err(fault @ Fault::Invalid { .. }) => {
            let wrong = Wrong::new(&visitor, fault)?;
            let name = connect::label(visitor.lang, &provider, wrong.field());
            Ok(visitor.refused(
                &format!("{list}/{provider}"),
                format!("{} {name}.", t.cannot_switch_on),
            ))
        }
        Err(fault) => {
            let error = visitor.fail(fault);
            match error.status.as_u16() {
                409 | 422 => Ok(visitor.refused(&list, error.text())),
                _ => Err(error),
            }
        }
    }
}

async fn try_integration(
    State(api): State<Arc<Api>>,
    Path((id, provider)): Path<(String, String)>,
    Sent { visitor, .. }: Sent,
) -> Result<Response, PanelError> {
    let id = restaurant_id(&visitor, &id)?;
    let t = IntegrationWords::of(visitor.lang);
    let list = Tab::Integrations.path(id);
    let tried = try_connection(&api.app, visitor.account.id, id, &provider).await;
    let found = integrations::platform(&provider).map_err(|fault| visitor.fail(fault))?;
    // There are several on the page.
    let name = format::provider(visitor.lang, found.provider());
    let done = |text: &str| Ok(visitor.done(&list, format!("{name}: {text}")));
    let refused = |text: &str, why: &Explanation| {
        let why = explain::text(visitor.lang, why);
        Ok(visitor.refused(&list, format!("{name}: {text} {why}")))
    };
    match tried {
        Ok(Proof::Orders) => done(t.tried_orders),
        Ok(Proof::LogIn) => done(t.tried_log_in),
        Err(Fault::Platform(PlatformError::Unsupported { .. })) => done(t.tried_nothing),
        Err(Fault::ProviderRefused { message }) => refused(t.tried_refused, &message),
        Err(Fault::ProviderUnreachable { message }) => refused(t.tried_away, &message),
        Err(fault) => Err(visitor.fail(fault)),
    }
}

async fn disconnect(
    State(api): State<Arc<Api>>,
    Path((id, provider)): Path<(String, String)>,
    Sent { visitor, .. }: Sent,
) -> Result<Response, PanelError> {
    let id = restaurant_id(&visitor, &id)?;
    integrations::delete(&api.app, visitor.account.id, id, &provider)
        .await
        .map_err(|fault| visitor.fail(fault))?;
    let t = IntegrationWords::of(visitor.lang);
    Ok(visitor.done(&Tab::Integrations.path(id), t.disconnected))
}

/// Lets a simulated customer order: from the restaurant and on the platform that the form names, or from any that can.
async fn send_test_order(
    State(api): State<Arc<Api>>,
    Sent { visitor, fields }: Sent,
) -> Result<Response, PanelError> {
    let t = IntegrationWords::of(visitor.lang);
    let restaurant = chosen_restaurant(&visitor, &fields)?;
    let provider = fields.given("provider");
    let back = fields.get("back");
    let sent = test_orders::order(&api.app, visitor.account.id, restaurant, provider.as_deref()).await;
    let why = match sent {
        Ok(_) => return Ok(visitor.done(back, t.test_order_sent)),
        Err(Fault::NotConnected { .. }) => t.test_order_unknown.to_owned(),
        Err(Fault::ProviderRefused { message } | Fault::ProviderUnreachable { message }) => {
            explain::text(visitor.lang, &message)
        }
        Err(fault) => return Err(visitor.fail(fault)),
    };
    Ok(visitor.refused(back, format!("{} {why}", t.test_order_refused)))
}
