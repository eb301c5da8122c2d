//! CSV for spreadsheets: UTF-8 with a byte order mark, semicolons, decimal commas, and no cell that runs as a formula.

use super::cell::Cell;
use garson_core::money::Minor;
use std::borrow::Cow;

/// Excel recognizes UTF-8 by it.
const BYTE_ORDER_MARK: &str = "\u{feff}";
/// Excel shows longer numbers in scientific notation and loses digits.
const MAX_DIGITS: usize = 11;

/// A row.
pub fn row(cells: &[Cell]) -> String {
    let cells: Vec<String> = cells.iter().map(cell).collect();
    joined(&cells)
}

fn joined(cells: &[String]) -> String {
    format!("{}\r\n", cells.join(";"))
}

fn cell(cell: &Cell) -> String {
    match cell {
        Cell::Text(value) => text(value),
        Cell::Time { text: written, .. } => text(written),
        Cell::Amount(value) => amount(*value),
        Cell::Number(number) => number.to_string(),
        Cell::Empty => String::new(),
    }
}

/// The first row.
pub fn heading(names: &[&str]) -> String {
    let cells: Vec<String> = names.iter().map(|name| text(name)).collect();
    format!("{BYTE_ORDER_MARK}{}", joined(&cells))
}

/// Without control characters, which spreadsheets and accounting programs refuse or misread. Tabs and line breaks stay.
fn printable(value: &str) -> Cow<'_, str> {
    let is_kept = |letter: char| matches!(letter, '\t' | '\r' | '\n') || !letter.is_control();
    if value.chars().all(is_kept) {
        Cow::Borrowed(value)
    } else {
        Cow::Owned(value.chars().filter(|letter| is_kept(*letter)).collect())
    }
}

/// Encodes text. Formulas get a leading apostrophe; numbers that Excel would shorten or whose leading zeros it would drop are
/// written as text.
fn text(value: &str) -> String {
    // First, so that nothing hides the start of a formula.
    let value = printable(value);
    let is_number = !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit());
    if is_number && (value.len() > MAX_DIGITS || (value.len() > 1 && value.starts_with('0'))) {
        return format!("\"=\"\"{value}\"\"\"");
    }
    let is_formula = value
        .trim_start()
        .starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠'])
        || value.starts_with(['\t', '\r', '\n']);
    let value = if is_formula {
        format!("'{value}")
    } else {
        value.into_owned()
    };
    // Commas are quoted too: a program that separates by commas would start a cell, perhaps a formula, behind one.
    if value.contains([';', ',', '\t', '"', '\r', '\n']) {
        format!("\"{}\"", value.replace('"', "\"\""))
    } else {
        value
    }
}

/// Encodes an amount: `1234,50`.
fn amount(amount: Minor) -> String {
    let minor = amount.0.unsigned_abs();
    let sign = if amount.0 < 0 { "-" } else { "" };
    format!("{sign}{},{:02}", minor / 100, minor % 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_harmless_and_keep_their_text() {
        for (value, cell) in [
            ("Çiğ köfte", "Çiğ köfte"),
            ("a;b", "\"a;b\""),
            ("Simit,=1+1", "\"Simit,=1+1\""),
            ("a\t=1+1", "\"a\t=1+1\""),
            ("a \"b\"\nc", "\"a \"\"b\"\"\nc\""),
            ("=1+1", "'=1+1"),
            ("+90", "'+90"),
            ("-1", "'-1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            (" =1", "' =1"),
            ("=A;\"x\"", "\"'=A;\"\"x\"\"\""),
            ("\t=1", "\"'\t=1\""),
            ("a\u{1d}V\u{0}b\u{9b}\u{7f}", "aVb"),
            ("\u{1}=1+1", "'=1+1"),
            ("\u{1b}00\u{2}7", "\"=\"\"007\"\"\""),
            ("12345678901", "12345678901"),
            ("123456789012", "\"=\"\"123456789012\"\"\""),
            ("007", "\"=\"\"007\"\"\""),
            ("0", "0"),
            ("", ""),
        ] {
            assert_eq!(text(value), cell, "{value:?}");
        }
        assert_eq!(amount(Minor(123_450)), "1234,50");
        assert_eq!(amount(Minor(-5)), "-0,05");
        assert_eq!(heading(&["Ş", "b"]), "\u{feff}Ş;b\r\n");
    }
}
