//! The requests to the other service: bounded, repeated while it is busy, and never sent to another address.

use super::answer::{self, Answer};
use crate::cli::command::CommandError;
use crate::cli::progress::clear as clear_progress;
use crate::http::path::API_PREFIX;
use crate::net::guard::{Scheme, Target};
use crate::net::{Client, HeaderCase, Log, Outgoing, is_on_this_machine};
use garson_core::platform::Trust;
use garson_core::secret::Secret;
use http::{HeaderMap, HeaderValue, Method, header};
use serde_json::Value;
use std::time::Duration;

/// For a whole request.
const DEADLINE: Duration = Duration::from_secs(60);
/// The largest response that is read.
const MAX_BODY: usize = 64 * 1024 * 1024;
/// How long to wait before each further attempt, in seconds.
const PAUSES: [u64; 6] = [1, 2, 4, 8, 16, 30];
/// A longer `Retry-After` is not waited for.
const MAX_PAUSE: u64 = 300;
const MAX_SHOWN: usize = 300;

/// Refuses an address that is none, has a password, or would send the key unencrypted.
pub fn check_url(url: &str, allow_http: bool) -> Result<(), CommandError> {
    let target = Target::parse(url).map_err(|refusal| CommandError(format!("--from-api: {refusal}")))?;
    let is_local = url::Url::parse(url).is_ok_and(|url| is_on_this_machine(&url));
    if target.scheme() == Scheme::Http && !is_local && !allow_http {
        return Err(CommandError(
            "--from-api: with http:// the key and the orders cross the network unencrypted. Use https://, or --allow-http"
                .to_owned(),
        ));
    }
    Ok(())
}

pub struct Source {
    client: Client,
    /// With the prefix of the API.
    base: String,
    bearer: HeaderValue,
}

/// Why something was not read.
#[derive(Debug)]
pub struct SourceError {
    pub status: Option<u16>,
    pub message: String,
}

impl From<SourceError> for CommandError {
    fn from(error: SourceError) -> Self {
        Self(error.message)
    }
}

/// What one attempt came to.
enum Attempt {
    Done(Answer),
    Again { message: String, after: Option<u64> },
    Failed(SourceError),
}

impl Source {
    pub fn new(client: Client, url: &str, key: Secret<String>) -> Result<Self, CommandError> {
        let target = Target::parse(url).map_err(|refusal| CommandError(format!("--from-api: {refusal}")))?;
        if target.path_and_query().query().is_some() {
            return Err(CommandError("--from-api must have no query".to_owned()));
        }
        let url = target.url();
        let url = url.trim_end_matches('/');
        let base = url.strip_suffix(API_PREFIX).unwrap_or(url).trim_end_matches('/');
        let bearer = HeaderValue::from_str(&format!("Bearer {}", key.expose()));
        let mut bearer =
            bearer.map_err(|_| CommandError("the API key has characters that no key has".to_owned()))?;
        bearer.set_sensitive(true);
        Ok(Self {
            client,
            base: format!("{base}{API_PREFIX}"),
            bearer,
        })
    }

    /// Reads what is at a path below the prefix of the API.
    pub async fn get(&self, path: &str) -> Result<Answer, SourceError> {
        let mut pauses = PAUSES.into_iter();
        loop {
            let (message, after) = match self.attempt(path).await {
                Attempt::Done(answer) => return Ok(answer),
                Attempt::Failed(error) => return Err(error),
                Attempt::Again { message, after } => (message, after),
            };
            let pause = pauses.next().zip(Some(after.unwrap_or(0)));
            match pause {
                Some((pause, after)) if after <= MAX_PAUSE => {
                    let seconds = pause.max(after);
                    clear_progress();
                    eprintln!("{}: {message}; again in {seconds} s", shown(path));
                    tokio::time::sleep(Duration::from_secs(seconds)).await;
                }
                _ => {
                    return Err(SourceError {
                        status: None,
                        message: format!(
                            "GET {}: {message}. What was imported stays; run the same command again to continue",
                            shown(path)
                        ),
                    });
                }
            }
        }
    }

