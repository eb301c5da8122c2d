//! Checks the headers that an account adds to a request, so that none can break or redirect it.

use garson_core::field_problem::HeaderProblem;
use http::header::{HeaderMap, HeaderName, HeaderValue};
use std::fmt;

/// The most headers an account may give.
pub const MAX_HEADERS: usize = 50;
/// The longest header name.
pub const MAX_NAME_BYTES: usize = 128;
/// The longest header value.
pub const MAX_VALUE_BYTES: usize = 4096;
/// The most bytes that all names and values together may take.
pub const MAX_TOTAL_BYTES: usize = 16 * 1024;

/// Headers of framing and connection: only the HTTP client sets these.
const REFUSED_NAMES: &[&str] = &[
    "host",
    "content-length",
    "content-encoding",
    "transfer-encoding",
    "connection",
    "keep-alive",
    "te",
    "trailer",
    "upgrade",
    "expect",
    "http2-settings",
];

const REFUSED_PREFIX: &str = "proxy-";

/// Which header was refused and why; the value is left out because it may be a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeaderRefusal {
    /// The name as given, escaped and shortened where it is not a proper name.
    pub name: String,
    pub problem: HeaderProblem,
}

impl fmt::Display for HeaderRefusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "header \"{}\" {}", self.name, self.problem)
    }
}

impl std::error::Error for HeaderRefusal {}

/// Checks headers and collects them; the error names the first that cannot be sent.
///
/// Values are marked sensitive, so printing the map for debugging does not show them.
pub fn check_headers<'a>(
    pairs: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<HeaderMap, HeaderRefusal> {
    let mut headers = HeaderMap::new();
    let mut total_bytes = 0;
    for (name, value) in pairs {
        total_bytes += name.len() + value.len();
        add(&mut headers, total_bytes, name, value).map_err(|problem| HeaderRefusal {
            name: shown(name),
            problem,
        })?;
    }
    Ok(headers)
}

fn add(headers: &mut HeaderMap, total_bytes: usize, name: &str, value: &str) -> Result<(), HeaderProblem> {
    let name = check_name(name)?;
    let value = check_value(value)?;
    if headers.len() >= MAX_HEADERS {
        return Err(HeaderProblem::TooMany { max: MAX_HEADERS });
    }
    if total_bytes > MAX_TOTAL_BYTES {
        return Err(HeaderProblem::TotalTooLong {
            max_kib: MAX_TOTAL_BYTES / 1024,
        });
    }
    // Names are compared without case: which of two spellings wins would be up to the receiver.
    match headers.insert(name, value) {
        Some(_) => Err(HeaderProblem::GivenTwice),
        None => Ok(()),
    }
}

fn check_name(name: &str) -> Result<HeaderName, HeaderProblem> {
    if name.len() > MAX_NAME_BYTES {
        return Err(HeaderProblem::NameTooLong { max: MAX_NAME_BYTES });
    }
    if name.is_empty() || !name.bytes().all(is_token_byte) {
        return Err(HeaderProblem::InvalidName);
    }
    let name = HeaderName::try_from(name).map_err(|_| HeaderProblem::InvalidName)?;
    // HeaderName is always lower-case, as the table is.
    if REFUSED_NAMES.contains(&name.as_str()) || name.as_str().starts_with(REFUSED_PREFIX) {
        return Err(HeaderProblem::SetByClient);
    }
    Ok(name)
}

fn check_value(value: &str) -> Result<HeaderValue, HeaderProblem> {
    if value.len() > MAX_VALUE_BYTES {
        return Err(HeaderProblem::ValueTooLong { max: MAX_VALUE_BYTES });
    }
    if !value.bytes().all(is_value_byte) {
        return Err(HeaderProblem::ValueNotAscii);
    }
    // HTTP/2 receivers must treat such a request as malformed (RFC 9113, section 8.2.1).
    if value.starts_with([' ', '\t']) || value.ends_with([' ', '\t']) {
        return Err(HeaderProblem::ValueSpaceAround);
    }
    let mut value = HeaderValue::try_from(value).map_err(|_| HeaderProblem::ValueNotSendable)?;
    value.set_sensitive(true);
    Ok(value)
}

/// The characters of a token (RFC 9110, section 5.6.2).
fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

fn is_value_byte(byte: u8) -> bool {
    byte.is_ascii_graphic() || byte == b' ' || byte == b'\t'
}

