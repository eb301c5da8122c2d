//! One request and its answer, over a kept connection where there is one, over a new one otherwise.

use super::{Client, Progress};
use crate::net::connection::{Connection, Unsent};
use crate::net::guard::{Origin, Target};
use crate::net::outgoing::Outgoing;
use crate::net::pool::Pool;
use crate::net::sent::{SendError, Stage};
use bytes::Bytes;
use garson_core::platform::Trust;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Incoming};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

impl Client {
    pub(super) async fn exchange(
        &self,
        target: &Target,
        outgoing: Outgoing,
        progress: &mut Progress,
    ) -> Result<Exchange, SendError> {
        let key = (outgoing.trust, Arc::clone(target.origin()));
        let may_repeat = outgoing.may_repeat;
        let mut request = outgoing.request(target)?;
        // What an account's name leads to is judged anew for every request, also when a connection is open.
        let judged = match key.0 {
            Trust::Account => Some(self.addresses(target, key.0, progress).await?),
            Trust::Operator => None,
        };
        // A kept connection may have been closed on the other side; then the request comes back unsent.
        while let Some(mut connection) = self.pool.take(&key, judged.as_deref()) {
            let spare = may_repeat.then(|| request.clone());
            match send(&mut connection, request, progress).await {
                Ok(response) => return Ok(Exchange::new(response, connection, key)),
                Err(Unsent::Returned(back)) => request = *back,
                Err(Unsent::Broken { why, is_heard }) => match spare {
                    Some(spare) if !is_heard => {
                        progress.is_repeated = true;
                        request = spare;
                        break;
                    }
                    _ => return Err(SendError::Broken(why)),
                },
            }
        }
        let addresses = match judged {
            Some(judged) => judged,
            None => self.addresses(target, key.0, progress).await?,
        };
        let mut connection = self.connect(target, &addresses, progress).await?;
        match send(&mut connection, request, progress).await {
            Ok(response) => Ok(Exchange::new(response, connection, key)),
            Err(Unsent::Returned(_)) => {
                Err(progress.failed("the connection was closed before the request was sent"))
            }
            Err(Unsent::Broken { why, .. }) => Err(SendError::Broken(why)),
        }
    }

    async fn connect(
        &self,
        target: &Target,
        addresses: &[IpAddr],
        progress: &mut Progress,
    ) -> Result<Connection, SendError> {
        let (line, address) = self.line(target, addresses, progress).await?;
        progress.stage = Stage::Exchange;
        Connection::open(line, address)
            .await
            .map_err(|why| progress.failed(why))
    }
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

/// An answer whose head has come.
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

    /// As much of the body as is wanted and comes in time. The status has been said; a body that is slow or breaks off
    /// does not unsay it. After a body that has come whole, the connection is kept.
    pub async fn body(mut self, keep: usize, time: Duration, pool: &Pool) -> Vec<u8> {
        let mut kept = Vec::new();
        // Out of time: what has come so far is what there is.
        let reading = read(self.response.into_body(), keep, &mut kept);
        let is_whole = tokio::time::timeout(time, reading).await.unwrap_or(false);
        if is_whole && self.connection.settle().await {
            pool.keep(self.key, self.connection);
        }
        kept
    }
}

/// Reads a body; `true` when that was all of it.
async fn read(mut body: Incoming, keep: usize, kept: &mut Vec<u8>) -> bool {
    loop {
        if body.is_end_stream() {
            return true;
        }
        let room = keep - kept.len();
        if room == 0 {
            return false;
        }
        match body.frame().await {
            None => return true,
            Some(Err(_)) => return false,
            Some(Ok(frame)) => {
                let data = frame.data_ref().map(Bytes::as_ref).unwrap_or_default();
                kept.extend_from_slice(data.get(..room).unwrap_or(data));
                if data.len() > room {
                    return false;
                }
            }
        }
    }
}
