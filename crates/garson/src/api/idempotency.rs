//! `Idempotency-Key`: the same request with the same key gets the first answer again, for a day.

use super::auth::Caller;
use super::{Api, ApiError};
use crate::flow::Fault;
use crate::flow::upkeep::sweep::KEEP_ANSWERS;
use crate::http::body;
use crate::http::body_budget::Sender;
use crate::http::error::Code;
use crate::http::request_id::RequestId;
use axum::body::Body;
use axum::extract::{FromRequestParts, OptionalFromRequestParts, Request};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use garson_core::id::uuid_at;
use garson_store::StoreError;
use garson_store::tables::idempotency;
use garson_store::tables::idempotency::{KeyedRequest, Reservation, Run};
use http::request::Parts;
use http::{HeaderName, HeaderValue, Method, StatusCode, header};
use sha2::{Digest, Sha256};
use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use uuid::Uuid;

const HEADER: HeaderName = HeaderName::from_static("idempotency-key");
const PLACE: &str = "idempotency/body";
/// Longer than any request runs. It counts where nothing else tells that a run is dead: see [`idempotency::reserve`].
const LEASE: Duration = Duration::from_secs(60);
/// The pause before something is tried again that storage did not take.
const TRY_AGAIN: Duration = Duration::from_millis(500);

/// The id of what a request creates: reserved under its key, or a fresh one.
#[derive(Clone, Copy, Debug)]
pub struct NewId(pub Uuid);

impl FromRequestParts<Arc<Api>> for NewId {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, api: &Arc<Api>) -> Result<Self, ApiError> {
        Ok(parts
            .extensions
            .get::<Self>()
            .copied()
            .unwrap_or_else(|| Self(uuid_at(api.app.now()))))
    }
}

/// The key under which a request runs, for steps that must not be taken twice.
#[derive(Clone, Debug)]
pub struct Keyed(pub Arc<KeyedRequest>);

impl<S: Sync> OptionalFromRequestParts<S> for Keyed {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Option<Self>, ApiError> {
        Ok(parts.extensions.get::<Self>().cloned())
    }
}

/// Runs a keyed request once, and answers repeats from what was kept.
pub async fn once(
    api: &Arc<Api>,
    caller: Caller,
    request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    // An empty one counts as none.
    let key = request
        .headers()
        .get(&HEADER)
        .filter(|key| !key.is_empty())
        .cloned();
    let (Some(key), &Method::POST) = (key, request.method()) else {
        return Ok(next.run(request).await);
    };
    if key.len() > 200 {
        return Err(ApiError::invalid(
            Code::InvalidParameter,
            "Idempotency-Key",
            "must be at most 200 characters",
        ));
    }
    let request_id = RequestId::of(request.extensions());
    let (parts, content) = request.into_parts();
    let whole = Request::from_parts(parts.clone(), content);
    let body::Body { bytes, charge } = body::read(api, whole, Sender::Known(caller.account)).await?;
    let target = parts
        .uri
        .path_and_query()
        .map_or("", http::uri::PathAndQuery::as_str);
    let keyed = Arc::new(KeyedRequest {
        account: caller.account,
        key_hash: Sha256::digest(key.as_bytes()).into(),
        request_hash: Sha256::new()
            .chain_update(target)
            .chain_update([0])
            .chain_update(&bytes)
            .chain_update(whose_answer(&parts, &caller))
            .finalize()
            .into(),
    });
    let mut request = Request::from_parts(parts, Body::from(bytes));
    request.extensions_mut().insert(body::InMemory::new(charge));
    // On its own from here: a client that goes away must not leave a key behind that nothing runs under, nor a step
    // whose answer is not kept.
    tokio::spawn(run(Arc::clone(api), keyed, request, next, request_id))
        .await
        .unwrap_or_else(|_| Err(ApiError::from_status(StatusCode::INTERNAL_SERVER_ERROR)))
}

/// The answer to a request for a key shows that key: it is repeated only to the key that has asked for it. Everything else is
/// the same request whichever key of the account sends it.
fn whose_answer<'a>(parts: &Parts, caller: &'a Caller) -> &'a [u8] {
    match parts.uri.path().trim_end_matches('/').ends_with("/keys") {
        true => caller.key.as_bytes(),
        false => &[],
    }
}

async fn run(
    api: Arc<Api>,
    keyed: Arc<KeyedRequest>,
    mut request: Request,
    next: Next,
    request_id: RequestId,
) -> Result<Response, ApiError> {
    let running = Running::begin(&api.runs);
    let reserved_id = match reserve(&api, &keyed, &running).await? {
        Reservation::Run { reserved_id } => reserved_id,
        Reservation::Answered { status, body } => return replay(&api, &keyed, status, &body),
        Reservation::Running => {
            let message = "A request with this Idempotency-Key is still running.";
            return Err(ApiError::new(Code::IdempotencyKeyInUse, message));
        }
        Reservation::OtherRequest => {
            let message = "This Idempotency-Key was used for another request.";
            return Err(ApiError::new(Code::IdempotencyKeyReused, message));
        }
    };
    request.extensions_mut().insert(NewId(reserved_id));
    request.extensions_mut().insert(Keyed(Arc::clone(&keyed)));
    let response = next.run(request).await;
    keep(&api, keyed, running, response, &request_id).await
}

