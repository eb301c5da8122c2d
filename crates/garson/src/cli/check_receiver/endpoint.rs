//! The endpoint under test, and its responses.

use crate::net::guard::Target;
use crate::net::{Client, HeaderCase, Log, Outgoing, SendError, Stage};
use garson_core::account::AuthorizationForm;
use garson_core::explanation::Explanation;
use garson_core::platform::Trust;
use garson_core::secret::Secret;
use http::{HeaderMap, HeaderValue, Method, header};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

/// The response to one request, and how long it took.
#[derive(Clone, Debug)]
pub struct Reply {
    pub result: Result<u16, SendError>,
    pub took: Duration,
}

impl Reply {
    pub fn status(&self) -> Option<u16> {
        self.result.as_ref().ok().copied()
    }

    pub fn is_success(&self) -> bool {
        matches!(self.result, Ok(200..=299))
    }

    pub fn is_timeout(&self) -> bool {
        matches!(self.result, Err(SendError::TimedOut(_)))
    }
}

impl std::fmt::Display for Reply {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.result {
            Ok(status) => write!(f, "{status} in {} ms", self.took.as_millis()),
            Err(error) => error.fmt(f),
        }
    }
}

pub struct Endpoint {
    pub client: Client,
    pub target: Target,
    pub key: Secret<String>,
    pub form: AuthorizationForm,
    /// How long a response may take.
    pub limit: Duration,
    /// The redirect that an event got as a response, if any.
    redirect: AtomicU16,
}

impl Endpoint {
    pub fn new(
        client: Client,
        target: Target,
        key: Secret<String>,
        form: AuthorizationForm,
        limit: Duration,
    ) -> Self {
        Self {
            client,
            target,
            key,
            form,
            limit,
            redirect: AtomicU16::new(0),
        }
    }

    /// Its address for output, without the query, which may contain secrets.
    pub fn shown(&self) -> String {
        let url = self.target.url();
        url.split('?').next().unwrap_or_default().to_owned()
    }

    /// The correct value of the header.
    pub fn authorization(&self) -> Secret<String> {
        self.form.header(&self.key)
    }

    /// Sends an event as Garson does.
    pub async fn post(&self, event: String) -> Reply {
        self.post_with(event, Some(self.authorization())).await
    }

    /// Sends an event with another Authorization, or without one.
    pub async fn post_with(&self, event: String, authorization: Option<Secret<String>>) -> Reply {
        let reply = self.send(Method::POST, event, headers(authorization)).await;
        self.watch(reply)
    }

    /// Sends an event with exactly these headers.
    pub async fn post_as(&self, event: String, headers: HeaderMap) -> Reply {
        let reply = self.send(Method::POST, event, Ok(headers)).await;
        self.watch(reply)
    }

    pub async fn get(&self) -> Reply {
        let headers = headers(Some(self.authorization()));
        self.send(Method::GET, String::new(), headers).await
    }

    /// Records a redirect as the response to an event.
    pub fn watch(&self, reply: Reply) -> Reply {
        if let Ok(status @ 300..=399) = reply.result {
            self.redirect.store(status, Ordering::Relaxed);
        }
        reply
    }

    pub fn redirect(&self) -> Option<u16> {
        Some(self.redirect.load(Ordering::Relaxed)).filter(|status| *status > 0)
    }

    async fn send(&self, method: Method, body: String, headers: Result<HeaderMap, SendError>) -> Reply {
        let started = Instant::now();
        let result = match headers {
            Err(error) => Err(error),
            Ok(headers) => {
                let outgoing = Outgoing {
                    method,
                    url: self.target.url(),
                    headers,
                    header_case: HeaderCase::default(),
                    body: body.into(),
                    trust: Trust::Account,
                    deadline: self.limit,
                    keep_body: 0,
                    log: Log::Failures,
                    may_repeat: false,
                };
                self.client.send(outgoing).await.map(|answer| answer.status)
            }
        };
        Reply {
            result,
            took: started.elapsed(),
        }
    }
}

/// The headers of an event.
pub fn headers(authorization: Option<Secret<String>>) -> Result<HeaderMap, SendError> {
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if let Some(value) = authorization {
        let mut value = HeaderValue::from_str(value.expose()).map_err(|_| {
            SendError::unreachable(Stage::Exchange, Explanation::text("the key cannot be sent"))
        })?;
        value.set_sensitive(true);
        headers.insert(header::AUTHORIZATION, value);
    }
    Ok(headers)
}
