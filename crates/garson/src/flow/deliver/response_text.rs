//! A receiver's answer as the delivery log shows it: its head and the beginning of its body, without secrets.

use crate::net::Answer;
use http::{HeaderMap, HeaderName};
use std::fmt::Write;

/// How much of a body is stored, in bytes.
const MAX_BODY: usize = 16 * 1024;
const MAX_HEADERS: usize = 30;
/// Longer values are cut.
const MAX_VALUE: usize = 200;
/// Shorter values are not taken for secrets: they may occur in any text.
const MIN_SECRET: usize = 8;
const MASK: &str = "•••";
/// A header whose name contains one of these may hold a secret.
const SECRET_NAMES: [&str; 7] = ["auth", "cookie", "key", "password", "secret", "session", "token"];

/// The answer as text. Receivers may repeat what they were sent, so the values of the sent headers are masked too.
pub fn response_text(answer: &Answer, sent: &HeaderMap) -> String {
    let mut text = String::new();
    for (name, value) in answer.headers.iter().take(MAX_HEADERS) {
        let value = if is_secret(name) {
            MASK.to_owned()
        } else {
            let value = String::from_utf8_lossy(value.as_bytes());
            value.chars().take(MAX_VALUE).collect()
        };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name}: {value}");
    }
    // PostgreSQL stores no NUL.
    let mut body = String::from_utf8_lossy(&answer.body).replace('\0', "\u{fffd}");
    for secret in secrets(sent) {
        text = text.replace(&secret, MASK);
        body = body.replace(&secret, MASK);
    }
    text.push('\n');
    // Cut after masking, so that no part of a secret is left at the end.
    let cut = body.char_indices().map(|(at, _)| at).find(|at| *at >= MAX_BODY);
    match cut.and_then(|at| body.get(..at)) {
        Some(start) => {
            text.push_str(start);
            text.push('…');
        }
        None => text.push_str(&body),
    }
    text
}

fn is_secret(name: &HeaderName) -> bool {
    SECRET_NAMES.iter().any(|part| name.as_str().contains(part))
}

/// The secrets in headers that were sent: values of sensitive headers, and the last word of each, without its scheme.
fn secrets(sent: &HeaderMap) -> Vec<String> {
    let mut found = Vec::new();
    for (name, value) in sent {
        let Ok(text) = value.to_str() else { continue };
        if value.is_sensitive() || is_secret(name) {
            found.push(text.to_owned());
            found.extend(text.rsplit(' ').next().map(str::to_owned));
        }
    }
    found.retain(|secret| secret.len() >= MIN_SECRET);
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;
    use std::time::Duration;

    fn answer(body: &str) -> Answer {
        let mut headers = HeaderMap::new();
        headers.insert("content-type", HeaderValue::from_static("text/plain"));
        headers.insert("set-cookie", HeaderValue::from_static("sid=abcdefgh"));
        Answer {
            status: 500,
            headers,
            body: body.as_bytes().to_vec(),
            took: Duration::ZERO,
        }
    }

    #[test]
    fn secrets_are_masked_wherever_they_occur() {
        let mut sent = HeaderMap::new();
        sent.insert("authorization", HeaderValue::from_static("Bearer gk_0123456789"));
        sent.insert("x-branch", HeaderValue::from_static("kadikoy-12"));
        let text = response_text(&answer("bad key gk_0123456789 of kadikoy-12\0"), &sent);
        assert_eq!(
            text,
            "content-type: text/plain\nset-cookie: •••\n\nbad key ••• of kadikoy-12\u{fffd}"
        );
    }

    #[test]
    fn long_body_is_cut() {
        let text = response_text(&answer(&"x".repeat(MAX_BODY + 2000)), &HeaderMap::new());
        assert!(text.len() < MAX_BODY + 100 && text.ends_with("x…"));
    }

    #[test]
    fn no_part_of_a_secret_is_left_where_the_body_is_cut() {
        let mut sent = HeaderMap::new();
        sent.insert("authorization", HeaderValue::from_static("Bearer gk_0123456789"));
        let body = format!("{}gk_0123456789{}", "x".repeat(MAX_BODY - 6), "y".repeat(50));
        let text = response_text(&answer(&body), &sent);
        assert!(!text.contains("gk_"), "{text}");
    }
}
