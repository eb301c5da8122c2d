//! Reading what the other service answers: the envelope, and records whose errors name the record and the field.

use garson_core::json::{FaultKind, check, explain};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The longest id that is read or shown.
const MAX_ID: usize = 200;
/// How many characters of other texts are shown.
const MAX_SHOWN: usize = 40;

/// A success.
#[derive(Debug)]
pub struct Answer {
    pub data: Value,
    /// Towards older and newer records.
    pub next: Option<String>,
    pub prev: Option<String>,
    pub is_paged: bool,
    /// The whole body, for what must stay as it was written.
    pub body: Vec<u8>,
}

/// Why an answer is none.
#[derive(Debug)]
pub struct Problem {
    /// It is not JSON at all.
    pub is_broken: bool,
    pub message: String,
}

impl Problem {
    fn new(message: impl Into<String>) -> Self {
        Self {
            is_broken: false,
            message: message.into(),
        }
    }
}

/// Reads a body.
pub fn read(bytes: Vec<u8>) -> Result<Answer, Problem> {
    match check(&bytes) {
        // It is replaced below.
        Err(fault) if fault.kind == FaultKind::Nul => {}
        Err(fault) => {
            return Err(Problem {
                is_broken: fault.kind == FaultKind::Broken,
                message: format!("the answer cannot be read: {}: {}", fault.path, fault.message),
            });
        }
        Ok(()) => {}
    }
    let mut body: Value = serde_json::from_slice(&bytes).map_err(|error| Problem {
        is_broken: true,
        message: format!("the answer is not JSON: {error}"),
    })?;
    replace_nul(&mut body);
    if body.get("success") != Some(&Value::Bool(true)) {
        return Err(Problem::new(
            "the answer has no \"success\": true. Is this the address of the service?",
        ));
    }
    let cursor = |name: &str| match &body["paging"][name] {
        Value::Null => Ok(None),
        Value::String(cursor) if cursor.is_empty() => Ok(None),
        Value::String(cursor) if cursor.len() <= 2_000 => Ok(Some(cursor.clone())),
        _ => Err(Problem::new(format!("paging.{name} must be a text or null"))),
    };
    let (next, prev) = (cursor("next")?, cursor("prev")?);
    let is_paged = body["paging"].is_object();
    Ok(Answer {
        data: body["data"].take(),
        next,
        prev,
        is_paged,
        body: bytes,
    })
}

/// PostgreSQL accepts no NUL in text.
fn replace_nul(value: &mut Value) {
    match value {
        Value::String(text) if text.contains('\0') => *text = text.replace('\0', "\u{fffd}"),
        Value::Array(items) => items.iter_mut().for_each(replace_nul),
        Value::Object(fields) => fields.values_mut().for_each(replace_nul),
        _ => {}
    }
}

/// The records of a list.
pub fn records(answer: &mut Answer) -> Result<Vec<Value>, String> {
    match answer.data.take() {
        Value::Array(records) => Ok(records),
        _ => Err("data must be a list".to_owned()),
    }
}

/// Reads a record or a part of one; the error names the field, and not its value.
pub fn record<T: DeserializeOwned>(value: &Value) -> Result<T, String> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let (path, problem) = explain(&error.path().to_string(), &error.inner().to_string());
        format!("{path}: {problem}")
    })
}

/// The id of a record: a text, or a number as some services have it.
pub fn id(value: &Value, field: &str) -> Result<String, String> {
    let id = match &value[field] {
        Value::String(id) => id.clone(),
        Value::Number(id) => id.to_string(),
        _ => return Err(format!("{field}: must be a text")),
    };
    if id.trim().is_empty() || id.len() > MAX_ID || id.chars().any(char::is_control) {
        return Err(format!(
            "{field}: must be a text of at most {MAX_ID} bytes, without control characters"
        ));
    }
    Ok(id)
}

/// The beginning of a text, to show it.
pub fn short(text: &str) -> String {
    text.chars().take(MAX_SHOWN).collect()
}

/// An id as a segment of a path.
pub fn segment(id: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let encode = |byte: u8| {
        if is_plain(byte) {
            char::from(byte).to_string()
        } else {
            format!("%{byte:02X}")
        }
    };
    id.bytes().map(encode).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn answers_of_other_programs_are_refused() {
        for (body, said) in [
            ("", "cannot be read"),
            ("<html>", "cannot be read"),
            ("[]", "success"),
            (r#"{"success":false,"data":[]}"#, "success"),
            (r#"{"success":true,"data":[],"paging":{"next":7}}"#, "paging.next"),
            (r#"{"success":true,"success":true}"#, "cannot be read"),
        ] {
            let problem = read(body.into()).unwrap_err();
            assert!(problem.message.contains(said), "{body}: {}", problem.message);
        }
        let answer = read(br#"{"success":true,"data":["a\u0000b"]}"#.to_vec()).unwrap();
        assert_eq!(answer.data, json!(["a\u{fffd}b"]));
        assert!(!answer.is_paged);
    }

    #[test]
    fn ids_become_one_segment() {
        assert_eq!(segment("a-1_B"), "a-1_B");
        assert_eq!(segment("../x?y"), "%2E%2E%2Fx%3Fy");
        assert_eq!(id(&json!({ "id": 7 }), "id"), Ok("7".to_owned()));
        for wrong in [
            json!({}),
            json!({ "id": "" }),
            json!({ "id": "a\nb" }),
            json!({ "id": [] }),
        ] {
            assert!(id(&wrong, "id").is_err(), "{wrong}");
        }
    }
}
