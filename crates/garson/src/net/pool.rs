//! Connections that are kept for the next request: only to addresses that the operator wrote.
//!
//! An address that an account gives is judged anew for every request, so its connection ends with it.

use super::client::SendError;
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::http1::{Builder, SendRequest};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Servers close idle connections after some time; ours are gone before that.
const MAX_IDLE_TIME: Duration = Duration::from_secs(15);
const MAX_IDLE: usize = 64;

/// A connection that is open.
pub struct Connection {
    sender: SendRequest<Full<Bytes>>,
    _driver: AbortOnDrop,
}

struct AbortOnDrop(tokio::task::AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Connection {
    /// Begins to speak HTTP over a stream.
    pub async fn open<S>(stream: S) -> Result<Self, SendError>
    where
        S: hyper::rt::Read + hyper::rt::Write + Unpin + Send + 'static,
    {
        let mut builder = Builder::new();
        builder.max_headers(100).max_buf_size(65_536);
        let (sender, connection) = builder
            .handshake(stream)
            .await
            .map_err(|error| SendError::Unreachable(format!("the exchange failed: {error}")))?;
        Ok(Self {
            sender,
            _driver: AbortOnDrop(tokio::spawn(connection).abort_handle()),
        })
    }

    /// Sends a request. A request that certainly was not sent comes back.
    pub async fn send(&mut self, request: Request<Full<Bytes>>) -> Result<Response<Incoming>, Unsent> {
        match self.sender.try_send_request(request).await {
            Ok(response) => Ok(response),
            Err(mut failed) => Err(match failed.take_message() {
                Some(request) => Unsent::Returned(Box::new(request)),
                None => Unsent::Broken(failed.into_error().to_string()),
            }),
        }
    }
}

/// Why a request has no answer.
pub enum Unsent {
    /// It was not sent.
    Returned(Box<Request<Full<Bytes>>>),
    /// It may have arrived.
    Broken(String),
}

/// Connections to one origin, each with the moment since when it is idle.
type Idle = Vec<(Connection, Instant)>;

/// Idle connections by origin. Clones share them.
#[derive(Clone, Default)]
pub struct Pool {
    idle: Arc<Mutex<HashMap<String, Idle>>>,
}

impl Pool {
    /// A connection to that origin that is still open.
    pub fn take(&self, origin: &str) -> Option<Connection> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let waiting = idle.get_mut(origin)?;
        while let Some((connection, since)) = waiting.pop() {
            if since.elapsed() < MAX_IDLE_TIME && connection.sender.is_ready() {
                return Some(connection);
            }
        }
        None
    }

    pub fn give_back(&self, origin: String, connection: Connection) {
        if connection.sender.is_closed() {
            return;
        }
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let waiting = idle.entry(origin).or_default();
        waiting.retain(|(_, since)| since.elapsed() < MAX_IDLE_TIME);
        if waiting.len() < MAX_IDLE {
            waiting.push((connection, Instant::now()));
        }
    }
}
