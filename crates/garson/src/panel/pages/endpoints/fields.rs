//! The fields of an endpoint's form, and what they ask for.

use crate::flow::Fault;
use crate::flow::admin::endpoints::EndpointInput;
use crate::flow::admin::input::Line;
use crate::flow::admin::restaurants;
use crate::http::state::HttpState;
use crate::panel::kit::current_user::CurrentUser;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::form::{Choice, Field, FieldKind};
use crate::panel::kit::form_data::FormData;
use crate::panel::kit::form_input::required;
use crate::panel::kit::format;
use crate::panel::words::EndpointWords;
use garson_core::event::NAMES;
use garson_core::id::RestaurantId;
use garson_core::platform::Provider;
use garson_core::secret::Secret;
use garson_core::webhook_endpoint::{EndpointAuthorization, EventBody, RetryPlan, WebhookEndpoint};

/// More restaurants than these are not offered as check boxes; the API can filter by any.
const MAX_BOXES: usize = 50;

/// The fields of the form.
pub struct Form {
    pub main: Vec<Field>,
    pub events: Vec<Field>,
    pub restaurants: Vec<Field>,
    pub platforms: Vec<Field>,
}

impl Form {
    pub fn all(&mut self) -> impl Iterator<Item = &mut Field> {
        self.main.iter_mut()
    }
}

/// The form with what was typed, or with what is stored.
pub async fn form(
    api: &HttpState,
    user: &CurrentUser,
    stored: Option<&WebhookEndpoint>,
    typed: Option<&FormData>,
) -> Result<Form, PanelError> {
    let t = EndpointWords::of(user.lang);
    let value = |name: &str, of: &dyn Fn(&WebhookEndpoint) -> String| match typed {
        Some(typed) => typed.get(name).to_owned(),
        None => stored.map(of).unwrap_or_default(),
    };
    let choices = |chosen: &str, all: &[(&str, &str)]| {
        let choice = |(value, name): &(&str, &str)| Choice::new(*value, *name, *value == chosen);
        FieldKind::Select(all.iter().map(choice).collect())
    };
    let authorization = value("authorization", &|it| it.authorization.as_str().to_owned());
    let (body, retries) = (
        value("body", &|it| it.body.as_str().to_owned()),
        value("retries", &|it| it.retries.as_str().to_owned()),
    );
    let is_signed = typed.map_or_else(
        || stored.is_some_and(|it| it.is_signed),
        |typed| typed.is_checked("signed"),
    );
    let main = vec![
        Field::text("label", t.label)
            .hint(t.label_hint)
            .length(0, 200)
            .value(value("label", &|it| it.label.clone())),
        Field::new("url", t.url, FieldKind::Input("url"))
            .hint(t.url_hint)
            .length(0, 2048)
            .required()
            .value(value("url", &|it| it.url.clone().unwrap_or_default())),
        Field::new(
            "authorization",
            t.authorization,
            choices(
                &authorization,
                &[
                    (EndpointAuthorization::Key.as_str(), t.key),
                    (EndpointAuthorization::BareKey.as_str(), t.bare_key),
                    (EndpointAuthorization::Token.as_str(), t.token),
                    (EndpointAuthorization::None.as_str(), t.no_authorization),
                ],
            ),
        ),
        Field::password("token", t.own_token)
            .hint(t.own_token_hint)
            .length(0, 500),
        Field::new(
            "body",
            t.body,
            choices(
                &body,
                &[
                    (EventBody::Event.as_str(), t.body_event),
                    (EventBody::WithOrder.as_str(), t.body_order),
                ],
            ),
        ),
        Field::new(
            "retries",
            t.retries,
            choices(
                &retries,
                &[
                    (RetryPlan::Standard.as_str(), t.retries_standard),
                    (RetryPlan::Long.as_str(), t.retries_long),
                ],
            ),
        ),
        Field::new("signed", t.signed, FieldKind::Checkbox(is_signed)).hint(t.signed_hint),
    ];
    let is_chosen = |group: &str, id: &str, of: &dyn Fn(&WebhookEndpoint) -> bool| match typed {
        Some(typed) => typed.is_checked(&format!("{group}.{id}")),
        None => stored.is_some_and(of),
    };
    let check = |group: &str, id: &str, label: String, chosen: bool| {
        Field::new(format!("{group}.{id}"), label, FieldKind::Checkbox(chosen))
    };
    let event = |name: &&str| {
        let chosen = is_chosen("event", name, &|it| {
            it.filter.events.iter().any(|event| event == name)
        });
        check("event", name, (*name).to_owned(), chosen)
    };
    let platform = |provider: Provider| {
        let key = provider.to_string();
        let chosen = is_chosen("platform", &key, &|it| it.filter.platforms.contains(&provider));
        check("platform", &key, format::provider(user.lang, provider), chosen)
    };
    let mut known = restaurants::names(&api.app, user.account.id)
        .await
        .map_err(|fault| user.fail(fault))?;
    let is_filtered = |id: &RestaurantId| stored.is_some_and(|it| it.filter.restaurants.contains(id));
    known.sort_by_key(|(id, _)| !is_filtered(id));
    known.truncate(MAX_BOXES);
    let restaurant = |(id, name): (RestaurantId, String)| {
        let chosen = is_chosen("restaurant", &id.to_string(), &|_| is_filtered(&id));
        check("restaurant", &id.to_string(), name, chosen)
    };
    Ok(Form {
        main,
        events: NAMES.iter().map(event).collect(),
        restaurants: known.into_iter().map(restaurant).collect(),
        platforms: garson_platforms::all()
            .iter()
            .map(|it| platform(it.provider()))
            .collect(),
    })
}

/// What the form asks for.
pub fn parse(sent: &FormData) -> Result<EndpointInput, Fault> {
    let checked = |group: &str| -> Vec<String> {
        let prefix = format!("{group}.");
        let names = sent.with_prefix(&prefix).map(|(name, _)| name.to_owned());
        names.collect()
    };
    let label: Line = required(sent, "label")?;
    Ok(EndpointInput {
        label: Some(label),
        url: Some(sent.get("url").trim().to_owned()),
        is_active: None,
        events: Some(checked("event")),
        restaurants: Some(
            checked("restaurant")
                .iter()
                .filter_map(|id| id.parse().ok())
                .collect(),
        ),
        platforms: Some(
            checked("platform")
                .iter()
                .filter_map(|key| garson_platforms::find(key))
                .map(|it| it.provider())
                .collect(),
        ),
        authorization: EndpointAuthorization::named(sent.get("authorization")),
        token: sent.non_empty("token").map(Secret::new),
        is_signed: Some(sent.is_checked("signed")),
        body: EventBody::named(sent.get("body")),
        retries: RetryPlan::named(sent.get("retries")),
    })
}
