//! The form of a channel, its test and its removal.

use crate::flow::Fault;
use crate::flow::admin::channels;
use crate::flow::admin::channels::{ChannelInput, MASK, MAX_BODY, TargetInput};
use crate::flow::fault::Thing;
use crate::flow::messages::{Sending, send_test};
use crate::http::state::HttpState;
use crate::panel::kit::current_user::CurrentUser;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::explain;
use crate::panel::kit::form::{Choice, Field, FieldKind};
use crate::panel::kit::form_data::FormData;
use crate::panel::kit::form_errors::FormErrors;
use crate::panel::kit::form_input::required;
use crate::panel::kit::form_page::form_page;
use crate::panel::kit::layout::{Layout, page};
use crate::panel::kit::navigation::NavItem;
use crate::panel::kit::user_form::UserForm;
use crate::panel::words::NoticeWords;
use askama::Template;
use axum::extract::{Path, RawQuery, State};
use axum::response::Response;
use garson_core::channel::{Channel, ChannelKind, HttpMethod, HttpTemplate, Language, Target};
use garson_core::field_problem::HeaderProblem;
use garson_core::id::ChannelId;
use garson_core::secret::Secret;
use std::collections::BTreeMap;
use std::sync::Arc;

const HEADERS: &str = "headers";
const SECRETS: &str = "secrets";

#[derive(Template)]
#[template(path = "channel.html")]
struct ChannelPage {
    layout: Layout,
    t: NoticeWords,
    title: String,
    action: String,
    kind: &'static str,
    /// The id of the channel that the form creates: a form that is sent twice creates one.
    id: ChannelId,
    fields: Vec<Field>,
    problem: Option<String>,
}

/// What the form is about.
struct Subject<'a> {
    kind: ChannelKind,
    id: ChannelId,
    stored: Option<&'a Channel>,
}

impl Subject<'_> {
    fn template(&self) -> Option<&HttpTemplate> {
        match self.stored.map(|channel| &channel.target) {
            Some(Target::Http(template)) => Some(template),
            _ => None,
        }
    }

    /// The stored value of a form field.
    fn value(&self, name: &str) -> String {
        let Some(channel) = self.stored else {
            return String::new();
        };
        match (name, &channel.target) {
            ("name", _) => channel.name.clone(),
            ("language", _) => channel.language.as_str().to_owned(),
            ("recipients", Target::Email { recipients }) => recipients.join("\n"),
            ("method", Target::Http(template)) => template.method.as_str().to_owned(),
            ("url", Target::Http(template)) => template.url.clone(),
            ("body", Target::Http(template)) => template.body.clone(),
            _ => String::new(),
        }
    }
}

fn form(t: &NoticeWords, subject: &Subject<'_>, typed: Option<&FormData>) -> Vec<Field> {
    let value = |name: &str| typed.map_or_else(|| subject.value(name), |typed| typed.get(name).to_owned());
    let language = value("language");
    let languages =
        [("tr", t.turkish), ("en", t.english)].map(|(code, name)| Choice::new(code, name, code == language));
    let area = |name: &str, label: &str, hint: &str| {
        Field::new(name, label, FieldKind::Textarea)
            .hint(hint)
            .value(value(name))
    };
    let mut fields = vec![
        Field::text("name", t.name)
            .hint(t.name_hint)
            .length(0, 200)
            .required()
            .value(value("name")),
        Field::new("language", t.language, FieldKind::Select(languages.into())),
    ];
    match subject.kind {
        ChannelKind::Email => {
            fields.push(area("recipients", t.recipients, t.recipients_hint).required());
        }
        ChannelKind::Http => {
            let method = value("method");
            let choice = |it: HttpMethod| Choice::new(it.as_str(), it.as_str(), it.as_str() == method);
            let methods = [HttpMethod::Post, HttpMethod::Get, HttpMethod::Put].map(choice);
            fields.push(Field::new("method", t.method, FieldKind::Select(methods.into())));
            fields.push(
                Field::text("url", t.url)
                    .hint(t.url_hint)
                    .length(0, 2048)
                    .required()
                    .value(value("url")),
            );
            let stored = subject.template();
            fields.extend(secret_fields(
                t,
                HEADERS,
                t.headers,
                t.headers_hint,
                stored.map(|it| &it.headers),
            ));
            fields.push(area("body", t.body, t.body_hint).length(0, MAX_BODY));
            fields.extend(secret_fields(
                t,
                SECRETS,
                t.secrets,
                t.secrets_hint,
                stored.map(|it| &it.secrets),
            ));
        }
    }
    fields
}

