//! The connectors against the simulator: what each platform's capability promises is done, read back, or refused in its words.

mod hours;
mod items;
mod prices;
mod store;

use crate::support::{Stage, call, credentials, quick};
use garson_core::integration::Credentials;
use garson_core::platform::{CallError, HttpRequest, HttpResponse, Link, MenuStep, PlatformError, Step};
use garson_core::secret::Secret;
use garson_core::time::Timestamp;
use garson_sim::{Platform, SimSettings};
use serde_json::Value;

pub struct Connection {
    pub stage: Stage,
    pub platform: &'static dyn garson_core::platform::Platform,
    pub credentials: Credentials,
    base: String,
    branch: &'static str,
    token: Option<Secret<String>>,
}

/// A connector with a session, without rate limits.
pub async fn connect(platform: Platform) -> Connection {
    connect_with(
        platform,
        SimSettings {
            rate_limits: false,
            ..quick()
        },
    )
    .await
}

pub async fn connect_with(platform: Platform, settings: SimSettings) -> Connection {
    let branch = match platform {
        Platform::Getir => "64b7f0c2a1d3e5f678900001",
        Platform::Yemeksepeti => "kadikoy",
        Platform::Trendyol => "2738:101",
        Platform::Migros => "5001",
    };
    let stage = Stage::with(platform, branch, settings, |_| {}).await;
    let mut connection = Connection {
        base: stage.url(""),
        stage,
        platform: garson_platforms::find(platform.name()).unwrap(),
        credentials: secrets(&credentials(platform)),
        branch,
        token: None,
    };
    let login = connection.platform.login(&connection.link()).unwrap();
    if let Some(login) = login {
        let answer = connection.send(login).await;
        let session = connection.platform.session(&answer).unwrap();
        connection.token = Some(session.token);
    }
    connection
}

fn secrets(given: &Value) -> Credentials {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let fields = given.as_object().unwrap().iter();
    fields
        .map(|(name, value)| (name.clone(), Secret::new(text(value))))
        .collect()
}

impl Connection {
    pub fn link(&self) -> Link<'_> {
        Link {
            base: &self.base,
            branch: self.branch,
            credentials: &self.credentials,
            token: self.token.as_ref(),
            callback_hosts: &[],
        }
    }

    /// Sets what the operator would set.
    pub fn set(&mut self, name: &str, value: &str) {
        self.credentials
            .insert(name.to_owned(), Secret::new(value.to_owned()));
    }

    async fn send(&self, request: HttpRequest) -> HttpResponse {
        let headers: Vec<(&str, &str)> = request
            .headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.expose().as_str()))
            .collect();
        let method = request.method.parse().unwrap();
        let body = String::from_utf8(request.body.unwrap_or_default()).unwrap();
        let answer = call(method, &request.url, &headers, body).await.unwrap();
        HttpResponse {
            status: answer.status,
            body: answer.text.into_bytes(),
        }
    }

    /// Takes steps until there is a result.
    pub async fn run<T>(
        &self,
        next: impl Fn(&Link<'_>, &[HttpResponse]) -> Result<Step<T>, PlatformError>,
    ) -> Result<T, PlatformError> {
        let mut answers = Vec::new();
        loop {
            assert!(answers.len() < 20, "too many steps");
            match next(&self.link(), &answers)? {
                Step::Done(result) => return Ok(result),
                Step::Ask(request) => answers.push(self.send(request).await),
            }
        }
    }

    pub async fn menu(&self) -> garson_core::menu::Menu {
        let mut answers = Vec::new();
        loop {
            match self.platform.menu(&self.link(), &answers).unwrap() {
                MenuStep::Menu(menu) => return menu,
                MenuStep::Ask(request) => answers.push(self.send(request).await),
            }
        }
    }

    /// The ids of the simulator's products, then of its options.
    pub async fn item_ids(&self) -> Vec<String> {
        let items = self
            .stage
            .control
            .items(self.stage.platform, &self.stage.remote_id);
        items.await.unwrap().into_iter().map(|item| item.id).collect()
    }

    pub async fn advance(&self, seconds: u32) {
        self.stage.control.advance_clock(seconds).await.unwrap();
    }
}

/// The time of tests' changes: the simulator's clock is the real one.
#[expect(clippy::disallowed_methods, reason = "the simulator runs on the system clock")]
pub fn now() -> Timestamp {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    Timestamp::from_millis(i64::try_from(since.unwrap().as_millis()).unwrap())
}

pub fn is_unsupported<T>(result: &Result<T, PlatformError>) -> bool {
    matches!(result, Err(PlatformError::Unsupported { .. }))
}

/// The platform's words in a refusal.
pub fn refusal<T: std::fmt::Debug>(result: Result<T, PlatformError>) -> String {
    match result {
        Err(PlatformError::Answered(
            CallError::Refused { message } | CallError::RetryableRefusal { message, .. },
        )) => message.to_string(),
        other => panic!("not a refusal: {other:?}"),
    }
}
