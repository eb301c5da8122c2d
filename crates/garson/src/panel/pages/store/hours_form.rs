//! The form of opening hours: the texts as typed, and the hours parsed from them.

use crate::panel::kit::form_data::FormData;
use crate::panel::words::HoursWords;
use garson_core::opening_hours::{
    HoursProblem, MAX_SPANS_PER_DAY, MAX_SPECIAL_DAYS, OpeningHours, Span, SpecialDay, TimeOfDay, Week,
    Weekday,
};
use garson_core::time::CalendarDay;
use std::collections::HashMap;

/// The minimum number of spans of a day in the form, and of empty ones after the filled ones.
const LEAST_SPANS: usize = 2;
const SPARE_DAYS: usize = 2;
const MORE_DAYS: usize = 10;
const MAX_NAME: usize = 200;

/// Opening and closing time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpanText {
    pub opens: String,
    pub closes: String,
}

impl SpanText {
    fn is_empty(&self) -> bool {
        self.opens.is_empty() && self.closes.is_empty()
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpecialText {
    pub date: String,
    pub name: String,
    pub spans: Vec<SpanText>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HoursForm {
    pub timezone: String,
    /// From Monday to Sunday.
    pub week: [Vec<SpanText>; 7],
    pub special: Vec<SpecialText>,
}

/// A problem and its field; empty for the whole form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    pub field: String,
    pub text: String,
}

pub fn day_name(t: &HoursWords, day: Weekday) -> &'static str {
    match day {
        Weekday::Monday => t.monday,
        Weekday::Tuesday => t.tuesday,
        Weekday::Wednesday => t.wednesday,
        Weekday::Thursday => t.thursday,
        Weekday::Friday => t.friday,
        Weekday::Saturday => t.saturday,
        Weekday::Sunday => t.sunday,
    }
}

/// Browsers have no 24:00: a closing time of 00:00 is the end of the day.
fn span_text(span: &Span) -> SpanText {
    let closes = match span.closes {
        TimeOfDay::END => TimeOfDay::MIDNIGHT,
        closes => closes,
    };
    SpanText {
        opens: span.opens.to_string(),
        closes: closes.to_string(),
    }
}

impl HoursForm {
    /// The stored hours. Special days before the first day have passed and are not shown.
    pub fn of(hours: &OpeningHours, first_day: Option<CalendarDay>) -> Self {
        let is_shown = |day: &&SpecialDay| first_day.is_none_or(|first| day.date >= first);
        Self {
            timezone: hours.timezone().to_owned(),
            week: Weekday::ALL.map(|day| hours.week().day(day).iter().map(span_text).collect()),
            special: hours
                .special_days()
                .iter()
                .filter(is_shown)
                .map(|day| SpecialText {
                    date: day.date.to_string(),
                    name: day.name.clone().unwrap_or_default(),
                    spans: day.spans.iter().map(span_text).collect(),
                })
                .collect(),
        }
    }

    /// What was typed, without empty rows.
    pub fn read(fields: &FormData) -> Self {
        let all: HashMap<&str, &str> = fields.with_prefix("").collect();
        let get = |name: String| all.get(name.as_str()).copied().unwrap_or_default().to_owned();
        let spans = |row: &str| -> Vec<SpanText> {
            let span = |number: usize| SpanText {
                opens: get(format!("{row}.opens{number}")),
                closes: get(format!("{row}.closes{number}")),
            };
            let all = (0..=MAX_SPANS_PER_DAY).map(span);
            all.filter(|span| !span.is_empty()).collect()
        };
        let special = (0..=MAX_SPECIAL_DAYS + MORE_DAYS)
            .map(|row| format!("s{row}"))
            .take_while(|row| all.contains_key(format!("{row}.date").as_str()))
            .map(|row| SpecialText {
                date: get(format!("{row}.date")),
                name: get(format!("{row}.name")),
                spans: spans(&row),
            });
        Self {
            timezone: get("timezone".to_owned()),
            week: [0, 1, 2, 3, 4, 5, 6].map(|day| spans(&format!("d{day}"))),
            special: special.filter(|day| !day.date.is_empty()).collect(),
        }
    }

