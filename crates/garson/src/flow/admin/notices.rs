//! What an account is informed of by its channels, and the messages that were sent.

use crate::app::App;
use crate::flow::by::Recorded;
use crate::flow::{By, Fault};
use garson_core::audit::{RecordKind, Verb};
use garson_core::field_problem::FieldProblem;
use garson_core::id::{AccountId, ChannelId};
use garson_core::notice::NoticeKind;
use garson_store::tables::channels as channel_rows;
use garson_store::tables::messages::MessageRecord;
use garson_store::tables::notices::NoticeSettings;
use garson_store::tables::{messages, notices};
use serde_json::{Value, json};

/// Channels that carry notices.
pub const MAX_CHANNELS: usize = 10;

pub async fn get(app: &App, account: AccountId) -> Result<NoticeSettings, Fault> {
    app.store
        .read(move |tx| Ok(notices::find(tx, account)?.unwrap_or_default()))
        .await
}

/// Replaces what an account is informed of.
pub async fn set(
    app: &App,
    by: By,
    mut kinds: Vec<NoticeKind>,
    mut channels: Vec<ChannelId>,
) -> Result<NoticeSettings, Fault> {
    kinds.sort_unstable();
    kinds.dedup();
    channels.sort_unstable();
    channels.dedup();
    if channels.len() > MAX_CHANNELS {
        let max = MAX_CHANNELS;
        return Err(Fault::invalid("channelIds", FieldProblem::TooMany { max }));
    }
    if !kinds.is_empty() && channels.is_empty() {
        return Err(Fault::invalid("channelIds", FieldProblem::Required));
    }
    let (account, now) = (by.account, app.now());
    app.store
        .write(account, move |tx| {
            for (row, channel) in channels.iter().enumerate() {
                if !channel_rows::exists(tx, account, *channel)? {
                    return Err(Fault::invalid(
                        format!("channelIds[{row}]"),
                        FieldProblem::NotChannel,
                    ));
                }
            }
            let before = fields(&notices::find(tx, account)?.unwrap_or_default());
            notices::save(tx, account, &kinds, &channels, now)?;
            let saved = notices::find(tx, account)?.unwrap_or_default();
            let action = Recorded::new(RecordKind::Notices, Verb::Changed);
            by.record(tx, action.change(before, fields(&saved)), now);
            Ok(saved)
        })
        .await
}

fn fields(settings: &NoticeSettings) -> Value {
    let kinds: Vec<&str> = settings.kinds.iter().map(|kind| kind.as_str()).collect();
    json!({ "kinds": kinds, "channelIds": settings.channels })
}

/// The newest messages of an account.
pub async fn messages(app: &App, account: AccountId, limit: i64) -> Result<Vec<MessageRecord>, Fault> {
    app.store
        .read(move |tx| Ok(messages::newest(tx, account, limit)?))
        .await
}
