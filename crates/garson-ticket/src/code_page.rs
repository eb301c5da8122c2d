//! Character sets of receipt printers: how text is encoded, and what stands in for characters that a set lacks.

use std::fmt;

/// A character set of a printer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CharacterSet {
    /// PC857, the Turkish set of DOS; nearly every printer has it.
    Pc857,
    /// Windows-1254.
    Wpc1254,
    /// Plain ASCII, for printers without a Turkish set: ş becomes s.
    Ascii,
}

/// A character set and the number by which the printer knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodePage {
    pub set: CharacterSet,
    /// The argument of `ESC t`.
    pub number: u8,
}

impl Default for CodePage {
    fn default() -> Self {
        Self::of(CharacterSet::Pc857)
    }
}

/// The upper half of PC857; NUL marks an unused place.
const PC857: &str = "ÇüéâäàåçêëèïîıÄÅÉæÆôöòûùİÖÜø£ØŞş\
    áíóúñÑĞğ¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐\
    └┴┬├─┼ãÃ╚╔╩╦╠═╬¤ºªÊËÈ\0ÍÎÏ┘┌█▄¦Ì▀\
    ÓßÔÒõÕµ\0×ÚÛÙìÿ¯´\u{ad}±\0¾¶§÷¸°¨·¹³²■\u{a0}";

/// The upper half of Windows-1254.
const WPC1254: &str = "€\0‚ƒ„…†‡ˆ‰Š‹Œ\0\0\0\0‘’“”•–—˜™š›œ\0\0Ÿ\
    \u{a0}¡¢£¤¥¦§¨©ª«¬\u{ad}®¯°±²³´µ¶·¸¹º»¼½¾¿\
    ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏĞÑÒÓÔÕÖ×ØÙÚÛÜİŞß\
    àáâãäåæçèéêëìíîïğñòóôõö÷øùúûüışÿ";

impl CharacterSet {
    pub const ALL: &[Self] = &[Self::Pc857, Self::Wpc1254, Self::Ascii];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pc857 => "pc857",
            Self::Wpc1254 => "wpc1254",
            Self::Ascii => "ascii",
        }
    }

    /// The byte of a character; `None` when the set lacks it.
    fn byte(self, c: char) -> Option<u8> {
        if (' '..='~').contains(&c) {
            return u8::try_from(c).ok();
        }
        let upper = match self {
            Self::Pc857 => PC857,
            Self::Wpc1254 => WPC1254,
            Self::Ascii => return None,
        };
        if c.is_control() {
            return None;
        }
        let place = upper.chars().position(|it| it == c)?;
        u8::try_from(place + 128).ok()
    }

    /// The text with substitutes for what the set lacks, so that its characters can be counted before they are encoded.
    #[must_use]
    pub fn fit(self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        for c in text.chars() {
            if self.byte(c).is_some() {
                out.push(c);
            } else if let Some(substitute) = substitute(c) {
                // A substitute is ASCII.
                out.push_str(substitute);
            } else if !is_picture(c) {
                out.push('?');
            }
        }
        out
    }

    /// The bytes of a text. Control characters have no byte and are left out.
    #[must_use]
    pub fn encode(self, text: &str) -> Vec<u8> {
        let fitted = self.fit(text);
        fitted.chars().filter_map(|c| self.byte(c)).collect()
    }

    /// The character that a byte of printed text stands for.
    #[must_use]
    pub fn decode(self, byte: u8) -> Option<char> {
        match (byte, self) {
            (b' '..=b'~', _) => Some(char::from(byte)),
            (128.., Self::Pc857) => PC857.chars().nth(usize::from(byte) - 128),
            (128.., Self::Wpc1254) => WPC1254.chars().nth(usize::from(byte) - 128),
            _ => None,
        }
        .filter(|c| *c != '\0')
    }
}

impl CodePage {
    /// A set by the number that printers of most makers use.
    #[must_use]
    pub const fn of(set: CharacterSet) -> Self {
        let number = match set {
            CharacterSet::Pc857 => 13,
            CharacterSet::Wpc1254 => 48,
            CharacterSet::Ascii => 0,
        };
        Self { set, number }
    }

    /// Reads `pc857`, or `pc857:61` where the printer has another number for it.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (name, number) = match text.split_once(':') {
            Some((name, number)) => (name, Some(number.parse().ok()?)),
            None => (text, None),
        };
        let set = CharacterSet::ALL
            .iter()
            .copied()
            .find(|set| set.as_str() == name)?;
        let page = Self::of(set);
        Some(Self {
            number: number.unwrap_or(page.number),
            ..page
        })
    }
}

impl fmt::Display for CodePage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.set.as_str())?;
        if *self != Self::of(self.set) {
            write!(f, ":{}", self.number)?;
        }
        Ok(())
    }
}

