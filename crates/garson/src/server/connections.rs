//! Connections are taken, as many as there are places for, until it is enough; those that are there may finish. Each is
//! supervised: one that asks nothing, takes nothing or does nothing is closed.

use super::bare::Completing;
use super::metered::Metered;
use super::patience::Patient;
use super::registry::{Connection, Full, GRACE, Registry, Times, Verdict};
use crate::net::client_address::Proxies;
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
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep, sleep_until};

/// A client that does not finish its request's head in this time is cut off.
const HEAD_DEADLINE: Duration = Duration::from_secs(15);
/// A client whose socket takes nothing for this time is cut off.
const STUCK_DEADLINE: Duration = Duration::from_secs(60);
const MAX_HEAD: usize = 64 * 1024;
/// HTTP/2: requests at the same time on one connection.
const MAX_STREAMS: u32 = 64;
/// HTTP/2: what a client may send before anybody has asked for it, of one request and on one connection.
const STREAM_WINDOW: u32 = 64 * 1024;
const CONNECTION_WINDOW: u32 = 256 * 1024;
/// HTTP/2: how much of an answer is prepared ahead of what the client takes.
const SEND_BUFFER: usize = 64 * 1024;
/// HTTP/2: how often a client is asked whether it is still there, and how long it may take to say so.
const PING_INTERVAL: Duration = Duration::from_secs(20);
const PING_TIMEOUT: Duration = Duration::from_secs(20);
/// The pause after a connection could not be taken; it doubles while that goes on.
const FIRST_PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// How often it is looked again for a place when all are taken.
const LOOK: Duration = Duration::from_millis(100);

/// How many connections there may be, of whom, and how long they get to finish.
#[derive(Clone, Debug)]
pub struct Limits {
    pub connections: usize,
    /// Of one address that is not a proxy's.
    pub connections_per_address: usize,
    pub times: Times,
    pub drain: Duration,
    pub proxies: Arc<Proxies>,
    pub refusals: Arc<Refusals>,
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
        limits.times,
        Arc::clone(&limits.refusals),
    );
    let (stopping, stopped) = watch::channel(false);
    // Every connection holds one end; when all are gone, so are the connections.
    let (open, mut all_gone) = mpsc::channel::<()>(1);
    tokio::pin!(stop);
    loop {
        let next = next_connection(&listener, &registry, &limits);
        let (stream, connection) = tokio::select! {
            () = &mut stop => break,
            next = next => next,
        };
        drop(stream.set_nodelay(true));
        let stream = TokioIo::new(Completing::new(Patient::new(stream, STUCK_DEADLINE)));
        let service = Metered {
            service: service.clone(),
            connection: Arc::clone(&connection),
            proxies: Arc::clone(&limits.proxies),
        };
        let serving = builder.serve_connection(stream, service).into_owned();
        let (stopped, open) = (stopped.clone(), open.clone());
        tokio::spawn(async move {
            supervise(serving, &connection, stopped).await;
            connection.gone();
            drop(open);
        });
    }
    drop((listener, open));
    stopping.send_replace(true);
    tokio::time::timeout(limits.drain, all_gone.recv()).await.is_ok()
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

/// The next connection that there is a place for. Whatever fails, it goes on trying.
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
                // Out of descriptors, most likely: somebody who does nothing gives one back.
                let refusals = &limits.refusals;
                refusals.note_with(Refusal::AcceptFailed, None, &error.to_string());
                registry.evict_any();
                sleep(pause).await;
                pause = LONGEST_PAUSE.min(pause * 2);
            }
        }
    }
}

/// A place for a connection; none when its address has too many.
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
            Err(Full::Everybody) => {
                // Somebody may also come to do nothing, which wakes nobody.
                let _freed = tokio::time::timeout(LOOK, registry.freed()).await;
            }
        }
    }
}

/// Runs a connection as long as it is of use.
async fn supervise<C>(serving: C, connection: &Connection, mut stopped: watch::Receiver<bool>)
where
    C: GracefulConnection,
{
    tokio::pin!(serving);
    // When it was asked to end; it then has a moment to do so by itself, and longer while it is busy.
    let mut ending = false;
    let look = sleep_until(Instant::now());
    tokio::pin!(look);
    loop {
        tokio::select! {
            // What goes wrong on a connection is the client's to know; requests have their own log lines.
            _ = serving.as_mut() => return,
            () = connection.closed() => return,
            _ = stopped.wait_for(|stopped| *stopped), if !ending => {
                ending = true;
                serving.as_mut().graceful_shutdown();
                look.as_mut().reset(Instant::now() + GRACE);
            }
            () = &mut look => {
                if ending && !connection.is_busy() {
                    return;
                }
                let pause = match connection.judge() {
                    Verdict::Keep(pause) => pause,
                    Verdict::End => {
                        ending = true;
                        serving.as_mut().graceful_shutdown();
                        GRACE
                    }
                    Verdict::Cut(kind) => {
                        connection.refuse(kind);
                        return;
                    }
                };
                let pause = if ending { pause.min(GRACE) } else { pause };
                look.as_mut().reset(Instant::now() + pause);
            }
        }
    }
}

#[cfg(test)]
#[path = "connections_tests.rs"]
mod tests;
