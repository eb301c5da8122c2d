//! What is wrong with a field of a form, in the user's language.

use super::explain;
use crate::panel::words::{FormErrorTexts, Lang};
use garson_core::explanation::TargetRefusal;
use garson_core::field_problem::{FieldProblem, HeaderProblem};

/// The problem as a sentence.
pub fn text(lang: Lang, problem: &FieldProblem) -> String {
    if let FieldProblem::NotCallable { refusal } | FieldProblem::TargetNotAllowed { refusal } = problem {
        return not_allowed(lang, refusal);
    }
    let said = match lang {
        Lang::Tr => turkish(problem),
        Lang::En => english(problem),
    };
    sentence(lang, &said)
}

fn not_allowed(lang: Lang, refusal: &TargetRefusal) -> String {
    let t = FormErrorTexts::of(lang);
    format!("{} {}.", t.not_an_address, explain::target(lang, refusal))
}

/// The API's text, except where that is for programs.
fn english(problem: &FieldProblem) -> String {
    match problem {
        FieldProblem::EndsBeforeStart => "must be after the start".to_owned(),
        FieldProblem::NoPaymentTypeOrCode => "choose a payment type, or enter the platform's code".to_owned(),
        FieldProblem::NotInMenu => "the platform's menu has no item with this code".to_owned(),
        FieldProblem::NotSameProduct => "these two cannot be linked: one platform has both".to_owned(),
        FieldProblem::Header {
            problem: HeaderProblem::InvalidName,
        } => "is not a valid header name; write a line “Name: value” for each".to_owned(),
        other => other.to_string(),
    }
}

