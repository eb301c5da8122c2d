//! The webhook page: settings, a test event, bulk resends and the delivery log.

pub mod delivery;
mod log;

use crate::flow::Fault;
use crate::flow::admin::accounts;
use crate::flow::deliver::{resend, resend_all};
use crate::http::state::HttpState;
use crate::net::guard::{Target, is_clear_text};
use crate::panel::components::send_result::{SendTexts, redirect_with_result};
use crate::panel::kit::current_user::CurrentUser;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::form::{Choice, Field, FieldKind};
use crate::panel::kit::form_data::FormData;
use crate::panel::kit::form_errors::FormErrors;
use crate::panel::kit::layout::{Layout, page};
use crate::panel::kit::local_time;
use crate::panel::kit::navigation::NavItem;
use crate::panel::kit::user_form::UserForm;
use crate::panel::words::{DeliveryWords, WebhookWords};
use askama::Template;
use axum::Router;
use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use garson_core::account::{AuthorizationForm, Webhook};
use garson_core::event::{OptionalEvent, OptionalEvents};
use garson_core::id::ResendId;
use garson_core::time::Zone;
use garson_store::tables::resends::Resend;
use http::StatusCode;
use log::DeliveryLog;
use std::sync::Arc;
use std::time::Duration;

/// The number of bulk resends shown.
const MAX_RESENDS: usize = 5;
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

pub fn routes() -> Router<Arc<HttpState>> {
    Router::new()
        .route("/webhook", get(show_webhook).post(save_webhook))
        .route("/webhook/remove", post(remove_webhook))
        .route("/webhook/test", post(send_test))
        .route("/webhook/resend", post(resend_failed))
        .merge(delivery::routes())
}

#[derive(Template)]
#[template(path = "webhook.html")]
struct WebhookPage {
    layout: Layout,
    t: WebhookWords,
    d: DeliveryWords,
    webhook: Option<Webhook>,
    is_clear_text: bool,
    url: Field,
    form: Field,
    updates: Field,
    optional: Vec<Field>,
    since: Field,
    with_skipped: Field,
    resends: Vec<Resend>,
    is_running: bool,
    log: DeliveryLog,
}

/// What was typed and not accepted.
struct RejectedInput {
    url: String,
    form: AuthorizationForm,
    updates: bool,
    optional: OptionalEvents,
    error: String,
}

async fn show(
    api: &HttpState,
    user: &CurrentUser,
    params: &FormData,
    rejected: Option<RejectedInput>,
) -> Result<Response, PanelError> {
    let fail = |fault| user.fail(fault);
    let (app, account) = (&api.app, user.account.id);
    let (webhook, wants_updates) = accounts::webhook_and_updates(app, account).await.map_err(fail)?;
    let mut resends = resend_all::list(app, account).await.map_err(fail)?;
    resends.truncate(MAX_RESENDS);
    let layout = user.layout(NavItem::Webhook);
    let log = DeliveryLog::read(api, user, &layout, params).await?;
    let t = WebhookWords::of(user.lang);
    let is_checked = rejected
        .as_ref()
        .map_or(wants_updates, |rejected| rejected.updates);
    let stored = accounts::optional_events(app, account).await.map_err(fail)?;
    let optional = rejected.as_ref().map_or(stored, |rejected| rejected.optional);
    let (typed, chosen, error) = match (rejected, &webhook) {
        (Some(rejected), _) => (rejected.url, rejected.form, Some(rejected.error)),
        (None, Some(webhook)) => (webhook.url.clone(), webhook.authorization, None),
        (None, None) => (String::new(), AuthorizationForm::default(), None),
    };
    let choice = |form: AuthorizationForm, name| Choice::new(form.as_str(), name, form == chosen);
    let forms = vec![
        choice(AuthorizationForm::Bearer, t.bearer),
        choice(AuthorizationForm::Bare, t.bare),
    ];
    let target = webhook
        .as_ref()
        .and_then(|webhook| Target::parse(&webhook.url).ok());
    let day_ago = local_time::write(&Zone::istanbul(), app.now().minus(DAY));
    Ok(page(&WebhookPage {
        layout,
        is_clear_text: target.is_some_and(|target| is_clear_text(&target)),
        url: Field::new("url", t.url, FieldKind::Input("url"))
            .value(typed)
            .hint(t.url_hint)
            .error(error.as_deref())
            .required()
            .length(0, 2048),
        form: Field::new("authorization", t.form, FieldKind::Select(forms)).hint(t.form_hint),
        updates: Field::new("orderUpdates", t.updates, FieldKind::Checkbox(is_checked)).hint(t.updates_hint),
        optional: optional_fields(&t, optional),
        since: Field::new("since", t.again_since, FieldKind::Input("datetime-local"))
            .value(day_ago)
            .required(),
        with_skipped: Field::new("skipped", t.again_skipped, FieldKind::Checkbox(false)),
        is_running: resends.iter().any(|resend| resend.finished_at.is_none()),
        d: DeliveryWords::of(user.lang),
        resends,
        webhook,
        log,
        t,
    }))
}

