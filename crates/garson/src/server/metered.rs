//! Requests as their connection counts them: answers report what was taken of them, so that a client that takes nothing is
//! noticed whatever the protocol.

use super::registry::{Answering, Connection};
use crate::net::client_address::{ClientAddress, Proxies};
use bytes::{Buf, Bytes};
use http::{Request, Response};
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::service::Service;
use std::future::Future;
use std::io::IoSlice;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// A service on one connection.
#[derive(Clone)]
pub struct Metered<S> {
    pub service: S,
    pub connection: Arc<Connection>,
    pub proxies: Arc<Proxies>,
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
        let answering = Arc::new(Answering::begin(&self.connection));
        let client = self.proxies.client(self.connection.peer, request.headers());
        let extensions = request.extensions_mut();
        extensions.insert(ClientAddress(client));
        extensions.insert(Arc::clone(&self.connection));
        let answer = self.service.call(request);
        Box::pin(async move { Ok(answer.await?.map(|body| MeteredBody::new(body, answering))) })
    }
}

/// An answer's body. Its bytes are owed from the beginning if their number is known, else as they come.
pub struct MeteredBody<B> {
    body: B,
    answering: Arc<Answering>,
    is_owed: bool,
    /// One byte stands for a body of unknown length until somebody begins to take it.
    is_untouched: bool,
}

impl<B: Body> MeteredBody<B> {
    fn new(body: B, answering: Arc<Answering>) -> Self {
        let length = body.size_hint().exact();
        let length = length.map(|length| usize::try_from(length).unwrap_or(usize::MAX));
        answering.owe(length.unwrap_or(1));
        Self {
            body,
            answering,
            is_owed: length.is_some(),
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
            self.answering.settle(1);
        }
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        Poll::Ready(frame.map(|frame| {
            Ok(frame?.map_data(|data| {
                if !self.is_owed {
                    self.answering.owe(data.remaining());
                }
                MeteredBytes {
                    data,
                    answering: Arc::clone(&self.answering),
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

/// A part of an answer on its way.
pub struct MeteredBytes<D: Buf> {
    data: D,
    answering: Arc<Answering>,
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
        self.answering.settle(count);
    }

    fn copy_to_bytes(&mut self, length: usize) -> Bytes {
        self.answering.settle(length);
        self.data.copy_to_bytes(length)
    }
}

impl<D: Buf> Drop for MeteredBytes<D> {
    fn drop(&mut self) {
        let rest = self.data.remaining();
        if rest > 0 {
            self.answering.settle(rest);
        }
    }
}
