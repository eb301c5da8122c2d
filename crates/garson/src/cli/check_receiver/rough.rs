//! Misbehaving senders: a slow one, and one that disconnects in the middle.

use super::endpoint::{Endpoint, Reply, headers};
use crate::net::{ByteStream, SendError, Stage};
use bytes::Bytes;
use garson_core::explanation::{Explanation, PlatformFailure};
use garson_core::platform::Trust;
use http::{HeaderMap, HeaderValue, Request, header};
use hyper::body::{Body, Frame, SizeHint};
use hyper_util::rt::TokioIo;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::io::AsyncWriteExt;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

const PIECES: usize = 20;
const PAUSE: Duration = Duration::from_millis(100);
/// How long a slow body takes.
const SLOWNESS: Duration = Duration::from_secs(2);

impl Endpoint {
    /// Sends an event whose body arrives in small pieces, over two seconds.
    pub async fn post_slowly(&self, event: &str) -> Reply {
        self.post_authorized(event, PIECES).await
    }

    /// Sends an event on a connection of its own.
    pub async fn post_alone(&self, event: &str) -> Reply {
        self.post_authorized(event, 1).await
    }

    async fn post_authorized(&self, event: &str, pieces: usize) -> Reply {
        match headers(Some(self.authorization())) {
            Ok(headers) => self.post_split(event, headers, pieces).await.0,
            Err(error) => Reply {
                result: Err(error),
                took: Duration::ZERO,
            },
        }
    }

    /// The same with exactly these headers; `true` if the answer came before the whole body was sent.
    pub async fn post_in_pieces(&self, event: &str, headers: HeaderMap) -> (Reply, bool) {
        self.post_split(event, headers, PIECES).await
    }

    async fn post_split(&self, event: &str, headers: HeaderMap, pieces: usize) -> (Reply, bool) {
        let started = Instant::now();
        let limit = SLOWNESS + self.limit;
        let is_sent = AtomicBool::new(false);
        let sent = tokio::time::timeout(limit, self.send_in_pieces(event, headers, pieces, &is_sent)).await;
        let reply = self.watch(Reply {
            result: sent.unwrap_or(Err(SendError::TimedOut(limit))),
            took: started.elapsed(),
        });
        let is_early = reply.result.is_ok() && !is_sent.load(Ordering::Relaxed);
        (reply, is_early)
    }

    async fn send_in_pieces(
        &self,
        event: &str,
        headers: HeaderMap,
        count: usize,
        is_sent: &AtomicBool,
    ) -> Result<u16, SendError> {
        let failed = |error: hyper::Error| {
            SendError::Broken(Explanation::text(format!("the exchange failed: {error}")))
        };
        let line = self.client.dial(&self.target, Trust::Account).await?;
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(line))
            .await
            .map_err(failed)?;
        // A JoinSet aborts its task when it is dropped.
        let mut driver = JoinSet::new();
        driver.spawn(connection);
        let (feed, pieces) = mpsc::channel(1);
        let body = Pieces {
            pieces,
            left: event.len() as u64,
        };
        let mut request = Request::post(self.target.path_and_query().as_str())
            .body(body)
            .map_err(|_| unwritable())?;
        *request.headers_mut() = headers;
        let host = HeaderValue::from_str(&self.target.authority()).map_err(|_| unwritable())?;
        request.headers_mut().insert(header::HOST, host);
        let size = event.len().div_ceil(count).max(1);
        let answered = AtomicBool::new(false);
        let feeding = async {
            let feed = feed;
            let last = event.len().div_ceil(size).saturating_sub(1);
            for (number, piece) in event.as_bytes().chunks(size).enumerate() {
                if number == last && !answered.load(Ordering::Relaxed) {
                    is_sent.store(true, Ordering::Relaxed);
                }
                if feed.send(Bytes::copy_from_slice(piece)).await.is_err() {
                    // The response has arrived already.
                    break;
                }
                tokio::time::sleep(PAUSE).await;
            }
        };
        let answering = async {
            let answer = sender.send_request(request).await;
            answered.store(true, Ordering::Relaxed);
            answer
        };
        let (answer, ()) = tokio::join!(answering, feeding);
        Ok(answer.map_err(failed)?.status().as_u16())
    }

    /// Sends half of an event and disconnects.
    pub async fn post_half(&self, event: &str) -> Result<(), SendError> {
        let sent = tokio::time::timeout(self.limit, self.send_half(event)).await;
        sent.unwrap_or(Err(SendError::TimedOut(self.limit)))
    }

    async fn send_half(&self, event: &str) -> Result<(), SendError> {
        self.begin_half(event).await.map(drop)
    }

    /// Opens connections that stay silent: one without a request, one with half of an event. They are closed when they are dropped.
    pub async fn open_silent(&self, event: &str) -> Result<[Box<dyn ByteStream>; 2], SendError> {
        let open = async {
            let silent = self.client.dial(&self.target, Trust::Account).await?;
            Ok([silent, self.begin_half(event).await?])
        };
        let opened = tokio::time::timeout(self.limit, open).await;
        opened.unwrap_or(Err(SendError::TimedOut(self.limit)))
    }

    /// Sends half of an event on a connection of its own.
    async fn begin_half(&self, event: &str) -> Result<Box<dyn ByteStream>, SendError> {
        let mut line = self.client.dial(&self.target, Trust::Account).await?;
        let head = format!(
            "POST {} HTTP/1.1\r\nhost: {}\r\nauthorization: {}\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n\r\n",
            self.target.path_and_query(),
            self.target.authority(),
            self.authorization().expose(),
            event.len(),
        );
        let half = event.as_bytes().get(..event.len() / 2).unwrap_or_default();
        let written = async {
            line.write_all(head.as_bytes()).await?;
            line.write_all(half).await?;
            line.flush().await
        };
        let broken = |error: std::io::Error| {
            let text = format!("the exchange failed: {}", error.kind());
            SendError::Broken(Explanation::text(text))
        };
        written.await.map_err(broken)?;
        Ok(line)
    }
}

fn unwritable() -> SendError {
    SendError::unreachable(Stage::Exchange, PlatformFailure::RequestNotWritable)
}

/// A body of known length whose bytes arrive later.
struct Pieces {
    pieces: mpsc::Receiver<Bytes>,
    left: u64,
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.pieces.poll_recv(context).map(|piece| {
            let piece = piece?;
            self.left = self.left.saturating_sub(piece.len() as u64);
            Some(Ok(Frame::data(piece)))
        })
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}
