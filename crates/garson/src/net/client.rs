//! Sends one request: resolve, check, connect to exactly a checked address, all within one deadline.
//!
//! Redirects are not followed, proxy variables are not read, and no more of the answer is kept than asked for.

mod dial;

use super::guard::{self, Policy, Refusal, Target};
use super::pool::{Connection, Pool, Unsent};
use super::resolve::{Resolve, SystemResolver};
use bytes::Bytes;
use garson_core::platform::Trust;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, header};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls;

/// A request to be sent.
#[derive(Clone, Debug)]
pub struct Outgoing {
    pub method: Method,
    pub url: String,
    pub headers: HeaderMap,
    pub body: Bytes,
    pub trust: Trust,
    /// For all of it: names, connection, answer.
    pub deadline: Duration,
    /// How much of the answer's body is kept; the rest is not read.
    pub keep_body: usize,
    /// A success is not worth a line in the log.
    pub is_quiet: bool,
}

/// What came back.
#[derive(Clone, Debug)]
pub struct Answer {
    pub status: u16,
    pub body: Vec<u8>,
    pub took: Duration,
}

/// Why nothing came back.
#[derive(Clone, Debug)]
pub enum SendError {
    /// The target must not be called.
    NotAllowed(Refusal),
    /// It could not be reached: the request was not sent.
    Unreachable(String),
    /// The connection broke after the request was sent: it may have arrived.
    Broken(String),
    /// It did not answer in time.
    TimedOut(Duration),
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAllowed(refusal) => refusal.fmt(f),
            Self::Unreachable(why) | Self::Broken(why) => f.write_str(why),
            Self::TimedOut(limit) => write!(f, "no answer within {} s", limit.as_secs_f32()),
        }
    }
}

impl std::error::Error for SendError {}

/// The door. Clones share it.
#[derive(Clone)]
pub struct Client {
    policy: Arc<Policy>,
    resolver: Arc<dyn Resolve>,
    tls: TlsConnector,
    pool: Pool,
}

impl Client {
    pub fn new(policy: Policy) -> Result<Self, rustls::Error> {
        Self::with_resolver(policy, Arc::new(SystemResolver))
    }

    /// A client that asks another resolver.
    pub fn with_resolver(policy: Policy, resolver: Arc<dyn Resolve>) -> Result<Self, rustls::Error> {
        let roots = rustls::RootCertStore {
            roots: webpki_roots::TLS_SERVER_ROOTS.to_vec(),
        };
        let config =
            rustls::ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
                .with_safe_default_protocol_versions()?
                .with_root_certificates(roots)
                .with_no_client_auth();
        Ok(Self {
            policy: Arc::new(policy),
            resolver,
            tls: TlsConnector::from(Arc::new(config)),
            pool: Pool::default(),
        })
    }

    /// Judges an address that an account gives, without resolving or calling it.
    pub fn check_address(&self, url: &str) -> Result<(), Refusal> {
        let target = Target::parse(url)?;
        guard::check_name(&self.policy, &target)?;
        match target.host().literal() {
            Some(address) => guard::check(&self.policy, &target, &[address]),
            None => Ok(()),
        }
    }

    /// Sends a request and reads the answer.
    pub async fn send(&self, outgoing: Outgoing) -> Result<Answer, SendError> {
        let started = Instant::now();
        let limit = outgoing.deadline;
        let target = Target::parse(&outgoing.url).map_err(SendError::NotAllowed)?;
        let origin = target.origin();
        let (keep, is_quiet) = (outgoing.keep_body, outgoing.is_quiet);
        let is_sent = AtomicBool::new(false);
        let result = match tokio::time::timeout(limit, self.exchange(&target, outgoing, &is_sent)).await {
            Err(_) if !is_sent.load(Ordering::Relaxed) => Err(SendError::Unreachable(format!(
                "no connection within {} s",
                limit.as_secs_f32()
            ))),
            Err(_) => Err(SendError::TimedOut(limit)),
            Ok(Err(error)) => Err(error),
            Ok(Ok(exchange)) => {
                let status = exchange.response.status().as_u16();
                let body = exchange.body(keep, limit.saturating_sub(started.elapsed())).await;
                Ok(Answer {
                    status,
                    body,
                    took: started.elapsed(),
                })
            }
        };
        let millis = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        match &result {
            Ok(answer) if is_quiet => {
                tracing::debug!(target = %origin, status = answer.status, millis, "called");
            }
            Ok(answer) => tracing::info!(target = %origin, status = answer.status, millis, "called"),
            Err(error) => tracing::info!(target = %origin, %error, millis, "call failed"),
        }
        result
    }

