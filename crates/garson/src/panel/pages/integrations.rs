//! A restaurant's integrations: state of each platform, on and off, connection test, test order, disconnect.

mod connect;

use crate::flow::Fault;
use crate::flow::admin::connection_test::{Proof, try_connection};
use crate::flow::admin::integrations::IntegrationChange;
use crate::flow::admin::{integrations, restaurants};
use crate::flow::intake::test_orders;
use crate::flow::platform_trouble::TroubleRule;
use crate::http::state::HttpState;
use crate::panel::components::restaurant_header::{
    RestaurantHeader, Tab, chosen_restaurant, restaurant_id, restaurant_layout,
};
use crate::panel::kit::current_user::CurrentUser;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::form_errors::FormErrors;
use crate::panel::kit::layout::{Layout, page};
use crate::panel::kit::short_id::ShortId;
use crate::panel::kit::time_ago::TimeAgo;
use crate::panel::kit::user_form::UserForm;
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
use std::sync::Arc;

pub fn routes() -> Router<Arc<HttpState>> {
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
    layout: Layout,
    t: IntegrationWords,
    header: RestaurantHeader,
    /// Connected ones first.
    platforms: Vec<PlatformCard>,
}

struct PlatformCard {
    key: String,
    name: String,
    path: String,
    is_covered: bool,
    connection: Option<Connection>,
}

struct Connection {
    is_active: bool,
    branch: Option<ShortId>,
    /// Why orders of the platform may not arrive.
    branch_problem: Option<&'static str>,
    last_order: TimeAgo,
    /// Time and message.
    last_error: Option<(TimeAgo, String)>,
    is_in_trouble: bool,
    can_order: bool,
}

impl Connection {
    fn new(api: &HttpState, layout: &Layout, t: &IntegrationWords, found: &Integration) -> Self {
        let health = &found.health;
        Self {
            is_active: found.is_active,
            branch: found.remote_id.as_ref().map(ShortId::new),
            branch_problem: branch_problem(api, t, found),
            last_order: layout.time_ago_or(&health.last_order_at, t.no_order),
            last_error: health.last_error_at.as_ref().map(|at| {
                (
                    layout.time_ago(at),
                    explain::optional_platform(layout.lang, health.last_error.as_ref()),
                )
            }),
            is_in_trouble: TroubleRule::of(&api.app).is_in_trouble(found, api.app.now()),
            can_order: test_orders::can_order(&api.app, found),
        }
    }
}

/// The owner of a branch matters only where the operator has shared credentials for the platform.
fn branch_problem(api: &HttpState, t: &IntegrationWords, found: &Integration) -> Option<&'static str> {
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
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    user: CurrentUser,
) -> Result<Response, PanelError> {
    let id = restaurant_id(&user, &id)?;
    let restaurant = restaurants::get(&api.app, user.account.id, id)
        .await
        .map_err(|fault| user.fail(fault))?;
    let (t, layout) = (
        IntegrationWords::of(user.lang),
        restaurant_layout(&user, &restaurant),
    );
    let now = api.app.now();
    let card = |platform: &&'static dyn Platform| {
        let provider = platform.provider();
        let found = restaurant.integrations.iter().find(|it| it.provider == provider);
        PlatformCard {
            key: provider.to_string(),
            name: layout.provider(&provider),
            path: connect::form_path(id, provider.as_str()),
            is_covered: restaurant.packages.iter().any(|it| it.covers(provider, now)),
            connection: found.map(|found| Connection::new(&api, &layout, &t, found)),
        }
    };
    let mut platforms: Vec<PlatformCard> = garson_platforms::all().iter().map(card).collect();
    platforms.sort_by_key(|it| it.connection.is_none());
    Ok(page(&IntegrationsPage {
        header: RestaurantHeader::new(&user, &restaurant, Tab::Integrations),
        platforms,
        t,
        layout,
    }))
}

