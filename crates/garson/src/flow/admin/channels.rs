//! Channels: create, read, change, test, delete.

use super::recorded_fields;
use crate::app::App;
use crate::flow::admin::input::Name;
use crate::flow::by::Recorded;
use crate::flow::fault::Thing;
use crate::flow::{By, Fault};
use crate::net::MailServer;
use crate::net::headers::check_headers;
use garson_core::audit::{RecordKind, Verb};
use garson_core::channel::{Channel, HttpMethod, HttpTemplate, Language, Target};
use garson_core::field_problem::FieldProblem;
use garson_core::id::{AccountId, ChannelId};
use garson_core::message::Rendered;
use garson_core::message_template::{Context, fill, names};
use garson_core::secret::Secret;
use garson_store::tables::{channels, messages, notices, restaurants};
use garson_store::{StoreErrorKind, Tx, Vault};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;
use url::Url;

/// Channels of an account.
pub const MAX_CHANNELS: i64 = 20;
/// Recipients of a channel.
pub const MAX_RECIPIENTS: usize = 10;
const MAX_EMAIL: usize = 254;
const MAX_URL: usize = 2_048;
pub const MAX_BODY: usize = 8_192;
const MAX_SECRETS: usize = 10;
const MAX_SECRET: usize = 2_000;

/// Shown instead of a stored value; sent back, it keeps the value.
pub const MASK: &str = "***";

/// What can be written about a channel.
#[derive(Clone, Debug)]
pub struct ChannelInput {
    pub name: Name,
    pub language: Language,
    pub target: TargetInput,
}

#[derive(Clone, Debug)]
pub enum TargetInput {
    Email {
        recipients: Vec<String>,
    },
    Http {
        method: HttpMethod,
        url: String,
        headers: BTreeMap<String, Secret<String>>,
        body: String,
        secrets: BTreeMap<String, Secret<String>>,
    },
}

impl TargetInput {
    /// The target, with stored values for those that are masked.
    fn into_target(self, app: &App, stored: Option<&Target>) -> Result<Target, Fault> {
        match self {
            Self::Email { recipients } => email_target(recipients),
            Self::Http {
                method,
                url,
                headers,
                body,
                secrets,
            } => {
                let template = HttpTemplate {
                    method,
                    url,
                    headers,
                    body,
                    secrets,
                };
                http_target(app, template, stored).map(Target::Http)
            }
        }
    }
}

fn email_target(recipients: Vec<String>) -> Result<Target, Fault> {
    if recipients.is_empty() {
        return Err(Fault::invalid("recipients", FieldProblem::Required));
    }
    if recipients.len() > MAX_RECIPIENTS {
        let max = MAX_RECIPIENTS;
        return Err(Fault::invalid("recipients", FieldProblem::TooMany { max }));
    }
    for (row, address) in recipients.iter().enumerate() {
        if address.len() > MAX_EMAIL || !MailServer::is_address(address) {
            return Err(Fault::invalid(
                format!("recipients[{row}]"),
                FieldProblem::NotEmail,
            ));
        }
    }
    Ok(Target::Email { recipients })
}

fn http_target(
    app: &App,
    mut template: HttpTemplate,
    stored: Option<&Target>,
) -> Result<HttpTemplate, Fault> {
    check_lengths(&template)?;
    let stored = match stored {
        Some(Target::Http(stored)) => Some(stored),
        _ => None,
    };
    let is_same_origin = stored.is_some_and(|stored| origin(&stored.url) == origin(&template.url));
    unmask(
        "headers",
        &mut template.headers,
        stored.map(|stored| &stored.headers),
        is_same_origin,
    )?;
    unmask(
        "secrets",
        &mut template.secrets,
        stored.map(|stored| &stored.secrets),
        is_same_origin,
    )?;
    let pairs = template.headers.iter();
    check_headers(pairs.map(|(name, value)| (name.as_str(), value.expose().as_str())))
        .map_err(|refusal| Fault::invalid(format!("headers.{}", refusal.name), refusal.problem))?;
    check_placeholders(&template)?;
    let sample = fill(&template.url, Context::Url, |_| Some("x"));
    app.net
        .check_address(&sample)
        .map_err(|refusal| Fault::target("url", refusal))?;
    Ok(template)
}

