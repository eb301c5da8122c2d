//! The form that connects a restaurant to a platform, made from what the platform itself says that it needs.
//!
//! What is secret is written and never shown again: an empty field keeps what is there.

use super::super::restaurants::answer;
use crate::api::{Api, IntegrationRequest, integration_change};
use crate::flow::admin::accounts::Actor;
use crate::flow::admin::integrations;
use crate::flow::admin::integrations::{Giver, platform};
use crate::flow::admin::restaurants;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::fields::Fields;
use crate::panel::kit::form::{Choice, Field, Kind};
use crate::panel::kit::form_errors::{Wrong, read, text};
use crate::panel::kit::frame::{Frame, Place, page};
use crate::panel::kit::lang::Lang;
use crate::panel::kit::names;
use crate::panel::kit::restaurant_header::{About, Tab, restaurant_id};
use crate::panel::kit::security_headers::is_secure;
use crate::panel::kit::visitor::{Sent, Visitor};
use crate::panel::words::IntegrationWords;
use askama::Template;
use axum::extract::{Path, State};
use axum::response::Response;
use garson_core::id::RestaurantId;
use garson_core::integration::Integration;
use garson_core::platform::{CredentialField, CredentialKind, Platform};
use http::{HeaderMap, header};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

const CREDENTIALS: &str = "credentials.";
const REMOVE: &str = "remove.";
const REMOTE_ID: &str = "remoteId";
const REASON: &str = "defaultCancelReason";
const ACTIVE: &str = "isActive";

#[derive(Template)]
#[template(path = "connect.html")]
struct ConnectPage {
    frame: Frame,
    t: IntegrationWords,
    about: About,
    name: String,
    action: String,
    fields: Vec<Field>,
    problem: Option<String>,
    /// Where the platform is to send its messages.
    hooks: Vec<String>,
}

/// What a field of the form is called.
pub fn label(lang: Lang, provider: &str, name: &str) -> String {
    let fields = garson_platforms::find(provider).map_or(&[][..], |platform| platform.credential_fields());
    let credential = name.strip_prefix(CREDENTIALS).unwrap_or_default();
    let found = fields.iter().find(|field| field.name == credential);
    match found {
        Some(field) => own_label(lang, field).to_owned(),
        None => IntegrationWords::of(lang).remote_id.to_owned(),
    }
}

fn own_label(lang: Lang, field: &CredentialField) -> &'static str {
    match lang {
        Lang::Tr => field.label.0,
        Lang::En => field.label.1,
    }
}

/// What the form is made from.
struct LeaseHolder<'a> {
    lang: Lang,
    t: IntegrationWords,
    platform: &'static dyn Platform,
    integration: Option<&'a Integration>,
    /// The credentials that are known already.
    known: &'a BTreeMap<String, Giver>,
    typed: Option<&'a Fields>,
}

impl LeaseHolder<'_> {
    fn form(&self) -> Vec<Field> {
        let t = &self.t;
        let branch = self.integration.and_then(|it| it.remote_id.clone());
        let mut form = vec![
            Field::text(REMOTE_ID, t.remote_id)
                .hint(t.remote_id_hint)
                .between(0, 100)
                .value(self.value(REMOTE_ID, branch)),
        ];
        for field in self.platform.credential_fields() {
            form.push(self.credential(field));
            let is_own = self.known.get(field.name) == Some(&Giver::Account);
            if is_own && !field.required {
                let name = format!("{REMOVE}{}", field.name);
                let is_ticked = self.typed.is_some_and(|typed| typed.is_ticked(&name));
                let label = format!("{}: {}", own_label(self.lang, field), t.remove);
                form.push(Field::new(name, label, Kind::Tick(is_ticked)));
            }
        }
        form.push(self.reason());
        let is_active = match (self.typed, self.integration) {
            (Some(typed), _) => typed.is_ticked(ACTIVE),
            (None, Some(integration)) => integration.is_active,
            (None, None) => true,
        };
        form.push(Field::new(ACTIVE, t.is_active, Kind::Tick(is_active)));
        form
    }

    /// What was typed, or else what is kept.
    fn value(&self, name: &str, kept: Option<String>) -> String {
        match self.typed {
            Some(typed) => typed.get(name).to_owned(),
            None => kept.unwrap_or_default(),
        }
    }

    fn credential(&self, field: &CredentialField) -> Field {
        let t = &self.t;
        let name = format!("{CREDENTIALS}{}", field.name);
        let typed = self.value(&name, None);
        let known = self.known.get(field.name);
        let state = match known {
            Some(Giver::Account) => t.kept,
            Some(Giver::Operator) => t.from_operator,
            None if field.required => t.needed,
            None => t.optional,
        };
        let kind = match field.kind {
            CredentialKind::Secret => Kind::Input("password"),
            CredentialKind::Plain => Kind::Input("text"),
            CredentialKind::Address => Kind::Input("url"),
            CredentialKind::Headers => Kind::Area,
            CredentialKind::Choice(words) => {
                let nothing = if known.is_some() {
                    t.unchanged
                } else {
                    t.not_chosen
                };
                let words = words.iter().map(|word| Choice::new(*word, *word, *word == typed));
                Kind::Select(
                    std::iter::once(Choice::new("", nothing, false))
                        .chain(words)
                        .collect(),
                )
            }
        };
        let made = Field::new(name, own_label(self.lang, field), kind).between(0, 2000);
        match field.kind {
            // A secret that was typed is not sent back either.
            CredentialKind::Secret => made.hint(state).autocomplete("new-password"),
            CredentialKind::Headers => made.hint(format!("{state} {}", t.headers_hint)),
            _ => made.hint(state).value(typed),
        }
    }

    /// Platforms with a list of their own offer it; of the others the reason's id is written.
    fn reason(&self) -> Field {
        let t = &self.t;
        let kept = self.integration.and_then(|it| it.default_cancel_reason.clone());
        let value = self.value(REASON, kept);
        if self.platform.capability().live_reasons {
            return Field::text(REASON, t.default_reason)
                .hint(t.default_reason_live)
                .between(0, 100)
                .value(value);
        }
        let reasons = names::reasons(self.lang, self.platform.fixed_reasons(None));
        let reasons = reasons
            .into_iter()
            .map(|it| Choice::new(it.id.clone(), it.name, it.id == value));
        let choices = std::iter::once(Choice::new("", t.no_reason, false)).chain(reasons);
        Field::new(REASON, t.default_reason, Kind::Select(choices.collect())).hint(t.default_reason_hint)
    }
}

