//! Parts of a page that the server sends again when they have changed, as server-sent events. `live_parts.js` puts them in place.

use super::current_user::CurrentUser;
use super::error::PanelError;
use crate::flow::read::event_feed::{Follower, Next, Pass, Start};
use crate::http::event_stream::{event_stream, write_data};
use crate::http::state::HttpState;
use askama::Template;
use axum::response::Response;
use bytes::Bytes;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// How long nothing is looked at while nothing happens in the account, and while a change is pending.
const QUIET: Duration = Duration::from_secs(15);
const PENDING: Duration = Duration::from_secs(2);
/// At least this long lies between two looks, so that the pages of a busy account stay cheap.
const BETWEEN_LOOKS: Duration = Duration::from_millis(500);

/// Parts of a page, each with an id.
pub struct Parts {
    pub markup: String,
    /// Something is still going on.
    pub is_pending: bool,
}

/// A part as text; one that cannot be rendered is left as it is.
pub fn markup(part: &impl Template) -> String {
    part.render().unwrap_or_else(|error| {
        tracing::error!(%error, "could not render a part of a page");
        String::new()
    })
}

struct LiveParts<R> {
    follower: Follower,
    render: R,
    /// What the browser was sent last.
    sent: Option<Parts>,
    next_look: Instant,
}

/// Follows the account for as long as the session lasts, and sends what `render` returns whenever that has changed.
pub async fn follow_parts<R, F>(
    api: &HttpState,
    user: &CurrentUser,
    render: R,
) -> Result<Response, PanelError>
where
    R: Fn() -> F + Send + 'static,
    F: Future<Output = Result<Parts, PanelError>> + Send + 'static,
{
    let pass = Pass::Session(user.session.hash);
    let follower = Follower::start(Arc::clone(&api.app), user.account.id, pass, Start::Now)
        .await
        .map_err(|fault| user.fail(fault))?;
    let parts = LiveParts {
        follower,
        render,
        sent: None,
        next_look: Instant::now(),
    };
    Ok(event_stream(
        "retry: 2000\n\n".to_owned(),
        parts,
        LiveParts::next_chunk,
    ))
}

impl<R, F> LiveParts<R>
where
    R: Fn() -> F + Send + 'static,
    F: Future<Output = Result<Parts, PanelError>> + Send + 'static,
{
    async fn next_chunk(mut self) -> Option<(Bytes, Self)> {
        let pause = match &self.sent {
            None => Duration::ZERO,
            Some(sent) if sent.is_pending => PENDING,
            Some(_) => QUIET,
        };
        tokio::time::sleep_until(self.next_look).await;
        match self.follower.next_change_within(pause).await {
            Next::Events(_) | Next::Nothing => {}
            Next::End => return None,
        }
        self.next_look = Instant::now() + BETWEEN_LOOKS;
        // When the parts are gone, the browser reconnects, is refused, and shows that the page is not live.
        let parts = (self.render)().await.ok()?;
        let is_same = self.sent.as_ref().is_some_and(|sent| sent.markup == parts.markup);
        let text = if is_same {
            ":\n\n".to_owned()
        } else {
            let mut text = "event: parts\n".to_owned();
            write_data(&mut text, &parts.markup);
            text.push('\n');
            text
        };
        self.sent = Some(parts);
        Some((text.into(), self))
    }
}
