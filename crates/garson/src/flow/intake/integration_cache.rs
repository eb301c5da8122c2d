//! New orders are judged by what is remembered of the integrations they are for, without a look at the database.

use super::receive::{Prepared, genuine, named, read, ready};
use crate::app::App;
use garson_core::platform::{Claim, HookRequest, Message, News, Platform};
use garson_store::tables::integrations::InboundIntegration;
use sha2::{Digest, Sha256};
use std::sync::Arc;
use std::time::Duration;

/// How long integrations are remembered by what their platforms present. Whether they have changed is looked at when an order
/// is written.
const REMEMBERED: Duration = Duration::from_secs(60);
/// A chain with more branches under one secret is read each time.
const MOST_REMEMBERED: usize = 16;
/// A longer body is not read where connections are served, so that they do not wait for it.
const MOST_AT_ONCE: usize = 64 * 1024;

/// What a message presents, as a name for what it leads to.
fn name_of(platform: &dyn Platform, claim: &Claim) -> [u8; 32] {
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

/// Remembers the integrations to which a claim leads.
pub(crate) fn remember(app: &App, platform: &dyn Platform, claim: &Claim, candidates: &[InboundIntegration]) {
    if (1..=MOST_REMEMBERED).contains(&candidates.len()) {
        app.served
            .put(name_of(platform, claim), Arc::new(candidates.to_vec()));
    }
}

/// Judges a new order by what is remembered, which nobody has to be asked for. Everything else, and what seems wrong, is
/// judged by what is stored.
pub(crate) fn recall(app: &App, platform: &'static dyn Platform, request: &HookRequest) -> Option<Prepared> {
    if request.body.len() > MOST_AT_ONCE {
        return None;
    }
    let claim = platform.claim(request);
    let remembered = app.served.get(&name_of(platform, &claim), REMEMBERED)?;
    let (verified, candidates) = genuine(app, platform, request, &claim, remembered.as_ref().clone());
    let Message { branch, news } = read(platform, &verified?).ok()?;
    let meant = match &branch {
        Some(branch) => named(&candidates, branch),
        None => candidates.first(),
    };
    match news {
        News::Order(_) => Some(ready(app, platform, meant?.clone(), news, request.received_at)),
        _ => None,
    }
}
