//! Request paths: the prefix of the API, and paths that cannot name anything.

/// Every path of the API begins with this.
pub const API_PREFIX: &str = "/web-api/v1";

/// Is the decoded path not UTF-8, does it contain a NUL, or is one of its escapes incomplete?
#[must_use]
pub fn is_malformed(path: &str) -> bool {
    // A path without escapes is valid text without NUL.
    path.contains('%')
        && percent_decoded(path)
            .is_none_or(|bytes| std::str::from_utf8(&bytes).is_err() || bytes.contains(&0))
}

/// The decoded bytes of a path; `None` when an escape is incomplete.
fn percent_decoded(path: &str) -> Option<Vec<u8>> {
    let mut bytes = path.bytes();
    let mut decoded = Vec::with_capacity(path.len());
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            decoded.push(byte);
            continue;
        }
        let digit = |b: Option<u8>| {
            b.and_then(|b| char::from(b).to_digit(16))
                .and_then(|d| u8::try_from(d).ok())
        };
        decoded.push(digit(bytes.next())? * 16 + digit(bytes.next())?);
    }
    Some(decoded)
}
