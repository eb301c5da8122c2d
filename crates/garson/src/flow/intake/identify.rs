//! First step of intake: verifies a message, with the credentials of the integrations that it may come from.

use super::integration_cache;
use crate::app::App;
use crate::flow::Fault;
use garson_core::integration::{BranchClaim, Credentials};
use garson_core::platform::{Claim, HookRequest, Platform, Verified};
use garson_store::tables::branches;
use garson_store::tables::integrations;
use garson_store::tables::integrations::InboundIntegration;
use garson_store::{Tx, Vault};
use std::sync::Arc;

/// A genuine message.
pub(crate) struct Identified<'a> {
    pub verified: Verified<'a>,
    /// The integrations that it may be for, its sender first; empty if it was verified with the operator's credentials only.
    pub candidates: Vec<InboundIntegration>,
}

/// Does the message present a secret, or name a branch, that is known? Decided before its body has been read.
pub async fn may_be_genuine(
    app: &App,
    platform: &'static dyn Platform,
    head: &HookRequest,
) -> Result<bool, Fault> {
    let (vault, claim) = (Arc::clone(&app.vault), platform.claim(head));
    let shared = app.terms(platform.provider());
    if is_operators(platform, &claim, &shared.credentials) {
        return Ok(true);
    }
    app.store
        .read(move |tx| Ok(!candidates(tx, &vault, platform, &claim)?.is_empty()))
        .await
}

/// Is the claim backed by the credentials that the operator has set for all integrations?
fn is_operators(platform: &dyn Platform, claim: &Claim, shared: &Credentials) -> bool {
    match claim {
        Claim::Nothing => false,
        Claim::Branch(_) => !shared.is_empty(),
        Claim::Secrets(presented) => platform
            .inbound_secret(shared)
            .is_some_and(|secret| presented.contains(&secret)),
    }
}

/// The integrations whose credentials can verify a claim.
fn candidates(
    tx: &mut Tx<'_>,
    vault: &Vault,
    platform: &dyn Platform,
    claim: &Claim,
) -> Result<Vec<InboundIntegration>, Fault> {
    let provider = platform.provider();
    Ok(match claim {
        Claim::Nothing => Vec::new(),
        Claim::Secrets(presented) => {
            let mut found: Vec<InboundIntegration> = Vec::new();
            for secret in presented {
                found.extend(integrations::by_secret(tx, vault, provider, secret.expose())?);
            }
            found
        }
        Claim::Branch(branch) => branches::claims(tx, vault, provider, branch)?,
    })
}

/// Identifies a message by the database; `None` if it is not genuine.
pub(crate) fn identify<'a>(
    tx: &mut Tx<'_>,
    app: &App,
    platform: &'static dyn Platform,
    request: &'a HookRequest,
) -> Result<Option<Identified<'a>>, Fault> {
    let claim = platform.claim(request);
    let mut candidates = candidates(tx, &app.vault, platform, &claim)?;
    integration_cache::put(app, platform, &claim, &candidates);
    for fresh in &mut candidates {
        fresh.version = None;
    }
    Ok(verify(app, platform, request, &claim, candidates))
}

/// Identifies a message by the cache; `None` if it is not genuine or not cached.
pub(crate) fn identify_cached<'a>(
    app: &App,
    platform: &'static dyn Platform,
    request: &'a HookRequest,
) -> Option<Identified<'a>> {
    let claim = platform.claim(request);
    let cached = integration_cache::get(app, platform, &claim)?;
    verify(app, platform, request, &claim, cached.as_ref().clone())
}

/// Verifies a message for each candidate on its own: that it is genuine for one says nothing about the others.
fn verify<'a>(
    app: &App,
    platform: &'static dyn Platform,
    request: &'a HookRequest,
    claim: &Claim,
    candidates: Vec<InboundIntegration>,
) -> Option<Identified<'a>> {
    let provider = platform.provider();
    let owns = |candidate: &InboundIntegration| candidate.connected.integration.branch == BranchClaim::Proven;
    let is_owned_branch = matches!(claim, Claim::Branch(_)) && candidates.iter().any(owns);
    let mut verified = None;
    let candidates: Vec<InboundIntegration> = candidates
        .into_iter()
        .filter(|candidate| {
            let own = &candidate.connected.credentials;
            let mut checked = platform.verify(request, own);
            // The operator's credentials count for the owner of the branch, not for every integration that names it.
            if checked.is_none() && owns(candidate) {
                checked = platform.verify(request, &app.credentials(provider, own));
            }
            let is_genuine = checked.is_some();
            verified = verified.take().or(checked);
            is_genuine
        })
        .collect();
    // Messages of a branch with an owner must be verified with the owner's credentials.
    if verified.is_none() && !is_owned_branch {
        verified = platform.verify(request, &app.terms(provider).credentials);
    }
    verified.map(|verified| Identified { verified, candidates })
}
