//! Sends a test message by a channel while a client waits.

use super::send::send;
use super::sending::Sending;
use crate::app::App;
use crate::flow::by::Recorded;
use crate::flow::fault::Thing;
use crate::flow::record_action::record_action;
use crate::flow::{By, Fault, manual_sends};
use garson_core::audit::{RecordKind, Verb};
use garson_core::id::{ChannelId, MessageId};
use garson_core::message::MessageContent;
use garson_store::tables::channels;
use std::sync::Arc;

/// Sends a test message at once and returns what came of it.
pub async fn send_test(app: &App, by: By, id: ChannelId) -> Result<Sending, Fault> {
    let account = by.account;
    let vault = Arc::clone(&app.vault);
    let channel = app
        .store
        .read(move |tx| channels::find(tx, &vault, account, id))
        .await?
        .ok_or_else(|| Fault::not_found(Thing::Channel, id))?;
    let _slot = manual_sends::slot(app, account)?;
    record_action(app, by, Recorded::new(RecordKind::Channel, Verb::Tested).id(id)).await?;
    let message = MessageId::at(app.now());
    Ok(send(app, account, &channel, message, &MessageContent::Test).await)
}
