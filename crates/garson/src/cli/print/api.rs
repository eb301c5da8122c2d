//! The requests of the agent to the service.

use super::clock::ServiceClock;
use crate::net::guard::Target;
use crate::net::{Client, HeaderCase, Log, Outgoing, SendError};
use garson_core::id::{OrderId, PrintJobId, PrinterId, RestaurantId};
use garson_core::platform::Trust;
use garson_core::printer::PrinterState;
use garson_core::secret::Secret;
use garson_core::time::Timestamp;
use garson_ticket::Options;
use garson_ticket::code_page::CodePage;
use http::{HeaderMap, HeaderValue, Method, header};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::fmt;
use std::time::Duration;

/// How long the service holds a request when there is no event.
const WAIT_SECONDS: u64 = 25;
/// For a request that is answered at once.
const DEADLINE: Duration = Duration::from_secs(15);
/// The largest response that is read.
const MAX_BODY: usize = 4 * 1024 * 1024;
/// The largest numbers that the service takes in a report.
const MAX_COUNT: u32 = 1_000_000;
const MAX_CLOCK: i64 = 1_000_000_000;

pub struct Api {
    client: Client,
    /// Without a slash at the end.
    base: String,
    key: Secret<String>,
    /// Learns from every answer.
    pub clock: ServiceClock,
}

/// Why a request has no result.
#[derive(Debug)]
pub enum ApiFailure {
    /// No answer: it is tried again.
    Unreachable(SendError),
    /// The service refuses, or has a problem of its own.
    Status { status: u16, code: String },
    /// The answer is not what the service sends.
    Unreadable,
}

impl ApiFailure {
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::Status { status: 404, .. })
    }

    /// The cursor is not one of this service, or events behind it are no longer kept.
    pub fn is_lost_cursor(&self) -> bool {
        matches!(self, Self::Status { code, .. } if code == "invalid_cursor")
    }

    pub fn is_key_refused(&self) -> bool {
        matches!(self, Self::Status { status: 401, .. })
    }
}

impl fmt::Display for ApiFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable(error) => write!(f, "the service cannot be reached: {error}"),
            Self::Status { status: 401, .. } => f.write_str("the service does not accept the key"),
            Self::Status { status, code } => write!(f, "the service answered {status} {code}"),
            Self::Unreadable => f.write_str("the answer is not one of Garson's"),
        }
    }
}

/// A page of events, oldest first.
pub struct EventPage {
    pub events: Vec<Event>,
    /// Where the next page begins.
    pub cursor: Option<String>,
}

/// What an event says of an order. Events of other kinds lack some of it.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    pub id: String,
    pub order_id: Option<OrderId>,
    pub restaurant_id: Option<RestaurantId>,
    pub occurred_at: Timestamp,
    pub status: Option<i64>,
    pub old_status: Option<i64>,
    pub new_status: Option<i64>,
    #[serde(skip)]
    pub name: String,
}

/// A ticket that a person wants printed.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Job {
    pub id: PrintJobId,
    pub order_id: OrderId,
    pub kind: String,
}

/// What is reported to the service.
pub struct Report<'a> {
    pub state: PrinterState,
    pub message: &'a str,
    pub waiting: usize,
    pub skipped: u32,
    /// In seconds; `None` if the clock is right.
    pub clock_ahead: Option<i64>,
    pub printed: &'a [PrintJobId],
}

impl Api {
    pub fn new(client: Client, target: &Target, key: Secret<String>) -> Self {
        let url = target.url();
        Self {
            client,
            base: url.trim_end_matches('/').to_owned(),
            key,
            clock: ServiceClock::default(),
        }
    }

    /// The address of the service.
    pub fn server(&self) -> &str {
        &self.base
    }

    /// Waits for events after a cursor. Without a cursor it returns none, and where to begin.
    pub async fn events(&self, cursor: Option<&str>) -> Result<EventPage, ApiFailure> {
        let (path, wait) = match cursor {
            Some(cursor) => (
                format!("/events?client=printer&dir=prev&cursor={cursor}&wait={WAIT_SECONDS}"),
                WAIT_SECONDS,
            ),
            None => ("/events?client=printer&limit=1".to_owned(), 0),
        };
        let deadline = DEADLINE + Duration::from_secs(wait);
        let body: Value = self.json(Method::GET, &path, None, deadline).await?;
        let next = body["paging"]["prev"].as_str().map(str::to_owned);
        // It becomes a part of the next request.
        if next
            .as_ref()
            .is_some_and(|cursor| !cursor.bytes().all(|byte| byte.is_ascii_alphanumeric()))
        {
            return Err(ApiFailure::Unreadable);
        }
        if cursor.is_none() {
            return Ok(EventPage {
                events: Vec::new(),
                cursor: next,
            });
        }
        let items = body["data"].as_array().ok_or(ApiFailure::Unreadable)?;
        let read = |item: &Value| {
            let mut event: Event = serde_json::from_value(item["veri"].clone()).ok()?;
            item["olay"].as_str()?.clone_into(&mut event.name);
            Some(event)
        };
        // The newest is the first. An event that cannot be read is of a kind that a later service has.
        Ok(EventPage {
            events: items.iter().rev().filter_map(read).collect(),
            cursor: next,
        })
    }

