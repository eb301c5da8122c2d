//! The one listener: takes calls, lets faults happen, asks the platform's side, keeps the journal.

use std::{
    io,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, Limited};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::{net::TcpListener, sync::Semaphore, task::JoinSet};

use crate::{
    autopilot,
    call::{Call, Reply, Route},
    clock, control, gateway,
    http_client::HttpClient,
    platform::Platform,
    push,
    raw_names::{RawNames, remembering},
    settings::SimSettings,
    views::{Fault, JournalLine},
    world::World,
};

const BODY_BYTES: usize = 4 * 1024 * 1024;
/// How long a call that gets no answer is kept waiting.
const SILENCE: Duration = Duration::from_secs(60);

/// Four platforms, listening. Everything ends when it is dropped.
#[derive(Debug)]
pub struct Sim {
    address: SocketAddr,
    inner: Arc<Inner>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    world: Mutex<World>,
    tasks: Mutex<JoinSet<()>>,
    pub client: HttpClient,
    pub pushes: Semaphore,
    /// Only programs on this machine can reach it, and web pages that one of its browsers shows.
    is_local: bool,
}

impl Inner {
    pub(crate) fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tasks(&self) -> MutexGuard<'_, JoinSet<()>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs something that ends with the simulator.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = self.tasks();
        while tasks.try_join_next().is_some() {}
        tasks.spawn(task);
    }
}

impl Sim {
    /// Opens the listener and begins to play.
    pub async fn start(settings: SimSettings) -> io::Result<Sim> {
        let listener = TcpListener::bind(settings.listen).await?;
        let address = listener.local_addr()?;
        let public_url = settings
            .public_url
            .clone()
            .unwrap_or_else(|| format!("http://{address}"));
        let inner = Arc::new(Inner {
            pushes: Semaphore::new(settings.pushes_at_once.max(1)),
            world: Mutex::new(World::new(settings, public_url.trim_end_matches('/').to_owned())),
            tasks: Mutex::new(JoinSet::new()),
            client: HttpClient::default(),
            is_local: address.ip().to_canonical().is_loopback(),
        });
        inner.spawn(accept(Arc::clone(&inner), listener));
        inner.spawn(autopilot::run(Arc::clone(&inner)));
        Ok(Sim { address, inner })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Ends all connections and pushes, and waits until they have ended.
    pub async fn stop(self) {
        let mut tasks = std::mem::take(&mut *self.inner.tasks());
        tasks.shutdown().await;
    }
}

impl Drop for Sim {
    fn drop(&mut self) {
        self.inner.tasks().abort_all();
    }
}

async fn accept(inner: Arc<Inner>, listener: TcpListener) {
    loop {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!(%error, "a connection could not be taken");
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "no delay could not be set");
        }
        let shared = Arc::clone(&inner);
        inner.spawn(async move {
            let names = RawNames::default();
            let service = service_fn(|request| serve(Arc::clone(&shared), names.clone(), request));
            let stream = remembering(stream, names.clone());
            if let Err(error) = http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service)
                .await
            {
                tracing::debug!(%error, "connection ended");
            }
        });
    }
}

/// The connection is closed without an answer.
#[derive(Debug)]
struct Dropped;

impl std::fmt::Display for Dropped {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("dropped on purpose")
    }
}

impl std::error::Error for Dropped {}

async fn serve(
    inner: Arc<Inner>,
    names: RawNames,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Dropped> {
    let spelled = names.names();
    let (parts, body) = request.into_parts();
    let Ok(body) = Limited::new(body, BODY_BYTES).collect().await else {
        return Ok(response(Reply::empty(StatusCode::PAYLOAD_TOO_LARGE)));
    };
    names.next();
    let (prefix, mut call) = Call::new(parts.method, &parts.uri, parts.headers, body.to_bytes());
    call.spelled = spelled;
    let reply = match prefix.parse::<Platform>() {
        Ok(platform) => play(&inner, platform, &call).await?,
        Err(_) if prefix == "control" && control::is_foreign(&call.headers, inner.is_local) => {
            Reply::empty(StatusCode::FORBIDDEN)
        }
        Err(_) if prefix == "control" => control::answer(&inner, &call),
        Err(_) => Reply::empty(StatusCode::NOT_FOUND),
    };
    Ok(response(reply))
}

fn response(reply: Reply) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(reply.body));
    *response.status_mut() = reply.status;
    if reply.is_json {
        let json = http::HeaderValue::from_static("application/json; charset=utf-8");
        response.headers_mut().insert(http::header::CONTENT_TYPE, json);
    }
    response
}

