//! An open HTTP/1 connection, for one request after another.

use super::explain;
use super::header_case::{HeaderCase, HeaderCaseStream, PendingCases};
use super::stream::ByteStream;
use bytes::Bytes;
use garson_core::explanation::Explanation;
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

/// After a complete response, a connection is ready for the next request as soon as its task has run. One that takes longer
/// is still writing a request that was answered before it was read.
const BECOME_READY: Duration = Duration::from_millis(100);

/// The most that is read before the head of a response is complete: it bounds informational responses such as `100 Continue`,
/// of which any number may come before it. A head has at most a quarter of it.
const MAX_BEFORE_ANSWER: usize = 4 * MAX_HEAD;
const MAX_HEAD: usize = 65_536;

pub struct Connection {
    sender: SendRequest<Full<Bytes>>,
    address: IpAddr,
    has_begun: Arc<AtomicBool>,
    /// How many bytes may still be read.
    allowance: Arc<AtomicUsize>,
    pending_cases: PendingCases,
    _driver: AbortOnDrop,
}

struct AbortOnDrop(tokio::task::AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Connection {
    /// Starts HTTP over a stream to that address.
    pub async fn open(stream: Box<dyn ByteStream>, address: IpAddr) -> Result<Self, Explanation> {
        let has_begun = Arc::<AtomicBool>::default();
        let allowance = Arc::new(AtomicUsize::new(MAX_BEFORE_ANSWER));
        let stream = MeteredStream {
            stream,
            has_begun: Arc::clone(&has_begun),
            allowance: Arc::clone(&allowance),
        };
        let pending_cases = PendingCases::default();
        let stream = HeaderCaseStream::new(stream, pending_cases.clone());
        let mut builder = Builder::new();
        builder.max_headers(100).max_buf_size(MAX_HEAD);
        let (sender, connection) = builder
            .handshake(TokioIo::new(stream))
            .await
            .map_err(|error| explain::exchange(&error, false))?;
        Ok(Self {
            sender,
            address,
            has_begun,
            allowance,
            pending_cases,
            _driver: AbortOnDrop(tokio::spawn(connection).abort_handle()),
        })
    }

    /// Sends a request. A request that certainly was not sent comes back.
    pub async fn send(&mut self, request: Request<Full<Bytes>>) -> Result<Response<Incoming>, Unsent> {
        self.has_begun.store(false, Ordering::Relaxed);
        self.allowance.store(MAX_BEFORE_ANSWER, Ordering::Relaxed);
        let case = request.extensions().get::<HeaderCase>();
        self.pending_cases.push(case.cloned().unwrap_or_default());
        match self.sender.try_send_request(request).await {
            Ok(response) => {
                // The reader of the body has its own limit.
                self.allowance.store(usize::MAX, Ordering::Relaxed);
                Ok(response)
            }
            Err(mut failed) => Err(match failed.take_message() {
                Some(request) => Unsent::Returned(Box::new(request)),
                None => {
                    let has_begun = self.has_begun.load(Ordering::Relaxed);
                    let why = explain::exchange(failed.error(), has_begun);
                    Unsent::Broken { why, has_begun }
                }
            }),
        }
    }

    /// Waits until it can take another request; `false` if it does not become ready.
    pub async fn becomes_ready(&mut self) -> bool {
        matches!(
            tokio::time::timeout(BECOME_READY, self.sender.ready()).await,
            Ok(Ok(()))
        )
    }

    pub fn is_ready(&self) -> bool {
        self.sender.is_ready()
    }

    pub fn address(&self) -> IpAddr {
        self.address
    }
}

/// Why a request has no answer.
pub enum Unsent {
    /// It was not sent.
    Returned(Box<Request<Full<Bytes>>>),
    /// It may have arrived. `has_begun`: some bytes of an answer came.
    Broken { why: Explanation, has_begun: bool },
}

/// A stream that notes whether anything was read, and limits how much is.
struct MeteredStream {
    stream: Box<dyn ByteStream>,
    has_begun: Arc<AtomicBool>,
    allowance: Arc<AtomicUsize>,
}

impl AsyncRead for MeteredStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        let count = buffer.filled().len().saturating_sub(before);
        if count > 0 {
            self.has_begun.store(true, Ordering::Relaxed);
            let allowance = self.allowance.load(Ordering::Relaxed);
            if allowance < count {
                let why = "too much was sent before an answer";
                return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, why)));
            }
            if allowance != usize::MAX {
                // Fails if the response has come meanwhile and lifted the limit, which must stay lifted.
                let left = allowance - count;
                let _ =
                    self.allowance
                        .compare_exchange(allowance, left, Ordering::Relaxed, Ordering::Relaxed);
            }
        }
        read
    }
}

impl AsyncWrite for MeteredStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
