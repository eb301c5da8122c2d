//! Makes text from outside fit for paper: no control characters, no invisible ones, bounded length.

/// The longest text of one field, in characters. Longer ones are cut with an ellipsis.
const MAX_TEXT: usize = 1_000;

/// The text on one line, with white space collapsed.
#[must_use]
pub fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len().min(MAX_TEXT));
    let mut count = 0;
    for word in text
        .split(|c: char| c.is_whitespace() || c.is_control())
        .map(|word| word.chars().filter(|c| !is_invisible(*c)).collect::<String>())
        .filter(|word| !word.is_empty())
    {
        if !out.is_empty() {
            out.push(' ');
            count += 1;
        }
        for c in word.chars() {
            if count >= MAX_TEXT {
                out.push('…');
                return out;
            }
            out.push(c);
            count += 1;
        }
    }
    out
}

/// Zero-width characters and those that change the direction of text. Joiners of emoji are among them.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_become_spaces() {
        assert_eq!(clean("acı\x1b@sız\r\n\u{9b}1m\u{7f}bol\0"), "acı @sız 1m bol");
        assert_eq!(clean("\t \u{2028}"), "");
    }

    #[test]
    fn direction_marks_and_joiners_are_removed() {
        assert_eq!(clean("a\u{202e}b\u{200d}c\u{fe0f}"), "abc");
    }

    #[test]
    fn long_texts_are_cut() {
        let cut = clean(&"ş".repeat(5_000));
        assert_eq!(cut.chars().count(), MAX_TEXT + 1);
        assert!(cut.ends_with('…'));
    }
}
