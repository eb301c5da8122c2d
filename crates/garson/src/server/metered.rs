//! Metering of responses: each reports the bytes that the client has read, so that a client that reads nothing is noticed on
//! HTTP/1 and HTTP/2 alike.

use crate::http::connection_registry::{ActiveRequest, Connection};
use crate::net::client_address::{ClientAddress, Proxies};
use bytes::{Buf, Bytes};
use http::{HeaderName, HeaderValue, Request, Response};
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::service::Service;
use std::future::Future;
use std::io::IoSlice;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// How a proxy says whether its client uses HTTPS.
const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// The service of one connection.
#[derive(Clone)]
pub struct Metered<S> {
    pub service: S,
    pub connection: Arc<Connection>,
    pub proxies: Arc<Proxies>,
    pub is_encrypted: bool,
}

impl<S, B> Service<Request<Incoming>> for Metered<S>
where
    S: Service<Request<Incoming>, Response = Response<B>>,
    S::Future: Send + 'static,
    B: Body,
{
    type Response = Response<MeteredBody<B>>;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn call(&self, mut request: Request<Incoming>) -> Self::Future {
        let active = Arc::new(ActiveRequest::begin(&self.connection));
        let client = self.proxies.client(self.connection.peer, request.headers());
        if self.is_encrypted {
            // As a proxy that ends TLS says it; what the client says of itself does not count.
            let https = HeaderValue::from_static("https");
            request.headers_mut().insert(FORWARDED_PROTO, https);
        }
        let extensions = request.extensions_mut();
        extensions.insert(ClientAddress(client));
        extensions.insert(Arc::clone(&self.connection));
        let answer = self.service.call(request);
        Box::pin(async move { Ok(answer.await?.map(|body| MeteredBody::new(body, active))) })
    }
}

/// The body of a response. Its bytes count as unsent from the beginning if their number is known, otherwise as they come.
pub struct MeteredBody<B> {
    body: B,
    active: Arc<ActiveRequest>,
    has_known_length: bool,
    /// A body of unknown length counts as one byte until it is first polled.
    is_untouched: bool,
}

impl<B: Body> MeteredBody<B> {
    fn new(body: B, active: Arc<ActiveRequest>) -> Self {
        let length = body.size_hint().exact();
        let length = length.map(|length| usize::try_from(length).unwrap_or(usize::MAX));
        active.add_unsent(length.unwrap_or(1));
        Self {
            body,
            active,
            has_known_length: length.is_some(),
            is_untouched: length.is_none(),
        }
    }
}

impl<B: Body + Unpin> Body for MeteredBody<B> {
    type Data = MeteredBytes<B::Data>;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        if std::mem::take(&mut self.is_untouched) {
            self.active.remove_unsent(1);
        }
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        Poll::Ready(frame.map(|frame| {
            Ok(frame?.map_data(|data| {
                if !self.has_known_length {
                    self.active.add_unsent(data.remaining());
                }
                MeteredBytes {
                    data,
                    active: Arc::clone(&self.active),
                }
            }))
        }))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A part of a response that is being sent.
pub struct MeteredBytes<D: Buf> {
    data: D,
    active: Arc<ActiveRequest>,
}

impl<D: Buf> Buf for MeteredBytes<D> {
    fn remaining(&self) -> usize {
        self.data.remaining()
    }

    fn chunk(&self) -> &[u8] {
        self.data.chunk()
    }

    fn chunks_vectored<'a>(&'a self, into: &mut [IoSlice<'a>]) -> usize {
        self.data.chunks_vectored(into)
    }

    fn advance(&mut self, count: usize) {
        self.data.advance(count);
        self.active.remove_unsent(count);
    }

    fn copy_to_bytes(&mut self, length: usize) -> Bytes {
        self.active.remove_unsent(length);
        self.data.copy_to_bytes(length)
    }
}

impl<D: Buf> Drop for MeteredBytes<D> {
    fn drop(&mut self) {
        let rest = self.data.remaining();
        if rest > 0 {
            self.active.remove_unsent(rest);
        }
    }
}
