//! A change to an integration, and the rules that it must satisfy.

use crate::app::App;
use crate::flow::Fault;
use garson_core::field_problem::FieldProblem;
use garson_core::integration::{Credentials, Integration};
use garson_core::platform::{CredentialField, CredentialKind, Platform};
use garson_core::secret::Secret;
use garson_core::time::Timestamp;
use garson_store::Tx;
use garson_store::tables::packages;
use std::collections::BTreeMap;

const MIN_SECRET: usize = 8;

/// A client's change to an integration; fields that are `None` stay as they are.
#[derive(Clone, Debug, Default)]
pub struct IntegrationChange {
    pub is_active: Option<bool>,
    pub remote_id: Option<Option<String>>,
    /// Values to set, and names to remove.
    pub credentials: Option<Vec<(String, Option<Secret<String>>)>>,
    pub default_cancel_reason: Option<Option<String>>,
}

pub(super) fn check(app: &App, platform: &dyn Platform, change: &IntegrationChange) -> Result<(), Fault> {
    let fields = platform.credential_fields();
    for (name, value) in change.credentials.iter().flatten() {
        let Some(field) = fields.iter().find(|field| field.name == name) else {
            let names: Vec<_> = fields.iter().map(|field| field.name).collect();
            let known = names.join(", ");
            let problem = FieldProblem::UnknownCredential { known };
            return Err(Fault::invalid(format!("credentials.{name}"), problem));
        };
        if let Some(value) = value {
            check_credential(app, field, value)?;
        }
    }
    if let Some(Some(branch)) = &change.remote_id
        && (branch.trim() != branch || branch.chars().any(char::is_control))
    {
        return Err(Fault::invalid("remoteId", FieldProblem::SpaceAroundOrControls));
    }
    if let Some(Some(branch)) = &change.remote_id {
        platform
            .check_branch(branch)
            .map_err(|problem| Fault::invalid("remoteId", problem))?;
    }
    if let Some(Some(reason)) = &change.default_cancel_reason
        && !platform.capability().live_reasons
    {
        let accepted = platform.fixed_reasons(None);
        if !accepted.iter().any(|known| known.id == *reason) {
            return Err(Fault::ReasonNotAccepted { accepted });
        }
    }
    Ok(())
}

fn check_credential(app: &App, field: &CredentialField, value: &Secret<String>) -> Result<(), Fault> {
    let text = value.expose();
    let wrong = |problem: FieldProblem| Err(Fault::invalid(format!("credentials.{}", field.name), problem));
    match field.kind {
        CredentialKind::Secret if field.is_given && !is_given_secret(text) => {
            wrong(FieldProblem::NotVisibleAscii)
        }
        CredentialKind::Secret if !field.is_given && !is_secret(text) => {
            wrong(FieldProblem::SecretTooShort { min: MIN_SECRET })
        }
        CredentialKind::Plain if !is_plain(text) => wrong(FieldProblem::NotVisibleAsciiWithin),
        CredentialKind::Choice(words) if !words.contains(&text.as_str()) => wrong(FieldProblem::NotOneOf {
            choices: words.join(", "),
        }),
        CredentialKind::Headers if !are_headers(text) => wrong(FieldProblem::NotHeaderObject {
            min_value: MIN_SECRET,
        }),
        CredentialKind::Address => app
            .net
            .check_address(text)
            .map_err(|refusal| Fault::target(field.name, refusal)),
        _ => Ok(()),
    }
}

/// Secrets are sent in headers, and must be hard to guess: they allow to place orders.
fn is_secret(text: &str) -> bool {
    text.len() >= MIN_SECRET && text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// A secret that a platform issues may have any length, but is sent in headers too.
fn is_given_secret(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic())
}

fn is_plain(text: &str) -> bool {
    text.trim() == text && text.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ')
}

fn are_headers(text: &str) -> bool {
    let headers: BTreeMap<String, String> = serde_json::from_str(text).unwrap_or_default();
    let is_name = |name: &str| http::HeaderName::from_bytes(name.as_bytes()).is_ok();
    !headers.is_empty()
        && headers.len() <= 10
        && headers.iter().all(|(n, value)| is_name(n) && is_secret(value))
}

/// Would this send a stored secret to an address that the client chooses? A secret that is part of the change is known to the
/// client anyway.
pub(super) fn diverts_stored_secret(
    platform: &dyn Platform,
    change: &IntegrationChange,
    stored: &Credentials,
) -> bool {
    let given = |field: &CredentialField| {
        let mut entries = change.credentials.iter().flatten();
        entries
            .find(|(name, _)| name == field.name)
            .map(|(_, value)| value)
    };
    let mut changes_address = false;
    let mut keeps_secret = false;
    for field in platform.credential_fields() {
        let before = stored.get(field.name);
        match (field.kind, given(field)) {
            (CredentialKind::Address, Some(Some(address))) => changes_address |= before != Some(address),
            (CredentialKind::Secret | CredentialKind::Headers, None) => keeps_secret |= before.is_some(),
            _ => {}
        }
    }
    changes_address && keeps_secret
}

/// Checks what an integration needs to be switched on.
pub(super) fn check_can_be_active(
    tx: &mut Tx<'_>,
    platform: &dyn Platform,
    integration: &Integration,
    credentials: &[&Credentials],
    now: Timestamp,
) -> Result<(), Fault> {
    if integration.remote_id.is_none() {
        return Err(Fault::invalid("remoteId", FieldProblem::NeededForActive));
    }
    let missing = platform
        .credential_fields()
        .iter()
        .find(|f| f.required && !credentials.iter().any(|given| given.contains_key(f.name)));
    if let Some(field) = missing {
        let name = format!("credentials.{}", field.name);
        return Err(Fault::invalid(name, FieldProblem::NeededForActive));
    }
    let packages = packages::of_restaurant(tx, integration.restaurant_id)?;
    let is_covered = packages
        .iter()
        .any(|package| package.covers(integration.provider, now));
    if !is_covered {
        return Err(Fault::NotCovered {
            provider: integration.provider.to_string(),
        });
    }
    Ok(())
}
