//! The first and the last day that a page is asked for, and what is wrong with them.

use super::fields::Fields;
use super::form::{Field, Kind};
use super::lang::Lang;
use crate::flow::read::period::{Moment, Period, WrongPeriod};
use crate::panel::words::PartWords;

/// Two days as they were typed; either may be left out.
#[derive(Clone, Debug, Default)]
pub struct DayRange {
    pub from: String,
    pub to: String,
}

impl DayRange {
    pub fn read(asked: &Fields) -> Self {
        Self {
            from: asked.get("from").to_owned(),
            to: asked.get("to").to_owned(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.from.is_empty() && self.to.is_empty()
    }

    pub fn period(&self) -> Period {
        let moment = |day: &str| (!day.is_empty()).then(|| Moment::Day(day.to_owned()));
        Period {
            from: moment(&self.from),
            to: moment(&self.to),
        }
    }

    /// The field that is wrong, if one is, and what to say beside it.
    fn wrong(&self, lang: Lang) -> Option<(String, &'static str)> {
        let t = PartWords::of(lang);
        match self.period().check() {
            Err(WrongPeriod::Reversed) => Some(("to".to_owned(), t.before_first_day)),
            Err(WrongPeriod::NotADay { field }) => Some((field, t.not_a_day)),
            Ok(()) => None,
        }
    }

    pub fn is_wrong(&self) -> bool {
        self.period().check().is_err()
    }

    /// Both as fields of a form, the wrong one saying so.
    pub fn fields(&self, lang: Lang, from: &str, to: &str) -> [Field; 2] {
        let wrong = self.wrong(lang);
        [("from", from, &self.from), ("to", to, &self.to)].map(|(name, label, value)| {
            let text = wrong
                .as_ref()
                .filter(|(field, _)| field == name)
                .map(|(_, text)| *text);
            Field::new(name, label, Kind::Input("date"))
                .value(value)
                .error(text)
        })
    }
}
