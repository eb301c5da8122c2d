//! Sends requests over plain HTTP and keeps connections for the next one.

use std::{collections::HashMap, sync::Mutex, sync::PoisonError, time::Duration};

use bytes::Bytes;
use http::{Request, StatusCode, Uri};
use http_body_util::{BodyExt, Full, Limited};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use tokio::{net::TcpStream, time::timeout};

const IDLE_KEPT: usize = 64;
const ANSWER_BYTES: usize = 64 * 1024 * 1024;

type Sender = SendRequest<Full<Bytes>>;

#[derive(Debug, Default)]
pub(crate) struct HttpClient {
    idle: Mutex<HashMap<String, Vec<Sender>>>,
}

impl HttpClient {
    /// Sends and waits for the whole answer; the error says why there is none.
    pub(crate) async fn send(
        &self,
        request: Request<Bytes>,
        wait: Duration,
    ) -> Result<(StatusCode, Bytes), String> {
        let exchange = timeout(wait, self.exchange(request)).await;
        exchange.unwrap_or_else(|_| Err(format!("no answer in {} ms", wait.as_millis())))
    }

    async fn exchange(&self, request: Request<Bytes>) -> Result<(StatusCode, Bytes), String> {
        let address = address(request.uri())?;
        let (mut parts, body) = request.into_parts();
        if let Ok(host) = address.parse() {
            parts.headers.insert(http::header::HOST, host);
        }
        // HTTP/1 wants the path alone in its first line.
        parts.uri = parts
            .uri
            .path_and_query()
            .cloned()
            .map_or_else(Uri::default, Uri::from);
        let request = Request::from_parts(parts, Full::new(body));
        let mut sender = match self.take_idle(&address) {
            Some(sender) => sender,
            None => connect(&address).await?,
        };
        let answer = match sender.try_send_request(request).await {
            Ok(answer) => answer,
            // The connection was closed meanwhile, and nothing was sent.
            Err(mut error) => match error.take_message() {
                Some(request) => {
                    sender = connect(&address).await?;
                    sender
                        .send_request(request)
                        .await
                        .map_err(|error| error.to_string())?
                }
                None => return Err(error.into_error().to_string()),
            },
        };
        let status = answer.status();
        let body = Limited::new(answer.into_body(), ANSWER_BYTES)
            .collect()
            .await
            .map_err(|error| error.to_string())?;
        self.keep_idle(address, sender);
        Ok((status, body.to_bytes()))
    }

    fn take_idle(&self, address: &str) -> Option<Sender> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let senders = idle.get_mut(address)?;
        senders.retain(|sender| !sender.is_closed());
        senders.pop().filter(SendRequest::is_ready)
    }

    fn keep_idle(&self, address: String, sender: Sender) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let senders = idle.entry(address).or_default();
        if senders.len() < IDLE_KEPT && !sender.is_closed() {
            senders.push(sender);
        }
    }
}

fn address(uri: &Uri) -> Result<String, String> {
    if uri.scheme_str() != Some("http") {
        return Err(format!("{uri} does not begin with http://"));
    }
    let host = uri.host().ok_or_else(|| format!("{uri} names no host"))?;
    Ok(format!("{host}:{}", uri.port_u16().unwrap_or(80)))
}

async fn connect(address: &str) -> Result<Sender, String> {
    let stream = TcpStream::connect(address)
        .await
        .map_err(|error| format!("{address}: {error}"))?;
    stream.set_nodelay(true).map_err(|error| error.to_string())?;
    let (sender, connection) = handshake(TokioIo::new(stream))
        .await
        .map_err(|error| error.to_string())?;
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!(%error, "connection ended");
        }
    });
    Ok(sender)
}
