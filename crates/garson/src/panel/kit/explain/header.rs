//! Refused headers in Turkish.

use garson_core::field_problem::HeaderProblem;

/// Why a header cannot be sent along, as a clause with its period.
pub fn turkish(problem: HeaderProblem) -> String {
    let text = match problem {
        HeaderProblem::TooMany { max } => return format!("fazla; en çok {max} başlık olabilir."),
        HeaderProblem::TotalTooLong { max_kib } => {
            return format!("başlıkların toplamı {max_kib} KiB'tan uzun oluyor.");
        }
        HeaderProblem::NameTooLong { max } => return format!("adı {max} bayttan uzun."),
        HeaderProblem::ValueTooLong { max } => return format!("değeri {max} bayttan uzun."),
        HeaderProblem::InvalidName => "başlık adı geçersiz; her satır “Ad: değer” biçiminde olmalı.",
        HeaderProblem::SetByClient => "bu başlığı servis kendisi yazar; verilemez.",
        HeaderProblem::GivenTwice => "iki kez verilmiş.",
        HeaderProblem::ValueNotAscii => "değerinde Türkçe harf ya da görünmeyen karakter olamaz.",
        HeaderProblem::ValueSpaceAround => "değerinin başında ve sonunda boşluk olamaz.",
        HeaderProblem::ValueNotSendable => "değeri gönderilemiyor.",
    };
    text.to_owned()
}
