//! Settings of traces.

use super::platforms::is_plain_address;
use garson_core::secret::Secret;
use http::HeaderValue;
use serde::Deserialize;

#[derive(Clone, Debug, Deserialize)]
pub struct TraceSettings {
    pub endpoint: String,
    pub authorization: Secret<String>,
    pub percent: u32,
}

impl TraceSettings {
    #[must_use]
    pub fn is_on(&self) -> bool {
        !self.endpoint.is_empty() && self.percent > 0
    }

    /// The first wrong setting, and what it may be.
    pub(super) fn first_wrong(&self) -> Option<(&'static str, &'static str)> {
        if !self.endpoint.is_empty() && !is_plain_address(&self.endpoint) {
            return Some((
                "traces.endpoint",
                "empty, or an address such as http://127.0.0.1:4318",
            ));
        }
        if HeaderValue::from_str(self.authorization.expose()).is_err() {
            return Some(("traces.authorization", "what a header may contain"));
        }
        None
    }

    /// Where spans are sent to.
    #[must_use]
    pub fn url(&self) -> String {
        format!("{}/v1/traces", self.endpoint.trim_end_matches('/'))
    }
}