/// Where the browser has reached us: platforms reach us there too, if it is a public address.
fn origin(headers: &HeaderMap) -> String {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let scheme = if is_secure(headers) { "https" } else { "http" };
    host.map_or_else(String::new, |host| format!("{scheme}://{host}"))
}

async fn show(
    api: &Api,
    visitor: &Visitor,
    (id, provider): (RestaurantId, &str),
    headers: &HeaderMap,
    typed: Option<&Fields>,
    wrong: Option<Wrong>,
) -> Result<Response, PanelError> {
    let fail = |fault| visitor.fail(fault);
    let (app, account) = (&api.app, visitor.account.id);
    let platform = platform(provider).map_err(fail)?;
    let restaurant = restaurants::get(app, account, id).await.map_err(fail)?;
    let (integration, known) = integrations::given(app, account, id, provider)
        .await
        .map_err(fail)?;
    let maker = LeaseHolder {
        lang: visitor.lang,
        t: IntegrationWords::of(visitor.lang),
        platform,
        integration: integration.as_ref(),
        known: &known,
        typed,
    };
    let mut fields = maker.form();
    let problem = wrong.as_ref().map(|wrong| wrong.mark(&mut fields));
    let origin = origin(headers);
    let frame = Frame::new(visitor, Place::Restaurants);
    let shown = page(&ConnectPage {
        about: About::new(visitor, &restaurant, Tab::Integrations),
        name: frame.provider(&platform.provider()),
        frame,
        t: maker.t,
        action: super::form_path(&restaurant, provider),
        fields,
        problem,
        hooks: platform
            .hooks()
            .iter()
            .map(|route| format!("{} {origin}/hooks/{provider}{}", route.method, route.path))
            .collect(),
    });
    Ok(answer(shown, wrong.as_ref()))
}

pub async fn show_form(
    State(api): State<Arc<Api>>,
    Path((id, provider)): Path<(String, String)>,
    headers: HeaderMap,
    visitor: Visitor,
) -> Result<Response, PanelError> {
    let id = restaurant_id(&visitor, &id)?;
    show(&api, &visitor, (id, &provider), &headers, None, None).await
}

/// What the form says, as the API would be told.
fn body(platform: &dyn Platform, sent: &Fields) -> Value {
    let mut credentials = Map::new();
    for field in platform.credential_fields() {
        let given = text(sent, &format!("{CREDENTIALS}{}", field.name));
        let is_removed = sent.is_ticked(&format!("{REMOVE}{}", field.name));
        if is_removed || !given.is_null() {
            credentials.insert(field.name.to_owned(), given);
        }
    }
    json!({
        "isActive": sent.is_ticked(ACTIVE),
        "remoteId": text(sent, REMOTE_ID),
        "credentials": credentials,
        "defaultCancelReason": text(sent, REASON),
    })
}

pub async fn save(
    State(api): State<Arc<Api>>,
    Path((id, provider)): Path<(String, String)>,
    headers: HeaderMap,
    Sent { visitor, fields }: Sent,
) -> Result<Response, PanelError> {
    let id = restaurant_id(&visitor, &id)?;
    let platform = platform(&provider).map_err(|fault| visitor.fail(fault))?;
    let saved = match read::<IntegrationRequest>(&body(platform, &fields)) {
        Ok(wanted) => {
            let change = integration_change(wanted);
            integrations::put(&api.app, visitor.account.id, Actor::Owner, id, &provider, change)
                .await
                .map_err(|fault| Wrong::new(&visitor, fault))
        }
        Err(error) => Err(Wrong::new(&visitor, error)),
    };
    match saved {
        Ok(_) => {
            let t = IntegrationWords::of(visitor.lang);
            Ok(visitor.done(&Tab::Integrations.path(id), t.saved))
        }
        Err(wrong) => {
            // The guard names the credential alone.
            let wrong = wrong?;
            let is_credential = platform
                .credential_fields()
                .iter()
                .any(|it| it.name == wrong.field());
            let moved = format!("{CREDENTIALS}{}", wrong.field());
            let wrong = if is_credential {
                wrong.moved_to(moved)
            } else {
                wrong
            };
            show(
                &api,
                &visitor,
                (id, &provider),
                &headers,
                Some(&fields),
                Some(wrong),
            )
            .await
        }
    }
}
