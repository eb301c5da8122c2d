//! A time in a table: exact without script; the script shows how long ago it was and keeps the exact time in the title.

use super::format;
use crate::panel::words::Lang;
use askama::filters::HtmlSafe;
use garson_core::time::{Timestamp, Zone};
use std::fmt;

/// A `<time>` element, or the text for a time that is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TimeAgo {
    At { machine: String, exact: String },
    Never(&'static str),
}

impl TimeAgo {
    pub fn new(lang: Lang, zone: &Zone, at: Timestamp) -> Self {
        Self::At {
            machine: at.to_string(),
            exact: format::timestamp(lang, zone, at),
        }
    }
}

impl fmt::Display for TimeAgo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::At { machine, exact } => write!(
                f,
                "<time datetime=\"{machine}\" title=\"{exact}\" data-ago>{exact}</time>"
            ),
            Self::Never(text) => f.write_str(text),
        }
    }
}

/// Formatted timestamps and our own texts have no characters of markup.
impl HtmlSafe for TimeAgo {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_exact_for_people_and_programs() {
        let at = Timestamp::from_millis(1_767_225_600_000);
        let text = TimeAgo::new(Lang::Tr, &Zone::istanbul(), at).to_string();
        assert_eq!(
            text,
            "<time datetime=\"2026-01-01T00:00:00.000Z\" title=\"01.01.2026 03:00\" data-ago>01.01.2026 03:00</time>"
        );
        assert_eq!(TimeAgo::Never("henüz yok").to_string(), "henüz yok");
    }
}
