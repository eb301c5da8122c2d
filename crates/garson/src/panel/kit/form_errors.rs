//! Errors of a submitted form: shown at the field they are about, with everything else kept as it was typed.

use super::current_user::CurrentUser;
use super::error::PanelError;
use super::field_problem;
use super::form::Field;
use super::form_data::FormData;
use crate::http::error::{ApiError, Code};
use crate::panel::words::{FormErrorTexts, Lang};
use http::StatusCode;
use serde_json::Value;

/// An error that the user can correct.
#[derive(Clone, Debug)]
pub struct FormErrors {
    pub status: StatusCode,
    /// The field, as the API calls it; empty if it is about the whole form.
    field: String,
    text: String,
    marked: &'static str,
}

impl FormErrors {
    /// The error, if the user can correct it; any other error is a page of its own.
    pub fn new(user: &CurrentUser, error: impl Into<ApiError>) -> Result<Self, PanelError> {
        let error = error.into();
        let t = FormErrorTexts::of(user.lang);
        let status = error.code.status();
        if !matches!(status.as_u16(), 400 | 409 | 422) {
            return Err(user.fail_with(error));
        }
        let (field, text) = match (error.code, error.details.first()) {
            (Code::RemoteIdTaken, _) => ("remoteId".to_owned(), t.remote_id_taken.to_owned()),
            (Code::ReasonNotAccepted, _) => {
                ("defaultCancelReason".to_owned(), t.reason_not_accepted.to_owned())
            }
            (_, Some(detail)) => (
                detail.field.clone(),
                field_problem::text(user.lang, &detail.problem),
            ),
            (_, None) => (String::new(), PanelError::of(user.lang, error).text()),
        };
        Ok(Self {
            status,
            field,
            text,
            marked: t.marked,
        })
    }

    /// The name that was typed is not the name of what is to be deleted.
    pub fn name_differs(lang: Lang) -> Self {
        let t = FormErrorTexts::of(lang);
        Self {
            status: StatusCode::UNPROCESSABLE_ENTITY,
            field: "confirm".to_owned(),
            text: t.name_differs.to_owned(),
            marked: t.name_differs,
        }
    }

    /// The text, for a form with one field.
    pub fn into_text(self) -> String {
        self.text
    }

    /// For a form that asks for something and saves nothing.
    #[must_use]
    pub fn of_question(mut self, lang: Lang) -> Self {
        self.marked = FormErrorTexts::of(lang).marked_question;
        self
    }

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

    /// Marks the field, and returns the text above the form.
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

/// A field's text with `\n` line ends; null if it is empty.
pub fn text(fields: &FormData, name: &str) -> Value {
    fields
        .non_empty(name)
        .map_or(Value::Null, |text| Value::String(text.replace("\r\n", "\n")))
}

/// A field's number, with a point or a comma; text that is no number stays text.
pub fn number(fields: &FormData, name: &str) -> Value {
    let Value::String(text) = text(fields, name) else {
        return Value::Null;
    };
    let whole = text.parse::<i64>().ok().map(Value::from);
    let number = || text.replace(',', ".").parse::<f64>().ok();
    let number = || number().and_then(serde_json::Number::from_f64).map(Value::Number);
    whole.or_else(number).unwrap_or(Value::String(text))
}

/// Is it the name, as it is shown on the page?
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
