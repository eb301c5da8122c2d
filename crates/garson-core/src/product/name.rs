//! Normalised product names, so that the same name on two platforms gives the same text.
//!
//! Letters are folded (Turkish ones too), punctuation is dropped, quantities are converted to one unit (`33 cl` and `330ml`), and words
//! for a single portion are dropped. The order of the words does not matter.

use crate::search::fold;

/// The largest number of words compared.
const MAX_WORDS: usize = 24;
/// Filler words that do not identify a product.
const FILLERS: [&str; 9] = [
    "ve",
    "ile",
    "adet",
    "ad",
    "adt",
    "porsiyon",
    "porsiyonluk",
    "pors",
    "por",
];
/// A number before one of these is a count of portions.
const PORTION_WORDS: [&str; 6] = ["porsiyon", "porsiyonluk", "pors", "por", "adet", "kisilik"];

/// The normalised name.
#[must_use]
pub fn name_key(name: &str) -> String {
    let mut words = name_words(name);
    words.sort_unstable();
    words.join(" ")
}

/// The words of a normalised name, in their order.
#[must_use]
pub fn name_words(name: &str) -> Vec<String> {
    let raw = split(name);
    let measured = measures(raw);
    let counted = without_single_portion(measured);
    let kept: Vec<String> = counted
        .iter()
        .filter(|word| !FILLERS.contains(&word.as_str()))
        .cloned()
        .collect();
    // A name of fillers only, such as "Porsiyon", is still a name.
    if kept.is_empty() { counted } else { kept }
}

/// Folded words. Adjacent digits and letters are two words; a decimal separator stays within its number.
fn split(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let letters: Vec<char> = name.chars().collect();
    let digit_at = |at: usize| letters.get(at).is_some_and(char::is_ascii_digit);
    for (at, letter) in letters.iter().enumerate() {
        let ends_in_digit = word.ends_with(|c: char| c.is_ascii_digit());
        if matches!(letter, '.' | ',') && ends_in_digit && digit_at(at + 1) {
            word.push('.');
            continue;
        }
        let mut folded = String::new();
        match letter {
            '½' => folded.push_str("0.5"),
            letter => fold(*letter, &mut folded),
        }
        let is_mark = folded.is_empty() && !is_combining(*letter) && !matches!(letter, '\'' | '’');
        let changes_kind = !word.is_empty()
            && folded
                .chars()
                .next()
                .is_some_and(|next| next.is_ascii_digit() != (ends_in_digit || word.ends_with('.')));
        if is_mark || changes_kind {
            flush(&mut word, &mut words);
        }
        word.push_str(&folded);
        if words.len() >= MAX_WORDS {
            return words;
        }
    }
    flush(&mut word, &mut words);
    words
}

fn flush(word: &mut String, words: &mut Vec<String>) {
    if !word.is_empty() {
        words.push(std::mem::take(word));
    }
}

/// A combining mark of the preceding letter.
fn is_combining(letter: char) -> bool {
    matches!(letter, '\u{300}'..='\u{36f}')
}

/// Joins numbers with their units, converted to one unit per kind, and parses numbers written as words.
fn measures(words: Vec<String>) -> Vec<String> {
    let mut written: Vec<String> = Vec::with_capacity(words.len());
    for word in words {
        let number = written.last().and_then(|last| thousandths(last));
        let joined = number.and_then(|number| match word.as_str() {
            "ml" => Some(amount(number, "ml")),
            "cl" => Some(amount(number.checked_mul(10)?, "ml")),
            "l" | "lt" | "litre" | "ltr" => Some(amount(number.checked_mul(1_000)?, "ml")),
            "g" | "gr" | "gram" => Some(amount(number, "g")),
            "kg" | "kilo" => Some(amount(number.checked_mul(1_000)?, "g")),
            "bucuk" => Some(amount(number.checked_add(500)?, "")),
            _ => None,
        });
        match joined {
            Some(joined) => {
                written.pop();
                written.push(joined);
            }
            None => written.push(match word.as_str() {
                "bir" | "tam" => "1".to_owned(),
                "bucuk" => "0.5".to_owned(),
                "yarim" => "0.5".to_owned(),
                _ => thousandths(&word).map_or(word, |number| amount(number, "")),
            }),
        }
    }
    written
}

