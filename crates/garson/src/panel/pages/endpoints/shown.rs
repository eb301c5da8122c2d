//! What the pages show of an endpoint.

use crate::flow::Fault;
use crate::flow::deliver::stats::EndpointStatistics;
use crate::flow::fault::Thing;
use crate::panel::kit::current_user::CurrentUser;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::explain;
use crate::panel::kit::layout::Layout;
use crate::panel::words::EndpointWords;
use crate::panel::words::Lang;
use garson_core::explanation::Explanation;
use garson_core::id::{AccountId, EndpointId};
use garson_core::webhook_endpoint::{EndpointState, WebhookEndpoint};

pub fn parse_id(user: &CurrentUser, id: &str) -> Result<EndpointId, PanelError> {
    id.parse()
        .map_err(|_| user.fail(Fault::not_found(Thing::Endpoint, id)))
}

/// What people know an endpoint by.
pub fn name(t: &EndpointWords, account: AccountId, endpoint: &WebhookEndpoint) -> String {
    match (&endpoint.label, &endpoint.url) {
        (label, _) if !label.is_empty() => label.clone(),
        _ if endpoint.id.is_default_of(account) => t.default_name.to_owned(),
        (_, Some(url)) => url.clone(),
        (_, None) => t.no_url.to_owned(),
    }
}

/// The state of an endpoint and the class of its tag.
pub fn state(t: &EndpointWords, endpoint: &WebhookEndpoint) -> (&'static str, &'static str) {
    match endpoint.state {
        _ if endpoint.url.is_none() => (t.no_url, ""),
        EndpointState::Paused => (t.paused, "warn"),
        EndpointState::Disabled => (t.disabled, "bad"),
        EndpointState::Active if endpoint.failing_since.is_some() => (t.failing, "warn"),
        EndpointState::Active => (t.active, "good"),
    }
}

/// `99,3 %`
pub fn percent(lang: Lang, per_mille: Option<i64>) -> String {
    let Some(per_mille) = per_mille else {
        return "–".to_owned();
    };
    let (whole, tenth) = (per_mille / 10, per_mille % 10);
    match lang {
        Lang::Tr => format!("%{whole},{tenth}"),
        Lang::En => format!("{whole}.{tenth}%"),
    }
}

/// What came of the last failed attempt, and when.
pub fn last_failure(layout: &Layout, statistics: &EndpointStatistics) -> Option<String> {
    let at = statistics.total.last_failure_at?;
    let stored = statistics.total.last_failure.as_deref().unwrap_or_default();
    let text = explain::text(layout.lang, &Explanation::read(stored));
    Some(format!("{}: {text}", layout.timestamp(&at)))
}
