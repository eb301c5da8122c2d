//! Sends one message by a channel.

use super::gateway;
use super::sending::Sending;
use crate::app::App;
use crate::flow::platform_names::render_message;
use crate::net::Mail;
use garson_core::channel::{Channel, Target};
use garson_core::explanation::MessageFailure;
use garson_core::id::{AccountId, MessageId};
use garson_core::message::MessageContent;

/// Sends a message by a channel of an account. The id is the same for every attempt.
pub async fn send(
    app: &App,
    account: AccountId,
    channel: &Channel,
    id: MessageId,
    content: &MessageContent,
) -> Sending {
    let message = render_message(content, channel.language, app.now());
    match &channel.target {
        Target::Http(template) => gateway::send(app, account, template, &message).await,
        Target::Email { recipients } => {
            let Some(server) = &app.mail_server else {
                return Sending::Failed(MessageFailure::NoMailServer.into());
            };
            let mail = Mail {
                id: &id.to_string(),
                recipients,
                subject: &message.subject,
                text: &message.text,
            };
            match server.send(&mail).await {
                Ok(()) => Sending::Sent,
                Err(error) if error.is_unclear => Sending::Unclear(error.why.into()),
                Err(error) if error.is_temporary => Sending::NotYet(error.why.into()),
                Err(error) => Sending::Failed(error.why.into()),
            }
        }
    }
}
