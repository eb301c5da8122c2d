//! The accept loop: admits connections within the limits until it is stopped, then drains them. Each connection is supervised:
//! one that sends no request, reads no response or stays idle is closed.

use super::linger::Linger;
use super::metered::Metered;
use super::protocol_errors::ProtocolErrors;
use super::write_timeout::WriteTimeout;
use crate::http::connection_registry::{Connection, Full, GRACE, Registry, Timeouts, Verdict};
use crate::net::client_address::Proxies;
use crate::net::write_hook::HookedStream;
use crate::telemetry::{Refusal, Refusals};
use http::{Request, Response};
use hyper::body::{Body, Incoming};
use hyper::service::Service;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulConnection;
use std::error::Error;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep, sleep_until};
use tokio_rustls::server::TlsStream;
use tokio_rustls::{Accept, TlsAcceptor};

/// A client that does not finish the head of a request in this time is disconnected.
const HEAD_DEADLINE: Duration = Duration::from_secs(15);
/// A client that does not finish the TLS handshake in this time is disconnected.
const HANDSHAKE_DEADLINE: Duration = Duration::from_secs(10);
/// A client whose socket accepts nothing for this time is disconnected.
const WRITE_TIMEOUT: Duration = Duration::from_secs(60);
const MAX_HEAD: usize = 64 * 1024;
/// HTTP/2: requests at the same time on one connection.
const MAX_STREAMS: u32 = 64;
/// HTTP/2: flow-control windows, of one request and of one connection.
const STREAM_WINDOW: u32 = 64 * 1024;
const CONNECTION_WINDOW: u32 = 256 * 1024;
/// HTTP/2: how much of a response is buffered ahead of the client.
const SEND_BUFFER: usize = 64 * 1024;
/// HTTP/2: keep-alive pings.
const PING_INTERVAL: Duration = Duration::from_secs(20);
const PING_TIMEOUT: Duration = Duration::from_secs(20);
/// The pause after a failed accept; it doubles with each failure.
const FIRST_PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// How often a waiting connection checks again whether one can be evicted.
const RECHECK_INTERVAL: Duration = Duration::from_millis(100);

/// How many connections are admitted, and how long they may take.
#[derive(Clone)]
pub struct Limits {
    pub connections: usize,
    /// For one address; does not apply to proxies.
    pub connections_per_address: usize,
    pub timeouts: Timeouts,
    pub drain: Duration,
    pub proxies: Arc<Proxies>,
    pub refusals: Arc<Refusals>,
    /// Connections begin with a TLS handshake.
    pub tls: Option<TlsAcceptor>,
}

/// Serves every connection until `stop` is done; `false` when some did not finish in time.
pub async fn serve_connections<S, B>(
    listener: TcpListener,
    service: S,
    limits: Limits,
    stop: impl Future<Output = ()>,
) -> bool
where
    S: Service<Request<Incoming>, Response = Response<B>> + Clone + Send + 'static,
    S::Future: Send,
    S::Error: Into<Box<dyn Error + Send + Sync>>,
    B: Body + Unpin + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let builder = builder();
    let registry = Registry::new(
        limits.connections,
        limits.connections_per_address,
        limits.timeouts,
        Arc::clone(&limits.refusals),
    );
    let (stopping, stopped) = watch::channel(false);
    // Every connection holds a sender: the channel closes when the last connection has ended.
    let (open, mut all_closed) = mpsc::channel::<()>(1);
    tokio::pin!(stop);
    loop {
        let next = next_connection(&listener, &registry, &limits);
        let (stream, connection) = tokio::select! {
            () = &mut stop => break,
            next = next => next,
        };
        // Only an optimisation.
        let _ = stream.set_nodelay(true);
        let stream = HookedStream::new(Linger::new(stream), WriteTimeout::new(WRITE_TIMEOUT));
        let service = Metered {
            service: service.clone(),
            connection: Arc::clone(&connection),
            proxies: Arc::clone(&limits.proxies),
            is_encrypted: limits.tls.is_some(),
        };
        let (stopped, open) = (stopped.clone(), open.clone());
        match &limits.tls {
            None => {
                let serving = builder.serve_connection(served(stream), service).into_owned();
                tokio::spawn(async move {
                    supervise(serving, &connection, stopped).await;
                    connection.remove();
                    drop(open);
                });
            }
            Some(tls) => {
                let (handshake, builder) = (tls.accept(stream), builder.clone());
                tokio::spawn(async move {
                    if let Some(stream) = shake_hands(handshake, &connection, stopped.clone()).await {
                        let serving = builder.serve_connection(served(stream), service).into_owned();
                        supervise(serving, &connection, stopped).await;
                    }
                    connection.remove();
                    drop(open);
                });
            }
        }
    }
    drop((listener, open));
    stopping.send_replace(true);
    tokio::time::timeout(limits.drain, all_closed.recv())
        .await
        .is_ok()
}

