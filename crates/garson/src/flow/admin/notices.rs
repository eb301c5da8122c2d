//! What an account is informed of by its channels, and the messages that were sent.

use crate::app::App;
use crate::flow::Fault;
use garson_core::field_problem::FieldProblem;
use garson_core::id::{AccountId, ChannelId};
use garson_core::notice::NoticeKind;
use garson_store::tables::messages::MessageRecord;
use garson_store::tables::notices::NoticeSettings;
use garson_store::tables::{channels, messages, notices};

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
    account: AccountId,
    mut kinds: Vec<NoticeKind>,
    mut by: Vec<ChannelId>,
) -> Result<NoticeSettings, Fault> {
    kinds.sort_unstable();
    kinds.dedup();
    by.sort_unstable();
    by.dedup();
    if by.len() > MAX_CHANNELS {
        let max = MAX_CHANNELS;
        return Err(Fault::invalid("channelIds", FieldProblem::TooMany { max }));
    }
    if !kinds.is_empty() && by.is_empty() {
        return Err(Fault::invalid("channelIds", FieldProblem::Required));
    }
    let now = app.now();
    app.store
        .write(account, move |tx| {
            for (row, channel) in by.iter().enumerate() {
                if !channels::exists(tx, account, *channel)? {
                    return Err(Fault::invalid(
                        format!("channelIds[{row}]"),
                        FieldProblem::NotChannel,
                    ));
                }
            }
            notices::save(tx, account, &kinds, &by, now)?;
            Ok(notices::find(tx, account)?.unwrap_or_default())
        })
        .await
}

/// The newest messages of an account.
pub async fn messages(app: &App, account: AccountId, limit: i64) -> Result<Vec<MessageRecord>, Fault> {
    app.store
        .read(move |tx| Ok(messages::newest(tx, account, limit)?))
        .await
}