/// A number in thousandths; none if the word is not a number.
fn thousandths(word: &str) -> Option<u64> {
    let (whole, fraction) = word.split_once('.').unwrap_or((word, ""));
    let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || whole.len() > 9 || !is_number(whole) || !is_number(fraction) {
        return None;
    }
    let fraction: String = fraction.chars().chain("000".chars()).take(3).collect();
    let whole: u64 = whole.parse().ok()?;
    whole.checked_mul(1_000)?.checked_add(fraction.parse().ok()?)
}

fn amount(thousandths: u64, unit: &str) -> String {
    let (whole, fraction) = (thousandths / 1_000, thousandths % 1_000);
    if fraction == 0 {
        format!("{whole}{unit}")
    } else {
        let fraction = format!("{fraction:03}");
        format!("{whole}.{}{unit}", fraction.trim_end_matches('0'))
    }
}

/// A single portion is the default.
fn without_single_portion(words: Vec<String>) -> Vec<String> {
    let mut kept: Vec<String> = Vec::with_capacity(words.len());
    for word in words {
        if PORTION_WORDS.contains(&word.as_str()) && kept.last().is_some_and(|last| last == "1") {
            kept.pop();
            continue;
        }
        kept.push(word);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn spellings_of_one_name_have_one_key() {
        for (one, other) in [
            ("İskender Kebap", "ISKENDER kebap"),
            ("Adana Dürüm", "Dürüm (Adana)"),
            ("Coca-Cola 33 cl.", "Coca Cola 330ml"),
            ("Ayran 1 lt", "AYRAN 1000 ml"),
            ("Ayran 0,2 L", "Ayran 20cl"),
            ("Döner (1 Porsiyon)", "Doner"),
            ("Tam porsiyon döner", "Döner"),
            ("1,5 Porsiyon Adana", "Adana bir buçuk porsiyon"),
            ("½ Porsiyon Döner", "Yarım Porsiyon Döner"),
            ("Kıymalı Pide 1 Kişilik", "Kıymalı Pide"),
            ("Lahmacun 3 Adet", "3 lahmacun"),
            ("Şiş Köfte & Pilav", "Şiş köfte ve pilav"),
            ("Künefe 1,5 kg", "künefe 1500 gr"),
            ("Hünkâr Beğendi", "hunkar begendi"),
        ] {
            assert_eq!(name_key(one), name_key(other), "{one} / {other}");
        }
    }

    #[test]
    fn different_products_have_different_keys() {
        for (one, other) in [
            ("Ayran 200 ml", "Ayran 300 ml"),
            ("Adana", "1,5 Adana"),
            ("Lahmacun 3 Adet", "Lahmacun 5 Adet"),
            ("Kıymalı Pide 2 Kişilik", "Kıymalı Pide"),
            ("Tavuk Döner", "Et Döner"),
            ("Porsiyon", "Adet"),
        ] {
            assert_ne!(name_key(one), name_key(other), "{one} / {other}");
        }
        assert_eq!(name_key("***"), "");
    }

    proptest! {
        /// Any text that a platform may send.
        #[test]
        fn keys_have_a_bounded_number_of_words(name in "\\PC{0,200}") {
            let words = name_words(&name);
            prop_assert!(words.len() <= MAX_WORDS + 1);
            prop_assert!(words.iter().all(|word| !word.is_empty() && !word.contains(' ')));
        }

        #[test]
        fn case_of_ascii_letters_does_not_matter(name in "[a-z ]{1,30}") {
            prop_assert_eq!(name_key(&name.to_uppercase()), name_key(&name));
        }
    }
}