/// A refused name may hold anything; escaped, it can do no harm in a log or an answer.
fn shown(name: &str) -> String {
    let escaped = name.chars().flat_map(char::escape_default);
    escaped.take(MAX_NAME_BYTES).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check_one(name: &str, value: &str) -> Result<HeaderMap, HeaderRefusal> {
        check_headers([(name, value)])
    }

    fn numbered(count: usize, value_bytes: usize) -> Vec<(String, String)> {
        let value = "v".repeat(value_bytes);
        let name = |n| format!("x-{n:03}");
        (0..count).map(|n| (name(n), value.clone())).collect()
    }

    fn check_owned(pairs: &[(String, String)]) -> Result<HeaderMap, HeaderRefusal> {
        check_headers(pairs.iter().map(|(n, v)| (n.as_str(), v.as_str())))
    }

    #[test]
    fn ordinary_headers_are_kept() {
        let given = [
            ("Authorization", "Bearer abc.def"),
            ("Content-Type", "application/json; charset=utf-8"),
            ("X-Empty", ""),
            ("X_Till-7", "a\tb c~!\"#"),
        ];
        let headers = check_headers(given).unwrap();
        assert_eq!(headers.len(), given.len());
        for (name, value) in given {
            assert_eq!(headers.get(name).unwrap(), value);
        }
    }

    #[test]
    fn no_headers_are_fine() {
        assert!(check_headers([]).unwrap().is_empty());
    }

    #[test]
    fn names_the_client_sets_are_refused_in_any_case() {
        let named = [
            "Host",
            "Content-Length",
            "Transfer-Encoding",
            "Connection",
            "Keep-Alive",
            "Proxy-Authorization",
            "Proxy-Connection",
            "Proxy-",
            "TE",
            "Trailer",
            "Upgrade",
            "Expect",
            "HTTP2-Settings",
            "Content-Encoding",
        ];
        for name in named {
            for spelling in [name.to_owned(), name.to_lowercase(), name.to_uppercase()] {
                let refusal = check_one(&spelling, "x").unwrap_err();
                assert_eq!(refusal.name, spelling);
                assert_eq!(refusal.problem, HeaderProblem::SetByClient);
            }
        }
    }

    #[test]
    fn names_that_only_resemble_refused_ones_pass() {
        for name in ["X-Host", "Hosts", "Proxy", "Content-Type", "Tee", "Trailers"] {
            assert!(check_one(name, "x").is_ok(), "{name}");
        }
    }

    #[test]
    fn malformed_names_are_refused_and_shown_escaped() {
        for name in [
            "", " ", "a b", "a:", ":path", "a\r\nb", "a\0", "é", "a\u{7f}", "(a)", "a\"",
        ] {
            let refusal = check_one(name, "x").unwrap_err();
            assert_eq!(refusal.problem, HeaderProblem::InvalidName, "{name:?}");
            let shown = refusal.to_string();
            assert!(shown.chars().all(|c| c == ' ' || c.is_ascii_graphic()));
        }
    }

    #[test]
    fn malformed_values_are_refused_without_showing_them() {
        for value in [
            "secret\r\nHost: x",
            "secret\n",
            "secret\0",
            "secrét",
            "secret\u{7f}",
            " secret",
            "secret\t",
        ] {
            let refusal = check_one("X-Key", value).unwrap_err();
            assert_eq!(refusal.name, "X-Key");
            assert!(!format!("{refusal} {refusal:?}").contains("secr"));
        }
    }

    #[test]
    fn a_name_given_twice_is_refused_whatever_its_case() {
        for second in ["X-Key", "x-key", "X-KEY"] {
            let refusal = check_headers([("X-Key", "1"), (second, "2")]).unwrap_err();
            assert_eq!(
                (refusal.name.as_str(), refusal.problem),
                (second, HeaderProblem::GivenTwice)
            );
        }
    }

    #[test]
    fn limits_are_exact() {
        assert!(check_one(&"n".repeat(MAX_NAME_BYTES), "").is_ok());
        assert!(check_one(&"n".repeat(MAX_NAME_BYTES + 1), "").is_err());
        assert!(check_one("n", &"v".repeat(MAX_VALUE_BYTES)).is_ok());
        assert!(check_one("n", &"v".repeat(MAX_VALUE_BYTES + 1)).is_err());
        assert!(check_owned(&numbered(MAX_HEADERS, 1)).is_ok());
        assert!(check_owned(&numbered(MAX_HEADERS + 1, 1)).is_err());
        // Names take 5 bytes each, so 4 headers of 4091 bytes fill the 16 KiB.
        assert!(check_owned(&numbered(4, 4091)).is_ok());
        let mut over = numbered(4, 4091);
        over.push(("x".to_owned(), String::new()));
        assert!(check_owned(&over).is_err());
    }

    #[test]
    fn limits_named_in_reasons_are_the_real_ones() {
        let name = check_one(&"n".repeat(999), "").unwrap_err();
        assert!(name.to_string().contains(&MAX_NAME_BYTES.to_string()));
        assert_eq!(name.name.len(), MAX_NAME_BYTES);
        let value = check_one("n", &"v".repeat(9999)).unwrap_err();
        assert!(value.to_string().contains(&MAX_VALUE_BYTES.to_string()));
        let count = check_owned(&numbered(60, 1)).unwrap_err();
        assert!(count.to_string().contains(&MAX_HEADERS.to_string()));
        assert_eq!(MAX_TOTAL_BYTES, 16 * 1024);
    }

    #[test]
    fn debug_output_hides_values() {
        let headers = check_one("X-Key", "secret").unwrap();
        assert!(!format!("{headers:?}").contains("secret"));
    }

    proptest! {
        #[test]
        fn accepted_headers_could_not_split_a_request(name in ".{0,12}", value in ".{0,12}|[ -~\t\r\n]{0,8}") {
            if let Ok(headers) = check_one(&name, &value) {
                prop_assert!(!name.contains([':', ' ', '\r', '\n']));
                prop_assert!(value.bytes().all(|b| b == b'\t' || (0x20..0x7f).contains(&b)));
                prop_assert_eq!(headers.get(&name).unwrap(), &value);
            }
        }

        #[test]
        fn every_token_with_a_visible_value_is_accepted(
            name in "[xX][-a-zA-Z0-9!#$%&'*+.^_`|~]{0,40}",
            value in "([!-~]([ -~\t]{0,40}[!-~])?)?",
        ) {
            prop_assert!(check_one(&name, &value).is_ok());
        }

        #[test]
        fn values_never_show_in_refusals(name in ".{0,6}", value in "S3CR3T[\r\n\u{80}-\u{ff}]{1,4}") {
            let refusal = check_one(&name, &value).unwrap_err();
            let shown = format!("{refusal} {refusal:?}");
            prop_assert!(!shown.contains("S3CR3T"));
        }
    }
}
