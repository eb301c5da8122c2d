//! Sessions on platforms, one per login request: integrations with the same credentials share one.

use garson_core::explanation::Explanation;
use garson_core::platform::HttpRequest;
use garson_core::secret::Secret;
use parking_lot::Mutex;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::Arc;
use tokio::time::Instant;

/// Above this many, sessions that are not in use are removed.
const MAX_SESSIONS: usize = 20_000;

/// A session behind a lock that is held during the login, so that concurrent requests log in once.
pub(crate) type SharedSession = Arc<tokio::sync::Mutex<SessionState>>;

#[derive(Default)]
pub struct PlatformSessions(Mutex<HashMap<[u8; 32], SharedSession>>);

#[derive(Default)]
pub(crate) enum SessionState {
    #[default]
    None,
    Live {
        token: Secret<String>,
        renew_at: Instant,
        branch: Option<String>,
    },
    /// The login was refused and is not repeated before `until`.
    Refused { message: Explanation, until: Instant },
}

impl PlatformSessions {
    pub(crate) fn of(&self, login: &HttpRequest) -> SharedSession {
        let key = Sha256::new()
            .chain_update(&login.url)
            .chain_update([0])
            .chain_update(login.body.as_deref().unwrap_or_default())
            .finalize()
            .into();
        let mut sessions = self.0.lock();
        if sessions.len() > MAX_SESSIONS {
            sessions.retain(|_, state| Arc::strong_count(state) > 1);
        }
        Arc::clone(sessions.entry(key).or_default())
    }
}