fn optional_fields(t: &WebhookWords, chosen: OptionalEvents) -> Vec<Field> {
    let field = |event: &OptionalEvent| {
        let label = match event {
            OptionalEvent::Store => t.store_changed,
            OptionalEvent::Product => t.product_changed,
            OptionalEvent::Menu => t.menu_changed,
        };
        Field::new(
            event.as_str(),
            label,
            FieldKind::Checkbox(chosen.contains(*event)),
        )
    };
    OptionalEvent::ALL.iter().map(field).collect()
}

fn read_optional(fields: &FormData) -> OptionalEvents {
    let all = OptionalEvent::ALL.iter().copied();
    all.filter(|event| fields.is_checked(event.as_str())).collect()
}

async fn show_webhook(
    State(api): State<Arc<HttpState>>,
    user: CurrentUser,
    RawQuery(query): RawQuery,
) -> Result<Response, PanelError> {
    let params = FormData::parse(query.unwrap_or_default().as_bytes());
    show(&api, &user, &params, None).await
}

async fn save_webhook(
    State(api): State<Arc<HttpState>>,
    UserForm { user, fields }: UserForm,
) -> Result<Response, PanelError> {
    let url = fields.get("url").to_owned();
    let form = AuthorizationForm::named(fields.get("authorization")).unwrap_or_default();
    let updates = fields.is_checked("orderUpdates");
    let optional = read_optional(&fields);
    // The form shows how the key is sent; an endpoint without the key stays so unless that is changed.
    let before = accounts::webhook(&api.app, user.account.id)
        .await
        .map_err(|fault| user.fail(fault))?;
    let is_same = before.is_some_and(|before| before.authorization == form);
    let error = match accounts::set_webhook(
        &api.app,
        user.by(),
        Some(url.clone()),
        (!is_same).then_some(form),
        Some(updates),
    )
    .await
    {
        Ok(_) => {
            accounts::set_optional_events(&api.app, user.by(), optional)
                .await
                .map_err(|fault| user.fail(fault))?;
            return Ok(user.redirect_with_notice("/webhook", WebhookWords::of(user.lang).saved));
        }
        Err(fault @ (Fault::TargetNotAllowed { .. } | Fault::Invalid { .. })) => {
            FormErrors::new(&user, fault)?.into_text()
        }
        Err(fault) => return Err(user.fail(fault)),
    };
    let rejected = RejectedInput {
        url,
        form,
        updates,
        optional,
        error,
    };
    let page = show(&api, &user, &FormData::default(), Some(rejected)).await?;
    Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response())
}

async fn remove_webhook(
    State(api): State<Arc<HttpState>>,
    UserForm { user, .. }: UserForm,
) -> Result<Response, PanelError> {
    accounts::remove_webhook(&api.app, user.by())
        .await
        .map_err(|fault| user.fail(fault))?;
    Ok(user.redirect_with_notice("/webhook", WebhookWords::of(user.lang).removed))
}

async fn send_test(
    State(api): State<Arc<HttpState>>,
    UserForm { user, .. }: UserForm,
) -> Result<Response, PanelError> {
    let t = WebhookWords::of(user.lang);
    let sent = resend::test(&api.app, user.by()).await;
    let texts = SendTexts {
        accepted: t.test_taken,
        refused: t.test_refused,
        unreachable: t.test_unreached,
    };
    redirect_with_result(&user, "/webhook", sent, &texts)
}

async fn resend_failed(
    State(api): State<Arc<HttpState>>,
    UserForm { user, fields }: UserForm,
) -> Result<Response, PanelError> {
    let t = WebhookWords::of(user.lang);
    let Some(since) = local_time::parse(&Zone::istanbul(), fields.get("since")) else {
        return Ok(user.redirect_with_error("/webhook", t.again_wrong));
    };
    let id = ResendId::at(api.app.now());
    let with_skipped = fields.is_checked("skipped");
    match resend_all::start(&api.app, user.by(), None, id, since, with_skipped).await {
        Ok(resend) => {
            Ok(user.redirect_with_notice("/webhook", format!("{} {}", t.again_started, resend.found)))
        }
        Err(fault @ (Fault::NoWebhook | Fault::TooManyRetries)) => {
            Ok(user.redirect_with_error("/webhook", user.fail(fault).text()))
        }
        Err(fault) => Err(user.fail(fault)),
    }
}
