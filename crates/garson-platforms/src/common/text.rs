//! Makes texts storable: no characters that a database refuses, and bounded length.

/// Ids and codes, names, and notes: how long each may be.
pub const MAX_ID: usize = 600;
pub const MAX_NAME: usize = 300;
pub const MAX_NOTE: usize = 2_000;

/// A text fit to be kept; nothing when nothing is left of it. An order is never lost for a note that is too long.
#[must_use]
pub fn keep(text: &str, max: usize) -> Option<String> {
    let text = text.trim();
    if text.is_empty() {
        return None;
    }
    // One of our databases cannot hold a NUL.
    let is_fine = text.len() <= max && !text.contains('\0');
    Some(if is_fine {
        text.to_owned()
    } else {
        text.chars()
            .filter(|c| *c != '\0')
            .take(max)
            .collect::<String>()
            .trim_end()
            .to_owned()
    })
    .filter(|kept| !kept.is_empty())
}

/// The same of a text that may be missing.
#[must_use]
pub fn keep_some(text: Option<&str>, max: usize) -> Option<String> {
    keep(text?, max)
}

/// Texts that are there, with a separator between them.
#[must_use]
pub fn join(parts: &[Option<&str>], separator: &str, max: usize) -> Option<String> {
    let parts: Vec<&str> = parts
        .iter()
        .filter_map(|part| part.map(str::trim))
        .filter(|part| !part.is_empty())
        .collect();
    keep(&parts.join(separator), max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_cleaned_or_dropped() {
        assert_eq!(keep("  Zil çalışmıyor ", 50), Some("Zil çalışmıyor".to_owned()));
        assert_eq!(keep("a\0b", 50), Some("ab".to_owned()));
        assert_eq!(keep("\0", 50), None);
        assert_eq!(keep("  ", 50), None);
        assert_eq!(keep("ğğğğ", 2), Some("ğğ".to_owned()));
        assert_eq!(
            join(&[Some("Moda"), None, Some(" "), Some("Kadıköy")], ", ", 50),
            Some("Moda, Kadıköy".to_owned())
        );
    }
}