/// A call to a platform, with the fault that waits for it.
async fn play(inner: &Arc<Inner>, platform: Platform, call: &Call) -> Result<Reply, Dropped> {
    let mut route = platform.side().route(call);
    let fault = {
        let mut world = inner.world();
        if route.order.is_none() {
            route.order = platform.side().order_of(&world, call);
        }
        world.faults.on_call(platform, &route)
    };
    if let Some(Fault::Latency { ms }) = fault {
        tokio::time::sleep(Duration::from_millis(ms)).await;
    }
    let reply = work(inner, platform, call, &route, fault.as_ref());
    match fault {
        Some(Fault::TimeoutAfterWork) => {
            tokio::time::sleep(SILENCE).await;
            Err(Dropped)
        }
        Some(Fault::Drop | Fault::DropAfterWork) => Err(Dropped),
        _ => Ok(reply),
    }
}

fn work(inner: &Arc<Inner>, platform: Platform, call: &Call, route: &Route, fault: Option<&Fault>) -> Reply {
    let side = platform.side();
    let mut world = inner.world();
    let mut reply = match fault {
        Some(Fault::Drop) => Reply::empty(StatusCode::OK),
        Some(Fault::Status { status, body }) => given(*status, body.as_ref()),
        Some(Fault::ExpiredToken) => side.expired_token(&mut world, call),
        Some(Fault::RateLimited) => side.rate_limited(),
        _ => gateway::refuse(call).unwrap_or_else(|| side.answer(&mut world, call, route)),
    };
    if fault == Some(&Fault::Malformed) {
        reply.body = halved(&reply.body);
    }
    let silent = matches!(
        fault,
        Some(Fault::Drop | Fault::DropAfterWork | Fault::TimeoutAfterWork)
    );
    let line = JournalLine {
        number: 0,
        at: clock::text(world.now()),
        platform,
        operation: route.operation.to_owned(),
        method: call.method.to_string(),
        path: call.target.clone(),
        status: (!silent).then_some(reply.status.as_u16()),
        order_id: route.order.clone().or_else(|| reply.order.clone()),
        note: note(&reply, fault, silent),
    };
    world.journal.write(line);
    push::start(inner, &mut world);
    reply
}

fn note(reply: &Reply, fault: Option<&Fault>, silent: bool) -> String {
    let Some(fault) = fault else {
        return reply.note.clone();
    };
    let name = serde_json::to_value(fault)
        .ok()
        .and_then(|value| value["kind"].as_str().map(str::to_owned));
    let mut note = format!("fault: {}", name.unwrap_or_default());
    if silent && *fault != Fault::Drop {
        note = format!("{note}; the work was answered {}", reply.status.as_u16());
    }
    if !reply.note.is_empty() {
        note = format!("{note}; {}", reply.note);
    }
    note
}

fn given(status: u16, body: Option<&serde_json::Value>) -> Reply {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    match body {
        None => Reply::empty(status),
        Some(serde_json::Value::String(text)) => Reply {
            body: Bytes::from(text.clone()),
            ..Reply::empty(status)
        },
        Some(value) => Reply::json(status, value),
    }
}

/// Half of an answer; something that is no JSON where there was nothing to halve.
fn halved(body: &Bytes) -> Bytes {
    match body.len() {
        0..=2 => Bytes::from_static(b"<html>"),
        length => body.slice(..length / 2),
    }
}
