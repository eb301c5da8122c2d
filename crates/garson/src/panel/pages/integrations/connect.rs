//! The form that connects a restaurant to a platform, generated from the connector's credential fields.
//!
//! Stored secrets are never shown; an empty field keeps the stored value.

use crate::flow::Fault;
use crate::flow::admin::input::{CredentialText, ForeignId};
use crate::flow::admin::integrations;
use crate::flow::admin::integrations::{CredentialSource, IntegrationChange, platform};
use crate::flow::admin::restaurants;
use crate::http::state::HttpState;
use crate::panel::components::restaurant_header::{RestaurantHeader, Tab, restaurant_id, restaurant_layout};
use crate::panel::kit::current_user::CurrentUser;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::field_problem;
use crate::panel::kit::form::{Choice, Field, FieldKind};
use crate::panel::kit::form_data::FormData;
use crate::panel::kit::form_errors::FormErrors;
use crate::panel::kit::form_input::optional;
use crate::panel::kit::form_page::form_page;
use crate::panel::kit::https::is_https;
use crate::panel::kit::layout::{Layout, page};
use crate::panel::kit::names;
use crate::panel::kit::user_form::UserForm;
use crate::panel::words::IntegrationWords;
use crate::panel::words::Lang;
use askama::Template;
use axum::extract::{Path, State};
use axum::response::Response;
use garson_core::field_problem::FieldProblem;
use garson_core::id::RestaurantId;
use garson_core::integration::Integration;
use garson_core::platform::{CredentialField, CredentialKind, Platform};
use garson_core::secret::Secret;
use http::{HeaderMap, header};
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
    layout: Layout,
    t: IntegrationWords,
    header: RestaurantHeader,
    name: String,
    action: String,
    fields: Vec<Field>,
    problem: Option<String>,
    /// The webhook addresses to enter at the platform.
    hooks: Vec<String>,
}

/// The path of the form.
pub fn form_path(id: RestaurantId, provider: &str) -> String {
    format!("{}/{provider}", Tab::Integrations.path(id))
}

/// The label of a form field.
pub fn label(lang: Lang, provider: &str, name: &str) -> String {
    let fields = garson_platforms::find(provider).map_or(&[][..], |platform| platform.credential_fields());
    let credential = name.strip_prefix(CREDENTIALS).unwrap_or_default();
    let found = fields.iter().find(|field| field.name == credential);
    match found {
        Some(field) => credential_label(lang, field).to_owned(),
        None => IntegrationWords::of(lang).remote_id.to_owned(),
    }
}

fn credential_label(lang: Lang, field: &CredentialField) -> &'static str {
    match lang {
        Lang::Tr => field.label.0,
        Lang::En => field.label.1,
    }
}

struct FormBuilder<'a> {
    lang: Lang,
    t: IntegrationWords,
    platform: &'static dyn Platform,
    integration: Option<&'a Integration>,
    /// The credentials that are stored, and who gave them.
    known: &'a BTreeMap<String, CredentialSource>,
    typed: Option<&'a FormData>,
}

