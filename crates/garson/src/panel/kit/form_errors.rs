//! What is wrong with a form that was sent: said at the field that it is about, with everything else kept as it was typed.

use super::current_user::CurrentUser;
use super::error::PanelError;
use super::explain;
use super::form::Field;
use super::form_data::FormData;
use crate::flow::fault::CANNOT_BE_CALLED;
use crate::http::error::{ApiError, Code, Detail};
use crate::panel::words::{Lang, WrongWords, say};
use http::StatusCode;
use serde_json::Value;

/// A refusal that the sender can mend.
#[derive(Clone, Debug)]
pub struct Wrong {
    pub status: StatusCode,
    /// The field, as the API calls it; empty when it is about all of them.
    field: String,
    text: String,
    marked: &'static str,
}

/// Why an address was refused, if that is what is wrong.
fn target_refusal(code: Code, detail: &Detail) -> Option<&str> {
    match code {
        Code::TargetNotAllowed => Some(&detail.message),
        _ => detail.message.strip_prefix(CANNOT_BE_CALLED),
    }
}

impl Wrong {
    /// What the sender can mend; anything else is a page of its own.
    pub fn new(user: &CurrentUser, error: impl Into<ApiError>) -> Result<Self, PanelError> {
        let error = error.into();
        let t = WrongWords::of(user.lang);
        let status = error.code.status();
        if !matches!(status.as_u16(), 400 | 409 | 422) {
            return Err(user.fail_with(error));
        }
        let (field, text) = match (error.code, error.details.first()) {
            (Code::RemoteIdTaken, _) => ("remoteId".to_owned(), t.remote_id_taken.to_owned()),
            (Code::ReasonNotAccepted, _) => {
                ("defaultCancelReason".to_owned(), t.reason_not_accepted.to_owned())
            }
            (code, Some(detail)) if target_refusal(code, detail).is_some() => {
                let why = target_refusal(code, detail).unwrap_or_default();
                let why = explain::attempt(user.lang, why);
                (detail.field.clone(), format!("{} {why}.", t.not_an_address))
            }
            (_, Some(detail)) => (detail.field.clone(), say(user.lang, &detail.message)),
            (_, None) => (String::new(), PanelError::of(user.lang, error).text()),
        };
        Ok(Self {
            status,
            field,
            text,
            marked: t.marked,
        })
    }

    /// Another name was typed than that of what is to be deleted.
    pub fn name_differs(lang: Lang) -> Self {
        let t = WrongWords::of(lang);
        Self {
            status: StatusCode::UNPROCESSABLE_ENTITY,
            field: "confirm".to_owned(),
            text: t.name_differs.to_owned(),
            marked: t.name_differs,
        }
    }

    /// What is wrong, where there is only one field that it can be about.
    pub fn into_text(self) -> String {
        self.text
    }

    /// The field, when it is to be looked for elsewhere than where the API has it.
    pub fn field(&self) -> &str {
        &self.field
    }

    #[must_use]
    pub fn moved_to(mut self, field: impl Into<String>) -> Self {
        self.field = field.into();
        self
    }

    fn is_at(&self, name: &str) -> bool {
        let rest = self.field.strip_prefix(name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    }

    /// Marks the field, and answers what is to be said above the form.
    pub fn mark<'a>(&self, fields: impl IntoIterator<Item = &'a mut Field>) -> String {
        match fields.into_iter().find(|field| self.is_at(&field.name)) {
            Some(field) => {
                field.error.clone_from(&self.text);
                self.marked.to_owned()
            }
            None => self.text.clone(),
        }
    }
}

/// A field's text, with lines as everybody but browsers ends them; null when it is empty.
pub fn text(fields: &FormData, name: &str) -> Value {
    fields
        .non_empty(name)
        .map_or(Value::Null, |text| Value::String(text.replace("\r\n", "\n")))
}

/// A field's number, with a point or a comma; what is none stays the text that it is.
pub fn number(fields: &FormData, name: &str) -> Value {
    let Value::String(text) = text(fields, name) else {
        return Value::Null;
    };
    let whole = text.parse::<i64>().ok().map(Value::from);
    let number = || text.replace(',', ".").parse::<f64>().ok();
    let number = || number().and_then(serde_json::Number::from_f64).map(Value::Number);
    whole.or_else(number).unwrap_or(Value::String(text))
}

/// Is it the name, as it can be read on the page?
pub fn is_same_name(typed: &str, name: &str) -> bool {
    typed.split_whitespace().eq(name.split_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_people_write_them() {
        let sent = FormData::parse(b"a=41%2C5&b=-3.25&c=20&d=abc&e=&f=nan");
        let read = |name| number(&sent, name);
        assert_eq!(read("a"), Value::from(41.5));
        assert_eq!(read("b"), Value::from(-3.25));
        assert_eq!(read("c"), Value::from(20));
        assert_eq!(read("d"), Value::from("abc"));
        assert_eq!((read("e"), read("g")), (Value::Null, Value::Null));
        assert_eq!(read("f"), Value::from("nan"));
    }

    #[test]
    fn names_are_compared_as_they_are_read() {
        assert!(is_same_name("  Moda  Lokantası ", "Moda Lokantası"));
        assert!(!is_same_name("moda lokantası", "Moda Lokantası"));
        assert!(!is_same_name("", "Moda"));
    }
}