/// A text area for secret lines. What is stored is named, but never shown; nor is what was typed.
fn secret_fields(
    t: &NoticeWords,
    name: &str,
    label: &str,
    hint: &str,
    stored: Option<&BTreeMap<String, Secret<String>>>,
) -> Vec<Field> {
    let names: Vec<&str> = stored
        .into_iter()
        .flat_map(|stored| stored.keys().map(String::as_str))
        .collect();
    if names.is_empty() {
        return vec![Field::new(name, label, FieldKind::Textarea).hint(hint)];
    }
    let hint = format!("{} {}. {} {hint}", t.kept, names.join(", "), t.kept_hint);
    vec![
        Field::new(name, label, FieldKind::Textarea).hint(hint),
        Field::new(
            format!("{name}-forget"),
            format!("{label}: {}", t.forget),
            FieldKind::Checkbox(false),
        ),
    ]
}

/// Parses lines of `name: value`; without any, what is stored is kept.
fn lines(
    sent: &FormData,
    name: &str,
    stored: Option<&BTreeMap<String, Secret<String>>>,
) -> Result<BTreeMap<String, Secret<String>>, Fault> {
    let Some(text) = sent.non_empty(name) else {
        let is_kept = !sent.is_checked(&format!("{name}-forget"));
        let kept = stored.into_iter().flat_map(|stored| stored.keys());
        let kept = kept.filter(|_| is_kept);
        return Ok(kept
            .map(|name| (name.clone(), Secret::new(MASK.to_owned())))
            .collect());
    };
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines
        .map(|line| {
            let (key, value) = line
                .split_once(':')
                .ok_or_else(|| Fault::invalid(name, HeaderProblem::InvalidName))?;
            Ok((key.trim().to_owned(), Secret::new(value.trim().to_owned())))
        })
        .collect()
}

fn parse(sent: &FormData, subject: &Subject<'_>) -> Result<ChannelInput, Fault> {
    let target = match subject.kind {
        ChannelKind::Email => TargetInput::Email {
            recipients: sent
                .get("recipients")
                .split(['\n', '\r', ',', ';'])
                .map(str::trim)
                .filter(|line| !line.is_empty())
                .map(str::to_owned)
                .collect(),
        },
        ChannelKind::Http => {
            let stored = subject.template();
            TargetInput::Http {
                method: HttpMethod::named(sent.get("method")).unwrap_or(HttpMethod::Post),
                url: sent.get("url").trim().to_owned(),
                headers: lines(sent, HEADERS, stored.map(|it| &it.headers))?,
                body: sent.get("body").replace("\r\n", "\n"),
                secrets: lines(sent, SECRETS, stored.map(|it| &it.secrets))?,
            }
        }
    };
    Ok(ChannelInput {
        name: required(sent, "name")?,
        language: Language::named(sent.get("language")).unwrap_or_default(),
        target,
    })
}

fn show(
    user: &CurrentUser,
    subject: &Subject<'_>,
    typed: Option<&FormData>,
    wrong: Option<&FormErrors>,
) -> Response {
    let t = NoticeWords::of(user.lang);
    let mut fields = form(&t, subject, typed);
    let problem = wrong.map(|wrong| wrong.mark(&mut fields));
    let here = match subject.stored {
        Some(channel) => format!("/notices/channels/{}", channel.id),
        None => format!("/notices/channels/new?kind={}", subject.kind.as_str()),
    };
    let action = match subject.stored {
        Some(_) => here.clone(),
        None => "/notices/channels/new".to_owned(),
    };
    let page = page(&ChannelPage {
        title: subject
            .stored
            .map_or_else(|| t.new_channel.to_owned(), |channel| channel.name.clone()),
        layout: Layout {
            here,
            ..user.layout(NavItem::Notices)
        },
        action,
        kind: subject.kind.as_str(),
        id: subject.id,
        t,
        fields,
        problem,
    });
    form_page(page, wrong)
}

