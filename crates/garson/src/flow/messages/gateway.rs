//! Turns a request template into a request to a gateway.

use super::sending::Sending;
use crate::app::App;
use crate::net::headers::check_headers;
use crate::net::{HeaderCase, Log, Outgoing, SendError};
use bytes::Bytes;
use garson_core::channel::{HttpMethod, HttpTemplate};
use garson_core::explanation::Explanation;
use garson_core::id::AccountId;
use garson_core::message::Rendered;
use garson_core::message_template::{Context, fill};
use garson_core::platform::Trust;
use garson_core::secret::Secret;
use http::{HeaderMap, HeaderValue, Method, header};
use std::collections::BTreeMap;
use std::time::Duration;

/// For the whole request.
const DEADLINE: Duration = Duration::from_secs(10);
/// How much of an answer is read.
const KEEP_BODY: usize = 2_000;
/// How much of it is shown.
const MAX_SAID: usize = 200;

/// Sends a message by a gateway.
pub async fn send(app: &App, account: AccountId, template: &HttpTemplate, message: &Rendered) -> Sending {
    let outgoing = match request(template, message) {
        Ok(outgoing) => outgoing,
        Err(why) => return Sending::Failed(why),
    };
    match app.net.on_behalf_of(account).send(outgoing).await {
        Ok(answer) if (200..300).contains(&answer.status) => Sending::Sent,
        Ok(answer) => {
            let said = said(&answer.body, template);
            let why = Explanation::answered(answer.status, said.as_deref());
            if matches!(answer.status, 408 | 425 | 429 | 500..=599) {
                Sending::NotYet(why)
            } else {
                Sending::Failed(why)
            }
        }
        Err(error @ SendError::NotAllowed(_)) => Sending::Failed(error.explanation()),
        Err(error @ SendError::Unreachable { .. }) => Sending::NotYet(error.explanation()),
        Err(error @ (SendError::Broken(_) | SendError::TimedOut(_))) => Sending::Unclear(error.explanation()),
    }
}

/// The request of a template, with its placeholders filled.
fn request(template: &HttpTemplate, message: &Rendered) -> Result<Outgoing, Explanation> {
    let value = |name: &str| match name.strip_prefix("secret.") {
        Some(secret) => template.secrets.get(secret).map(|value| value.expose().as_str()),
        None => message.value(name),
    };
    let headers: BTreeMap<&String, String> = template
        .headers
        .iter()
        .map(|(name, text)| (name, fill(text.expose(), Context::Header, value)))
        .collect();
    let pairs = headers.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    let mut headers = check_headers(pairs).map_err(|refusal| Explanation::text(refusal.to_string()))?;
    let body = match template.method {
        HttpMethod::Get => String::new(),
        HttpMethod::Post | HttpMethod::Put => {
            let context = content_context(&mut headers, &template.body);
            fill(&template.body, context, value)
        }
    };
    Ok(Outgoing {
        method: match template.method {
            HttpMethod::Get => Method::GET,
            HttpMethod::Post => Method::POST,
            HttpMethod::Put => Method::PUT,
        },
        url: fill(&template.url, Context::Url, value),
        headers,
        header_case: HeaderCase::default(),
        body: Bytes::from(body),
        trust: Trust::Account,
        deadline: DEADLINE,
        keep_body: KEEP_BODY,
        log: Log::Failures,
        may_repeat: false,
    })
}

/// The context of a body by its content type. Without one, a body that looks like JSON is JSON, any other is a form.
fn content_context(headers: &mut HeaderMap, body: &str) -> Context {
    if let Some(given) = headers.get(header::CONTENT_TYPE) {
        return Context::of_content_type(given.to_str().unwrap_or_default());
    }
    let kind = if body.trim_start().starts_with(['{', '[']) {
        "application/json"
    } else {
        "application/x-www-form-urlencoded"
    };
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    Context::of_content_type(kind)
}

/// The beginning of an answer, without the channel's secrets: a gateway may repeat what it was sent.
fn said(body: &[u8], template: &HttpTemplate) -> Option<String> {
    let text = String::from_utf8_lossy(body);
    let mut text: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    let secrets = template.headers.values().chain(template.secrets.values());
    for secret in secrets.map(Secret::expose).filter(|value| value.len() >= 4) {
        text = text.replace(secret.as_str(), "***");
    }
    let text: String = text.trim().chars().take(MAX_SAID).collect();
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::platform_names::render_message;
    use garson_core::channel::Language;
    use garson_core::message::MessageContent;
    use garson_core::time::Timestamp;

    fn secrets(pairs: &[(&str, &str)]) -> BTreeMap<String, Secret<String>> {
        let pairs = pairs.iter();
        pairs
            .map(|(name, value)| ((*name).to_owned(), Secret::new((*value).to_owned())))
            .collect()
    }

    fn template(body: &str) -> HttpTemplate {
        HttpTemplate {
            method: HttpMethod::Post,
            url: "https://sms.example/send?to=90555&key={secret.key}&m={text}".to_owned(),
            headers: secrets(&[("authorization", "Bearer {secret.key}")]),
            body: body.to_owned(),
            secrets: secrets(&[("key", "k/1 2")]),
        }
    }

    fn message() -> Rendered {
        render_message(&MessageContent::Test, Language::Tr, Timestamp::from_millis(0))
    }

    #[test]
    fn placeholders_are_filled_for_their_place() {
        let request = request(&template(r#"{"m":"{text}","p":"{secret.key}"}"#), &message()).unwrap();
        assert!(
            request
                .url
                .starts_with("https://sms.example/send?to=90555&key=k%2F1%202&m=Bu%20bir"),
            "{}",
            request.url
        );
        assert_eq!(request.headers.get("authorization").unwrap(), "Bearer k/1 2");
        assert_eq!(request.headers.get("content-type").unwrap(), "application/json");
        let body: serde_json::Value = serde_json::from_slice(&request.body).unwrap();
        assert_eq!(body["p"], "k/1 2");
        let form = super::request(&template("m={text}&p={secret.key}"), &message()).unwrap();
        assert!(form.body.ends_with(b"&p=k%2F1+2"));
    }

    #[test]
    fn answers_are_shown_without_secrets() {
        let template = template("");
        let shown = said(b"bad key: k/1 2\r\n", &template).unwrap();
        assert_eq!(shown, "bad key: ***");
        assert_eq!(said(b" \n", &template), None);
    }
}
