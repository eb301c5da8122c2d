//! Search terms: the words of an order and those of a query, normalised in the same way.
//!
//! Letters are folded to plain small ones, so that `İpek`, `ipek` and `IPEK` are one word, as are `Çağlar` and `caglar`. A word
//! of a query matches the beginning of a word of the order; all words must match.

use std::collections::BTreeSet;

/// Words of an order that are kept, and how long each may be, in bytes.
const MOST_WORDS: usize = 12;
const LONGEST: usize = 40;
/// Words of a question that are looked at.
const MOST_ASKED: usize = 5;
/// Digits from which on a number can be a telephone's.
const PHONE_DIGITS: usize = 7;

/// Adds a letter in its plain form, or nothing if it is none.
pub(crate) fn fold(letter: char, to: &mut String) {
    let plain = match letter {
        'İ' | 'I' | 'ı' | 'î' | 'Î' | 'í' | 'Í' | 'ì' | 'Ì' | 'ï' | 'Ï' => "i",
        'Ş' | 'ş' | 'Ș' | 'ș' | 'Ś' | 'ś' | 'Š' | 'š' => "s",
        'Ğ' | 'ğ' | 'Ǧ' | 'ǧ' => "g",
        'Ç' | 'ç' | 'Ć' | 'ć' | 'Č' | 'č' => "c",
        'Ö' | 'ö' | 'Ó' | 'ó' | 'Ò' | 'ò' | 'Ô' | 'ô' | 'Õ' | 'õ' | 'Ø' | 'ø' => "o",
        'Ü' | 'ü' | 'Ú' | 'ú' | 'Ù' | 'ù' | 'Û' | 'û' => "u",
        'Â' | 'â' | 'Á' | 'á' | 'À' | 'à' | 'Ä' | 'ä' | 'Ã' | 'ã' | 'Å' | 'å' | 'Ə' | 'ə' => {
            "a"
        }
        'É' | 'é' | 'È' | 'è' | 'Ê' | 'ê' | 'Ë' | 'ë' => "e",
        'Ñ' | 'ñ' | 'Ń' | 'ń' => "n",
        'Ý' | 'ý' | 'ÿ' => "y",
        'Ž' | 'ž' | 'Ż' | 'ż' | 'Ź' | 'ź' => "z",
        'Ł' | 'ł' => "l",
        'ß' => "ss",
        'Æ' | 'æ' => "ae",
        other => {
            // A letter that is written with its mark behind it comes without the mark, which is no letter.
            to.extend(other.to_lowercase().filter(|c| c.is_alphanumeric()));
            return;
        }
    };
    to.push_str(plain);
}

/// Letters and digits of a text in their plain form; everything else is left out.
#[must_use]
pub fn folded(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for letter in text.chars() {
        fold(letter, &mut plain);
        if plain.len() >= LONGEST {
            break;
        }
    }
    while plain.len() > LONGEST {
        plain.pop();
    }
    plain
}

/// A phone number without country code and trunk prefix.
fn national(digits: &str) -> &str {
    // Only a whole number has those: what is shorter is the beginning of one.
    let whole = |rest: &&str| rest.len() >= 10;
    let digits = digits.strip_prefix("00").filter(whole).unwrap_or(digits);
    let digits = digits.strip_prefix("90").filter(whole).unwrap_or(digits);
    digits.strip_prefix('0').unwrap_or(digits)
}

fn digits(text: &str) -> String {
    text.chars().filter(char::is_ascii_digit).collect()
}

/// A phone number in one form, however it is written; none if it is too short to be one.
#[must_use]
pub fn phone_key(text: &str) -> Option<String> {
    let digits = digits(text);
    (digits.len() >= PHONE_DIGITS).then(|| folded(national(&digits)))
}

/// What an order is found by.
#[derive(Clone, Copy, Debug, Default)]
pub struct Subject<'a> {
    pub provider_order_id: &'a str,
    pub short_code: Option<&'a str>,
    pub customer: Option<&'a str>,
    pub phone: Option<&'a str>,
}