async fn switch_integration(
    State(api): State<Arc<HttpState>>,
    Path((id, provider)): Path<(String, String)>,
    UserForm { user, fields }: UserForm,
) -> Result<Response, PanelError> {
    let id = restaurant_id(&user, &id)?;
    let t = IntegrationWords::of(user.lang);
    let (app, account) = (&api.app, user.account.id);
    let is_active = fields.get("active") == "yes";
    let change = IntegrationChange {
        is_active: Some(is_active),
        ..IntegrationChange::default()
    };
    // `put` would connect the platform if it is not.
    integrations::get(app, account, id, &provider)
        .await
        .map_err(|fault| user.fail(fault))?;
    let list = Tab::Integrations.path(id);
    match integrations::put(app, user.by(), id, &provider, change).await {
        Ok(_) if is_active => Ok(user.redirect_with_notice(&list, t.switched_on)),
        Ok(_) => Ok(user.redirect_with_notice(&list, t.switched_off)),
        // The form is where missing values are entered.
        Err(fault @ Fault::Invalid { .. }) => {
            let wrong = FormErrors::new(&user, fault)?;
            let name = connect::label(user.lang, &provider, wrong.field());
            Ok(user.redirect_with_error(
                &format!("{list}/{provider}"),
                format!("{} {name}.", t.cannot_switch_on),
            ))
        }
        Err(fault) => {
            let error = user.fail(fault);
            match error.status.as_u16() {
                409 | 422 => Ok(user.redirect_with_error(&list, error.text())),
                _ => Err(error),
            }
        }
    }
}

async fn try_integration(
    State(api): State<Arc<HttpState>>,
    Path((id, provider)): Path<(String, String)>,
    UserForm { user, .. }: UserForm,
) -> Result<Response, PanelError> {
    let id = restaurant_id(&user, &id)?;
    let t = IntegrationWords::of(user.lang);
    let list = Tab::Integrations.path(id);
    let tried = try_connection(&api.app, user.account.id, id, &provider).await;
    let found = integrations::platform(&provider).map_err(|fault| user.fail(fault))?;
    // The page lists several platforms.
    let name = format::provider(user.lang, found.provider());
    let done = |text: &str| Ok(user.redirect_with_notice(&list, format!("{name}: {text}")));
    let refused = |text: &str, why: &Explanation| {
        let why = explain::text(user.lang, why);
        Ok(user.redirect_with_error(&list, format!("{name}: {text} {why}")))
    };
    match tried {
        Ok(Proof::Orders) => done(t.tried_orders),
        Ok(Proof::LogIn) => done(t.tried_log_in),
        Err(Fault::Platform(PlatformError::Unsupported { .. })) => done(t.tried_nothing),
        Err(Fault::ProviderRefused { message }) => refused(t.tried_refused, &message),
        Err(Fault::ProviderUnreachable { message }) => refused(t.tried_away, &message),
        Err(fault) => Err(user.fail(fault)),
    }
}

async fn disconnect(
    State(api): State<Arc<HttpState>>,
    Path((id, provider)): Path<(String, String)>,
    UserForm { user, .. }: UserForm,
) -> Result<Response, PanelError> {
    let id = restaurant_id(&user, &id)?;
    integrations::delete(&api.app, user.by(), id, &provider)
        .await
        .map_err(|fault| user.fail(fault))?;
    let t = IntegrationWords::of(user.lang);
    Ok(user.redirect_with_notice(&Tab::Integrations.path(id), t.disconnected))
}

/// Sends an order from the simulator, to the restaurant and platform of the form or to any that is possible.
async fn send_test_order(
    State(api): State<Arc<HttpState>>,
    UserForm { user, fields }: UserForm,
) -> Result<Response, PanelError> {
    let t = IntegrationWords::of(user.lang);
    let restaurant = chosen_restaurant(&user, &fields)?;
    let provider = fields.non_empty("provider");
    let back = fields.get("back");
    let sent = test_orders::order(&api.app, user.account.id, restaurant, provider.as_deref()).await;
    let why = match sent {
        Ok(_) => return Ok(user.redirect_with_notice(back, t.test_order_sent)),
        Err(Fault::NotConnected { .. }) => t.test_order_unknown.to_owned(),
        Err(Fault::ProviderRefused { message } | Fault::ProviderUnreachable { message }) => {
            explain::text(user.lang, &message)
        }
        Err(fault) => return Err(user.fail(fault)),
    };
    Ok(user.redirect_with_error(back, format!("{} {why}", t.test_order_refused)))
}
