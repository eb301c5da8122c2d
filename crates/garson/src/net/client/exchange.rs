//! One request and its response, over a pooled connection if there is one, otherwise over a new one.

use super::dialer::Dialer;
use super::progress::Progress;
use crate::net::connection::{Connection, Unsent};
use crate::net::guard::{Origin, Target};
use crate::net::outgoing::Outgoing;
use crate::net::pool::ConnectionPool;
use crate::net::sent::{SendError, Stage};
use bytes::Bytes;
use garson_core::explanation::NetworkFailure;
use garson_core::platform::Trust;
use http::{HeaderMap, Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Incoming};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

/// Sends a request and reads the response's head.
pub async fn exchange(
    dialer: &Dialer,
    pool: &ConnectionPool,
    target: &Target,
    outgoing: Outgoing,
    progress: &mut Progress,
) -> Result<Exchange, SendError> {
    let key = (outgoing.trust, Arc::clone(target.origin()));
    let may_repeat = outgoing.may_repeat;
    let mut request = outgoing.request(target)?;
    // An account's name is resolved and checked for every request, even if a connection is open: its addresses may change.
    let checked = match key.0 {
        Trust::Account => Some(dialer.addresses(target, key.0, progress).await?),
        Trust::Operator => None,
    };
    // The peer may have closed a pooled connection; then the request comes back unsent.
    while let Some(mut connection) = pool.take(&key, checked.as_deref()) {
        let spare = may_repeat.then(|| request.clone());
        match send(&mut connection, request, progress).await {
            Ok(response) => return Ok(Exchange::new(response, connection, key)),
            Err(Unsent::Returned(back)) => request = *back,
            Err(Unsent::Broken { why, has_begun }) => match spare {
                Some(spare) if !has_begun => {
                    progress.is_repeated = true;
                    request = spare;
                    break;
                }
                _ => return Err(SendError::Broken(why)),
            },
        }
    }
    let addresses = match checked {
        Some(checked) => checked,
        None => dialer.addresses(target, key.0, progress).await?,
    };
    let mut connection = open(dialer, target, &addresses, progress).await?;
    match send(&mut connection, request, progress).await {
        Ok(response) => Ok(Exchange::new(response, connection, key)),
        Err(Unsent::Returned(_)) => Err(progress.failed(NetworkFailure::ClosedBeforeRequest)),
        Err(Unsent::Broken { why, .. }) => Err(SendError::Broken(why)),
    }
}

async fn open(
    dialer: &Dialer,
    target: &Target,
    addresses: &[IpAddr],
    progress: &mut Progress,
) -> Result<Connection, SendError> {
    let (stream, address) = dialer.connect(target, addresses, progress).await?;
    progress.stage = Stage::Exchange;
    Connection::open(stream, address)
        .await
        .map_err(|why| progress.failed(why))
}

async fn send(
    connection: &mut Connection,
    request: Request<Full<Bytes>>,
    progress: &mut Progress,
) -> Result<Response<Incoming>, Unsent> {
    let was_sent = progress.is_sent;
    let began = progress.begin(Stage::Exchange);
    progress.is_sent = true;
    let answered = connection.send(request).await;
    match &answered {
        Ok(_) => progress.timing.first_byte = Some(began.elapsed()),
        Err(Unsent::Returned(_)) => progress.is_sent = was_sent,
        Err(Unsent::Broken { .. }) => {}
    }
    answered
}

/// A response whose head was read.
pub struct Exchange {
    response: Response<Incoming>,
    connection: Connection,
    key: (Trust, Arc<Origin>),
}

impl Exchange {
    fn new(response: Response<Incoming>, connection: Connection, key: (Trust, Arc<Origin>)) -> Self {
        Self {
            response,
            connection,
            key,
        }
    }

    pub fn status(&self) -> u16 {
        self.response.status().as_u16()
    }

    /// Takes the headers; the body is still to come.
    pub fn take_headers(&mut self) -> HeaderMap {
        std::mem::take(self.response.headers_mut())
    }

    /// As much of the body as is wanted and comes in time. A body that is slow or incomplete does not change the status. After
    /// a complete body the connection goes back to the pool.
    pub async fn body(mut self, max_bytes: usize, time: Duration, pool: &ConnectionPool) -> Vec<u8> {
        let mut body = Vec::new();
        let reading = read(self.response.into_body(), max_bytes, &mut body);
        let is_complete = tokio::time::timeout(time, reading).await.unwrap_or(false);
        if is_complete && self.connection.becomes_ready().await {
            pool.put(self.key, self.connection);
        }
        body
    }
}

/// Reads a body; `true` if that was all of it.
async fn read(mut incoming: Incoming, max_bytes: usize, body: &mut Vec<u8>) -> bool {
    loop {
        if incoming.is_end_stream() {
            return true;
        }
        let room = max_bytes - body.len();
        if room == 0 {
            return false;
        }
        match incoming.frame().await {
            None => return true,
            Some(Err(_)) => return false,
            Some(Ok(frame)) => {
                let data = frame.data_ref().map(Bytes::as_ref).unwrap_or_default();
                body.extend_from_slice(data.get(..room).unwrap_or(data));
                if data.len() > room {
                    return false;
                }
            }
        }
    }
}
