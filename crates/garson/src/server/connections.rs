//! Connections are taken, as many as there are places for, until it is enough; those that are there may finish.

use super::patience::Patient;
use http::{Request, Response};
use hyper::body::{Body, Incoming};
use hyper::service::Service;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use std::error::Error;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

/// A client that does not finish its request's head in this time is cut off.
const HEAD_DEADLINE: Duration = Duration::from_secs(15);
/// A client that takes nothing of what it is sent for this time is cut off.
const STUCK_DEADLINE: Duration = Duration::from_secs(60);
const MAX_HEAD: usize = 64 * 1024;

/// How many connections there may be, and how long they get to finish.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub connections: usize,
    pub drain: Duration,
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
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_DEADLINE)
        .max_buf_size(MAX_HEAD);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(256)
        .max_header_list_size(MAX_HEAD as u32);
    let graceful = GracefulShutdown::new();
    let places = Arc::new(Semaphore::new(limits.connections));
    tokio::pin!(stop);
    loop {
        // A place first, then a connection: those that find no place wait in the system's queue.
        let accepted = async {
            let place = Arc::clone(&places).acquire_owned().await;
            (listener.accept().await, place)
        };
        let (stream, place) = tokio::select! {
            () = &mut stop => break,
            (Ok((stream, _)), Ok(place)) = accepted => (stream, place),
            else => {
                // Out of file descriptors, most likely: others will finish.
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        drop(stream.set_nodelay(true));
        let stream = TokioIo::new(Patient::new(stream, STUCK_DEADLINE));
        let connection = builder.serve_connection(stream, service.clone()).into_owned();
        let watched = graceful.watch(connection);
        tokio::spawn(async move {
            // What goes wrong on a connection is the client's to know; requests have their own log lines.
            drop(watched.await);
            drop(place);
        });
    }
    drop(listener);
    tokio::time::timeout(limits.drain, graceful.shutdown())
        .await
        .is_ok()
}
