//! Deleting what cannot be brought back: only who types its name does it.

use super::form::Field;

/// The form that deletes something; `sheets.html` draws it.
pub struct Erase {
    pub action: String,
    pub label: &'static str,
    /// What is lost.
    pub text: &'static str,
    /// The name that has to be typed.
    pub name: String,
    pub field: Field,
}

impl Erase {
    pub fn new(action: String, label: &'static str, text: &'static str, name: &str, ask: &str) -> Self {
        Self {
            action,
            label,
            text,
            name: name.to_owned(),
            field: Field::text("confirm", ask).required(),
        }
    }

    /// It stays open while something is wrong with it.
    pub fn is_open(&self) -> bool {
        !self.field.error.is_empty()
    }
}