/// What stands in for a character, in ASCII.
fn substitute(c: char) -> Option<&'static str> {
    Some(match c {
        '₺' => "TL",
        '€' => "EUR",
        '£' => "GBP",
        'ğ' | 'ģ' | 'ġ' => "g",
        'Ğ' | 'Ģ' | 'Ġ' => "G",
        'ı' | 'í' | 'ì' | 'î' | 'ï' | 'ī' | 'į' => "i",
        'İ' | 'Í' | 'Ì' | 'Î' | 'Ï' | 'Ī' | 'Į' => "I",
        'ş' | 'ș' | 'š' | 'ś' => "s",
        'Ş' | 'Ș' | 'Š' | 'Ś' => "S",
        'ç' | 'ć' | 'č' => "c",
        'Ç' | 'Ć' | 'Č' => "C",
        'ö' | 'ó' | 'ò' | 'ô' | 'õ' | 'ø' | 'ő' | 'ō' => "o",
        'Ö' | 'Ó' | 'Ò' | 'Ô' | 'Õ' | 'Ø' | 'Ő' | 'Ō' => "O",
        'ü' | 'ú' | 'ù' | 'û' | 'ű' | 'ū' | 'ů' => "u",
        'Ü' | 'Ú' | 'Ù' | 'Û' | 'Ű' | 'Ū' | 'Ů' => "U",
        'á' | 'à' | 'â' | 'ä' | 'ã' | 'å' | 'ă' | 'ą' | 'ā' | 'ə' => "a",
        'Á' | 'À' | 'Â' | 'Ä' | 'Ã' | 'Å' | 'Ă' | 'Ą' | 'Ā' | 'Ə' => "A",
        'é' | 'è' | 'ê' | 'ë' | 'ę' | 'ě' | 'ē' => "e",
        'É' | 'È' | 'Ê' | 'Ë' | 'Ę' | 'Ě' | 'Ē' => "E",
        'ñ' | 'ń' | 'ň' => "n",
        'Ñ' | 'Ń' | 'Ň' => "N",
        'ý' | 'ÿ' => "y",
        'ž' | 'ź' | 'ż' => "z",
        'Ž' | 'Ź' | 'Ż' => "Z",
        'ł' => "l",
        'Ł' => "L",
        'ř' => "r",
        'Ř' => "R",
        'ť' | 'ț' => "t",
        'ď' | 'đ' => "d",
        'ß' => "ss",
        'æ' => "ae",
        'œ' => "oe",
        '‘' | '’' | '‚' | 'ʼ' | '´' | '`' => "'",
        '“' | '”' | '„' | '«' | '»' => "\"",
        '‐' | '‑' | '‒' | '–' | '—' | '―' | '−' => "-",
        '…' => "...",
        '•' | '·' | '▪' | '●' => "*",
        '×' | '✕' => "x",
        '½' => "1/2",
        '¼' => "1/4",
        '¾' => "3/4",
        '°' | 'º' => "o",
        '№' => "No",
        '→' => "->",
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => " ",
        // Marks that follow their letter.
        '\u{300}'..='\u{36f}' => "",
        _ => return None,
    })
}

/// Emoji and other pictures say nothing on paper and are left out.
fn is_picture(c: char) -> bool {
    matches!(c, '\u{2190}'..='\u{21ff}' | '\u{2300}'..='\u{27bf}' | '\u{2900}'..='\u{297f}' | '\u{2b00}'..='\u{2bff}'
        | '\u{1f000}'..='\u{1faff}')
        || c.is_control()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn turkish_letters_have_their_bytes() {
        let pc857 = CharacterSet::Pc857.encode("ğĞıİşŞçÇöÖüÜ");
        assert_eq!(
            pc857,
            [
                0xa7, 0xa6, 0x8d, 0x98, 0x9f, 0x9e, 0x87, 0x80, 0x94, 0x99, 0x81, 0x9a
            ]
        );
        let wpc1254 = CharacterSet::Wpc1254.encode("ğĞıİşŞçÇöÖüÜ");
        assert_eq!(
            wpc1254,
            [
                0xf0, 0xd0, 0xfd, 0xdd, 0xfe, 0xde, 0xe7, 0xc7, 0xf6, 0xd6, 0xfc, 0xdc
            ]
        );
        assert_eq!(CharacterSet::Ascii.encode("ğĞıİşŞçÇöÖüÜ"), b"gGiIsScCoOuU");
    }

    #[test]
    fn characters_that_a_set_lacks_get_substitutes() {
        let text = "440 ₺ – “İyi” … Příliš 🌯 漢";
        assert_eq!(CharacterSet::Pc857.fit(text), "440 TL - \"İyi\" ... Prílis  ?");
        assert_eq!(CharacterSet::Ascii.fit("Crème brûlée"), "Creme brulee");
    }

    #[test]
    fn code_pages_are_read_with_and_without_a_number() {
        assert_eq!(CodePage::parse("pc857"), Some(CodePage::default()));
        let other = CodePage::parse("wpc1254:91").unwrap();
        assert_eq!((other.set, other.number), (CharacterSet::Wpc1254, 91));
        assert_eq!(other.to_string(), "wpc1254:91");
        assert_eq!(CodePage::default().to_string(), "pc857");
        for wrong in ["", "PC857", "pc857:", "pc857:256", "pc857:-1", "latin1"] {
            assert_eq!(CodePage::parse(wrong), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn encoded_text_never_contains_a_control_byte(text in "\\PC*|[\\x00-\\x9f]*") {
            for set in CharacterSet::ALL {
                let encoded = set.encode(&text);
                prop_assert!(encoded.iter().all(|byte| *byte >= 0x20 && *byte != 0x7f));
                prop_assert_eq!(encoded.len(), set.fit(&text).chars().count());
            }
        }
    }
}
