//! Sends a test message by a channel while a client waits.

use super::send::send;
use super::sending::Sending;
use crate::app::App;
use crate::flow::Fault;
use crate::flow::fault::Thing;
use crate::flow::manual_sends;
use garson_core::id::{AccountId, ChannelId, MessageId};
use garson_core::message::MessageContent;
use garson_store::tables::channels;
use std::sync::Arc;

/// Sends a test message at once and returns what came of it.
pub async fn send_test(app: &App, account: AccountId, id: ChannelId) -> Result<Sending, Fault> {
    let vault = Arc::clone(&app.vault);
    let channel = app
        .store
        .read(move |tx| channels::find(tx, &vault, account, id))
        .await?
        .ok_or_else(|| Fault::not_found(Thing::Channel, id))?;
    let _slot = manual_sends::slot(app, account)?;
    let message = MessageId::at(app.now());
    Ok(send(app, account, &channel, message, &MessageContent::Test).await)
}