fn check_lengths(template: &HttpTemplate) -> Result<(), Fault> {
    if template.url.is_empty() {
        return Err(Fault::invalid("url", FieldProblem::Required));
    }
    if template.url.len() > MAX_URL {
        return Err(Fault::invalid("url", FieldProblem::TooLong { max: MAX_URL }));
    }
    if template.body.len() > MAX_BODY {
        return Err(Fault::invalid("body", FieldProblem::TooLong { max: MAX_BODY }));
    }
    if template.secrets.len() > MAX_SECRETS {
        let max = MAX_SECRETS;
        return Err(Fault::invalid("secrets", FieldProblem::TooMany { max }));
    }
    for (name, value) in &template.secrets {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let field = || format!("secrets.{}", name.escape_default());
        if name.is_empty() || name.len() > 40 || !name.chars().all(is_name) {
            return Err(Fault::invalid(
                "secrets",
                FieldProblem::text("names must be 1 to 40 letters, digits, - or _"),
            ));
        }
        if value.expose().is_empty() || value.expose().len() > MAX_SECRET {
            let (min, max) = (1, MAX_SECRET);
            return Err(Fault::invalid(field(), FieldProblem::Characters { min, max }));
        }
    }
    // A placeholder in the host could send secrets anywhere.
    if host_part(&template.url).contains('{') {
        return Err(Fault::invalid(
            "url",
            FieldProblem::text("must not have a placeholder in its host"),
        ));
    }
    Ok(())
}

/// Everything before the path.
fn host_part(url: &str) -> &str {
    let after = url.find("://").map_or(0, |at| at + 3);
    let end = url.get(after..).and_then(|rest| rest.find(['/', '?', '#']));
    end.and_then(|end| url.get(..after + end)).unwrap_or(url)
}

fn origin(url: &str) -> Option<String> {
    Url::parse(host_part(url))
        .ok()
        .map(|url| url.origin().ascii_serialization())
}

/// Replaces masked values by the stored ones. They stay with the address that they were given for.
fn unmask(
    field: &'static str,
    given: &mut BTreeMap<String, Secret<String>>,
    stored: Option<&BTreeMap<String, Secret<String>>>,
    is_same_origin: bool,
) -> Result<(), Fault> {
    for (name, value) in given.iter_mut().filter(|(_, value)| value.expose() == MASK) {
        let kept = stored.and_then(|stored| stored.get(name));
        match kept {
            Some(kept) if is_same_origin => value.clone_from(kept),
            _ => {
                return Err(Fault::invalid(
                    format!("{field}.{}", name.escape_default()),
                    FieldProblem::SecretsNeededAgain,
                ));
            }
        }
    }
    Ok(())
}

fn check_placeholders(template: &HttpTemplate) -> Result<(), Fault> {
    let known = || {
        let own = Rendered::NAMES.iter().map(|name| format!("{{{name}}}"));
        let secrets = template.secrets.keys().map(|name| format!("{{secret.{name}}}"));
        own.chain(secrets).collect::<Vec<_>>().join(" ")
    };
    let is_known = |name: &str| match name.strip_prefix("secret.") {
        Some(secret) => template.secrets.contains_key(secret),
        None => Rendered::NAMES.contains(&name),
    };
    for (field, text) in [("url", &template.url), ("body", &template.body)] {
        if names(text).any(|name| !is_known(name)) {
            return Err(Fault::invalid(
                field,
                FieldProblem::UnknownPlaceholder { known: known() },
            ));
        }
    }
    Ok(())
}

fn find(tx: &mut Tx<'_>, vault: &Vault, account: AccountId, id: ChannelId) -> Result<Channel, Fault> {
    channels::find(tx, vault, account, id)?.ok_or_else(|| Fault::not_found(Thing::Channel, id))
}

pub async fn list(app: &App, account: AccountId) -> Result<Vec<Channel>, Fault> {
    let vault = Arc::clone(&app.vault);
    app.store
        .read(move |tx| Ok(channels::list(tx, &vault, account)?))
        .await
}

