//! The state that all handlers share.

use super::body_budget::BodyBudgets;
use super::overload::Overload;
use crate::app::App;
use crate::flow::admin::api_auth::ApiAuth;
use crate::flow::idempotency::ActiveRuns;
use std::sync::Arc;
use std::time::Duration;

pub struct HttpState {
    pub app: Arc<App>,
    /// API keys seen recently, and rate limits.
    pub auth: ApiAuth,
    /// Requests with an `Idempotency-Key` that are running now.
    pub idempotent_runs: Arc<ActiveRuns>,
    pub body_budgets: BodyBudgets,
    pub overload: Overload,
}

impl HttpState {
    #[must_use]
    pub fn new(app: Arc<App>) -> Arc<Self> {
        let settings = &app.settings;
        let per_key = settings.rate_limit().unwrap_or_default();
        let per_account = settings.account_rate_limit().unwrap_or_default();
        let max_wait = Duration::from_millis(u64::from(settings.server.max_wait_ms));
        let overload = Overload::new(max_wait, Arc::clone(&app.metrics.refusals));
        Arc::new(Self {
            app,
            auth: ApiAuth::new(per_key, per_account),
            idempotent_runs: Arc::default(),
            body_budgets: BodyBudgets::default(),
            overload,
        })
    }
}
