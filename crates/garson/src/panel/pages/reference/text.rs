//! Descriptions of the document: text in which backticks mark code.

/// A part of a sentence: text or code.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Piece {
    pub is_code: bool,
    pub text: String,
}

/// Splits one paragraph at its backticks.
pub fn pieces(text: &str) -> Vec<Piece> {
    text.split('`')
        .enumerate()
        .map(|(number, text)| Piece {
            is_code: number % 2 == 1,
            text: text.replace('\n', " "),
        })
        .filter(|piece| !piece.text.is_empty())
        .collect()
}

/// Splits a description into paragraphs, which empty lines separate.
pub fn paragraphs(text: &str) -> Vec<Vec<Piece>> {
    text.split("\n\n")
        .map(pieces)
        .filter(|it| !it.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_told_from_text() {
        let found = pieces("With `a`\nonly.");
        let found: Vec<(bool, &str)> = found
            .iter()
            .map(|piece| (piece.is_code, piece.text.as_str()))
            .collect();
        assert_eq!(found, [(false, "With "), (true, "a"), (false, " only.")]);
        assert_eq!(paragraphs("One.\n\nTwo `x`.").len(), 2);
        assert!(paragraphs("").is_empty());
    }
}
