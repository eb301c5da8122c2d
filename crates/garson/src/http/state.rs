//! The state that all handlers share.

use super::body_budget::BodyBudgets;
use crate::app::App;
use crate::flow::admin::api_auth::ApiAuth;
use crate::flow::idempotency::ActiveRuns;
use std::sync::Arc;

pub struct HttpState {
    pub app: Arc<App>,
    /// API keys seen recently, and rate limits.
    pub auth: ApiAuth,
    /// Requests with an `Idempotency-Key` that are running now.
    pub idempotent_runs: Arc<ActiveRuns>,
    pub body_budgets: BodyBudgets,
}

impl HttpState {
    #[must_use]
    pub fn new(app: Arc<App>) -> Arc<Self> {
        let settings = &app.settings;
        let per_key = settings.rate_limit().unwrap_or_default();
        let per_account = settings.account_rate_limit().unwrap_or_default();
        Arc::new(Self {
            app,
            auth: ApiAuth::new(per_key, per_account),
            idempotent_runs: Arc::default(),
            body_budgets: BodyBudgets::default(),
        })
    }
}
