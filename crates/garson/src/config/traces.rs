//! Settings of traces.

use super::platforms::is_plain_address;
use garson_core::secret::Secret;
use http::HeaderValue;
use serde::Deserialize;
use url::Url;

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
        let is_bare = |text: &str| {
            Url::parse(text).is_ok_and(|url| url.username().is_empty() && !url.path().contains("/v1/traces"))
        };
        let endpoint = &self.endpoint;
        let is_fine = endpoint.is_empty() || (is_plain_address(endpoint) && is_bare(endpoint));
        if !is_fine {
            return Some((
                "traces.endpoint",
                "empty, or an address such as http://127.0.0.1:4318, to which /v1/traces is added",
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
