//! Finds words about allergies in what customers write, in Turkish and English, so that they can be highlighted.
//!
//! Words are compared in their plain form (`FISTIK`, `fıstık` and `fistik` are one word). A Turkish stem may carry endings:
//! `sütsüz`, `fıstığa`, `yumurtadan`. A word that only begins like a stem (`soyadı`, `susamış`) is not taken for it.

use crate::search::folded;

/// A piece of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment<'a> {
    pub text: &'a str,
    pub is_marked: bool,
}

/// Whatever begins with one of these is marked.
const PREFIXES: [&str; 6] = ["alerj", "allerj", "allerg", "anafila", "anaphyla", "intoleran"]; // typos: ignore

/// Turkish stems, which may carry endings. A final k that becomes ğ is listed twice.
const STEMS: [&str; 5] = [
    "fistik fistig yerfistik yerfistig antepfistik antepfistig findik findig ceviz badem kaju kuruyemis", // typos: ignore
    "gluten bugday colyak colyag arpa cavdar susam tahin soya hardal kereviz acibakla", // typos: ignore
    "sut laktoz yumurta hassasiyet sulfit",                                             // typos: ignore
    "kabuklu denizurun karides midye istiridye",                                        // typos: ignore
    "kalamar yengec istakoz balik balig",                                               // typos: ignore
];

/// Two words in a row; the second may carry endings.
const PAIRS: [(&str, &str); 1] = [("deniz", "urun")];

/// English words, as they are.
const WORDS: [&str; 21] = [
    "peanut",
    "peanuts",
    "nut",
    "nuts",
    "milk",
    "dairy",
    "lactose",
    "egg",
    "eggs",
    "sesame",
    "soy",
    "soya",
    "wheat",
    "shellfish",
    "seafood",
    "shrimp",
    "shrimps",
    "celiac",
    "coeliac",
    "mustard",
    "fish",
];

/// Turkish endings in their plain form. Several may follow each other.
const ENDINGS: [&str; 3] = [
    "ler lar im um m in un n i u si su e a yi yu ye ya de da te ta den dan ten tan nin nun ni nu ne na", // typos: ignore
    "nde nda nden ndan le la yle yla li lu siz suz lik luk dir dur tir tur", // typos: ignore
    "imiz umuz miz muz iniz unuz niz ki",                                    // typos: ignore
];
const MAX_ENDINGS: usize = 5;

/// Can the text be read as endings only?
fn is_endings(text: &str, left: usize) -> bool {
    text.is_empty()
        || left > 0
            && ENDINGS
                .iter()
                .flat_map(|line| line.split(' '))
                .filter_map(|ending| text.strip_prefix(ending))
                .any(|rest| is_endings(rest, left - 1))
}

fn has_stem(word: &str, stem: &str) -> bool {
    word.strip_prefix(stem)
        .is_some_and(|rest| is_endings(rest, MAX_ENDINGS))
}

fn is_about_allergy(word: &str) -> bool {
    PREFIXES.iter().any(|prefix| word.starts_with(prefix))
        || WORDS.contains(&word)
        || STEMS
            .iter()
            .flat_map(|line| line.split(' '))
            .any(|stem| has_stem(word, stem))
}

fn is_pair(first: &str, second: &str) -> bool {
    PAIRS
        .iter()
        .any(|(one, two)| first == *one && has_stem(second, two))
}

/// The words of a text with their places in it.
fn words(text: &str) -> Vec<(usize, usize, String)> {
    // A letter may be written as a base and a combining mark.
    let is_letter = |c: char| c.is_alphanumeric() || ('\u{300}'..='\u{36f}').contains(&c);
    let mut found = Vec::new();
    let mut start = None;
    for (at, letter) in text.char_indices().chain([(text.len(), ' ')]) {
        match (start, is_letter(letter)) {
            (None, true) => start = Some(at),
            (Some(from), false) => {
                found.push((from, at, folded(text.get(from..at).unwrap_or_default())));
                start = None;
            }
            _ => {}
        }
    }
    found
}