impl FormBuilder<'_> {
    fn build(&self) -> Vec<Field> {
        let t = &self.t;
        let branch = self.integration.and_then(|it| it.remote_id.clone());
        let mut form = vec![
            Field::text(REMOTE_ID, t.remote_id)
                .hint(t.remote_id_hint)
                .length(0, 100)
                .value(self.value(REMOTE_ID, branch)),
        ];
        for field in self.platform.credential_fields() {
            form.push(self.credential(field));
            let is_own = self.known.get(field.name) == Some(&CredentialSource::Account);
            if is_own && !field.required {
                let name = format!("{REMOVE}{}", field.name);
                let is_checked = self.typed.is_some_and(|typed| typed.is_checked(&name));
                let label = format!("{}: {}", credential_label(self.lang, field), t.remove);
                form.push(Field::new(name, label, FieldKind::Checkbox(is_checked)));
            }
        }
        form.push(self.reason());
        let is_active = match (self.typed, self.integration) {
            (Some(typed), _) => typed.is_checked(ACTIVE),
            (None, Some(integration)) => integration.is_active,
            (None, None) => true,
        };
        form.push(Field::new(ACTIVE, t.is_active, FieldKind::Checkbox(is_active)));
        form
    }

    /// Is the integration to be used? Only then are its credentials required.
    fn is_switched_on(&self) -> bool {
        self.typed.is_some_and(|typed| typed.is_checked(ACTIVE))
    }

    /// Marks everything required that is neither stored nor typed: the error of the form names only the first.
    fn mark_missing(&self, fields: &mut [Field]) {
        let text = field_problem::text(self.lang, &FieldProblem::Required);
        let missing = self.platform.credential_fields().iter().filter(|field| {
            let name = format!("{CREDENTIALS}{}", field.name);
            let is_typed = self.typed.is_some_and(|typed| !typed.get(&name).is_empty());
            field.required && !is_typed && !self.known.contains_key(field.name)
        });
        let mut names: Vec<String> = missing
            .map(|credential| format!("{CREDENTIALS}{}", credential.name))
            .collect();
        if self
            .typed
            .is_some_and(|typed| typed.get(REMOTE_ID).trim().is_empty())
        {
            names.push(REMOTE_ID.to_owned());
        }
        for name in names {
            let field = fields.iter_mut().find(|field| field.name == name);
            if let Some(field) = field.filter(|field| field.error.is_empty()) {
                field.error.clone_from(&text);
            }
        }
    }

    /// What was typed, or else what is stored.
    fn value(&self, name: &str, stored: Option<String>) -> String {
        match self.typed {
            Some(typed) => typed.get(name).to_owned(),
            None => stored.unwrap_or_default(),
        }
    }

    fn credential(&self, field: &CredentialField) -> Field {
        let t = &self.t;
        let name = format!("{CREDENTIALS}{}", field.name);
        let typed = self.value(&name, None);
        let known = self.known.get(field.name);
        let state = match known {
            Some(CredentialSource::Account) => t.kept,
            Some(CredentialSource::Operator) => t.from_operator,
            None if field.required => t.needed,
            None => t.optional,
        };
        let kind = match field.kind {
            CredentialKind::Secret => FieldKind::Input("password"),
            CredentialKind::Plain => FieldKind::Input("text"),
            CredentialKind::Address => FieldKind::Input("url"),
            CredentialKind::Headers => FieldKind::Textarea,
            CredentialKind::Choice(words) => {
                let nothing = if known.is_some() {
                    t.unchanged
                } else {
                    t.not_chosen
                };
                let words = words.iter().map(|word| Choice::new(*word, *word, *word == typed));
                FieldKind::Select(
                    std::iter::once(Choice::new("", nothing, false))
                        .chain(words)
                        .collect(),
                )
            }
        };
        let built = Field::new(name, credential_label(self.lang, field), kind).length(0, 2000);
        match field.kind {
            // A typed secret is not sent back either.
            CredentialKind::Secret => built.hint(state).autocomplete("new-password"),
            CredentialKind::Headers => built.hint(format!("{state} {}", t.headers_hint)),
            _ => built.hint(state).value(typed),
        }
    }

    /// A select of the fixed reasons; where the platform has to be asked for them, a text field for the id.
    fn reason(&self) -> Field {
        let t = &self.t;
        let stored = self.integration.and_then(|it| it.default_cancel_reason.clone());
        let value = self.value(REASON, stored);
        if self.platform.capability().live_reasons {
            return Field::text(REASON, t.default_reason)
                .hint(t.default_reason_live)
                .length(0, 100)
                .value(value);
        }
        let reasons = names::reasons(self.lang, self.platform.fixed_reasons(None));
        let reasons = reasons
            .into_iter()
            .map(|it| Choice::new(it.id.clone(), it.name, it.id == value));
        let choices = std::iter::once(Choice::new("", t.no_reason, false)).chain(reasons);
        Field::new(REASON, t.default_reason, FieldKind::Select(choices.collect())).hint(t.default_reason_hint)
    }
}

/// The origin that the browser uses. Platforms can use it too if it is public.
fn origin(headers: &HeaderMap) -> String {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let scheme = if is_https(headers) { "https" } else { "http" };
    host.map_or_else(String::new, |host| format!("{scheme}://{host}"))
}

