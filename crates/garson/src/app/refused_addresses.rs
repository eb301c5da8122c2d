//! Callback addresses in platform messages that the operator does not allow: each origin is logged once.

use garson_core::platform::Provider;
use parking_lot::Mutex;
use std::collections::HashSet;

/// A sender of messages could name new origins without end.
const MAX_ORIGINS: usize = 1_000;
const MAX_LENGTH: usize = 300;

/// Origins that have been logged.
#[derive(Debug, Default)]
pub struct RefusedAddresses(Mutex<HashSet<(Provider, String)>>);

impl RefusedAddresses {
    pub fn note(&self, provider: Provider, address: &str) {
        if let Some(origin) = self.new_origin(provider, address) {
            tracing::warn!(
                %provider,
                origin,
                "orders give addresses for our calls on a host that is not allowed, and base_url is called instead; \
                 if the host is the platform's, add it to callback_hosts"
            );
        }
    }

    /// Scheme and host of an address, if not logged before; the rest of the address names the order.
    fn new_origin(&self, provider: Provider, address: &str) -> Option<String> {
        let origin: String = address.split('/').take(3).collect::<Vec<_>>().join("/");
        let origin: String = origin
            .chars()
            .filter(char::is_ascii_graphic)
            .take(MAX_LENGTH)
            .collect();
        let mut known = self.0.lock();
        let is_new = known.len() < MAX_ORIGINS && known.insert((provider, origin.clone()));
        is_new.then_some(origin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origin_is_logged_once_for_each_platform() {
        let refused = RefusedAddresses::default();
        let (one, other) = (Provider::new("one"), Provider::new("other"));
        let new = |provider, address: &str| refused.new_origin(provider, address);
        assert_eq!(
            new(one, "https://a.example/v2/order/1").as_deref(),
            Some("https://a.example")
        );
        assert_eq!(new(one, "https://a.example/v2/order/2"), None);
        assert_eq!(
            new(other, "https://a.example/x").as_deref(),
            Some("https://a.example")
        );
        assert_eq!(
            new(one, "https://a.example:81\n/x").as_deref(),
            Some("https://a.example:81")
        );
        for n in 0..MAX_ORIGINS {
            new(one, &format!("https://{n}.example/"));
        }
        assert_eq!(new(one, "https://last.example/"), None, "they are bounded");
    }
}