/// The text in pieces, with those marked that are about allergies. Together they are the whole text.
#[must_use]
pub fn segments(text: &str) -> Vec<Segment<'_>> {
    let words = words(text);
    let mut marked: Vec<(usize, usize)> = Vec::new();
    for (number, (from, to, word)) in words.iter().enumerate() {
        let next = words.get(number + 1);
        if let Some((_, end, _)) = next.filter(|(_, _, second)| is_pair(word, second)) {
            marked.push((*from, *end));
        } else if is_about_allergy(word) {
            marked.push((*from, *to));
        }
    }
    let mut pieces = Vec::new();
    let mut done = 0;
    let mut push = |from: usize, to: usize, is_marked: bool| {
        let text = text.get(from..to).filter(|text| !text.is_empty());
        pieces.extend(text.map(|text| Segment { text, is_marked }));
    };
    for (from, to) in marked {
        push(done, from, false);
        push(from, to, true);
        done = to;
    }
    push(done, text.len(), false);
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(text: &str) -> Vec<&str> {
        let found = segments(text).into_iter().filter(|it| it.is_marked);
        found.map(|it| it.text).collect()
    }

    #[test]
    fn words_are_found_in_any_case_and_with_endings() {
        for (text, expected) in [
            ("Fıstık alerjim var!", vec!["Fıstık", "alerjim"]),
            ("FISTIKSIZ LÜTFEN, ALERJİ", vec!["FISTIKSIZ", "ALERJİ"]),
            ("fistiga alerjisi olan", vec!["fistiga", "alerjisi"]),
            ("antep fıstığından uzak", vec!["fıstığından"]),
            ("SÜTSÜZ olsun, sütten kaçınıyoruz", vec!["SÜTSÜZ", "sütten"]),
            ("glutensiz/laktozsuz", vec!["glutensiz", "laktozsuz"]),
            ("Yumurtasız, SUSAMLI değil", vec!["Yumurtasız", "SUSAMLI"]),
            ("soyaya ve deniz ürünlerine", vec!["soyaya", "deniz ürünlerine"]),
            ("DENİZ ÜRÜNÜ yok", vec!["DENİZ ÜRÜNÜ"]),
            ("kabuklulara karşı", vec!["kabuklulara"]),
            ("fındığı çıkarın", vec!["fındığı"]),
            ("Alerjik reaksiyon", vec!["Alerjik"]),
            (
                "süt-yumurta koymayın; balığa da",
                vec!["süt", "yumurta", "balığa"],
            ),
            ("🥜 GLÜTENSİZ", vec!["GLÜTENSİZ"]),
            ("no peanuts, nut allergy", vec!["peanuts", "nut", "allergy"]),
            ("su\u{308}tsu\u{308}z", vec!["su\u{308}tsu\u{308}z"]),
        ] {
            assert_eq!(marked(text), expected, "{text}");
        }
    }

    #[test]
    fn words_that_only_begin_alike_are_not_marked() {
        for text in [
            "Soyadım Yılmaz",
            "çok susamıştım",
            "sütlaç bol tarçınlı",
            "deniz tarafındaki kapı",
            "ürün eksik olmasın",
            "Zile basmayın, bebek uyuyor.",
            "Acısız olsun, bol soğan. Balkonda bekliyorum",
            "nutella eggplant",
            "",
        ] {
            assert_eq!(marked(text), Vec::<&str>::new(), "{text}");
        }
    }

    #[test]
    fn pieces_are_the_whole_text() {
        for text in ["Fıstık!", "ay, süt", "İİ<ıı> deniz  ürünü", "sut", "", "  "] {
            let whole: String = segments(text).iter().map(|it| it.text).collect();
            assert_eq!(whole, text);
        }
    }

    #[test]
    fn long_words_take_bounded_time() {
        let text = format!("sut{} süt", "ininin".repeat(10_000));
        assert_eq!(marked(&text), ["süt"]);
    }
}