async fn show(
    api: &HttpState,
    user: &CurrentUser,
    (id, provider): (RestaurantId, &str),
    headers: &HeaderMap,
    typed: Option<&FormData>,
    wrong: Option<FormErrors>,
) -> Result<Response, PanelError> {
    let fail = |fault| user.fail(fault);
    let (app, account) = (&api.app, user.account.id);
    let platform = platform(provider).map_err(fail)?;
    let restaurant = restaurants::get(app, account, id).await.map_err(fail)?;
    let (integration, known) = integrations::credential_sources(app, account, id, provider)
        .await
        .map_err(fail)?;
    let builder = FormBuilder {
        lang: user.lang,
        t: IntegrationWords::of(user.lang),
        platform,
        integration: integration.as_ref(),
        known: &known,
        typed,
    };
    let mut fields = builder.build();
    let problem = wrong.as_ref().map(|wrong| wrong.mark(&mut fields));
    if wrong.is_some() && builder.is_switched_on() {
        builder.mark_missing(&mut fields);
    }
    let origin = match api.app.settings.public_url.trim_end_matches('/') {
        "" => origin(headers),
        known => known.to_owned(),
    };
    let layout = restaurant_layout(user, &restaurant);
    let page = page(&ConnectPage {
        header: RestaurantHeader::new(user, &restaurant, Tab::Integrations),
        name: layout.provider(&platform.provider()),
        layout,
        t: builder.t,
        action: form_path(id, provider),
        fields,
        problem,
        hooks: platform
            .hooks()
            .iter()
            .map(|route| format!("{} {origin}/hooks/{provider}{}", route.method, route.path))
            .collect(),
    });
    Ok(form_page(page, wrong.as_ref()))
}

pub async fn show_form(
    State(api): State<Arc<HttpState>>,
    Path((id, provider)): Path<(String, String)>,
    headers: HeaderMap,
    user: CurrentUser,
) -> Result<Response, PanelError> {
    let id = restaurant_id(&user, &id)?;
    show(&api, &user, (id, &provider), &headers, None, None).await
}

/// The change that the form describes.
fn change(platform: &dyn Platform, sent: &FormData) -> Result<IntegrationChange, Fault> {
    let mut credentials = Vec::new();
    for field in platform.credential_fields() {
        let given: Option<CredentialText> = optional(sent, &format!("{CREDENTIALS}{}", field.name))?;
        let is_removed = sent.is_checked(&format!("{REMOVE}{}", field.name));
        if is_removed || given.is_some() {
            let secret = given.map(|text| Secret::new(text.into_string()));
            credentials.push((field.name.to_owned(), secret));
        }
    }
    Ok(IntegrationChange {
        is_active: Some(sent.is_checked(ACTIVE)),
        remote_id: Some(optional(sent, REMOTE_ID)?.map(ForeignId::into_string)),
        credentials: Some(credentials),
        default_cancel_reason: Some(optional(sent, REASON)?.map(ForeignId::into_string)),
    })
}

pub async fn save(
    State(api): State<Arc<HttpState>>,
    Path((id, provider)): Path<(String, String)>,
    headers: HeaderMap,
    UserForm { user, fields }: UserForm,
) -> Result<Response, PanelError> {
    let id = restaurant_id(&user, &id)?;
    let platform = platform(&provider).map_err(|fault| user.fail(fault))?;
    let saved = match change(platform, &fields) {
        Ok(change) => integrations::put(&api.app, user.by(), id, &provider, change)
            .await
            .map_err(|fault| FormErrors::new(&user, fault)),
        Err(fault) => Err(FormErrors::new(&user, fault)),
    };
    match saved {
        Ok(_) => {
            let t = IntegrationWords::of(user.lang);
            Ok(user.redirect_with_notice(&Tab::Integrations.path(id), t.saved))
        }
        Err(wrong) => {
            // The address guard reports the credential without the prefix.
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
            show(&api, &user, (id, &provider), &headers, Some(&fields), Some(wrong)).await
        }
    }
}