async fn reserve(
    api: &Arc<Api>,
    keyed: &Arc<KeyedRequest>,
    running: &Running,
) -> Result<Reservation, ApiError> {
    let now = api.app.now();
    let run = Run {
        id: running.id,
        node: api.app.store.desk().node(),
        now,
        leased_until: now.plus(LEASE),
        fresh_id: uuid_at(now),
    };
    let (request, runs) = (Arc::clone(keyed), Arc::clone(&api.runs));
    let reserved = api
        .app
        .store
        .write(keyed.account, move |tx| {
            let is_ours_running = |id| runs.contains(id);
            idempotency::reserve(tx, &request, &run, now.minus(KEEP_ANSWERS), &is_ours_running)
        })
        .await;
    if let Err(error) = &reserved {
        let error: &StoreError = error;
        if error.is_temporary() {
            // It may have been reserved all the same.
            tokio::spawn(release(Arc::clone(api), Arc::clone(keyed), running.id));
        }
    }
    reserved.map_err(|error| Fault::from(error).into())
}

/// Gives a key back, as soon as storage takes it: the other nodes do not know that nobody runs the request any more.
async fn release(api: Arc<Api>, keyed: Arc<KeyedRequest>, run_id: Uuid) {
    let work = || {
        let keyed = Arc::clone(&keyed);
        api.app
            .store
            .write(keyed.account, move |tx| idempotency::release(tx, &keyed, run_id))
    };
    if let Err(error) = persist(work).await {
        tracing::warn!(%error, "an idempotency key was not given back");
    }
}

/// Does something as soon as storage takes it, while anybody may be waiting for it.
async fn persist<F: Future<Output = Result<(), StoreError>>>(work: impl Fn() -> F) -> Result<(), StoreError> {
    let began = tokio::time::Instant::now();
    loop {
        match work().await {
            Err(error) if error.is_temporary() && began.elapsed() < LEASE => {
                tokio::time::sleep(TRY_AGAIN).await;
            }
            done => return done,
        }
    }
}

/// The keyed requests that run in this process.
#[derive(Debug, Default)]
pub struct Runs(Mutex<HashSet<Uuid>>);

impl Runs {
    fn lock(&self) -> MutexGuard<'_, HashSet<Uuid>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn contains(&self, id: Uuid) -> bool {
        self.lock().contains(&id)
    }
}

/// A keyed request that runs; dropping it is its end, whatever that was.
struct Running {
    id: Uuid,
    runs: Arc<Runs>,
}

impl Running {
    fn begin(runs: &Arc<Runs>) -> Self {
        let id = Uuid::now_v7();
        runs.lock().insert(id);
        Self {
            id,
            runs: Arc::clone(runs),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.runs.lock().remove(&self.id);
    }
}

/// Keeps a success or a final refusal; what another try may mend is not kept. What is not there may come: a program often asks for
/// an order before its platform has handed it over.
async fn keep(
    api: &Arc<Api>,
    keyed: Arc<KeyedRequest>,
    running: Running,
    response: Response,
    request_id: &RequestId,
) -> Result<Response, ApiError> {
    let status = response.status();
    let is_final = !status.is_server_error()
        && status != StatusCode::TOO_MANY_REQUESTS
        && status != StatusCode::NOT_FOUND
        && status != StatusCode::UNAUTHORIZED
        && status != StatusCode::REQUEST_TIMEOUT;
    if !is_final {
        // Where it is repeated here, it is known already that nobody runs it; elsewhere it is known when this is written,
        // for which a client does not wait long.
        let released = tokio::spawn(release(Arc::clone(api), keyed, running.id));
        drop(tokio::time::timeout(TRY_AGAIN, released).await);
        return Ok(response);
    }
    let (mut parts, content) = response.into_parts();
    let bytes = match parts.extensions.remove::<ApiError>() {
        // The error's body has the request's id in it; a repeat gets the first one's.
        Some(error) => error.body(&request_id.0).into(),
        None => axum::body::to_bytes(content, usize::MAX)
            .await
            .map_err(|_| ApiError::from_status(StatusCode::INTERNAL_SERVER_ERROR))?,
    };
    // An answer may hold a fresh API key, so it is sealed like one.
    let kept = api
        .app
        .vault
        .seal(PLACE, &keyed.key_hash, &bytes)
        .map_err(Fault::from)?;
    let code = i64::from(status.as_u16());
    let kept = Arc::new(kept);
    let store = api.app.store.clone();
    let write = move || {
        let (store, keyed, kept) = (store.clone(), Arc::clone(&keyed), Arc::clone(&kept));
        async move {
            let account = keyed.account;
            store
                .write(account, move |tx| {
                    idempotency::store_response(tx, &keyed, code, &kept)
                })
                .await
        }
    };
    match write().await {
        Ok(()) => {}
        Err(error) if StoreError::is_temporary(&error) => {
            // The request has been done, so whoever repeats it is to find its answer, not to run it again.
            tokio::spawn(async move {
                let _running = running;
                if let Err(error) = persist(write).await {
                    tracing::warn!(%error, "an answer was not kept under its idempotency key");
                }
            });
        }
        Err(error) => tracing::warn!(%error, "an answer was not kept under its idempotency key"),
    }
    parts
        .headers
        .insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    parts.headers.remove(header::CONTENT_LENGTH);
    Ok(Response::from_parts(parts, Body::from(bytes)))
}

fn replay(api: &Api, keyed: &KeyedRequest, status: i64, sealed: &[u8]) -> Result<Response, ApiError> {
    let body = api
        .app
        .vault
        .open(PLACE, &keyed.key_hash, sealed)
        .map_err(Fault::from)?;
    let status = u16::try_from(status)
        .ok()
        .and_then(|code| StatusCode::from_u16(code).ok());
    let mut response = (status.unwrap_or(StatusCode::OK), body.expose().clone()).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(
        HeaderName::from_static("idempotent-replayed"),
        HeaderValue::from_static("true"),
    );
    Ok(response)
}
