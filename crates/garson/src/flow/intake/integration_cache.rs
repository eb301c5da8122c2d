//! Caches the integrations that a message's claim leads to, so that a new order needs no database read before it is written.

use crate::app::App;
use garson_core::platform::{Claim, Platform};
use garson_store::tables::integrations::InboundIntegration;
use sha2::{Digest, Sha256};
use std::sync::Arc;
use std::time::Duration;

/// A stale entry is harmless: the integration's version is compared when an order is written.
const TTL: Duration = Duration::from_secs(60);
/// A chain with more branches under one secret is not cached.
const MAX_INTEGRATIONS: usize = 16;

fn cache_key(platform: &dyn Platform, claim: &Claim) -> [u8; 32] {
    let mut hash = Sha256::new().chain_update(platform.provider().as_str());
    let mut add = |part: &[u8]| hash.update(Sha256::digest(part));
    match claim {
        Claim::Nothing => {}
        Claim::Secrets(presented) => {
            for secret in presented {
                add(secret.expose());
            }
        }
        Claim::Branch(branch) => {
            add(b"branch");
            add(branch.as_bytes());
        }
    }
    hash.finalize().into()
}

pub(crate) fn put(app: &App, platform: &dyn Platform, claim: &Claim, integrations: &[InboundIntegration]) {
    if (1..=MAX_INTEGRATIONS).contains(&integrations.len()) {
        app.inbound_integrations
            .put(cache_key(platform, claim), Arc::new(integrations.to_vec()));
    }
}

pub(crate) fn get(app: &App, platform: &dyn Platform, claim: &Claim) -> Option<Arc<Vec<InboundIntegration>>> {
    app.inbound_integrations.get(&cache_key(platform, claim), TTL)
}
