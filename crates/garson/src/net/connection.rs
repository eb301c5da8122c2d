//! An open connection that speaks HTTP, one request after another.

use super::client::Line;
use super::explain;
use super::header_case::{HeaderCase, Spelling, Upcoming};
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::http1::{Builder, SendRequest};
use hyper_util::rt::TokioIo;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// After its answer has come whole, a connection is ready for the next request as soon as its task has run. One that
/// takes longer is still busy with a request that was answered unread.
const SETTLING: Duration = Duration::from_millis(100);

/// The most that is read before the head of an answer is there: it bounds the answers of the kind `100 Continue` that may
/// come before it, which are read on and on otherwise. A head has at most a quarter of it.
const MAX_BEFORE_ANSWER: usize = 4 * MAX_HEAD;
const MAX_HEAD: usize = 65_536;

/// A connection that is open.
pub struct Connection {
    sender: SendRequest<Full<Bytes>>,
    address: IpAddr,
    is_heard: Arc<AtomicBool>,
    /// How much may still be read.
    allowance: Arc<AtomicUsize>,
    upcoming: Upcoming,
    _driver: AbortOnDrop,
}

struct AbortOnDrop(tokio::task::AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Connection {
    /// Begins to speak HTTP over a line to that address.
    pub async fn open(line: Box<dyn Line>, address: IpAddr) -> Result<Self, String> {
        let is_heard = Arc::<AtomicBool>::default();
        let allowance = Arc::new(AtomicUsize::new(MAX_BEFORE_ANSWER));
        let stream = Attentive {
            line,
            is_heard: Arc::clone(&is_heard),
            allowance: Arc::clone(&allowance),
        };
        let upcoming = Upcoming::default();
        let stream = Spelling::new(stream, upcoming.clone());
        let mut builder = Builder::new();
        builder.max_headers(100).max_buf_size(MAX_HEAD);
        let (sender, connection) = builder
            .handshake(TokioIo::new(stream))
            .await
            .map_err(|error| explain::exchange(&error, false))?;
        Ok(Self {
            sender,
            address,
            is_heard,
            allowance,
            upcoming,
            _driver: AbortOnDrop(tokio::spawn(connection).abort_handle()),
        })
    }

    /// Sends a request. A request that certainly was not sent comes back.
    pub async fn send(&mut self, request: Request<Full<Bytes>>) -> Result<Response<Incoming>, Unsent> {
        self.is_heard.store(false, Ordering::Relaxed);
        self.allowance.store(MAX_BEFORE_ANSWER, Ordering::Relaxed);
        let case = request.extensions().get::<HeaderCase>();
        self.upcoming.push(case.cloned().unwrap_or_default());
        match self.sender.try_send_request(request).await {
            Ok(response) => {
                // How much of its body is read is the reader's affair.
                self.allowance.store(usize::MAX, Ordering::Relaxed);
                Ok(response)
            }
            Err(mut failed) => Err(match failed.take_message() {
                Some(request) => Unsent::Returned(Box::new(request)),
                None => {
                    let is_heard = self.is_heard.load(Ordering::Relaxed);
                    let why = explain::exchange(failed.error(), is_heard);
                    Unsent::Broken { why, is_heard }
                }
            }),
        }
    }

    /// Waits until it can take another request; `false` when it will not.
    pub async fn settle(&mut self) -> bool {
        matches!(
            tokio::time::timeout(SETTLING, self.sender.ready()).await,
            Ok(Ok(()))
        )
    }

    pub fn is_ready(&self) -> bool {
        self.sender.is_ready()
    }

    /// Where it leads.
    pub fn address(&self) -> IpAddr {
        self.address
    }
}

/// Why a request has no answer.
pub enum Unsent {
    /// It was not sent.
    Returned(Box<Request<Full<Bytes>>>),
    /// It may have arrived; of an answer something was heard or not.
    Broken { why: String, is_heard: bool },
}

/// A line that remembers whether anything has come over it, and how much more may.
struct Attentive {
    line: Box<dyn Line>,
    is_heard: Arc<AtomicBool>,
    allowance: Arc<AtomicUsize>,
}

impl AsyncRead for Attentive {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.line).poll_read(context, buffer);
        let count = buffer.filled().len().saturating_sub(before);
        if count > 0 {
            self.is_heard.store(true, Ordering::Relaxed);
            let allowance = self.allowance.load(Ordering::Relaxed);
            if allowance < count {
                let why = "too much was sent before an answer";
                return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, why)));
            }
            if allowance != usize::MAX {
                // Set to the most by whoever has the answer: a number that was read before that must not replace it.
                let left = allowance - count;
                let _is_set = self
                    .allowance
                    .compare_exchange(allowance, left, Ordering::Relaxed, Ordering::Relaxed)
                    .is_ok();
            }
        }
        read
    }
}

impl AsyncWrite for Attentive {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.line).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.line).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.line).poll_shutdown(context)
    }
}
