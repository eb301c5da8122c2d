//! A field of an update.

use super::values::Text;

/// Left out, set to null, or given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Patch<T> {
    #[default]
    Keep,
    Clear,
    Set(T),
}

impl<T> Patch<T> {
    pub fn apply<U>(&self, field: &mut Option<U>, convert: impl FnOnce(&T) -> U) {
        match self {
            Self::Keep => {}
            Self::Clear => *field = None,
            Self::Set(value) => *field = Some(convert(value)),
        }
    }

    pub fn try_map<U, E>(self, convert: impl FnOnce(T) -> Result<U, E>) -> Result<Patch<U>, E> {
        Ok(match self {
            Self::Keep => Patch::Keep,
            Self::Clear => Patch::Clear,
            Self::Set(value) => Patch::Set(convert(value)?),
        })
    }

    /// `None` keeps the field, `Some(None)` clears it.
    pub fn into_option(self) -> Option<Option<T>> {
        match self {
            Self::Keep => None,
            Self::Clear => Some(None),
            Self::Set(value) => Some(Some(value)),
        }
    }
}

impl<T> From<Option<T>> for Patch<T> {
    /// A value that is there is set; one that is not clears the field.
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Clear, Self::Set)
    }
}

impl<const MIN: usize, const MAX: usize> Patch<Text<MIN, MAX>> {
    pub fn apply_text(&self, field: &mut Option<String>) {
        self.apply(field, |text| text.as_str().to_owned());
    }
}
