//! A range of days, chosen in two date fields.

use crate::flow::read::period::{Moment, Period, WrongPeriod};
use crate::panel::kit::form::{Field, FieldKind};
use crate::panel::kit::form_data::FormData;
use crate::panel::words::{ComponentWords, Lang};

/// The first and the last day as typed; either may be empty.
#[derive(Clone, Debug, Default)]
pub struct DayRange {
    pub from: String,
    pub to: String,
}

impl DayRange {
    pub fn read(params: &FormData) -> Self {
        Self {
            from: params.get("from").to_owned(),
            to: params.get("to").to_owned(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.from.is_empty() && self.to.is_empty()
    }

    pub fn period(&self) -> Period {
        let day = |day: &str| (!day.is_empty()).then(|| Moment::Day(day.to_owned()));
        Period {
            from: day(&self.from),
            to: day(&self.to),
        }
    }

    /// The invalid field and its error.
    fn error(&self, lang: Lang) -> Option<(String, &'static str)> {
        let t = ComponentWords::of(lang);
        match self.period().check() {
            Err(WrongPeriod::Reversed) => Some(("to".to_owned(), t.before_first_day)),
            Err(WrongPeriod::NotADay { field }) => Some((field, t.not_a_day)),
            Ok(()) => None,
        }
    }

    pub fn is_invalid(&self) -> bool {
        self.period().check().is_err()
    }

    /// Both date fields, with the error at the invalid one.
    pub fn fields(&self, lang: Lang, from: &str, to: &str) -> [Field; 2] {
        let error = self.error(lang);
        [("from", from, &self.from), ("to", to, &self.to)].map(|(name, label, value)| {
            let text = error
                .as_ref()
                .filter(|(field, _)| field == name)
                .map(|(_, text)| *text);
            Field::new(name, label, FieldKind::Input("date"))
                .value(value)
                .error(text)
        })
    }
}
