//! Failures of messages in Turkish.

use garson_core::explanation::MessageFailure;

pub fn turkish(failure: &MessageFailure) -> String {
    let text = match failure {
        MessageFailure::NoMailServer => "sistem yöneticisi bir e-posta sunucusu tanımlamamış",
        MessageFailure::MailServerUnreachable { error } => {
            return format!("e-posta sunucusuna ulaşılamıyor: {error}");
        }
        MessageFailure::MailServerTls { error } => {
            return format!("e-posta sunucusuyla güvenli bağlantı kurulamadı: {error}");
        }
        MessageFailure::MailServerLogin => "e-posta sunucusu girişi reddetti",
        MessageFailure::MailServerNoAnswer => "e-posta sunucusu zamanında yanıt vermedi",
        MessageFailure::MailServerClosed => "e-posta sunucusu, mesaj gönderilmeden bağlantıyı kapattı",
        MessageFailure::MailServerAnswered { status, said } => {
            return format!("e-posta sunucusu {status} yanıtı verdi: {said}");
        }
        MessageFailure::MailServerBroken => "e-posta sunucusuyla bağlantı koptu; mesaj gitmiş olabilir",
        MessageFailure::BadAddress => "geçersiz bir e-posta adresi var",
        MessageFailure::TooLate => "zamanında gönderilemedi, artık gerekli değil",
        MessageFailure::QueueFull => "bu kanalda çok fazla mesaj bekliyor",
        MessageFailure::ChannelRemoved => "kanal silinmiş",
        MessageFailure::Unreadable => "kayıtlı mesaj okunamıyor",
    };
    text.to_owned()
}