    async fn attempt(&self, path: &str) -> Attempt {
        let mut headers = HeaderMap::new();
        headers.insert(header::AUTHORIZATION, self.bearer.clone());
        headers.insert(header::ACCEPT, HeaderValue::from_static("application/json"));
        let outgoing = Outgoing {
            method: Method::GET,
            url: format!("{}{path}", self.base),
            headers,
            header_case: HeaderCase::default(),
            body: Vec::new().into(),
            // The operator has chosen the address.
            trust: Trust::Operator,
            deadline: DEADLINE,
            keep_body: MAX_BODY,
            log: Log::Never,
            may_repeat: true,
        };
        let failed = |status: u16, message: String| {
            Attempt::Failed(SourceError {
                status: Some(status),
                message: format!("GET {}: {message}", shown(path)),
            })
        };
        let response = match self.client.send(outgoing).await {
            Ok(response) => response,
            Err(error @ crate::net::SendError::NotAllowed(_)) => {
                return Attempt::Failed(SourceError {
                    status: None,
                    message: error.to_string(),
                });
            }
            Err(error) => {
                let (message, after) = (error.to_string(), None);
                return Attempt::Again { message, after };
            }
        };
        let text = |name| {
            response
                .headers
                .get(name)
                .and_then(|value: &HeaderValue| value.to_str().ok())
        };
        let status = response.status;
        match status {
            200 => {}
            429 | 500 | 502 | 503 | 504 => {
                return Attempt::Again {
                    message: said(status, &response.body),
                    after: text(header::RETRY_AFTER).and_then(|after| after.trim().parse().ok()),
                };
            }
            300..=399 => {
                let to = text(header::LOCATION).and_then(|to| url::Url::parse(to).ok());
                let to = to.map_or_else(String::new, |to| {
                    format!(" to {}", to.origin().ascii_serialization())
                });
                return failed(
                    status,
                    format!(
                        "the service redirects{to}, and redirects are not followed because they would take the key along. Give the final address"
                    ),
                );
            }
            401 => return failed(status, "the service does not accept the key".to_owned()),
            _ => return failed(status, said(status, &response.body)),
        }
        let kind = text(header::CONTENT_TYPE)
            .unwrap_or_default()
            .to_ascii_lowercase();
        let media_type = kind.split(';').next().unwrap_or_default().trim();
        if media_type != "application/json" && !media_type.ends_with("+json") {
            let kind: String = media_type.chars().filter(|c| !c.is_control()).take(80).collect();
            return failed(
                status,
                format!("the answer is {kind:?} and not JSON. Is this the address of the service?"),
            );
        }
        if response.body.len() >= MAX_BODY {
            return failed(
                status,
                format!("the answer is larger than {} MiB", MAX_BODY >> 20),
            );
        }
        match answer::read(response.body) {
            Ok(answer) => Attempt::Done(answer),
            // It may have been cut off on the way.
            Err(problem) if problem.is_broken => Attempt::Again {
                message: problem.message,
                after: None,
            },
            Err(problem) => failed(status, problem.message),
        }
    }
}

/// The path without the cursor, which means nothing to people.
fn shown(path: &str) -> &str {
    path.split("&cursor=").next().unwrap_or(path)
}

/// The status, and the message if the body is an error of the API.
fn said(status: u16, body: &[u8]) -> String {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let message = body["error"]["message"].as_str().unwrap_or_default();
    let message: String = message
        .chars()
        .filter(|c| !c.is_control())
        .take(MAX_SHOWN)
        .collect();
    format!("the service answered {status} {message}")
        .trim_end()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clear_text_is_for_this_machine_only() {
        for (url, is_fine) in [
            ("https://orders.example.com", true),
            ("http://127.0.0.1:8080/", true),
            ("http://localhost:8080", true),
            ("http://orders.example.com", false),
            ("http://192.168.1.5", false),
            ("ftp://orders.example.com", false),
            ("orders.example.com", false),
            ("https://user:password@orders.example.com", false),
        ] {
            assert_eq!(check_url(url, false).is_ok(), is_fine, "{url}");
        }
        assert!(check_url("http://orders.example.com", true).is_ok());
    }
}