/// The stream as hyper needs it.
fn served<S>(stream: S) -> TokioIo<HookedStream<S, ProtocolErrors>> {
    TokioIo::new(HookedStream::new(stream, ProtocolErrors::default()))
}

/// Waits for the handshake; `None` when it fails, takes too long, or the connection is to be closed. Until then the connection
/// counts as one that has sent no request.
async fn shake_hands<S>(
    handshake: Accept<S>,
    connection: &Connection,
    mut stopped: watch::Receiver<bool>,
) -> Option<TlsStream<S>>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    tokio::select! {
        // A failed handshake is the client's failure, like other errors of connections.
        done = handshake => done.ok(),
        () = connection.closed() => None,
        _ = stopped.wait_for(|stopped| *stopped) => None,
        () = sleep(HANDSHAKE_DEADLINE) => {
            connection.refuse(Refusal::NoRequest);
            None
        }
    }
}

fn builder() -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_DEADLINE)
        .max_buf_size(MAX_HEAD);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(MAX_STREAMS)
        .max_header_list_size(MAX_HEAD as u32)
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_send_buf_size(SEND_BUFFER)
        .keep_alive_interval(PING_INTERVAL)
        .keep_alive_timeout(PING_TIMEOUT);
    builder
}

/// The next connection that is admitted. Failures are retried.
async fn next_connection(
    listener: &TcpListener,
    registry: &Arc<Registry>,
    limits: &Limits,
) -> (TcpStream, Arc<Connection>) {
    let mut pause = FIRST_PAUSE;
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => {
                pause = FIRST_PAUSE;
                if let Some(connection) = admit(registry, limits, peer).await {
                    return (stream, connection);
                }
            }
            Err(error) => {
                // Most likely out of descriptors: evicting an idle connection frees one.
                let refusals = &limits.refusals;
                refusals.note_with(Refusal::AcceptFailed, None, &error.to_string());
                registry.evict_any();
                sleep(pause).await;
                pause = LONGEST_PAUSE.min(pause * 2);
            }
        }
    }
}

/// Admits a connection; `None` when its address has too many.
async fn admit(registry: &Arc<Registry>, limits: &Limits, peer: SocketAddr) -> Option<Arc<Connection>> {
    let is_proxy = limits.proxies.are_trusted(peer.ip());
    loop {
        match registry.admit(peer.ip(), is_proxy) {
            Ok(connection) => return Some(connection),
            Err(Full::Address) => {
                let refusals = &limits.refusals;
                refusals.note(Refusal::AddressConnections, Some(peer.ip()));
                return None;
            }
            Err(Full::Server) => {
                // A connection may also become evictable without a notification: check again either way.
                let _ = tokio::time::timeout(RECHECK_INTERVAL, registry.freed()).await;
            }
        }
    }
}

/// Runs a connection until it ends or is closed.
async fn supervise<C>(serving: C, connection: &Connection, mut stopped: watch::Receiver<bool>)
where
    C: GracefulConnection,
{
    tokio::pin!(serving);
    // Shutting down: an idle connection then gets `GRACE` to end by itself, a busy one may finish.
    let mut ending = false;
    let check = sleep_until(Instant::now());
    tokio::pin!(check);
    loop {
        tokio::select! {
            // Connection errors are not logged: they are the client's, and requests have their own log lines.
            _ = serving.as_mut() => return,
            () = connection.closed() => return,
            _ = stopped.wait_for(|stopped| *stopped), if !ending => {
                ending = true;
                serving.as_mut().graceful_shutdown();
                check.as_mut().reset(Instant::now() + GRACE);
            }
            () = &mut check => {
                if ending && !connection.is_busy() {
                    return;
                }
                let pause = match connection.verdict() {
                    Verdict::Keep(pause) => pause,
                    Verdict::ShutDown => {
                        ending = true;
                        serving.as_mut().graceful_shutdown();
                        GRACE
                    }
                    Verdict::Close(kind) => {
                        connection.refuse(kind);
                        return;
                    }
                };
                let pause = if ending { pause.min(GRACE) } else { pause };
                check.as_mut().reset(Instant::now() + pause);
            }
        }
    }
}

#[cfg(test)]
#[path = "connections_tests.rs"]
mod tests;