    pub fn copy_monday(&mut self) {
        let [monday, others @ ..] = &mut self.week;
        for day in others {
            day.clone_from(monday);
        }
    }

    /// Adds empty spans and days to be filled in.
    #[must_use]
    pub fn with_spare(mut self, has_more: bool) -> Self {
        let days = self.special.iter_mut().map(|day| &mut day.spans);
        for spans in self.week.iter_mut().chain(days) {
            let count = (spans.len() + 1).clamp(LEAST_SPANS, MAX_SPANS_PER_DAY);
            spans.resize(count.max(spans.len()), SpanText::default());
        }
        let spare = if has_more { MORE_DAYS } else { SPARE_DAYS };
        let empty = || SpecialText {
            spans: vec![SpanText::default(); LEAST_SPANS],
            ..SpecialText::default()
        };
        self.special.extend((0..spare).map(|_| empty()));
        self
    }

    /// The hours, with days of the past that the form does not show.
    pub fn parse(&self, t: &HoursWords, past: &[SpecialDay]) -> Result<OpeningHours, Wrong> {
        let mut week = Vec::new();
        for (number, (day, spans)) in Weekday::ALL.into_iter().zip(&self.week).enumerate() {
            let row = format!("d{number}");
            let spans = parse_spans(t, &row, day_name(t, day), spans)?;
            week.extend(spans.into_iter().map(|span| (day, span)));
        }
        let mut special = Vec::new();
        for (number, day) in self.special.iter().enumerate() {
            special.push(parse_special(t, &format!("s{number}"), day)?);
        }
        let is_new = |day: &&SpecialDay| special.iter().all(|other: &SpecialDay| other.date != day.date);
        let kept: Vec<SpecialDay> = past.iter().filter(is_new).cloned().collect();
        special.extend(kept);
        OpeningHours::new(&self.timezone, Week::new(week), special).map_err(|problem| wrong(t, problem))
    }
}

fn parse_spans(t: &HoursWords, row: &str, name: &str, spans: &[SpanText]) -> Result<Vec<Span>, Wrong> {
    let mut found = Vec::new();
    for (number, span) in spans.iter().enumerate().filter(|(_, span)| !span.is_empty()) {
        let time = |text: &str, field: &str| {
            let why = if text.is_empty() { t.half_span } else { t.bad_time };
            TimeOfDay::parse(text).ok_or_else(|| Wrong {
                field: format!("{row}.{field}{number}"),
                text: format!("{name}: {why}"),
            })
        };
        found.push(Span::new(
            time(&span.opens, "opens")?,
            time(&span.closes, "closes")?,
        ));
    }
    Ok(found)
}

fn parse_special(t: &HoursWords, row: &str, day: &SpecialText) -> Result<SpecialDay, Wrong> {
    let at = |field: &str, why: &str| Wrong {
        field: format!("{row}.{field}"),
        text: format!("{}: {why}", day.date),
    };
    if day.name.chars().count() > MAX_NAME {
        return Err(at("name", t.name_long));
    }
    Ok(SpecialDay {
        date: day.date.parse().map_err(|_| at("date", t.bad_date))?,
        spans: parse_spans(t, row, &day.date, &day.spans)?,
        name: Some(day.name.clone()).filter(|name| !name.is_empty()),
    })
}

fn wrong(t: &HoursWords, problem: HoursProblem) -> Wrong {
    let (field, text) = match problem {
        HoursProblem::UnknownTimezone => ("timezone", t.bad_timezone),
        HoursProblem::TooManySpans => ("", t.too_many_spans),
        HoursProblem::Overlap | HoursProblem::SeveralSpans => ("", t.overlap),
        HoursProblem::TooManySpecialDays => ("", t.too_many_days),
        HoursProblem::RepeatedDate => ("", t.repeated),
    };
    Wrong {
        field: field.to_owned(),
        text: text.to_owned(),
    }
}

/// The spans of a day, such as “10:00–14:00, 17:00–02:00”.
pub fn spans_text(t: &HoursWords, spans: &[Span]) -> String {
    if spans.is_empty() {
        return t.closed.to_owned();
    }
    let text = |span: &Span| match *span {
        Span::ALL_DAY => t.all_day.to_owned(),
        Span { opens, closes } => format!("{opens}–{closes}"),
    };
    spans.iter().map(text).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::panel::words::Lang;

    fn words() -> HoursWords {
        HoursWords::of(Lang::Tr)
    }

    fn form(text: &str) -> HoursForm {
        HoursForm::read(&FormData::parse(text.as_bytes()))
    }

    const SENT: &str = "timezone=Europe%2FIstanbul&d0.opens0=10:00&d0.closes0=14:00&d0.opens1=18:00&d0.closes1=02:00\
        &d6.opens0=00:00&d6.closes0=00:00&s0.date=2026-03-20&s0.name=Bayram&s1.date=&s2.date=2026-03-21&s2.opens0=12:00\
        &s2.closes0=20:00";

    #[test]
    fn hours_are_read_and_shown_again() {
        let hours = form(SENT).parse(&words(), &[]).unwrap();
        assert_eq!(hours.week().day(Weekday::Monday).len(), 2);
        assert_eq!(hours.week().day(Weekday::Tuesday), []);
        assert_eq!(hours.special_days().len(), 2);
        assert_eq!(HoursForm::of(&hours, None), form(SENT));
        let later = "2026-03-21".parse().ok();
        assert_eq!(HoursForm::of(&hours, later).special.len(), 1);
    }

    #[test]
    fn past_days_are_kept() {
        let old = form(SENT).parse(&words(), &[]).unwrap();
        let mut changed = HoursForm::of(&old, "2026-03-21".parse().ok());
        changed.special.clear();
        let past = &old.special_days()[..1];
        let hours = changed.parse(&words(), past).unwrap();
        assert_eq!(hours.special_days(), past);
    }

    #[test]
    fn monday_is_copied_to_every_day() {
        let mut form = form(SENT);
        form.copy_monday();
        assert!(form.week.iter().all(|day| *day == form.week[0]));
        assert!(form.parse(&words(), &[]).is_ok());
    }

    #[test]
    fn spare_rows_are_empty_and_bounded() {
        let spare = form(SENT).with_spare(false);
        assert_eq!((spare.week[0].len(), spare.week[1].len()), (3, 2));
        assert_eq!(spare.special.len(), 4);
        let full = (0..6).fold(String::new(), |text, number| {
            format!("{text}&d0.opens{number}=0{number}:00&d0.closes{number}=0{number}:30")
        });
        assert_eq!(form(&full).with_spare(false).week[0].len(), MAX_SPANS_PER_DAY);
    }

    #[test]
    fn mistakes_name_their_field() {
        for (sent, field) in [
            ("d1.opens0=10:00", "d1.closes0"),
            ("d1.opens0=25:00&d1.closes0=26:00", "d1.opens0"),
            ("s0.date=2026-02-30", "s0.date"),
            ("timezone=Ay", "timezone"),
            (
                "d0.opens0=10:00&d0.closes0=14:00&d0.opens1=13:00&d0.closes1=15:00",
                "",
            ),
            ("s0.date=2026-03-20&s1.date=2026-03-20", ""),
        ] {
            let sent = if sent.contains("timezone") {
                sent.to_owned()
            } else {
                format!("timezone=Europe%2FIstanbul&{sent}")
            };
            let wrong = form(&sent).parse(&words(), &[]).unwrap_err();
            assert_eq!(wrong.field, field, "{sent}");
        }
    }
}
