//! Deleting something for good: the user must type its name.

use crate::panel::kit::form::Field;

pub struct ConfirmDelete {
    pub action: String,
    pub label: &'static str,
    /// What is lost.
    pub text: &'static str,
    /// The name to type.
    pub name: String,
    pub field: Field,
}

impl ConfirmDelete {
    pub fn new(
        action: String,
        label: &'static str,
        text: &'static str,
        name: &str,
        field_label: &str,
    ) -> Self {
        Self {
            action,
            label,
            text,
            name: name.to_owned(),
            field: Field::text("confirm", field_label).required(),
        }
    }

    /// Stays open while the typed name is wrong.
    pub fn is_open(&self) -> bool {
        !self.field.error.is_empty()
    }
}
