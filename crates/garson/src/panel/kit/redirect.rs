//! Redirect targets from forms and query strings.

/// A path on this site. Anything that could lead to another site becomes `/`.
pub fn safe_path(path: &str) -> &str {
    let is_local = path.starts_with('/')
        && !path.starts_with("//")
        && path.bytes().all(|b| (0x21..0x7f).contains(&b) && b != b'\\');
    if is_local { path } else { "/" }
}

#[cfg(test)]
mod tests {
    use super::safe_path;

    #[test]
    fn foreign_targets_become_the_first_page() {
        assert_eq!(safe_path("/keys?x=1"), "/keys?x=1");
        for wrong in [
            "",
            "//evil.example",
            "https://evil.example",
            "/\\evil",
            "/a\r\nb",
            "keys",
        ] {
            assert_eq!(safe_path(wrong), "/", "{wrong:?}");
        }
    }
}
