//! A request to be sent, and its form on the wire.

use super::guard::{Origin, Target};
use super::header_case::HeaderCase;
use super::sent::{SendError, Stage, Timing};
use bytes::Bytes;
use garson_core::explanation::NetworkFailure;
use garson_core::platform::Trust;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Uri, header};
use http_body_util::Full;
use std::time::Duration;

/// A request to be sent.
#[derive(Clone, Debug)]
pub struct Outgoing {
    pub method: Method,
    pub url: String,
    pub headers: HeaderMap,
    /// The case of the headers' names.
    pub header_case: HeaderCase,
    pub body: Bytes,
    pub trust: Trust,
    /// For everything: resolving, connecting, response.
    pub deadline: Duration,
    /// How many bytes of the response's body are kept; the rest is not read.
    pub keep_body: usize,
    pub log: Log,
    /// The receiver is idempotent: a request that fails on a pooled connection before any byte of a response is sent once more,
    /// over a new connection.
    pub may_repeat: bool,
}

/// Which requests are logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Log {
    Every,
    Failures,
    /// The caller logs.
    Never,
}

impl Log {
    pub(super) fn write(self, origin: &Origin, timing: &Timing, outcome: Result<u16, &SendError>) {
        let millis = u64::try_from(timing.total.as_millis()).unwrap_or(u64::MAX);
        match (self, outcome) {
            (Self::Never, _) => {}
            (Self::Every, Ok(status)) => tracing::info!(target = %origin, status, millis, "called"),
            (Self::Failures, Ok(status)) => tracing::debug!(target = %origin, status, millis, "called"),
            (_, Err(error)) => tracing::info!(target = %origin, %error, millis, "call failed"),
        }
    }
}

impl Outgoing {
    /// The request as it goes over a connection to the target.
    pub(super) fn request(self, target: &Target) -> Result<Request<Full<Bytes>>, SendError> {
        let host = HeaderValue::from_maybe_shared(Bytes::from(target.authority()))
            .map_err(|_| SendError::unreachable(Stage::Exchange, NetworkFailure::HostNotWritable))?;
        let length = self.body.len();
        let mut request = Request::new(Full::new(self.body));
        *request.uri_mut() = Uri::from(target.path_and_query().clone());
        request.extensions_mut().insert(self.header_case);
        let headers = request.headers_mut();
        // The first field, as the standard advises. Set again below, so that a given one does not replace it.
        headers.insert(header::HOST, host.clone());
        headers.extend(self.headers);
        headers.insert(header::HOST, host);
        const AGENT: &str = concat!("garson/", env!("CARGO_PKG_VERSION"));
        set_default(headers, header::USER_AGENT, AGENT);
        set_default(headers, header::ACCEPT, "*/*");
        // Many gateways answer 411 to a request that may have a body and has no length, even if it is empty.
        headers.remove(header::TRANSFER_ENCODING);
        if length > 0 || may_have_body(&self.method) {
            headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
        }
        *request.method_mut() = self.method;
        Ok(request)
    }
}

fn set_default(headers: &mut HeaderMap, name: HeaderName, value: &'static str) {
    headers.entry(name).or_insert(HeaderValue::from_static(value));
}

fn may_have_body(method: &Method) -> bool {
    !matches!(
        *method,
        Method::GET | Method::HEAD | Method::OPTIONS | Method::TRACE | Method::CONNECT | Method::DELETE
    )
}
