//! Links that call a customer.

/// A number with fewer digits is not dialled; one with more is none.
const DIGITS: std::ops::RangeInclusive<usize> = 5..=15;
/// An extension or PIN of a masked number has at most so many digits.
const MAX_CODE: usize = 10;

/// The `tel:` link of a phone number; none if the text is not a number. Platforms hide a customer's number behind one of their own
/// with a code: the code is dialled after a pause (a comma is two seconds on phones).
pub fn tel_link(phone: &str, code: Option<&str>) -> Option<String> {
    let phone = phone.trim();
    let end = phone
        .find(|c: char| !(c.is_ascii_digit() || matches!(c, '+' | ' ' | '-' | '.' | '(' | ')' | '\u{a0}')))
        .unwrap_or(phone.len());
    let (number, rest) = phone.split_at(end);
    let plus = if number.starts_with('+') { "+" } else { "" };
    let number = digits(number);
    if !DIGITS.contains(&number.len()) {
        return None;
    }
    // Some platforms write the code behind the number: `0850 215 00 00 / 1234`.
    let code = match code.map(str::trim).filter(|code| !code.is_empty()) {
        Some(code) => digits(code),
        None => digits(rest),
    };
    if code.is_empty() || code.len() > MAX_CODE {
        return Some(format!("tel:{plus}{number}"));
    }
    Some(format!("tel:{plus}{number},,{code}"))
}

fn digits(text: &str) -> String {
    text.chars().filter(char::is_ascii_digit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_become_links() {
        for (phone, code, link) in [
            ("+90 532 111 22 33", None, Some("tel:+905321112233")),
            ("0532-111.22(33)", None, Some("tel:05321112233")),
            ("+908502150000", Some("1234"), Some("tel:+908502150000,,1234")),
            ("+908502150000", Some(" "), Some("tel:+908502150000")),
            ("0850 215 00 00 / 98 76", None, Some("tel:08502150000,,9876")),
            ("0850 215 00 00 dahili 12", None, Some("tel:08502150000,,12")),
            ("0850 215 00 00 / 12345678901", None, Some("tel:08502150000")),
            ("112", None, None),
            ("***", None, None),
            ("", Some("1234"), None),
            ("1234567890123456", None, None),
            ("javascript:alert(12345)", None, None),
        ] {
            assert_eq!(tel_link(phone, code).as_deref(), link, "{phone} {code:?}");
        }
    }
}