pub async fn get(app: &App, account: AccountId, id: ChannelId) -> Result<Channel, Fault> {
    let vault = Arc::clone(&app.vault);
    app.store.read(move |tx| find(tx, &vault, account, id)).await
}

/// Creates a channel; a repeated request with the same id returns the first one.
pub async fn create(app: &App, by: By, id: ChannelId, input: ChannelInput) -> Result<Channel, Fault> {
    let (account, now) = (by.account, app.now());
    let vault = Arc::clone(&app.vault);
    let channel = Channel {
        id,
        name: input.name.into_string(),
        language: input.language,
        target: input.target.into_target(app, None)?,
        created_at: now,
        updated_at: now,
    };
    app.store
        .write(account, move |tx| {
            if channels::find(tx, &vault, account, id)?.is_none() {
                if channels::count(tx, account)? >= MAX_CHANNELS {
                    return Err(Fault::TooManyChannels);
                }
                channels::save(tx, &vault, account, &channel)?;
                let fields = recorded_fields::channel(&vault, &channel);
                by.record(
                    tx,
                    Recorded::new(RecordKind::Channel, Verb::Created)
                        .id(id)
                        .after(fields),
                    now,
                );
            }
            find(tx, &vault, account, id)
        })
        .await
}

pub async fn update(app: &App, by: By, id: ChannelId, input: ChannelInput) -> Result<Channel, Fault> {
    let (account, now) = (by.account, app.now());
    let before = get(app, account, id).await?;
    let target = input.target.into_target(app, Some(&before.target))?;
    let channel = Channel {
        id,
        name: input.name.into_string(),
        language: input.language,
        target,
        created_at: before.created_at,
        updated_at: now,
    };
    let vault = Arc::clone(&app.vault);
    app.store
        .write(account, move |tx| {
            // It may have been deleted since it was read.
            let before = recorded_fields::channel(&vault, &find(tx, &vault, account, id)?);
            channels::save(tx, &vault, account, &channel)?;
            let after = recorded_fields::channel(&vault, &channel);
            let action = Recorded::new(RecordKind::Channel, Verb::Changed).id(id);
            by.record(tx, action.change(before, after), now);
            Ok(channel.clone())
        })
        .await
}

/// Deletes a channel that no escalation and no notice uses.
pub async fn delete(app: &App, by: By, id: ChannelId) -> Result<(), Fault> {
    let (account, now) = (by.account, app.now());
    let vault = Arc::clone(&app.vault);
    app.store
        .write(account, move |tx| {
            let fields = match channels::find(tx, &vault, account, id) {
                Ok(Some(channel)) => recorded_fields::channel(&vault, &channel),
                // What cannot be read can be deleted.
                Err(error) if error.kind == StoreErrorKind::Corrupt => json!({}),
                Ok(None) => return Err(Fault::not_found(Thing::Channel, id)),
                Err(error) => return Err(error.into()),
            };
            let restaurants = restaurants::escalating_by(tx, account, id)?;
            let settings = notices::find(tx, account)?;
            let by_notices = settings.is_some_and(|settings| settings.channels.contains(&id));
            if by_notices || !restaurants.is_empty() {
                return Err(Fault::ChannelInUse {
                    restaurants,
                    by_notices,
                });
            }
            messages::drop_of_channel(tx, id, now)?;
            channels::delete(tx, account, id)?;
            by.record(
                tx,
                Recorded::new(RecordKind::Channel, Verb::Deleted)
                    .id(id)
                    .before(fields),
                now,
            );
            Ok(())
        })
        .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origin_of_a_template_ignores_its_placeholders() {
        let origin = |url| origin(url).unwrap();
        assert_eq!(origin("https://a.example/{code}?x={text}"), "https://a.example");
        assert_eq!(
            origin("https://a.example:8443?x={text}"),
            "https://a.example:8443"
        );
        assert_ne!(origin("https://a.example/"), origin("https://b.example/"));
        assert!(host_part("https://{code}.example/x").contains('{'));
        assert!(!host_part("https://a.example/{code}").contains('{'));
    }
}
