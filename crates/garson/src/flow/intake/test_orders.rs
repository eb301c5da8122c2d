//! Test orders from the simulator, if the operator has configured one.

use crate::app::App;
use crate::flow::Fault;
use crate::flow::admin::{quotas, restaurants};
use crate::net::{HeaderCase, Log, Outgoing};
use garson_core::explanation::{Explanation, PlatformFailure};
use garson_core::id::{AccountId, RestaurantId};
use garson_core::integration::Integration;
use garson_core::platform::{Provider, Trust};
use garson_sim::views::OrderRequest;
use http::{HeaderMap, HeaderValue, Method, header};
use std::time::Duration;

const DEADLINE: Duration = Duration::from_secs(10);
const MAX_RESPONSE: usize = 64 * 1024;

/// Does the simulator simulate this platform?
fn is_simulated(app: &App, provider: Provider) -> bool {
    !app.settings.simulator.is_empty() && simulated_platform(provider).is_some()
}

fn simulated_platform(provider: Provider) -> Option<garson_sim::Platform> {
    provider.as_str().parse().ok()
}

/// Can a test order be placed through this integration?
#[must_use]
pub fn can_order(app: &App, integration: &Integration) -> bool {
    integration.is_active && integration.remote_id.is_some() && is_simulated(app, integration.provider)
}

/// Can a test order be placed at the restaurant, or at any of the account?
pub async fn can_order_any(
    app: &App,
    account: AccountId,
    restaurant: Option<RestaurantId>,
) -> Result<bool, Fault> {
    if app.settings.simulator.is_empty() {
        return Ok(false);
    }
    let integrations = integrations_of(app, account, restaurant).await?;
    Ok(integrations.iter().any(|it| can_order(app, it)))
}

async fn integrations_of(
    app: &App,
    account: AccountId,
    restaurant: Option<RestaurantId>,
) -> Result<Vec<Integration>, Fault> {
    let all = match restaurant {
        Some(id) => vec![restaurants::get(app, account, id).await?],
        None => restaurants::list(app, account, None).await?,
    };
    Ok(all
        .into_iter()
        .flat_map(|restaurant| restaurant.integrations)
        .collect())
}

/// Places a simulated customer's order at a restaurant: on the named platform, or on the first that is simulated.
pub async fn order(
    app: &App,
    account: AccountId,
    restaurant: Option<RestaurantId>,
    provider: Option<&str>,
) -> Result<Provider, Fault> {
    quotas::check_order(app, account).await?;
    let integrations = integrations_of(app, account, restaurant).await?;
    let is_wanted = |it: &Integration| provider.is_none_or(|wanted| it.provider.as_str() == wanted);
    let chosen = integrations.iter().find(|it| is_wanted(it) && can_order(app, it));
    let Some((integration, platform)) = chosen.and_then(|it| Some((it, simulated_platform(it.provider)?)))
    else {
        return Err(Fault::NotConnected {
            provider: provider.unwrap_or("simulator").to_owned(),
        });
    };
    let request = OrderRequest {
        remote_id: integration.remote_id.clone(),
        ..OrderRequest::new(platform)
    };
    place(app, &request).await?;
    Ok(integration.provider)
}

async fn place(app: &App, request: &OrderRequest) -> Result<(), Fault> {
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let outgoing = Outgoing {
        method: Method::POST,
        url: format!("{}/control/orders", app.settings.simulator.trim_end_matches('/')),
        headers,
        header_case: HeaderCase::default(),
        body: serde_json::to_vec(request).unwrap_or_default().into(),
        trust: Trust::Operator,
        deadline: DEADLINE,
        keep_body: MAX_RESPONSE,
        log: Log::Every,
        may_repeat: false,
    };
    let response = app.net.send(outgoing).await;
    let response = response.map_err(|error| Fault::ProviderUnreachable {
        message: Explanation::Simulator {
            cause: Box::new(error.explanation()),
        },
    })?;
    match response.status {
        200..=299 => Ok(()),
        // The simulator has its own stores, and may not know the branch.
        _ => Err(Fault::ProviderRefused {
            message: PlatformFailure::Says {
                text: String::from_utf8_lossy(&response.body).into_owned(),
            }
            .into(),
        }),
    }
}
