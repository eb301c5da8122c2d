//! Finds the words of a note that may be about an allergy.

/// Beginnings of words, without the marks of Turkish letters, so that "fistik" is found as well as "Fıstığı".
const BEGINNINGS: &[&str] = &[
    "alerji",
    "allerg",
    "badem",
    "balik",
    "balig",
    "celiac",
    "ceviz",
    "colyak",
    "dairy",
    "egg",
    "findik",
    "findig",
    "fistik",
    "fistig",
    "gluten",
    "hardal",
    "intoleran",
    "kabuklu",
    "kaju",
    "karides",
    "kereviz",
    "laktoz",
    "lactose",
    "midye",
    "milk",
    "mustard",
    "nut",
    "peanut",
    "sesame",
    "shellfish",
    "soya",
    "susam",
    "sut",
    "wheat",
    "yumurta",
];

/// A part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part<'a> {
    pub text: &'a str,
    pub is_warning: bool,
}

/// Splits a text into words that warn of an allergy and what is between them. The parts together are the text.
#[must_use]
pub fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts: Vec<Part<'_>> = Vec::new();
    let (mut plain, mut at) = (0, 0);
    while at < text.len() {
        let rest = text.get(at..).unwrap_or_default();
        let is_letter = rest.chars().next().is_some_and(char::is_alphabetic);
        let length = rest
            .char_indices()
            .find(|(_, c)| c.is_alphabetic() != is_letter)
            .map_or(rest.len(), |(end, _)| end);
        let word = rest.get(..length).unwrap_or_default();
        if is_letter && is_warning(word) {
            push(&mut parts, text.get(plain..at), false);
            push(&mut parts, Some(word), true);
            plain = at + length;
        }
        at += length.max(1);
    }
    push(&mut parts, text.get(plain..), false);
    parts
}

fn push<'a>(parts: &mut Vec<Part<'a>>, text: Option<&'a str>, is_warning: bool) {
    if let Some(text) = text.filter(|text| !text.is_empty()) {
        parts.push(Part { text, is_warning });
    }
}

fn is_warning(word: &str) -> bool {
    let folded: String = word.chars().map(fold).collect();
    BEGINNINGS.iter().any(|start| folded.starts_with(start))
}

fn fold(c: char) -> char {
    match c {
        'I' | 'İ' | 'ı' => 'i',
        'ğ' | 'Ğ' => 'g',
        'ş' | 'Ş' => 's',
        'ç' | 'Ç' => 'c',
        'ö' | 'Ö' => 'o',
        'ü' | 'Ü' | 'û' | 'Û' => 'u',
        other => other.to_lowercase().next().unwrap_or(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warnings(text: &str) -> Vec<&str> {
        let parts = parts(text).into_iter().filter(|part| part.is_warning);
        parts.map(|part| part.text).collect()
    }

    #[test]
    fn allergy_words_are_found_in_every_spelling() {
        assert_eq!(
            warnings("FISTIK alerjim var, süt-yumurta koymayın! Fındıksız, GLÜTENSİZ; fistik"),
            [
                "FISTIK",
                "alerjim",
                "süt",
                "yumurta",
                "Fındıksız",
                "GLÜTENSİZ",
                "fistik"
            ]
        );
        assert_eq!(
            warnings("No peanuts, allergic to MILK"),
            ["peanuts", "allergic", "MILK"]
        );
    }

    #[test]
    fn other_words_are_not_marked() {
        assert!(warnings("Zile basmayın, acısız olsun, bol soğan. Balkonda bekliyorum").is_empty());
    }

    #[test]
    fn parts_are_the_whole_text() {
        for text in ["", "süt", " süt ", "a süt b", "🥜 fıstık yok"] {
            let whole: String = parts(text).iter().map(|part| part.text).collect();
            assert_eq!(whole, text);
        }
    }
}
