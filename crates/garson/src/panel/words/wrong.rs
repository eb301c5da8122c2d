//! What is wrong with a field. The rules stand below `flow` and speak English; here stands what they say in Turkish, and
//! better English where theirs is for programs.

use crate::panel::words::Lang;

super::text_set::text_set! {
    WrongWords {
        marked: "Kaydedilmedi. İşaretli alanı düzeltip yeniden gönderin." | "Not saved. Correct the marked field and send it again.",
        name_differs: "Ad eşleşmiyor; hiçbir şey silinmedi." | "The name does not match; nothing was deleted.",
        remote_id_taken: "Bu şube başka bir bağlantıya ait; kimliğini kontrol edin." | "This branch belongs to another integration; check its id.",
        reason_not_accepted: "Platform bu nedeni kabul etmiyor; listeden birini seçin." | "The platform does not accept this reason; choose one of its own.",
        not_an_address: "Bu adrese gönderilemez:" | "This address is not allowed:",
    }
}

/// What is said, with `{}` for what differs; in Turkish; and in English, where that is to be another text.
type Saying = (&'static str, &'static str, &'static str);

const SAYINGS: &[Saying] = &[
    (
        "must be {} to {} characters, not only white space",
        "{} ile {} karakter arasında olmalı; yalnızca boşluk olamaz.",
        "",
    ),
    (
        "must be at most {} characters",
        "en çok {} karakter olabilir.",
        "",
    ),
    ("must be from {} to {}", "{} ile {} arasında olmalı.", ""),
    (
        "must be a number, such as 41.0082",
        "bir sayı olmalı, örneğin 41,0082.",
        "",
    ),
    ("must be true or false", "evet ya da hayır olmalı.", ""),
    (
        "must be a whole number from {} to {}",
        "{} ile {} arasında bir tam sayı olmalı.",
        "",
    ),
    (
        "must be an IANA timezone, such as {}",
        "bilinen bir saat dilimi olmalı, örneğin {}.",
        "",
    ),
    (
        "must be at least {} visible ASCII characters, without spaces",
        "en az {} karakter olmalı; Türkçe harf ve boşluk içeremez.",
        "",
    ),
    (
        "must be visible ASCII characters, without spaces",
        "Türkçe harf ve boşluk içeremez.",
        "",
    ),
    (
        "must be visible ASCII characters, without spaces around them",
        "Türkçe harf içeremez; başında ve sonunda boşluk olamaz.",
        "",
    ),
    ("must be one of: {}", "şunlardan biri olmalı: {}.", ""),
    (
        "must be a JSON object of header names and values, {}, of which each value has at least {} visible ASCII characters",
        "başlık adlarından ve değerlerinden oluşan bir JSON nesnesi olmalı, örneğin {\"x-api-key\": \"…\"}; her değer en az \
         sekiz karakter olmalı.",
        "",
    ),
    (
        "must not have white space around it, nor control characters",
        "başında ve sonunda boşluk olamaz.",
        "",
    ),
    (
        "is needed before the integration can be switched on",
        "bağlantıyı açmak için gerekli.",
        "",
    ),
    (
        "must be supplierId:storeId, such as {}",
        "satıcı ve şube numarası arasında iki nokta olmalı, örneğin {}.",
        "",
    ),
    (
        "must be after startsAt",
        "başlangıçtan sonra olmalı.",
        "must be after the start",
    ),
    ("must be at most {}", "en çok {} olabilir.", ""),
    (
        "must have a type or a providerCode",
        "ödeme türünü seçin ya da platformun kodunu yazın.",
        "choose a payment type, or enter the platform's code",
    ),
    ("is required", "gerekli.", ""),
    ("is too large", "çok uzun.", ""),
    (
        "is not a valid header name",
        "başlık adı geçersiz; her satır “Ad: değer” biçiminde olmalı.",
        "is not a valid header name; write a line “Name: value” for each",
    ),
    (
        "is set by the HTTP client and cannot be given",
        "bu başlığı servis kendisi yazar; verilemez.",
        "",
    ),
    ("is given twice", "iki kez verilmiş.", ""),
];

/// What differs between a pattern and a message; nothing when the message is another one.
fn parts<'a>(pattern: &str, message: &'a str) -> Option<Vec<&'a str>> {
    let mut pieces = pattern.split("{}");
    let mut rest = message.strip_prefix(pieces.next()?)?;
    let mut found = Vec::new();
    let mut pieces = pieces.peekable();
    while let Some(piece) = pieces.next() {
        let end = match pieces.peek() {
            None => rest.strip_suffix(piece)?.len(),
            Some(_) => rest.find(piece)?,
        };
        found.push(rest.get(..end)?);
        rest = rest.get(end + piece.len()..)?;
    }
    rest.is_empty().then_some(found)
}

fn filled(text: &str, found: &[&str]) -> String {
    found
        .iter()
        .fold(text.to_owned(), |text, part| text.replacen("{}", part, 1))
}

/// What a rule says about a field, to people.
pub fn say(lang: Lang, message: &str) -> String {
    let known = SAYINGS
        .iter()
        .find_map(|(pattern, tr, en)| Some((parts(pattern, message)?, *tr, *en)));
    let said = match (known, lang) {
        (Some((found, tr, _)), Lang::Tr) => filled(tr, &found),
        (Some((found, _, en)), Lang::En) if !en.is_empty() => filled(en, &found),
        _ => message.to_owned(),
    };
    let mut letters = said.chars();
    let first = letters.next().map(|c| match (lang, c) {
        (Lang::Tr, 'i') => "İ".to_owned(),
        _ => c.to_uppercase().to_string(),
    });
    let end = if said.ends_with('.') { "" } else { "." };
    format!("{}{}{end}", first.unwrap_or_default(), letters.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_speak_both_languages() {
        let message = "must be 1 to 200 characters, not only white space";
        assert_eq!(
            say(Lang::Tr, message),
            "1 ile 200 karakter arasında olmalı; yalnızca boşluk olamaz."
        );
        assert_eq!(
            say(Lang::En, message),
            "Must be 1 to 200 characters, not only white space."
        );
        assert_eq!(
            say(Lang::Tr, "must be at most 50 characters"),
            "En çok 50 karakter olabilir."
        );
        assert_eq!(say(Lang::Tr, "must be at most 50"), "En çok 50 olabilir.");
        assert_eq!(say(Lang::Tr, "is given twice"), "İki kez verilmiş.");
        assert_eq!(
            say(Lang::Tr, "must be one of: raw, sha256"),
            "Şunlardan biri olmalı: raw, sha256."
        );
        assert_eq!(say(Lang::Tr, "must be green"), "Must be green.");
    }
}
