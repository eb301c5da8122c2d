//! The notifications page: channels, operational notices, and the latest messages.

mod channel;

use crate::flow::admin::{channels, notices};
use crate::flow::platform_names::render_message;
use crate::http::state::HttpState;
use crate::panel::kit::current_user::CurrentUser;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::explain;
use crate::panel::kit::form::{Field, FieldKind};
use crate::panel::kit::form_data::FormData;
use crate::panel::kit::form_errors::FormErrors;
use crate::panel::kit::form_page::form_page;
use crate::panel::kit::layout::{Layout, page};
use crate::panel::kit::navigation::NavItem;
use crate::panel::kit::user_form::UserForm;
use crate::panel::words::{Lang, NoticeWords};
use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::{get, post};
use garson_core::channel::{Channel, Language, Target};
use garson_core::id::{ChannelId, OrderId};
use garson_core::notice::NoticeKind;
use garson_store::tables::messages::{MessageRecord, MessageState};
use std::sync::Arc;
use url::Url;

/// Messages that are shown.
const SHOWN_MESSAGES: i64 = 30;
const CHANNEL: &str = "channel.";
const KIND: &str = "kind.";

pub fn routes() -> Router<Arc<HttpState>> {
    Router::new()
        .route("/notices", get(show_notices).post(save_notices))
        .route(
            "/notices/channels/new",
            get(channel::show_new_channel).post(channel::create_channel),
        )
        .route(
            "/notices/channels/{id}",
            get(channel::show_channel).post(channel::update_channel),
        )
        .route("/notices/channels/{id}/test", post(channel::test_channel))
        .route("/notices/channels/{id}/delete", post(channel::delete_channel))
}

#[derive(Template)]
#[template(path = "notices.html")]
struct NoticesPage {
    layout: Layout,
    t: NoticeWords,
    has_mail_server: bool,
    channels: Vec<ChannelRow>,
    kinds: Vec<Field>,
    by: Vec<Field>,
    limit: u32,
    messages: Vec<MessageRow>,
    problem: Option<String>,
}

struct ChannelRow {
    id: ChannelId,
    name: String,
    kind: &'static str,
    /// The recipients, or the host of the gateway: the rest of its address may be secret.
    target: String,
}

struct MessageRow {
    at: String,
    channel: String,
    subject: String,
    order: Option<OrderId>,
    state: &'static str,
    tone: &'static str,
    problem: String,
}

fn channel_row(t: &NoticeWords, channel: &Channel) -> ChannelRow {
    let (kind, target) = match &channel.target {
        Target::Email { recipients } => (t.email, recipients.join(", ")),
        Target::Http(template) => {
            let host = Url::parse(&template.url).ok();
            let host = host.and_then(|url| url.host_str().map(str::to_owned));
            (t.http, host.unwrap_or_default())
        }
    };
    ChannelRow {
        id: channel.id,
        name: channel.name.clone(),
        kind,
        target,
    }
}

fn message_row(layout: &Layout, t: &NoticeWords, known: &[Channel], it: MessageRecord) -> MessageRow {
    let (state, tone) = match it.state {
        MessageState::Open => (t.open, "warn"),
        MessageState::Sending => (t.sending, "warn"),
        MessageState::Sent => (t.sent, "good"),
        MessageState::Failed => (t.failed, "bad"),
        MessageState::Unclear => (t.unclear, "bad"),
        MessageState::Dropped => (t.dropped, ""),
    };
    let language = match layout.lang {
        Lang::Tr => Language::Tr,
        Lang::En => Language::En,
    };
    let channel = known.iter().find(|channel| channel.id == it.channel_id);
    MessageRow {
        at: layout.timestamp(&it.created_at),
        channel: channel.map_or_else(|| t.removed.to_owned(), |channel| channel.name.clone()),
        subject: render_message(&it.content, language, it.created_at).subject,
        order: it.order_id,
        state,
        tone,
        problem: it
            .explanation
            .as_ref()
            .map_or_else(String::new, |it| explain::text(layout.lang, it)),
    }
}

fn kind_name(t: &NoticeWords, kind: NoticeKind) -> &'static str {
    match kind {
        NoticeKind::WebhookFailing => t.webhook_failing,
        NoticeKind::DeliveryGivenUp => t.delivery_given_up,
        NoticeKind::EndpointDisabled => t.endpoint_disabled,
        NoticeKind::LoginRefused => t.login_refused,
        NoticeKind::PlatformDown => t.platform_down,
        NoticeKind::StoreClosed => t.store_closed,
        NoticeKind::StoreNotAsWanted => t.store_not_as_wanted,
    }
}

async fn show(
    api: &HttpState,
    user: &CurrentUser,
    typed: Option<&FormData>,
    wrong: Option<FormErrors>,
) -> Result<Response, PanelError> {
    let fail = |fault| user.fail(fault);
    let (app, account) = (&api.app, user.account.id);
    let known = channels::list(app, account).await.map_err(fail)?;
    let settings = notices::get(app, account).await.map_err(fail)?;
    let messages = notices::messages(app, account, SHOWN_MESSAGES)
        .await
        .map_err(fail)?;
    let t = NoticeWords::of(user.lang);
    let layout = user.layout(NavItem::Notices);
    let tick = |name: String, label: &str, stored: bool| {
        let is_ticked = typed.map_or(stored, |typed| typed.is_checked(&name));
        Field::new(name, label, FieldKind::Checkbox(is_ticked))
    };
    let kinds = NoticeKind::ALL.map(|kind| {
        let name = format!("{KIND}{}", kind.as_str());
        tick(name, kind_name(&t, kind), settings.kinds.contains(&kind))
    });
    let mut by: Vec<Field> = known
        .iter()
        .map(|channel| {
            let name = format!("{CHANNEL}{}", channel.id);
            tick(name, &channel.name, settings.channels.contains(&channel.id))
        })
        .collect();
    // An error of the list of channels is shown above the form.
    let problem = wrong.as_ref().map(|wrong| match wrong.field() {
        "channelIds" => t.choose_channel.to_owned(),
        _ => wrong.mark(by.iter_mut()),
    });
    let page = page(&NoticesPage {
        has_mail_server: app.mail_server.is_some(),
        channels: known.iter().map(|channel| channel_row(&t, channel)).collect(),
        kinds: kinds.into(),
        by,
        limit: app.settings.messages.notices_per_day,
        messages: messages
            .into_iter()
            .map(|it| message_row(&layout, &t, &known, it))
            .collect(),
        layout,
        t,
        problem,
    });
    Ok(form_page(page, wrong.as_ref()))
}

async fn show_notices(State(api): State<Arc<HttpState>>, user: CurrentUser) -> Result<Response, PanelError> {
    show(&api, &user, None, None).await
}

async fn save_notices(
    State(api): State<Arc<HttpState>>,
    UserForm { user, fields }: UserForm,
) -> Result<Response, PanelError> {
    let is_ticked = |kind: &NoticeKind| fields.is_checked(&format!("{KIND}{}", kind.as_str()));
    let kinds = NoticeKind::ALL.into_iter().filter(is_ticked).collect();
    let by = fields
        .with_prefix(CHANNEL)
        .filter_map(|(id, _)| id.parse().ok())
        .collect();
    match notices::set(&api.app, user.by(), kinds, by).await {
        Ok(_) => {
            let t = NoticeWords::of(user.lang);
            Ok(user.redirect_with_notice("/notices", t.notices_saved))
        }
        Err(fault) => show(&api, &user, Some(&fields), Some(FormErrors::new(&user, fault)?)).await,
    }
}
