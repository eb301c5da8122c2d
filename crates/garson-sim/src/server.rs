//! The listener: receives calls, applies faults, calls the simulated platform and writes the journal.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, Limited};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

use crate::{
    autopilot,
    call::{Call, Reply, Route},
    clock, control, gateway,
    journal::shortened,
    platform::Platform,
    raw_names::{RawNames, remembering},
    registry, sender,
    settings::SimSettings,
    shared::Shared,
    views::{Fault, JournalLine},
    world::World,
};

const BODY_BYTES: usize = 4 * 1024 * 1024;
/// How long a call without a reply waits.
const SILENCE: Duration = Duration::from_secs(60);

/// A running simulator. Dropping it stops everything.
#[derive(Debug)]
pub struct Sim {
    address: SocketAddr,
    shared: Arc<Shared>,
}

impl Sim {
    /// Opens the listener and starts.
    pub async fn start(settings: SimSettings) -> io::Result<Sim> {
        let listener = TcpListener::bind(settings.listen).await?;
        let address = listener.local_addr()?;
        let public_url = settings
            .public_url
            .clone()
            .unwrap_or_else(|| format!("http://{address}"));
        let pushes_at_once = settings.pushes_at_once;
        let world = World::new(settings, public_url.trim_end_matches('/').to_owned());
        let is_local = address.ip().to_canonical().is_loopback();
        let shared = Arc::new(Shared::new(world, pushes_at_once, is_local));
        shared.spawn(accept(Arc::clone(&shared), listener));
        shared.spawn(autopilot::run(Arc::clone(&shared)));
        Ok(Sim { address, shared })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Stops all connections and pushes, and waits for their end.
    pub async fn stop(self) {
        let mut tasks = std::mem::take(&mut *self.shared.tasks());
        tasks.shutdown().await;
    }
}

impl Drop for Sim {
    fn drop(&mut self) {
        self.shared.tasks().abort_all();
    }
}

async fn accept(shared: Arc<Shared>, listener: TcpListener) {
    loop {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!(%error, "could not accept a connection");
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "could not set TCP_NODELAY");
        }
        let connection = Arc::clone(&shared);
        shared.spawn(async move {
            let names = RawNames::default();
            let service = service_fn(|request| serve(Arc::clone(&connection), names.clone(), request));
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
    shared: Arc<Shared>,
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
        Ok(platform) => handle_platform_call(&shared, platform, &call).await?,
        Err(_) if prefix == "control" && control::is_foreign(&call.headers, shared.is_local) => {
            Reply::empty(StatusCode::FORBIDDEN)
        }
        Err(_) if prefix == "control" => control::answer(&shared, &call),
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

/// Handles a call to a platform, with the next fault that applies to it.
async fn handle_platform_call(
    shared: &Arc<Shared>,
    platform: Platform,
    call: &Call,
) -> Result<Reply, Dropped> {
    let mut route = registry::of(platform).route(call);
    let fault = {
        let mut world = shared.world();
        if route.order.is_none() {
            route.order = registry::of(platform).order_of(&world, call);
        }
        world.faults.on_call(platform, &route)
    };
    if let Some(Fault::Latency { ms }) = fault {
        tokio::time::sleep(Duration::from_millis(ms)).await;
    }
    let reply = execute(shared, platform, call, &route, fault.as_ref());
    match fault {
        Some(Fault::TimeoutAfterWork) => {
            tokio::time::sleep(SILENCE).await;
            Err(Dropped)
        }
        Some(Fault::Drop | Fault::DropAfterWork) => Err(Dropped),
        _ => Ok(reply),
    }
}

fn execute(
    shared: &Arc<Shared>,
    platform: Platform,
    call: &Call,
    route: &Route,
    fault: Option<&Fault>,
) -> Reply {
    let simulated = registry::of(platform);
    let mut world = shared.world();
    let mut reply = match fault {
        Some(Fault::Drop) => Reply::empty(StatusCode::OK),
        Some(Fault::Status { status, body }) => given(*status, body.as_ref()),
        Some(Fault::ExpiredToken) => simulated.expired_token(&mut world, call),
        Some(Fault::RateLimited) => simulated.rate_limited(),
        _ => gateway::refuse(call).unwrap_or_else(|| simulated.answer(&mut world, call, route)),
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
        store: reply.store.clone(),
        body: match (&reply.request, route.operation) {
            (Some(decrypted), _) => Some(decrypted.clone()),
            (None, "login") => None,
            (None, _) => Some(shortened(&call.body)).filter(|body| !body.is_empty()),
        },
        note: note(&reply, fault, silent),
    };
    world.journal.write(line);
    sender::start(shared, &mut world);
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

/// The first half of a body; something that is not JSON if the body is too short.
fn halved(body: &Bytes) -> Bytes {
    match body.len() {
        0..=2 => Bytes::from_static(b"<html>"),
        length => body.slice(..length / 2),
    }
}