fn turkish(problem: &FieldProblem) -> String {
    let text = match problem {
        FieldProblem::Length { min, max } => {
            return format!("{min} ile {max} karakter arasında olmalı; yalnızca boşluk olamaz.");
        }
        FieldProblem::Characters { min, max } => return format!("{min} ile {max} karakter arasında olmalı."),
        FieldProblem::TooLong { max } => return format!("en çok {max} karakter olabilir."),
        FieldProblem::TooMany { max } => return format!("en çok {max} olabilir."),
        FieldProblem::NotBetween { min, max } => return format!("{min} ile {max} arasında olmalı."),
        FieldProblem::NotWholeNumber { min, max } => {
            return format!("{min} ile {max} arasında bir tam sayı olmalı.");
        }
        FieldProblem::NotOneOf { choices } => return format!("şunlardan biri olmalı: {choices}."),
        FieldProblem::UnknownPlaceholder { known } => {
            return format!("bilinmeyen bir alan var; kullanılabilenler: {known}.");
        }
        FieldProblem::CannotBe { value } => return format!("{value} olamaz."),
        FieldProblem::TooFewDigits { min } => return format!("en az {min} rakam içermeli."),
        FieldProblem::PasswordTooShort { min } => return format!("en az {min} karakter olmalı."),
        FieldProblem::SecretTooShort { min } => {
            return format!("en az {min} karakter olmalı; Türkçe harf ve boşluk içeremez.");
        }
        FieldProblem::NotHeaderObject { min_value } => {
            return format!(
                "başlık adlarından ve değerlerinden oluşan bir JSON nesnesi olmalı, örneğin {{\"x-api-key\": \"…\"}}; her \
                 değer en az {min_value} karakter olmalı."
            );
        }
        FieldProblem::UnknownCredential { known } => {
            return format!("bu platformun bilgilerinden değil; bilgileri: {known}.");
        }
        FieldProblem::PeriodTooLong { days } => {
            return format!("başlangıçtan en çok {days} gün sonra olabilir.");
        }
        FieldProblem::SamePaymentAs { row } => return format!("{}. satırla aynı ödeme.", row + 1),
        FieldProblem::Header { problem } => return explain::header(*problem),
        FieldProblem::NotCallable { refusal } | FieldProblem::TargetNotAllowed { refusal } => {
            return explain::target(Lang::Tr, refusal);
        }
        FieldProblem::Text { text } => text,
        FieldProblem::Required => "gerekli.",
        FieldProblem::Unknown => "bu istekte olmayan bir alan.",
        FieldProblem::TooLarge => "çok uzun.",
        FieldProblem::NotNumber => "bir sayı olmalı, örneğin 41,0082.",
        FieldProblem::NotBoolean => "evet ya da hayır olmalı.",
        FieldProblem::NotObject => "bir JSON nesnesi olmalı.",
        FieldProblem::NotDayEnd => "00:00 ile 12:00 arasında tam saat olmalı, örneğin 03:00.",
        FieldProblem::NotTimezone => "bilinen bir saat dilimi olmalı, örneğin Europe/Istanbul.",
        FieldProblem::NotDay => "takvimde olmayan bir gün.",
        FieldProblem::NotChannel => "bu hesabın kanallarından biri olmalı.",
        FieldProblem::SecretsNeededAgain => "adres değiştiği için yeniden girilmeli.",
        FieldProblem::NotEmail => "bir e-posta adresi olmalı.",
        FieldProblem::NoLetterOrDigit => "en az bir harf ya da rakam içermeli.",
        FieldProblem::CommonPassword => {
            "kolay tahmin edilmemeli: yaygın sözcükler, adlar ya da klavyede yan yana tuşlar olmamalı."
        }
        FieldProblem::WrongCode => "uygulamada şu anda görünen kod değil.",
        FieldProblem::OwnerOfAll => "işletme sahibi için tüm restoranlar olmalı.",
        FieldProblem::NotVisibleAscii => "Türkçe harf ve boşluk içeremez.",
        FieldProblem::NotVisibleAsciiWithin => "Türkçe harf içeremez; başında ve sonunda boşluk olamaz.",
        FieldProblem::SpaceAroundOrControls => "başında ve sonunda boşluk olamaz.",
        FieldProblem::NeededForActive => "bağlantıyı açmak için gerekli.",
        FieldProblem::NotSupplierAndStore => {
            "satıcı ve şube numarası arasında iki nokta olmalı, örneğin 2738:101."
        }
        FieldProblem::EndsBeforeStart => "başlangıçtan sonra olmalı.",
        FieldProblem::EndsBeforeFrom => "başlangıçtan önce ya da takvimde olmayan bir gün.",
        FieldProblem::HasMenu => "bu platformun menüsü okunuyor; ürün kodla girilmez.",
        FieldProblem::NotInMenu => "bu kod platformun menüsünde yok.",
        FieldProblem::NotSameProduct => "bu iki ürün bağlanamaz: aynı platformda ikisi de var.",
        FieldProblem::NotOtherProduct => "başka bir ürün olmalı.",
        FieldProblem::NotOtherPlatform => "menü, gönderileceği platformdan başka bir platformdan alınmalı.",
        FieldProblem::NoMenu => "bu platformun menüsü henüz okunmadı.",
        FieldProblem::EmptyMenu => "bu platformun menüsünde ürün yok.",
        FieldProblem::NoPaymentTypeOrCode => "ödeme türünü seçin ya da platformun kodunu yazın.",
    };
    text.to_owned()
}

/// With a capital letter and a period.
fn sentence(lang: Lang, text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|c| match (lang, c) {
        (Lang::Tr, 'i') => "İ".to_owned(),
        _ => c.to_uppercase().to_string(),
    });
    let end = if text.ends_with('.') { "" } else { "." };
    format!("{}{}{end}", first.unwrap_or_default(), letters.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_are_shown_in_both_languages() {
        let length = FieldProblem::Length { min: 1, max: 200 };
        assert_eq!(
            text(Lang::Tr, &length),
            "1 ile 200 karakter arasında olmalı; yalnızca boşluk olamaz."
        );
        assert_eq!(
            text(Lang::En, &length),
            "Must be 1 to 200 characters, not only white space."
        );
        let twice = FieldProblem::from(HeaderProblem::GivenTwice);
        assert_eq!(text(Lang::Tr, &twice), "İki kez verilmiş.");
        let choices = "raw, sha256".to_owned();
        let one_of = FieldProblem::NotOneOf { choices };
        assert_eq!(text(Lang::Tr, &one_of), "Şunlardan biri olmalı: raw, sha256.");
        assert_eq!(
            text(Lang::Tr, &FieldProblem::text("must be green")),
            "Must be green."
        );
        let refusal = TargetRefusal::NotHttp;
        assert_eq!(
            text(Lang::En, &FieldProblem::NotCallable { refusal }),
            "This address is not allowed: the URL does not begin with http:// or https://."
        );
    }
}