fn channel_id(user: &CurrentUser, text: &str) -> Result<ChannelId, PanelError> {
    text.parse()
        .map_err(|_| user.fail(Fault::not_found(Thing::Channel, text)))
}

pub async fn show_new_channel(
    State(api): State<Arc<HttpState>>,
    user: CurrentUser,
    RawQuery(query): RawQuery,
) -> Result<Response, PanelError> {
    let params = FormData::parse(query.unwrap_or_default().as_bytes());
    let subject = Subject {
        kind: ChannelKind::named(params.get("kind")).unwrap_or(ChannelKind::Email),
        id: ChannelId::at(api.app.now()),
        stored: None,
    };
    Ok(show(&user, &subject, None, None))
}

pub async fn create_channel(
    State(api): State<Arc<HttpState>>,
    UserForm { user, fields }: UserForm,
) -> Result<Response, PanelError> {
    let subject = Subject {
        kind: ChannelKind::named(fields.get("kind")).unwrap_or(ChannelKind::Email),
        id: channel_id(&user, fields.get("id"))?,
        stored: None,
    };
    let created = match parse(&fields, &subject) {
        Ok(input) => channels::create(&api.app, user.by(), subject.id, input).await,
        Err(fault) => Err(fault),
    };
    saved(&user, &subject, &fields, created)
}

fn saved(
    user: &CurrentUser,
    subject: &Subject<'_>,
    fields: &FormData,
    saved: Result<Channel, Fault>,
) -> Result<Response, PanelError> {
    let t = NoticeWords::of(user.lang);
    match saved {
        Ok(_) => Ok(user.redirect_with_notice("/notices", t.saved)),
        Err(Fault::TooManyChannels) => Ok(user.redirect_with_error("/notices", t.too_many)),
        Err(fault) => {
            let wrong = FormErrors::new(user, fault)?;
            Ok(show(user, subject, Some(fields), Some(&wrong)))
        }
    }
}

pub async fn show_channel(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    user: CurrentUser,
) -> Result<Response, PanelError> {
    let id = channel_id(&user, &id)?;
    let stored = channels::get(&api.app, user.account.id, id)
        .await
        .map_err(|fault| user.fail(fault))?;
    let subject = Subject {
        kind: stored.target.kind(),
        id,
        stored: Some(&stored),
    };
    Ok(show(&user, &subject, None, None))
}

pub async fn update_channel(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    UserForm { user, fields }: UserForm,
) -> Result<Response, PanelError> {
    let id = channel_id(&user, &id)?;
    let stored = channels::get(&api.app, user.account.id, id)
        .await
        .map_err(|fault| user.fail(fault))?;
    let subject = Subject {
        kind: stored.target.kind(),
        id,
        stored: Some(&stored),
    };
    let updated = match parse(&fields, &subject) {
        Ok(input) => channels::update(&api.app, user.by(), id, input).await,
        Err(fault) => Err(fault),
    };
    saved(&user, &subject, &fields, updated)
}

pub async fn test_channel(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    UserForm { user, .. }: UserForm,
) -> Result<Response, PanelError> {
    let id = channel_id(&user, &id)?;
    let t = NoticeWords::of(user.lang);
    let sending = send_test(&api.app, user.by(), id)
        .await
        .map_err(|fault| user.fail(fault))?;
    Ok(match sending {
        Sending::Sent => user.redirect_with_notice("/notices", t.test_sent),
        Sending::NotYet(why) | Sending::Failed(why) | Sending::Unclear(why) => {
            let text = format!("{} {}", t.test_failed, explain::text(user.lang, &why));
            user.redirect_with_error("/notices", &text)
        }
    })
}

pub async fn delete_channel(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    UserForm { user, .. }: UserForm,
) -> Result<Response, PanelError> {
    let id = channel_id(&user, &id)?;
    let t = NoticeWords::of(user.lang);
    match channels::delete(&api.app, user.by(), id).await {
        Ok(()) => Ok(user.redirect_with_notice("/notices", t.deleted)),
        Err(Fault::ChannelInUse {
            mut restaurants,
            by_notices,
        }) => {
            restaurants.extend(by_notices.then(|| t.notices.to_owned()));
            let text = format!("{} {}", t.in_use, restaurants.join(", "));
            Ok(user.redirect_with_error("/notices", &text))
        }
        Err(fault) => Err(user.fail(fault)),
    }
}