    async fn exchange(
        &self,
        target: &Target,
        outgoing: Outgoing,
        is_sent: &AtomicBool,
    ) -> Result<Exchange, SendError> {
        let trust = outgoing.trust;
        let mut request = build(target, outgoing)?;
        let kept_for = (trust == Trust::Operator).then(|| target.origin());
        // A kept connection may have been closed on the other side; then the request comes back unsent.
        while let Some(mut connection) = kept_for.as_deref().and_then(|origin| self.pool.take(origin)) {
            is_sent.store(true, Ordering::Relaxed);
            match connection.send(request).await {
                Ok(response) => return Ok(self.answered(response, connection, kept_for)),
                Err(Unsent::Returned(back)) => request = *back,
                Err(Unsent::Broken(why)) => return Err(broken(&why)),
            }
        }
        is_sent.store(false, Ordering::Relaxed);
        let mut connection = self.connect(target, trust).await?;
        is_sent.store(true, Ordering::Relaxed);
        match connection.send(request).await {
            Ok(response) => Ok(self.answered(response, connection, kept_for)),
            Err(Unsent::Returned(_)) => Err(SendError::Unreachable(
                "the exchange failed: the connection was closed".to_owned(),
            )),
            Err(Unsent::Broken(why)) => Err(broken(&why)),
        }
    }

    fn answered(
        &self,
        response: Response<Incoming>,
        connection: Connection,
        kept_for: Option<String>,
    ) -> Exchange {
        Exchange {
            response,
            connection,
            keep: kept_for.map(|origin| (self.pool.clone(), origin)),
        }
    }

    async fn connect(&self, target: &Target, trust: Trust) -> Result<Connection, SendError> {
        Connection::open(TokioIo::new(self.dial(target, trust).await?)).await
    }

    /// The addresses to connect to, every one of them judged.
    async fn addresses(&self, target: &Target, trust: Trust) -> Result<Vec<IpAddr>, SendError> {
        if trust == Trust::Account {
            guard::check_name(&self.policy, target).map_err(SendError::NotAllowed)?;
        }
        let addresses = match target.host().literal() {
            Some(address) => vec![address],
            None => {
                let name = target.host().to_string();
                let found = self.resolver.resolve(&name).await;
                found.map_err(|_| SendError::Unreachable(format!("the name {name} cannot be resolved")))?
            }
        };
        if trust == Trust::Account {
            guard::check(&self.policy, target, &addresses).map_err(SendError::NotAllowed)?;
        }
        Ok(addresses)
    }
}

async fn connect(addresses: &[IpAddr], port: u16) -> Result<TcpStream, SendError> {
    let mut last = "the name has no address".to_owned();
    for address in addresses {
        match TcpStream::connect(SocketAddr::new(*address, port)).await {
            Ok(stream) => {
                drop(stream.set_nodelay(true));
                return Ok(stream);
            }
            Err(error) => last = format!("cannot connect: {}", error.kind()),
        }
    }
    Err(SendError::Unreachable(last))
}

fn build(target: &Target, outgoing: Outgoing) -> Result<Request<Full<Bytes>>, SendError> {
    let broken = |_| SendError::Unreachable("the request cannot be written".to_owned());
    let mut request = Request::builder()
        .method(outgoing.method)
        .uri(target.path_and_query())
        .body(Full::new(outgoing.body))
        .map_err(broken)?;
    let headers = request.headers_mut();
    *headers = outgoing.headers;
    let host = HeaderValue::from_str(&target.authority())
        .map_err(|_| SendError::Unreachable("the host cannot be written".to_owned()))?;
    headers.insert(header::HOST, host);
    if outgoing.trust == Trust::Account {
        headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    set_default(
        headers,
        header::USER_AGENT,
        concat!("garson/", env!("CARGO_PKG_VERSION")),
    );
    set_default(headers, header::ACCEPT, "*/*");
    Ok(request)
}

fn set_default(headers: &mut HeaderMap, name: HeaderName, value: &'static str) {
    headers.entry(name).or_insert(HeaderValue::from_static(value));
}

fn broken(why: &str) -> SendError {
    SendError::Broken(format!("the exchange failed: {why}"))
}

/// An answer whose head has come.
struct Exchange {
    response: Response<Incoming>,
    connection: Connection,
    /// Where its connection waits for the next request, if it may.
    keep: Option<(Pool, String)>,
}

impl Exchange {
    /// As much of the body as is wanted and comes in time. The status has been said; a body that is slow or breaks off
    /// does not unsay it.
    async fn body(self, keep: usize, time: Duration) -> Vec<u8> {
        let mut kept = Vec::new();
        let mut incoming = self.response.into_body();
        let reading = async {
            while kept.len() < keep {
                match incoming.frame().await {
                    None => return true,
                    Some(Err(_)) => return false,
                    Some(Ok(frame)) => {
                        if let Some(data) = frame.data_ref() {
                            let room = keep - kept.len();
                            kept.extend_from_slice(data.get(..room).unwrap_or(data));
                        }
                    }
                }
            }
            false
        };
        // Out of time: what has come so far is what there is.
        let is_whole = tokio::time::timeout(time, reading).await.unwrap_or(false);
        if let (true, Some((pool, origin))) = (is_whole, self.keep) {
            pool.give_back(origin, self.connection);
        }
        kept
    }
}