    /// The present status of an order.
    pub async fn order_status(&self, order: OrderId) -> Result<i64, ApiFailure> {
        let body: Value = self
            .json(Method::GET, &format!("/orders/{order}"), None, DEADLINE)
            .await?;
        body["data"]["status"].as_i64().ok_or(ApiFailure::Unreadable)
    }

    /// The commands that print a ticket.
    pub async fn ticket(&self, order: &str, options: Options, page: CodePage) -> Result<Vec<u8>, ApiFailure> {
        let order: String = url::form_urlencoded::byte_serialize(order.as_bytes()).collect();
        let copy = options
            .copy
            .map_or_else(String::new, |copy| format!("&copy={}", copy.as_str()));
        let path = format!(
            "/orders/{order}/ticket?format=escpos&kind={}&width={}&lang={}&codepage={page}{copy}",
            options.kind.as_str(),
            options.width.as_str(),
            options.lang.as_str(),
        );
        self.call(Method::GET, &path, None, DEADLINE).await
    }

    pub async fn register(
        &self,
        name: &str,
        restaurant: Option<RestaurantId>,
    ) -> Result<PrinterId, ApiFailure> {
        let body = json!({ "name": name, "restaurantId": restaurant });
        let answer: Value = self.json(Method::POST, "/printers", Some(body), DEADLINE).await?;
        let id = answer["data"]["id"].as_str().and_then(|id| id.parse().ok());
        id.ok_or(ApiFailure::Unreadable)
    }

    pub async fn report(&self, printer: PrinterId, report: &Report<'_>) -> Result<Vec<Job>, ApiFailure> {
        #[derive(Deserialize)]
        struct Answer {
            data: Jobs,
        }
        #[derive(Deserialize)]
        struct Jobs {
            jobs: Vec<Job>,
        }
        let body = json!({
            "state": report.state.as_str(), "message": report.message, "waiting": report.waiting,
            "skipped": report.skipped.min(MAX_COUNT),
            "clockDifferenceSeconds": report.clock_ahead.map(|seconds| seconds.clamp(-MAX_CLOCK, MAX_CLOCK)),
            "printed": report.printed,
        });
        let path = format!("/printers/{printer}/report");
        let answer: Answer = self.json(Method::POST, &path, Some(body), DEADLINE).await?;
        Ok(answer.data.jobs)
    }

    async fn json<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Option<Value>,
        deadline: Duration,
    ) -> Result<T, ApiFailure> {
        let bytes = self.call(method, path, body, deadline).await?;
        serde_json::from_slice(&bytes).map_err(|_| ApiFailure::Unreadable)
    }

    async fn call(
        &self,
        method: Method,
        path: &str,
        body: Option<Value>,
        deadline: Duration,
    ) -> Result<Vec<u8>, ApiFailure> {
        let mut headers = HeaderMap::new();
        let bearer = HeaderValue::from_str(&format!("Bearer {}", self.key.expose()));
        let mut bearer = bearer.map_err(|_| ApiFailure::Status {
            status: 401,
            code: String::new(),
        })?;
        bearer.set_sensitive(true);
        headers.insert(header::AUTHORIZATION, bearer);
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let outgoing = Outgoing {
            may_repeat: method == Method::GET,
            method,
            url: format!("{}{}{path}", self.base, crate::http::path::API_PREFIX),
            headers,
            header_case: HeaderCase::default(),
            body: body
                .map_or_else(Vec::new, |body| body.to_string().into_bytes())
                .into(),
            trust: Trust::Account,
            deadline,
            keep_body: MAX_BODY,
            log: Log::Never,
        };
        let answer = self
            .client
            .send(outgoing)
            .await
            .map_err(ApiFailure::Unreachable)?;
        let date = answer.headers.get(header::DATE);
        let date = date.and_then(|date| Timestamp::from_http_date(date.to_str().ok()?));
        if let Some(date) = date {
            self.clock.observe(date);
        }
        if answer.status == 200 {
            return Ok(answer.body);
        }
        let code = serde_json::from_slice::<Value>(&answer.body).ok();
        let code = code.and_then(|body| body["error"]["code"].as_str().map(str::to_owned));
        Err(ApiFailure::Status {
            status: answer.status,
            code: code.unwrap_or_default(),
        })
    }
}