impl Subject<'_> {
    /// The words of an order.
    #[must_use]
    pub fn words(&self) -> BTreeSet<String> {
        let mut words = BTreeSet::new();
        let mut add = |word: String| {
            if !word.is_empty() && words.len() < MOST_WORDS {
                words.insert(word);
            }
        };
        add(folded(self.provider_order_id));
        add(folded(self.short_code.unwrap_or_default()));
        let phone = digits(self.phone.unwrap_or_default());
        if phone.len() >= PHONE_DIGITS {
            add(folded(national(&phone)));
        }
        for name in self.customer.unwrap_or_default().split_whitespace() {
            add(folded(name));
            // A double name is found by either.
            for part in name.split(['-', '.', '/', '\'', '’']) {
                add(folded(part));
            }
        }
        words
    }
}

/// A word of a question: the order must have one that begins in one of these ways.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked(pub Vec<String>);

/// The words of a question.
#[must_use]
pub fn asked(text: &str) -> Vec<Asked> {
    let number = digits(text);
    let is_number = text
        .chars()
        .all(|c| c.is_ascii_digit() || c.is_whitespace() || "+-()./".contains(c));
    if is_number && number.len() >= PHONE_DIGITS {
        // A telephone's number is one word, however it is written.
        return vec![either(folded(text), national(&number))];
    }
    let words = text
        .split_whitespace()
        .map(folded)
        .filter(|word| !word.is_empty());
    words
        .take(MOST_ASKED)
        .map(|word| {
            let is_dialled = word.len() >= 4 && word.bytes().all(|b| b.is_ascii_digit());
            let other = if is_dialled {
                national(&word).to_owned()
            } else {
                word.clone()
            };
            either(word, &other)
        })
        .collect()
}

fn either(one: String, other: &str) -> Asked {
    let has_other = one != other && !other.is_empty();
    let other = has_other.then(|| other.to_owned());
    Asked(std::iter::once(one).chain(other).collect())
}

impl Asked {
    /// Is it the beginning of one of these words, which have blanks between them?
    #[must_use]
    pub fn is_in(&self, words: &str) -> bool {
        let begins = |word: &str| {
            self.0
                .iter()
                .any(|beginning| word.starts_with(beginning.as_str()))
        };
        words.split(' ').any(begins)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_folded_to_plain_ones() {
        for (text, plain) in [
            ("İPEK", "ipek"),
            ("Ipek", "ipek"),
            ("ıpek", "ipek"),
            ("I\u{307}pek", "ipek"),
            ("ŞükrÜ", "sukru"),
            ("S\u{327}u\u{308}kru\u{308}", "sukru"),
            ("ĞğÇçÖö", "ggccoo"),
            ("Nâzım", "nazim"),
            ("K-1/42 #7", "k1427"),
            ("Дмитрий", "дмитрий"),
            ("🌯", ""),
        ] {
            assert_eq!(folded(text), plain, "{text}");
        }
        assert!(folded(&"ş".repeat(1000)).len() <= LONGEST);
        assert!(folded(&"Д".repeat(1000)).len() <= LONGEST);
    }

    fn words(of: &Subject<'_>) -> String {
        of.words().into_iter().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn an_order_is_found_by_what_people_type() {
        let order = Subject {
            provider_order_id: "GTR-2026/0042",
            short_code: Some("#A12"),
            customer: Some("Ayşe-Nur  ÇAĞLAR I."),
            phone: Some("+90 (532) 123 45 67"),
        };
        let words = words(&order);
        for text in [
            "ayse",
            "AYŞE çağ",
            "nur",
            "ayşe-nur",
            "caglar AYSE",
            "a12",
            "#a12",
            "gtr-2026",
            "GTR2026",
            "0532",
            "532123",
            "0 532 123 45 67",
            "+905321234567",
            "90 532 123 4567",
            "",
            "  ",
        ] {
            assert!(
                asked(text).iter().all(|word| word.is_in(&words)),
                "{text} in {words}"
            );
        }
        for text in ["aglar", "ayse mehmet", "0042", "533", "123 45 67", "ayşe nurcan"] {
            assert!(
                !asked(text).iter().all(|word| word.is_in(&words)),
                "{text} in {words}"
            );
        }
    }

    #[test]
    fn questions_are_bounded() {
        assert_eq!(asked(&"a ".repeat(1000)).len(), MOST_ASKED);
        assert_eq!(asked("0042"), [Asked(vec!["0042".to_owned(), "042".to_owned()])]);
        assert_eq!(asked("…"), []);
        let long = "ad ".repeat(500);
        let order = Subject {
            customer: Some(&long),
            ..Subject::default()
        };
        assert_eq!(order.words().len(), 1);
    }
}
