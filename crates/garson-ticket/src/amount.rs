//! Amounts of money as people read them, on tickets and in the panel.

use crate::options::Lang;
use garson_core::money::{Currency, Minor};

/// `1.234,50 ₺` or `₺1,234.50`.
#[must_use]
pub fn amount(lang: Lang, minor: Minor, currency: Currency) -> String {
    with_currency(lang, number(lang, minor), currency)
}

/// The same without the fraction of a whole amount: `440 ₺`.
#[must_use]
pub fn short_amount(lang: Lang, minor: Minor, currency: Currency) -> String {
    let text = number(lang, minor);
    let whole = text.strip_suffix(",00").or_else(|| text.strip_suffix(".00"));
    with_currency(lang, whole.unwrap_or(&text).to_owned(), currency)
}

/// Only the number, for columns.
#[must_use]
pub fn number(lang: Lang, minor: Minor) -> String {
    let (point, group) = match lang {
        Lang::Tr => (',', '.'),
        Lang::En => ('.', ','),
    };
    let absolute = minor.0.unsigned_abs();
    let mut whole = (absolute / 100).to_string();
    let mut at = whole.len();
    while at > 3 {
        at -= 3;
        whole.insert(at, group);
    }
    let sign = if minor.0 < 0 { "-" } else { "" };
    format!("{sign}{whole}{point}{:02}", absolute % 100)
}

fn with_currency(lang: Lang, number: String, currency: Currency) -> String {
    match (lang, currency == Currency::TRY) {
        (Lang::Tr, true) => format!("{number} ₺"),
        (Lang::En, true) => format!("₺{number}"),
        (_, false) => format!("{number} {currency}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_the_separators_of_the_language() {
        let lira = |lang, minor| amount(lang, Minor(minor), Currency::TRY);
        assert_eq!(lira(Lang::Tr, 123_450), "1.234,50 ₺");
        assert_eq!(lira(Lang::En, 123_450), "₺1,234.50");
        assert_eq!(number(Lang::Tr, Minor(-5)), "-0,05");
        assert_eq!(number(Lang::Tr, Minor(i64::MIN)), "-92.233.720.368.547.758,08");
    }

    #[test]
    fn short_amounts_leave_out_zero_kurus() {
        let short = |lang, minor| short_amount(lang, Minor(minor), Currency::TRY);
        assert_eq!(short(Lang::Tr, 44_000), "440 ₺");
        assert_eq!(short(Lang::Tr, 44_050), "440,50 ₺");
        assert_eq!(short(Lang::En, 100_000), "₺1,000");
    }
}
